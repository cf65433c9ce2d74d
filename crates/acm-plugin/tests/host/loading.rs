//! The search for libraries by name, the messages about defective libraries, and log levels.
use crate::common::{Host, PORT, compile, resolve, response};
use acm_plugin::{Library, OpenDevice, OpenedDevice, Search};
use acm_sansio::api::{ExternalRequestId, ProviderCall};
use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

/// Compiles a library with an option. Returns the message about its defect, without the path.
fn refusal(folder: &Path, option: &str) -> String {
    let path = compile(folder, "libwrong.so", &[option]);
    // Each library has its own file, because libraries are never closed.
    let path = path.with_file_name(format!("lib{option}.so"));
    fs::rename(folder.join("libwrong.so"), &path).unwrap();
    let message = Library::open(&path).unwrap_err().to_string();
    let start = format!("provider library {}: ", fs::canonicalize(&path).unwrap().display());
    message.strip_prefix(&start).unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn each_defect_has_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |option| refusal(folder.path(), option);
    assert_eq!(refusal("-DWRONG_QUERY"), "no function provider_query");
    assert_eq!(refusal("-DWRONG_RESULT"), "provider_query gave 3");
    assert_eq!(refusal("-DWRONG_POINTER"), "provider_query gave no provider");
    assert_eq!(refusal("-DWRONG_VERSION"), "made for version 2 of the interface of providers; this is version 1");
    assert_eq!(refusal("-DWRONG_SIZE"), "its struct acm_provider has 112 bytes, not 120");
    assert_eq!(refusal("-DWRONG_NAME"), "its provider has no usable name");
    assert_eq!(refusal("-DNAME=\"two words\""), "its provider has no usable name");
    assert_eq!(refusal("-DWRONG_FUNCTION"), "its provider has no function handle_event");
    assert_eq!(refusal("-DWRONG_SYMBOL"), "undefined symbol: acm_function_that_no_daemon_has");
}

#[test]
fn name_of_a_provider_has_at_most_63_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let compiled =
        |length| compile(folder.path(), &format!("lib{length}.so"), &[&format!("-DNAME=\"{}\"", "n".repeat(length))]);
    assert_eq!(Library::open(&compiled(63)).unwrap().name(), "n".repeat(63));
    let message = Library::open(&compiled(64)).unwrap_err().to_string();
    assert!(message.ends_with(": its provider has no usable name"), "{message}");
}

#[test]
fn files_that_are_not_libraries_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &Path| Library::open(path).unwrap_err().to_string();
    let at = |name: &str| folder.path().join(name);
    assert!(message(&at("none.so")).ends_with("No such file or directory (os error 2)"));
    assert!(message(folder.path()).ends_with(": no regular file"));
    fs::write(at("text.so"), "no library").unwrap();
    let text = message(&at("text.so"));
    assert!(text.contains("/text.so: ") && text.matches("text.so").count() == 1, "{text}");
}

// docs/deviations.md: provider-owner
#[test]
fn root_refuses_libraries_that_others_can_write() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("a");
    fs::create_dir(&nested).unwrap();
    let path = compile(&nested, "libtest.so", &[]);
    let root = nix::unistd::geteuid().is_root();
    let message = |path: &Path| Library::open(path).err().map(|refused| refused.to_string());
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(&path, 0o666);
    let text = message(&path);
    assert_eq!(
        text.is_some_and(|text| text.ends_with(": others than root may write to it, and the daemon runs as root")),
        root
    );
    set(&path, 0o644);
    for (folder, words) in [(&*nested, "its directory"), (folder.path(), "a directory of its path")] {
        set(folder, 0o777);
        let text = message(&path);
        let expected = format!("others than root may write to {words}, and");
        assert_eq!(text.is_some_and(|text| text.contains(&expected)), root);
        set(folder, 0o755);
    }
    // As /tmp has it.
    set(folder.path(), 0o1777);
    assert_eq!(message(&path), None);
    // A group may write if it is root's.
    set(&path, 0o664);
    assert_eq!(message(&path), None);
    if root {
        std::os::unix::fs::chown(&path, None, Some(1)).unwrap();
        assert!(message(&path).unwrap().contains("others than root may write to it"));
        std::os::unix::fs::chown(&path, None, Some(0)).unwrap();
    }
    set(&path, 0o644);
    if root {
        std::os::unix::fs::chown(&path, Some(1), None).unwrap();
        assert!(message(&path).unwrap().contains(": it is not root's, and"));
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    assert_eq!(message(&path), None);
}

// docs/deviations.md: provider-lines
#[test]
fn library_is_found_by_provider_name_or_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| fs::canonicalize(folder.path()).unwrap().join(name);
    for (file, name) in [("liba.so", "beta"), ("libb.so", "alpha"), ("libalpha.so", "gamma"), ("libz.so", "alpha")] {
        compile(folder.path(), file, &[&format!("-DNAME=\"{name}\"")]);
    }
    compile(folder.path(), "libold.so", &["-DWRONG_VERSION"]);
    fs::write(at("readme.txt"), "").unwrap();
    std::os::unix::fs::symlink(at("libz.so"), at("lib0.so")).unwrap();
    let mut search = Search::new(folder.path());
    let mut found =
        |name: &str| search.find(name).map(|library| library.path().to_owned()).map_err(|error| error.to_string());
    assert_eq!(found("alpha"), Ok(at("libb.so")), "libalpha.so has another provider, and links are ignored");
    assert_eq!(found("BETA"), Ok(at("liba.so")));
    assert_eq!(found("gamma"), Ok(at("libalpha.so")));
    assert_eq!(found("libz.so"), Ok(at("libz.so")));
    assert_eq!(found(at("lib0.so").to_str().unwrap()), Ok(at("libz.so")));
    let none = format!("provider delta: no library in {} has a provider of this name", folder.path().display());
    assert_eq!(found("delta"), Err(none));
    assert!(found("/none/libdsap.so").is_err());
    let refused: Vec<String> = search.take_refused().iter().map(ToString::to_string).collect();
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused[0].contains("/libold.so: made for version 2"), "{refused:?}");
    assert!(refused[1].contains("/none/libdsap.so: No such file"), "{refused:?}");
}

#[test]
fn provider_compiled_with_this_projects_header_works() {
    let folder = tempfile::tempdir().unwrap();
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/tests/c");
    let options = [include, "-Werror"];
    let library = Library::open(&compile(folder.path(), "libtest.so", &options)).unwrap();
    let mut host =
        Host::with(&library, OpenDevice::new(|_| Ok(OpenedDevice::new(core::ptr::dangling_mut(), ()))), folder);
    host.open();
    let request = ExternalRequestId::new(1, 2);
    assert_eq!(host.call(resolve("at once", request)), (vec![response("at once", request)], true));
}

#[test]
fn lines_above_the_log_level_are_dropped() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", "loading::log_level_of_this_process", "--ignored"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "the log level is that of its process, in which no other test may run"]
fn log_level_of_this_process() {
    let mut host = Host::new();
    let open = |host: &mut Host| {
        host.open();
        host.ok(ProviderCall::ClosePort(PORT));
        host.take_lines().iter().any(|line| line == "open_endpoint: pkey ffff port 1")
    };
    assert!(!open(&mut host));
    acm_plugin::set_log_level(1);
    assert!(open(&mut host));
}
