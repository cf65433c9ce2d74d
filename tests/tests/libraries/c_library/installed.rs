//! The installed library, and the compilation of C programs with it.
use acm_tests::{Finished, Process, c_library, program, run, xtask};
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Environment variable in which `.ci/tsan` passes the library for ThreadSanitizer.
const SANITIZED: &str = "ACM_SANITIZED";

/// Compiler flags of all C programs.
const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-std=gnu11", "-g"];

/// Returns a directory that stands for `/` and has the installed library.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_library");
        let words = [root.to_str().unwrap(), c_library().to_str().unwrap()].map(str::to_owned);
        let packages = ["--package", "libibacm1", "--package", "libibacm-dev"];
        let _ =
            run(xtask(), &[&["install", "--root", &words[0], "--built", &words[1]], &packages[..]].concat()).success();
        root
    })
}

/// Returns the path of an installed file below the prefix.
pub(crate) fn file(name: &str) -> PathBuf {
    root().join("usr/local").join(name)
}

/// Returns compiler flags from pkg-config.
fn flags(words: &[&str]) -> Vec<String> {
    let mut command = Command::new(program("pkg-config", "pkg-config"));
    command.args(words).arg("libibacm").env("PKG_CONFIG_PATH", file("lib/pkgconfig"));
    let output = Process::start(command.env("PKG_CONFIG_SYSROOT_DIR", root())).wait().success();
    output.split_whitespace().map(str::to_owned).collect()
}

/// Compiles a program once, because another test may run it already.
fn compile(source: &Path, name: &str, flags: &[String]) -> PathBuf {
    static COMPILED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // A failed compilation fails only its own test.
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if compiled.contains(name) {
        return to;
    }
    let mut command = Command::new(program("cc", "gcc"));
    command.args(STRICT).arg(source).arg("-o").arg(&to).args(flags);
    let finished = Process::start(&mut command).wait();
    assert_eq!(finished.code, Some(0), "{finished}");
    compiled.insert(name.to_owned());
    to
}

fn sanitized() -> Option<PathBuf> {
    env::var_os(SANITIZED).map(PathBuf::from)
}

/// Compiles a program of `tests/c` with the shared library, or with the one for ThreadSanitizer.
pub(crate) fn shared(name: &str) -> PathBuf {
    shared_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("c").join(name).with_extension("c"))
}

/// Compiles any other program in the same way.
pub(crate) fn shared_of(source: &Path) -> PathBuf {
    let flags = match sanitized() {
        Some(library) => {
            let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/tsan.c").display().to_string();
            let sanitizer = ["-fsanitize=thread", &runtime, library.to_str().unwrap(), "-lm", "-ldl", "-lpthread"];
            let sanitizer = sanitizer.map(str::to_owned);
            [flags(&["--cflags"]), sanitizer.to_vec()].concat()
        }
        None => [flags(&["--cflags", "--libs"]), vec!["-lpthread".to_owned()]].concat(),
    };
    compile(source, source.file_stem().unwrap().to_str().unwrap(), &flags)
}

/// Starts a program with the library under valgrind or ThreadSanitizer.
pub(crate) fn watched(program: &Path, arguments: &[&str]) -> Process {
    let valgrind =
        ["-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible"];
    let mut command = if sanitized().is_some() {
        Command::new(program)
    } else {
        let mut command = Command::new(acm_tests::program("valgrind", "valgrind"));
        command.args(valgrind).arg(program);
        command
    };
    Process::start(command.args(arguments).env("LD_LIBRARY_PATH", file("lib")))
}

/// Runs a program under valgrind or ThreadSanitizer to its end, checks that there are no errors, and returns its
/// output.
pub(crate) fn watch(program: &Path, arguments: &[&str]) -> String {
    quiet(watched(program, arguments).wait())
}

/// Starts a program with the library directly.
pub(crate) fn start(program: &Path, arguments: &[&str]) -> Process {
    Process::start(Command::new(program).args(arguments).env("LD_LIBRARY_PATH", file("lib")))
}

