//! Which library a name means, what is said of one that cannot be used, and what the log takes of one that can.
use crate::common::{Host, PORT, compile};
use acm_plugin::{Library, Search};
use acm_sansio::api::ProviderCall;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

/// What is said of a library, without its name.
fn refusal(folder: &Path, word: &str) -> String {
    let path = compile(folder, "libwrong.so", &[word]);
    // Another file each time: what was opened stays open.
    let path = path.with_file_name(format!("lib{word}.so"));
    fs::rename(folder.join("libwrong.so"), &path).unwrap();
    let said = Library::open(&path).unwrap_err().to_string();
    let start = format!("provider library {}: ", fs::canonicalize(&path).unwrap().display());
    said.strip_prefix(&start).unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[test]
fn each_defect_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |word| refusal(folder.path(), word);
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
fn files_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| Library::open(path).unwrap_err().to_string();
    let at = |name: &str| folder.path().join(name);
    assert!(said(&at("none.so")).ends_with("No such file or directory (os error 2)"));
    assert!(said(folder.path()).ends_with(": no regular file"));
    fs::write(at("text.so"), "no library").unwrap();
    let text = said(&at("text.so"));
    assert!(text.contains("/text.so: ") && text.matches("text.so").count() == 1, "{text}");
}

#[test]
fn who_may_write_to_it_would_be_root() {
    let folder = tempfile::tempdir().unwrap();
    let path = compile(folder.path(), "libtest.so", &[]);
    let root = nix::unistd::geteuid().is_root();
    let said = |path: &Path| Library::open(path).err().map(|refused| refused.to_string());
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(&path, 0o666);
    let why = said(&path);
    assert_eq!(
        why.is_some_and(|why| why.ends_with(": others than root may write to it, and the daemon runs as root")),
        root
    );
    set(&path, 0o644);
    set(folder.path(), 0o777);
    assert_eq!(said(&path).is_some_and(|why| why.contains("others than root may write to its directory")), root);
    set(folder.path(), 0o755);
    if root {
        std::os::unix::fs::chown(&path, Some(1), None).unwrap();
        assert!(said(&path).unwrap().contains(": it is not root's, and"));
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    assert_eq!(said(&path), None);
}

#[test]
fn a_name_is_the_providers_or_a_files() {
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
    assert_eq!(found("alpha"), Ok(at("libb.so")), "libalpha.so has another, and links are none");
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
fn lines_are_taken_up_to_the_level_of_the_log() {
    let mut host = Host::new();
    let open = |host: &mut Host| {
        host.open();
        host.ok(ProviderCall::ClosePort(PORT));
        host.take_lines().iter().any(|line| line == "open_endpoint: pkey ffff port 1")
    };
    assert!(!open(&mut host));
    acm_plugin::set_log_level(1);
    assert!(open(&mut host));
    acm_plugin::set_log_level(0);
}
