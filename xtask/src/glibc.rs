//! The version of glibc that the packages of `dist` need.
//!
//! A program needs the newest version of each function that the linker finds. zig has lists of the functions of all
//! versions of glibc, and makes libraries of them that are only for the linker. The linker gets these in place of the
//! machine's.
use crate::{
    command::{self, words},
    error::TaskError,
    packages::{self, Install, ZIG},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The version of RHEL 8.
const VERSION: &str = "2.28";
/// The release of zig on PyPI. Another one compiles other bytes into the programs, and may keep its files elsewhere.
const RELEASE: &str = "ziglang==0.17.1";

/// The libraries of glibc that Rust's std links, by their names for the linker and the loader.
const LIBRARIES: [(&str, &str); 6] = [
    ("libdl.so", "libdl.so.2"),
    ("libm.so", "libm.so.6"),
    ("libpthread.so", "libpthread.so.0"),
    ("libresolv.so", "libresolv.so.2"),
    ("librt.so", "librt.so.1"),
    ("libutil.so", "libutil.so.1"),
];
/// The parts of `libc.so`. zig's name of the loader is `libld.so.2`.
const PARTS: [&str; 3] = ["libc.so.6", "libc_nonshared.a", "libld.so.2"];
/// The code before `main`.
const START: &str = "Scrt1.o";

/// Returns the flags of rustc that link against glibc 2.28.
///
/// # Errors
/// zig is missing and cannot be installed, or makes no libraries.
pub(crate) fn rustflags(install: Install) -> Result<String, TaskError> {
    let folder = libraries(install)?;
    let folder = folder.display();
    // The machine's libgcc_s and libibverbs may need functions that are newer. They are not the ones that are loaded.
    Ok(format!("-L native={folder} -C link-arg=-B{folder} -C link-arg=-Wl,--allow-shlib-undefined"))
}

/// Makes the libraries, and returns their directory.
fn libraries(install: Install) -> Result<PathBuf, TaskError> {
    let zig = zig(install)?;
    let folder = command::root().join("target/dist/glibc");
    let cache = folder.join("cache");
    // Left by an earlier run, perhaps of another version.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(TaskError::io("creating", &folder))?;
    let source = folder.join("empty.c");
    fs::write(&source, "int main(void) { return 0; }\n").map_err(TaskError::io("writing", &source))?;
    // zig makes them when it links a program.
    let mut link = Command::new(zig);
    link.args(["cc", "-s", "-O2", "-fPIC", "-pie", "-target"]);
    link.arg(format!("{}-linux-gnu.{VERSION}", std::env::consts::ARCH)).arg(&source).arg("-o");
    link.arg(folder.join("empty")).env("ZIG_GLOBAL_CACHE_DIR", &cache).env("ZIG_LOCAL_CACHE_DIR", &cache);
    command::run(&mut link)?;
    let made = cache.join("o");
    let copy = |from: &'static str, to: &str| {
        let missing = || TaskError::Missing { what: from, command: command::line(&link) };
        let file = find(&made, from)?.ok_or_else(missing)?;
        fs::copy(&file, folder.join(to)).map_err(TaskError::io("copying", &file)).map(drop)
    };
    PARTS.iter().chain([&START]).try_for_each(|name| copy(name, name))?;
    LIBRARIES.iter().try_for_each(|(linked, loaded)| copy(loaded, linked))?;
    let [shared, part, loader] = PARTS;
    let libc = folder.join("libc.so");
    fs::write(&libc, format!("GROUP({shared} {part} AS_NEEDED({loader}))\n"))
        .map_err(TaskError::io("writing", &libc))?;
    Ok(folder)
}

/// Returns the file of this name in one of the folders in `made`.
fn find(made: &Path, name: &str) -> Result<Option<PathBuf>, TaskError> {
    let mut entries = fs::read_dir(made).map_err(TaskError::io("reading", made))?;
    Ok(entries.find_map(|entry| Some(entry.ok()?.path().join(name)).filter(|file| file.is_file())))
}

/// Installs zig into a directory of its own, if it is not there, and returns the program.
fn zig(install: Install) -> Result<PathBuf, TaskError> {
    packages::ensure(ZIG, install)?;
    let folder = format!("target/dist/{RELEASE}");
    let program = command::root().join(&folder).join("bin/python-zig");
    if program.is_file() {
        return Ok(program);
    }
    let line = format!("{folder}/bin/pip install --quiet --disable-pip-version-check {RELEASE}");
    if install.no_install {
        return Err(TaskError::Missing { what: RELEASE, command: format!("python3 -m venv {folder} && {line}") });
    }
    println!("Missing: {RELEASE} of PyPI. It is installed in {folder} (450 MB).");
    command::run(&mut words(&format!("python3 -m venv {folder}")))?;
    command::run(&mut words(&line))?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_is_found_in_the_folder_that_has_it() {
        let made = tempfile::tempdir().unwrap();
        // zig names its folders by hashes, and has files beside them.
        fs::write(made.path().join("libc.so.6"), "").unwrap();
        for (folder, file) in [("1", "Scrt1.o"), ("2", "libc.so.6"), ("3", "libm.so.6")] {
            fs::create_dir(made.path().join(folder)).unwrap();
            fs::write(made.path().join(folder).join(file), "").unwrap();
        }
        assert_eq!(find(made.path(), "libc.so.6").unwrap(), Some(made.path().join("2/libc.so.6")));
        assert_eq!(find(made.path(), "libld.so.2").unwrap(), None);
        assert!(find(&made.path().join("4"), "libc.so.6").is_err());
    }
}
