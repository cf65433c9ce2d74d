//! The one list of installed files. `install`, `uninstall` and the packages of `dist` use it.
use crate::{command, error::TaskError, pages};
use clap::Args;
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// A file or a symbolic link that is installed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// The Debian package that contains it.
    pub(crate) package: &'static str,
    /// The file in the workspace; `built/NAME` for a file that the build has made; `page/NAME` for a manual page from
    /// documents; `-> NAME` for a symbolic link.
    source: &'static str,
    /// The path below the prefix, or below the directory that the first word in capitals stands for.
    path: &'static str,
}

const fn file(package: &'static str, source: &'static str, path: &'static str) -> File {
    File { package, source, path }
}

/// The package that gives the daemon ibacm's names. It excludes ibacm.
const ALIAS: &str = "acm-as-ibacm";

/// All installed files. Those in `/etc` are configuration, which an administrator may change. The units are the last
/// files of the daemon: when systemd can start it, all other files are complete.
pub(crate) const FILES: &[File] = &[
    file("acm-mio", "built/acm-mio", "sbin/acm-mio"),
    file("acm-mio", "built/acmctl", "sbin/acmctl"),
    file("acm-mio", "dist/acmctl.8", "share/man/man8/acmctl.8"),
    file("acm-mio", "dist/completions/acmctl.bash", "share/bash-completion/completions/acmctl"),
    file("acm-mio", "dist/completions/acmctl.fish", "share/fish/vendor_completions.d/acmctl.fish"),
    file("acm-mio", "dist/completions/acmctl.zsh", "share/zsh/site-functions/_acmctl"),
    file("acm-mio", "dist/acm-mio.8", "share/man/man8/acm-mio.8"),
    file("acm-mio", "dist/completions/acm-mio.bash", "share/bash-completion/completions/acm-mio"),
    file("acm-mio", "dist/completions/acm-mio.fish", "share/fish/vendor_completions.d/acm-mio.fish"),
    file("acm-mio", "dist/completions/acm-mio.zsh", "share/zsh/site-functions/_acm-mio"),
    file("acm-mio", "page/ibacm_opts.cfg.5", "share/man/man5/ibacm_opts.cfg.5"),
    file("acm-mio", "page/ibacm_addr.cfg.5", "share/man/man5/ibacm_addr.cfg.5"),
    file("acm-mio", "page/ibacm_hosts.data.5", "share/man/man5/ibacm_hosts.data.5"),
    file("acm-mio", "page/ibacm_route.data.5", "share/man/man5/ibacm_route.data.5"),
    file("acm-mio", "page/acm_prov.7", "share/man/man7/acm_prov.7"),
    file("acm-mio", "dist/grafana-dashboard.json", "share/acm-mio/grafana-dashboard.json"),
    file("acm-mio", "dist/slurm/drain", "share/acm-mio/slurm-drain"),
    file("acm-mio", "dist/slurm/prolog", "share/acm-mio/slurm-prolog"),
    file("acm-mio", "dist/slurm/warm", "share/acm-mio/slurm-warm"),
    file("acm-mio", "dist/slurm/ready", "share/acm-mio/ready"),
    file("acm-mio", "dist/acm-hardware-test", "share/acm-mio/hardware-test"),
    file("acm-mio", "dist/acm-mio.rules.yml", "share/acm-mio/acm-mio.rules.yml"),
    file("acm-mio", "dist/acm-mio.logrotate", "/etc/logrotate.d/acm-mio"),
    file("acm-mio", "dist/acm-mio.sysusers", "SYSTEMD/sysusers.d/acm-mio.conf"),
    file("acm-mio", "dist/acm-mio.udev", "SYSTEMD/udev/rules.d/60-acm-mio.rules"),
    file("acm-mio", "dist/acm-mio.socket", "SYSTEMD/systemd/system/acm-mio.socket"),
    file("acm-mio", "dist/acm-mio.service", "SYSTEMD/systemd/system/acm-mio.service"),
    // Debian's ibacm contains /usr/bin/ib_acme.
    file("ib-acme-rs", "built/ib_acme", "bin/acm-ib_acme"),
    file("ib-acme-rs", "dist/acm-ib_acme.1", "share/man/man1/acm-ib_acme.1"),
    file("ib-acme-rs", "built/acm-ib_acme.bash", "share/bash-completion/completions/acm-ib_acme"),
    file("ib-acme-rs", "built/acm-ib_acme.fish", "share/fish/vendor_completions.d/acm-ib_acme.fish"),
    file("ib-acme-rs", "built/acm-ib_acme.zsh", "share/zsh/site-functions/_acm-ib_acme"),
    // The packages link them beside those where `ib_acme` is this program.
    file("ib-acme-rs", "built/ib_acme.bash", "share/acm-ib_acme/ib_acme.bash"),
    file("ib-acme-rs", "built/ib_acme.fish", "share/acm-ib_acme/ib_acme.fish"),
    file("ib-acme-rs", "built/ib_acme.zsh", "share/acm-ib_acme/ib_acme.zsh"),
    file(ALIAS, "-> acm-mio", "sbin/ibacm"),
    file(ALIAS, "dist/ibacm.8", "share/man/man8/ibacm.8"),
    file(ALIAS, "-> acm-mio.socket", "SYSTEMD/systemd/system/ibacm.socket"),
    file(ALIAS, "-> acm-mio.service", "SYSTEMD/systemd/system/ibacm.service"),
    file("libibacm1", "built/libibacm.so", "LIBDIR/libibacm.so.1"),
    file("libibacm-dev", "-> libibacm.so.1", "LIBDIR/libibacm.so"),
    file("libibacm-dev", "built/libibacm.a", "LIBDIR/libibacm.a"),
    file("libibacm-dev", "dist/libibacm.pc", "LIBDIR/pkgconfig/libibacm.pc"),
    file("libibacm-dev", "crates/acm-capi/include/libacm.h", "include/ibacm/libacm.h"),
    file("libibacm-dev", "crates/acm-provider/include/infiniband/acm_prov.h", "include/ibacm/infiniband/acm_prov.h"),
    file("libibacm-dev", "page/libibacm.3", "share/man/man3/libibacm.3"),
    file("libacmrs", "built/libacmrs.so", "LIBDIR/ibacm/libacmrs.so"),
    file("ib-sim", "built/ib-sim", "bin/ib-sim"),
    file("ib-sim", "dist/ib-sim.1", "share/man/man1/ib-sim.1"),
    file("ib-sim", "dist/completions/ib-sim.bash", "share/bash-completion/completions/ib-sim"),
    file("ib-sim", "dist/completions/ib-sim.fish", "share/fish/vendor_completions.d/ib-sim.fish"),
    file("ib-sim", "dist/completions/ib-sim.zsh", "share/zsh/site-functions/_ib-sim"),
    file("ib-sim", "built/libib_sim_preload.so", "lib/ib-sim/libib_sim_preload.so"),
    file("acm-replay", "built/acm-replay", "bin/acm-replay"),
    file("acm-replay", "dist/acm-replay.1", "share/man/man1/acm-replay.1"),
    file("acm-replay", "dist/completions/acm-replay.bash", "share/bash-completion/completions/acm-replay"),
    file("acm-replay", "dist/completions/acm-replay.fish", "share/fish/vendor_completions.d/acm-replay.fish"),
    file("acm-replay", "dist/completions/acm-replay.zsh", "share/zsh/site-functions/_acm-replay"),
    file("acm-replay", "dist/wireshark/acm.lua", "LIBDIR/wireshark/plugins/acm.lua"),
];

