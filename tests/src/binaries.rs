//! This project's programs and libraries, built once in each test program.
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// A program of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// The daemon.
    AcmMio,
    /// The control program.
    AcmCtl,
    /// The fabric.
    IbSim,
    /// This project's `ib_acme`.
    IbAcme,
    /// The demonstration.
    Demo,
}

/// The packages of these programs.
const PROGRAMS: &[&str] =
    &["-p", "acm-mio", "-p", "ib-sim", "-p", "acm-client", "-p", "xtask", "--bins", "--features", "xtask/demo"];

/// Builds a program and returns its path.
#[must_use]
pub fn binary(binary: Binary) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| build(PROGRAMS)).join(match binary {
        Binary::AcmMio => "acm-mio",
        Binary::AcmCtl => "acmctl",
        Binary::IbSim => "ib-sim",
        Binary::IbAcme => "ib_acme",
        Binary::Demo => "demo",
    });
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Builds the library for `LD_PRELOAD` and returns its path.
#[must_use]
pub fn preload() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| build(&["-p", "ib-sim-preload", "--lib"])).join("libib_sim_preload.so");
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Builds the C library and returns the directory of `libibacm.so` and `libibacm.a`.
#[must_use]
pub fn c_library() -> PathBuf {
    let folder = build(&["-p", "acm-capi", "--lib"]);
    assert!(folder.join("libibacm.so").is_file(), "libibacm.so was not built");
    folder
}

/// Builds this project's provider for C `ibacm` and returns its path.
#[must_use]
pub fn acmrs() -> PathBuf {
    let path = build(&["-p", "acmrs", "--lib"]).join("libacmrs.so");
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Builds the Rust provider of `examples/provider-hosts` and returns its path.
#[must_use]
pub fn provider_hosts() -> PathBuf {
    let path = build(&["-p", "acm-provider", "--example", "hosts"]).join("examples/libhosts.so");
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Builds `xtask` and returns its path.
#[must_use]
pub fn xtask() -> PathBuf {
    build(&["-p", "xtask", "--bins"]).join("xtask")
}

/// Builds an example of `acm-client` and returns its path.
#[must_use]
pub fn example(name: &str) -> PathBuf {
    build(&["-p", "acm-client", "--example", name]).join("examples").join(name)
}

/// Builds programs with this test's own profile into `TARGET/PROFILE`, whose folder `deps` holds this test. With
/// `ACM_PROGRAMS=built`, `cargo xtask test` has already built the whole workspace. A build of a part would select other
/// features of third parties' crates and compile these crates again.
fn build(what: &[&str]) -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap().to_owned();
    if env::var_os("ACM_PROGRAMS").is_some_and(|programs| programs == "built") {
        return folder;
    }
    let profile = match folder.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        name => name,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(cargo)
        .args(["build", "--quiet"])
        .args(what)
        .args(["--profile", profile, "--target-dir"])
        .arg(folder.parent().unwrap())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap())
        .output()
        .unwrap();
    assert!(done.status.success(), "cargo build: {}", String::from_utf8_lossy(&done.stderr));
    folder
}
