//! C programs that look up paths: by librdmacm's calls, or with libibacm.
use crate::{Process, c_library, ibacm_preload, program};
use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Compiles the sources of `tests/c` once, and returns the directory of the results.
fn compiled(name: &str, compile: impl FnOnce(&Path, &dyn Fn(&str, &str, &[&str]))) -> PathBuf {
    let folder = env::current_exe().unwrap().ancestors().nth(2).unwrap().join(name);
    fs::create_dir_all(&folder).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    compile(&folder, &|source, to, words| {
        let mut command = Command::new(program("cc", "gcc"));
        command.args(["-Wall", "-Wextra", "-Werror", "-std=gnu11", "-D_GNU_SOURCE", "-g"]).arg(sources.join(source));
        let finished = Process::start(command.arg("-o").arg(folder.join(to)).args(words)).wait();
        assert_eq!(finished.code, Some(0), "{finished}");
    });
    folder
}

/// Returns a command of `tests/c/preloaded.c`, with or without `libibacm_preload.so`. Its library is called
/// `librdmacm.so.1`, and connects, sends and receives as rdma-core's.
#[must_use]
pub fn preloaded(preload: bool) -> Command {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    let folder = COMPILED.get_or_init(|| {
        compiled("librdmacm_preload", |folder, compile| {
            compile("librdmacm.c", "librdmacm.so.1", &["-shared", "-fPIC", "-Wl,-soname,librdmacm.so.1"]);
            let library = folder.join("librdmacm.so.1").display().to_string();
            compile("preloaded.c", "preloaded", &[&library, "-pthread"]);
        })
    });
    let mut command = Command::new(folder.join("preloaded"));
    command.env("LD_LIBRARY_PATH", folder);
    if preload {
        command.env("LD_PRELOAD", ibacm_preload());
    }
    command
}

/// Returns a command of `tests/c/interfaces.c` with the library that is not installed.
#[must_use]
pub fn interfaces() -> Command {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    let folder = COMPILED.get_or_init(|| {
        let library = c_library().join("libibacm.so");
        let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../crates/acm-capi/include");
        compiled("libibacm", |folder, compile| {
            let link = folder.join("libibacm.so.1");
            // A previous run may have made it.
            let _ = fs::remove_file(&link);
            symlink(&library, &link).unwrap();
            compile("interfaces.c", "interfaces", &[include, library.to_str().unwrap(), "-pthread"]);
        })
    });
    let mut command = Command::new(folder.join("interfaces"));
    command.env("LD_LIBRARY_PATH", folder);
    command
}
