//! The memory of `shared_cache` after changes of the option file.
use super::*;
use acm_shm::{Reader, Time as ShmTime};

#[test]
fn memory_is_created_replaced_and_ended_as_the_option_file_requests() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let file = dir.path().join("opts");
    let args = ["acm-mio", "-O", file.to_str().unwrap(), "-A", "/none"];
    daemon.reload.current = Settings::read(&Args::parse_from(args));
    let mut apply = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let new = daemon.reload.current.read_again();
        daemon.apply(Time::ZERO, new);
        if let Some(shared) = &mut daemon.host.shared {
            shared.tick(daemon.clock.now());
        }
        assert_eq!(daemon.acm.config().shared_cache, daemon.host.shared.is_some());
        let memory = daemon.host.shared.as_ref().map(|shared| Reader::map(shared.file()).unwrap());
        memory.inspect(|reader| assert!(reader.is_in_use(ShmTime::now())))
    };
    assert!(apply("shared_cache off\n").is_none());
    let small = apply("shared_cache on\nshared_cache_entries 1000\n").unwrap();
    let same = apply("shared_cache on\nshared_cache_entries 1000\ntimeout 100\n").unwrap();
    assert_eq!((small.room(), same.generation()), (1000, small.generation()), "clients keep the memory");
    let large = apply("shared_cache on\nshared_cache_entries 2000\n").unwrap();
    assert!(large.room() == 2000 && !small.is_in_use(ShmTime::now()));
    assert!(apply("shared_cache off\n").is_none());
    assert!(!large.is_in_use(ShmTime::now()), "clients request paths at once");
}

/// The directories of this test are those of the user who runs it, so that the modes decide.
#[test]
fn memory_is_shared_by_default_only_if_every_user_may_connect() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let socket = dir.path().join("ibacm-unix.sock");
    let set = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let mut shares = |mode, of_dir, text: &str| {
        set(&socket, mode);
        set(dir.path(), of_dir);
        fs::write(dir.path().join("opts"), text).unwrap();
        daemon.reload.current = Settings::read(&Args::parse_from([
            "acm-mio",
            "-O",
            dir.path().join("opts").to_str().unwrap(),
            "-A",
            "/none",
        ]));
        let new = daemon.reload.current.read_again();
        daemon.apply(Time::ZERO, new);
        assert_eq!(daemon.acm.config().shared_cache, daemon.host.shared.is_some());
        daemon.host.shared.is_some()
    };
    assert!(shares(0o666, 0o755, "") && shares(0o777, 0o711, "shared_cache auto\n"));
    assert!(!shares(0o660, 0o755, ""), "a socket of a group");
    assert!(!shares(0o666, 0o750, ""), "a directory of a group");
    assert!(shares(0o660, 0o755, "shared_cache on\n") && !shares(0o666, 0o755, "shared_cache off\n"));
}