/// The content of an installed file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bytes(Vec<u8>),
    Link(&'static str),
}

impl File {
    /// True if an administrator may change the file.
    pub(crate) fn is_configuration(&self) -> bool {
        self.path.starts_with("/etc/")
    }

    pub(crate) fn mode(&self) -> u32 {
        let is_executable =
            ["bin/", "sbin/", "share/acm-mio/hardware-test", "share/acm-mio/ready", "share/acm-mio/slurm-"]
                .iter()
                .any(|folder| self.path.starts_with(folder));
        // find-debuginfo looks for libraries among executable files.
        if is_executable || self.path.ends_with(".so") || self.path.ends_with(".so.1") { 0o755 } else { 0o644 }
    }

    /// The path of the installed file, without `--root`.
    pub(crate) fn path(&self, folders: &Folders) -> PathBuf {
        match self.path.split_once('/') {
            Some(("LIBDIR", rest)) => folders.libdir().join(rest),
            Some(("SYSTEMD", rest)) => folders.systemd().join(rest),
            _ => folders.prefix.join(self.path),
        }
    }

    /// The content of the file, with the paths of this installation.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(crate) fn content(&self, folders: &Folders, built: &Path) -> Result<Content, TaskError> {
        if let Some(target) = self.source.strip_prefix("-> ") {
            return Ok(Content::Link(target));
        }
        if let Some(name) = self.source.strip_prefix("page/") {
            return pages::page(name).map(Content::Bytes);
        }
        let source = match self.source.strip_prefix("built/") {
            Some(name) => built.join(name),
            None => command::root().join(self.source),
        };
        let bytes = fs::read(&source).map_err(TaskError::io("reading", &source))?;
        let with_paths = |text: String| {
            let text = text.replace("/usr/sbin/", &format!("{}/", folders.prefix.join("sbin").display()));
            let text = text.replace("prefix=/usr\n", &format!("prefix={}\n", folders.prefix.display()));
            text.replace("libdir=${prefix}/lib\n", &format!("libdir={}\n", folders.libdir().display()))
        };
        let text = String::from_utf8(bytes);
        Ok(Content::Bytes(text.map_or_else(|error| error.into_bytes(), |text| with_paths(text).into_bytes())))
    }
}