pub(crate) fn quiet(finished: Finished) -> String {
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished}");
    finished.stdout
}

/// Returns the functions of a header: the names before an opening parenthesis.
fn functions(header: &str) -> BTreeSet<String> {
    let lines = header.lines().filter(|line| !line.starts_with("//") && !line.starts_with('#'));
    let calls =
        lines.filter_map(|line| line.split_once('(')).filter_map(|(before, _)| before.rsplit([' ', '*']).next());
    calls.filter(|name| name.starts_with("ib_acm_")).map(str::to_owned).collect()
}

#[test]
fn exported_functions_equal_the_headers() {
    let header = fs::read_to_string(file("include/ibacm/libacm.h")).unwrap();
    let library = file("lib/libibacm.so.1");
    let symbols = run(program("nm", "binutils"), &["-D", "--defined-only", library.to_str().unwrap()]).success();
    let exported: BTreeSet<String> =
        symbols.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect();
    assert_eq!(exported, functions(&header));
    assert!(exported.len() >= 18, "{exported:?}");
    let dynamic = run(program("readelf", "binutils"), &["-d", library.to_str().unwrap()]).success();
    assert!(dynamic.contains("Library soname: [libibacm.so.1]"), "{dynamic}");
}

/// Covers headers of rdma-core with the same definitions before it, and C++.
#[test]
fn header_compiles_with_rdma_cores_headers_and_as_cxx() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, words) in [
        ("alone.c", "#include <libacm.h>\nint main(void) { return sizeof(struct ib_acm_request) == 0; }\n", &[][..]),
        (
            "before.c",
            "#include <libacm.h>\n#include <infiniband/verbs.h>\n#include <infiniband/sa.h>\n\
             #include <infiniband/acm.h>\n\
             int main(void) { struct ibv_ah_attr attr; return ib_acm_path_to_ah(0, 0, &attr); }\n",
            &[],
        ),
        // Without the headers of rdma-core.
        (
            "none.c",
            "#include <libacm.h>\n\
             int main(void) { union ibv_gid gid; return ib_acm_leave_group(0, 0, &gid, 0, 0); }\n",
            &["-DLIBACM_NO_RDMA_CORE"],
        ),
        (
            "verbs.c",
            "#include <infiniband/verbs.h>\n#include <infiniband/sa.h>\n#include <libacm.h>\n\
             int main(void) { struct ibv_path_data d = {0}; return ib_acm_resolve_path(&d.path, 0); }\n",
            &[],
        ),
        ("plus.c", "#include <libacm.h>\nint main() { ib_acm_disconnect(); return 0; }\n", &["-xc++", "-std=gnu++17"]),
    ] {
        let source = folder.path().join(name);
        fs::write(&source, text).unwrap();
        let mut command = Command::new(program("cc", "gcc"));
        command.args(["-Wall", "-Wextra", "-Werror"]).args(words).arg("-fsyntax-only").arg(&source);
        let compiled = Process::start(command.args(flags(&["--cflags"]))).wait();
        assert_eq!(compiled.code, Some(0), "{name}: {compiled}");
    }
}

/// pkg-config names all libraries that the static library needs.
#[test]
fn static_library_links_with_pkg_configs_flags() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/acme.c");
    let mut words = flags(&["--cflags", "--libs", "--static"]);
    words.iter_mut().filter(|word| *word == "-libacm").for_each(|word| *word = "-l:libibacm.a".to_owned());
    // In a build of the whole workspace, acm-client has code for devices that the library does not use.
    words.push("-Wl,--gc-sections".to_owned());
    let acme = compile(&source, "acme-static", &words);
    let finished = run(acme, &["/no/such/socket", "perf", "0"]);
    assert_eq!(
        finished.stdout,
        "/no/such/socket,unable to contact service: No such file or directory\nreturn status 0x2\n"
    );
}
