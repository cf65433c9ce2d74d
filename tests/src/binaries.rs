//! This project's own programs, built once for each run of a test file.
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
    /// The fabric.
    IbSim,
    /// Our client for shells.
    IbAcme,
    /// The demonstration.
    Demo,
}

/// The packages of these programs.
const PROGRAMS: &[&str] =
    &["-p", "acm-mio", "-p", "ib-sim", "-p", "acm-client", "-p", "xtask", "--bins", "--features", "xtask/demo"];

/// Where the program is; builds it first.
#[must_use]
pub fn binary(binary: Binary) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| build(PROGRAMS)).join(match binary {
        Binary::AcmMio => "acm-mio",
        Binary::IbSim => "ib-sim",
        Binary::IbAcme => "ib_acme",
        Binary::Demo => "demo",
    });
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Where the library for `LD_PRELOAD` is; builds it first.
#[must_use]
pub fn preload() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| build(&["-p", "ib-sim-preload", "--lib"])).join("libib_sim_preload.so");
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Where the library for C is, `libibacm.so` and `libibacm.a`; builds it first.
#[must_use]
pub fn c_library() -> PathBuf {
    let folder = build(&["-p", "acm-capi", "--lib"]);
    assert!(folder.join("libibacm.so").is_file(), "libibacm.so was not built");
    folder
}

/// Where our provider for C `ibacm` is; builds it first.
#[must_use]
pub fn acmrs() -> PathBuf {
    let path = build(&["-p", "acmrs", "--lib"]).join("libacmrs.so");
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Where the provider in Rust of `examples/provider-hosts` is; builds it first.
#[must_use]
pub fn provider_hosts() -> PathBuf {
    let path = build(&["-p", "acm-provider", "--example", "hosts"]).join("examples/libhosts.so");
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Where the tasks of this project are; builds them first.
#[must_use]
pub fn xtask() -> PathBuf {
    build(&["-p", "xtask", "--bins"]).join("xtask")
}

/// Where an example of `acm-client` is; builds it first.
#[must_use]
pub fn example(name: &str) -> PathBuf {
    build(&["-p", "acm-client", "--example", name]).join("examples").join(name)
}

/// Builds with this test's own profile, into the same place: `TARGET/PROFILE/deps` is where this test lies. There is
/// nothing to build for `cargo xtask test`, which built everything and says so: cargo would choose other features of
/// third parties' crates for a part of the workspace, and build them anew.
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
