//! C programs with libibacm.
use crate::{Process, c_library, program};
use std::{env, fs, os::unix::fs::symlink, path::PathBuf, process::Command, sync::OnceLock};

/// Returns a command of `tests/c/interfaces.c`, which is compiled once, with the library that is not installed.
#[must_use]
pub fn interfaces() -> Command {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    let folder = COMPILED.get_or_init(compile);
    let mut command = Command::new(folder.join("interfaces"));
    command.env("LD_LIBRARY_PATH", folder);
    command
}

/// Returns the directory of the program and its library.
fn compile() -> PathBuf {
    let folder = env::current_exe().unwrap().ancestors().nth(2).unwrap().join("libibacm");
    fs::create_dir_all(&folder).unwrap();
    let (library, link) = (c_library().join("libibacm.so"), folder.join("libibacm.so.1"));
    // A previous run may have made it.
    let _ = fs::remove_file(&link);
    symlink(&library, &link).unwrap();
    let mut command = Command::new(program("cc", "gcc"));
    command.args(["-Wall", "-Wextra", "-Werror", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-pthread"]);
    command.arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../crates/acm-capi/include"));
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/c/interfaces.c")).arg(library);
    let finished = Process::start(command.arg("-o").arg(folder.join("interfaces"))).wait();
    assert_eq!(finished.code, Some(0), "{finished}");
    folder
}
