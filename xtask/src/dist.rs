//! The task `dist`: packages for Debian and for systems with RPM. debhelper and rpmbuild make them, with the files of
//! `dist/packaging` and `install` of each package's files.
use crate::{
    build::{self, last_commit},
    command,
    error::TaskError,
    packages::{self, PACKAGING, PAGES},
};
use clap::Args;
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const MAINTAINER: &str = "The acm authors <acm-rs@users.noreply.github.com>";

/// The arguments of `dist`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Dist {
    /// Build nothing: pack the programs and libraries of this directory.
    #[arg(long, value_name = "DIR")]
    built: Option<PathBuf>,
    /// Directory of the packages. Other packages in it are removed first.
    #[arg(long, value_name = "DIR", default_value = "target/dist/packages")]
    out: PathBuf,
    /// Revision of the packages: a number that rises with each publication of one version.
    #[arg(long, value_name = "N", default_value_t = 1)]
    revision: u32,
    /// Only packages of this kind.
    #[arg(long, value_name = "KIND")]
    only: Option<Kind>,
    #[command(flatten)]
    packages: packages::Install,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Deb,
    Rpm,
}

/// The task.
///
/// # Errors
/// A tool is missing and cannot be installed, or a program or package cannot be built.
pub(crate) fn run(dist: &Dist) -> Result<(), TaskError> {
    packages::ensure(&[PACKAGING, PAGES].concat(), dist.packages)?;
    let built = match &dist.built {
        Some(built) => built.clone(),
        None => build::programs(dist.packages, build::Target::Packages)?,
    };
    let made = Made { built: absolute(&built)?, out: absolute(&dist.out)?, revision: dist.revision };
    fs::create_dir_all(&made.out).map_err(TaskError::io("creating", &made.out))?;
    made.clear()?;
    if dist.only != Some(Kind::Rpm) {
        made.deb()?;
    }
    if dist.only != Some(Kind::Deb) {
        made.rpm()?;
    }
    made.print()
}

/// The packages of one run.
struct Made {
    built: PathBuf,
    out: PathBuf,
    revision: u32,
}

impl Made {
    fn deb(&self) -> Result<(), TaskError> {
        let work = self.work()?;
        let debian = work.join("debian");
        fs::create_dir(&debian).map_err(TaskError::io("creating", &debian))?;
        let from = command::root().join("dist/packaging/debian");
        for entry in fs::read_dir(&from).map_err(TaskError::io("reading", &from))? {
            let file = entry.map_err(TaskError::io("reading", &from))?.path();
            let name = file.file_name().unwrap_or_default();
            fs::copy(&file, debian.join(name)).map_err(TaskError::io("copying", &file))?;
        }
        let (version, date) = (format!("{}-{}", env!("CARGO_PKG_VERSION"), self.revision), last_commit("%cD")?);
        make_file("changelog", &[&version, &date], &debian.join("changelog"))?;
        make_file("copyright", &[], &debian.join("copyright"))?;
        // A copy: the times of files that are older than the last commit would be part of the packages.
        let (changes, copy) = (command::root().join("CHANGELOG.md"), work.join("CHANGELOG.md"));
        fs::copy(&changes, &copy).map_err(TaskError::io("copying", &changes))?;
        let mut make = Command::new("make");
        make.args(["-f", "debian/rules", "binary"]).current_dir(&work).envs([
            ("XTASK", own()?),
            ("BUILT", self.built.clone()),
            ("CHANGES", copy),
            ("OUT", self.out.clone()),
        ]);
        self.pack(&mut make, &work)
    }

    fn rpm(&self) -> Result<(), TaskError> {
        let work = self.work()?;
        let notices = work.join("NOTICES");
        make_file("copyright", &[], &notices)?;
        let mut rpmbuild = Command::new("rpmbuild");
        rpmbuild.args(["-bb", "--quiet"]);
        for (name, value) in [
            ("_topdir", work.display().to_string()),
            ("_sourcedir", command::root().display().to_string()),
            ("_rpmdir", self.out.display().to_string()),
            ("xtask", own()?.display().to_string()),
            ("notices", notices.display().to_string()),
            ("built", self.built.display().to_string()),
            ("acm_version", env!("CARGO_PKG_VERSION").to_owned()),
            ("acm_revision", self.revision.to_string()),
            ("acm_date", last_commit("%cd")?),
            ("packager", MAINTAINER.to_owned()),
        ] {
            rpmbuild.args(["--define", &format!("{name} {value}")]);
        }
        rpmbuild.arg(command::root().join("dist/packaging/acm.spec"));
        self.pack(&mut rpmbuild, &work)
    }

    /// Removes the packages of an earlier run.
    fn clear(&self) -> Result<(), TaskError> {
        for path in self.files()? {
            if path.extension().is_some_and(|kind| kind == "deb" || kind == "rpm") {
                fs::remove_file(&path).map_err(TaskError::io("removing", &path))?;
            }
        }
        Ok(())
    }

    fn files(&self) -> Result<Vec<PathBuf>, TaskError> {
        let failed = || TaskError::io("reading", &self.out);
        let entries = fs::read_dir(&self.out).map_err(failed())?;
        let mut files =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, io::Error>>().map_err(failed())?;
        files.sort();
        Ok(files)
    }

    /// An empty directory to pack in. Its path is part of no package.
    fn work(&self) -> Result<PathBuf, TaskError> {
        let work = self.out.join("work");
        // Left by a run that was interrupted.
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).map_err(TaskError::io("creating", &work))?;
        Ok(work)
    }

    fn pack(&self, command: &mut Command, work: &Path) -> Result<(), TaskError> {
        // The times of files in the packages.
        command.env("SOURCE_DATE_EPOCH", last_commit("%ct")?).env("LC_ALL", "C.UTF-8");
        command::run(command)?;
        fs::remove_dir_all(work).map_err(TaskError::io("removing", work))
    }

    fn print(&self) -> Result<(), TaskError> {
        for path in self.files()? {
            let size = fs::metadata(&path).map_err(TaskError::io("reading", &path))?.len();
            println!("{} {size}", path.display());
        }
        Ok(())
    }
}

/// Writes what a program of `dist/packaging` prints.
fn make_file(program: &str, arguments: &[&str], to: &Path) -> Result<(), TaskError> {
    let mut command = Command::new(command::root().join("dist/packaging").join(program));
    let output = command.args(arguments).stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| command::spawn(&command, source))?;
    if !output.status.success() {
        return Err(TaskError::Failed { command: command::line(&command), status: output.status });
    }
    fs::write(to, output.stdout).map_err(TaskError::io("writing", to))
}

fn absolute(path: &Path) -> Result<PathBuf, TaskError> {
    std::path::absolute(path).map_err(TaskError::io("finding", path))
}

/// The path of this program.
fn own() -> Result<PathBuf, TaskError> {
    env::current_exe().map_err(TaskError::io("finding", Path::new("/proc/self/exe")))
}
