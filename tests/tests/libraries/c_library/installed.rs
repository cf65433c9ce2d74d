//! The library where it is installed, and C programs that are compiled with it.
use acm_tests::{Finished, Process, c_library, program, run, xtask};
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Where `.ci/tsan` has the library as ThreadSanitizer wants it.
const SANITIZED: &str = "ACM_SANITIZED";

/// What C is compiled with everywhere.
const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-std=gnu11", "-g"];

/// A directory that stands for `/`, in which the library is installed.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_library");
        let words = [root.to_str().unwrap(), c_library().to_str().unwrap()].map(str::to_owned);
        // Whatever stands for the daemon.
        let _ =
            run(xtask(), &["install", "--program", "/bin/true", "--root", &words[0], "--library", &words[1]]).success();
        root
    })
}

/// A file of it, from the prefix.
pub(crate) fn file(name: &str) -> PathBuf {
    root().join("usr/local").join(name)
}

/// Flags for the compiler, as pkg-config has them.
fn flags(words: &[&str]) -> Vec<String> {
    let mut command = Command::new(program("pkg-config", "pkg-config"));
    command.args(words).arg("libibacm").env("PKG_CONFIG_PATH", file("lib/pkgconfig"));
    let said = Process::start(command.env("PKG_CONFIG_SYSROOT_DIR", root())).wait().success();
    said.split_whitespace().map(str::to_owned).collect()
}

/// Compiles a program, once: another test may run it already.
fn compile(source: &Path, name: &str, flags: &[String]) -> PathBuf {
    static COMPILED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // One that did not compile fails its own test alone.
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

/// The same of any other.
pub(crate) fn shared_of(source: &Path) -> PathBuf {
    let flags = match sanitized() {
        Some(library) => {
            let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/tsan.c").display().to_string();
            let own = ["-fsanitize=thread", &runtime, library.to_str().unwrap(), "-lm", "-ldl", "-lpthread"];
            let own = own.map(str::to_owned);
            [flags(&["--cflags"]), own.to_vec()].concat()
        }
        None => [flags(&["--cflags", "--libs"]), vec!["-lpthread".to_owned()]].concat(),
    };
    compile(source, source.file_stem().unwrap().to_str().unwrap(), &flags)
}

/// Starts a program where it finds the library, watched by valgrind or ThreadSanitizer.
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

/// Runs one to its end. Nothing that watches it has anything to say.
pub(crate) fn watch(program: &Path, arguments: &[&str]) -> String {
    quiet(watched(program, arguments).wait())
}

/// Starts one that nobody watches.
pub(crate) fn start(program: &Path, arguments: &[&str]) -> Process {
    Process::start(Command::new(program).args(arguments).env("LD_LIBRARY_PATH", file("lib")))
}

pub(crate) fn quiet(finished: Finished) -> String {
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished}");
    finished.stdout
}

/// The functions that a header has, as one reads it: what stands before a bracket.
fn functions(header: &str) -> BTreeSet<String> {
    let lines = header.lines().filter(|line| !line.starts_with("//") && !line.starts_with('#'));
    let calls =
        lines.filter_map(|line| line.split_once('(')).filter_map(|(before, _)| before.rsplit([' ', '*']).next());
    calls.filter(|name| name.starts_with("ib_acm_")).map(str::to_owned).collect()
}

#[test]
fn nothing_but_what_the_header_says_is_exported() {
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

/// With the headers that define the same, before it, as rdma-core's own programs are compiled; and as C++.
#[test]
fn the_header_goes_with_others() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, words) in [
        ("alone.c", "#include <libacm.h>\nint main(void) { return sizeof(struct ib_acm_request) == 0; }\n", &[][..]),
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

/// The static library needs nothing but what pkg-config names.
#[test]
fn the_static_library_is_whole() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/acme.c");
    let mut words = flags(&["--cflags", "--libs", "--static"]);
    words.iter_mut().filter(|word| *word == "-libacm").for_each(|word| *word = "-l:libibacm.a".to_owned());
    // In a build of the whole workspace acm-client has code for devices, of which the library uses nothing.
    words.push("-Wl,--gc-sections".to_owned());
    let acme = compile(&source, "acme-static", &words);
    let said = run(acme, &["/no/such/socket", "perf", "0"]);
    assert_eq!(
        said.stdout,
        "/no/such/socket,unable to contact service: No such file or directory\nreturn status 0x2\n"
    );
}