/// Directories that the unit's sandbox hides from the daemon. Nothing may be installed there.
const HIDDEN: &[&str] = &["/home", "/root", "/run", "/tmp", "/var/tmp", "/proc", "/sys", "/dev"];

/// The directories to install into, and the files to install.
#[derive(Args, Clone, Debug)]
pub(crate) struct Folders {
    /// The daemon goes to DIR/sbin, other files to DIR/bin, DIR/lib, DIR/include and DIR/share.
    #[arg(long, value_name = "DIR", default_value = "/usr/local", value_parser = prefix)]
    prefix: PathBuf,
    /// Directory of the libraries [default: PREFIX/lib].
    #[arg(long, value_name = "DIR")]
    libdir: Option<PathBuf>,
    /// Put everything below this directory, for a package or an image. The paths in the files are as without it.
    #[arg(long, value_name = "DESTDIR")]
    root: Option<PathBuf>,
    /// Only the files of this Debian package. May be repeated. Without it, all files but those with ibacm's names.
    #[arg(long, value_name = "NAME", value_parser = package)]
    package: Vec<String>,
}

/// Parses a prefix: a directory that a unit may name without quotes.
fn prefix(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte);
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) || !text.bytes().all(is_plain)
    {
        return Err("an absolute path of letters, digits, '.', '_', '-' and '+'".to_owned());
    }
    // Without double slashes and a slash at the end.
    let path: PathBuf = path.components().collect();
    match HIDDEN.iter().find(|hidden| path.starts_with(hidden)) {
        Some(hidden) => Err(format!("the daemon's unit hides {hidden} from it")),
        None => Ok(path),
    }
}

fn package(text: &str) -> Result<String, String> {
    let is_there = FILES.iter().any(|file| file.package == text);
    if is_there { Ok(text.to_owned()) } else { Err("no such package".to_owned()) }
}

impl Folders {
    /// The chosen files.
    pub(crate) fn files(&self) -> impl DoubleEndedIterator<Item = &'static File> {
        FILES.iter().filter(|file| match self.package.as_slice() {
            [] => file.package != ALIAS,
            chosen => chosen.iter().any(|name| name == file.package),
        })
    }

    fn libdir(&self) -> PathBuf {
        self.libdir.clone().unwrap_or_else(|| self.prefix.join("lib"))
    }

    /// The parent of systemd's directories: `/etc` if systemd does not look below the prefix.
    fn systemd(&self) -> PathBuf {
        let looks_there = ["/usr", "/usr/local"].map(Path::new).contains(&self.prefix.as_path());
        if looks_there { self.prefix.join("lib") } else { "/etc".into() }
    }

    /// A path below `--root`.
    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// True if the files go to this machine, which needs root.
    pub(crate) const fn is_this_machine(&self) -> bool {
        self.root.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_dist_is_installed() {
        let mut there = BTreeSet::new();
        let mut folders = vec![command::root().join("dist")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if !path.is_dir() {
                    there.insert(path.strip_prefix(command::root()).unwrap().to_str().unwrap().to_owned());
                } else if !path.ends_with("dist/packaging") {
                    folders.push(path);
                }
            }
        }
        let listed = FILES.iter().map(|file| file.source.to_owned()).filter(|source| source.starts_with("dist/"));
        assert_eq!(there, listed.collect());
    }

    #[test]
    fn files_of_dist_name_the_programs_by_one_path() {
        for file in FILES.iter().filter(|file| file.source.starts_with("dist/")) {
            let text = fs::read_to_string(command::root().join(file.source)).unwrap();
            let named = text.lines().filter(|line| line.contains("sbin/") || line.contains("/acm-mio -"));
            assert!(
                named.clone().all(|line| line.contains("/usr/sbin/acm-mio") || line.contains("/usr/sbin/acmctl")),
                "{:?}",
                named.collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn pkg_config_file_has_the_version() {
        let text = fs::read_to_string(command::root().join("dist/libibacm.pc")).unwrap();
        assert!(text.contains(&format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    }

    #[test]
    fn prefix_is_an_absolute_path_without_special_characters() {
        assert_eq!(prefix("/usr/local//").unwrap(), Path::new("/usr/local"));
        assert_eq!(prefix("/opt/acm-0.1").unwrap(), Path::new("/opt/acm-0.1"));
        for bad in ["usr", "", "/opt/../usr", "/opt/a b", "/opt/%i", "/opt/$x", "/home/me", "/tmp/x", "/root"] {
            assert!(prefix(bad).is_err(), "{bad}");
        }
    }
}
