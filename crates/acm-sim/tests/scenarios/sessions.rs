//! The recorded sessions in `testdata/traces`: each trace replays unchanged, and each session gives the recorded trace.
//! After a change of behaviour, record them again (`cargo run -p acm-sim --example record_traces`), and state the
//! reason in the commit.
use acm_sim::sessions::SESSIONS;
use acm_trace::{Entry, Fact, Kind, Reader, Replay, Stats};
use std::{collections::BTreeSet, env, fs, path::PathBuf, process::Command};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces")
}

#[test]
fn each_trace_replays_unchanged() {
    let mut files = BTreeSet::new();
    let (mut inputs, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pcapng") {
            let trace = fs::read(&path).unwrap();
            let done = Replay::default().run(trace.as_slice());
            let done = done.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(done.notes, [], "{}", path.display());
            assert!(done.inputs > 8 && done.outputs > 8, "{}: {done:?}", path.display());
            (inputs, bytes) = (inputs + done.inputs, bytes + trace.len());
            files.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    assert!(inputs > 500, "{inputs}");
    assert!(bytes < 5_000_000, "{bytes}");
    // `mixed` is the recording of a daemon by acm-tests' example `record_mixed`.
    let mut names = SESSIONS.iter().map(|session| session.name).chain(["mixed"]);
    assert!(names.all(|name| files.contains(name)), "{files:?}");
}

#[test]
fn each_session_gives_the_recorded_trace() {
    for session in SESSIONS {
        let path = folder().join(format!("{}.pcapng", session.name));
        let recorded = fs::read(&path).unwrap_or_default();
        assert!(session.trace() == recorded, "{} differs from a new recording by `record_traces`", path.display());
    }
}

/// All sessions together have each kind of fact that the simulator can cause, and responses with several statuses.
#[test]
fn sessions_cover_each_kind_of_fact() {
    let mut stats = Stats::default();
    let mut replies = BTreeSet::new();
    for session in SESSIONS {
        for entry in Reader::new(session.trace().as_slice()) {
            let entry = entry.unwrap();
            stats.add(&entry);
            if let Entry::Fact(dated) = &entry
                && let Fact::Output(output) = &dated.fact
                && let acm_sansio::Output::Reply { reply, .. } = &**output
            {
                replies.insert(reply.status().get());
            }
        }
    }
    let seen: BTreeSet<Kind> = stats.counts().map(|(kind, _)| kind).collect();
    // The simulator does not change interfaces, options or addresses, and its fabric does not fail to send. Packets of
    // a fabric are not in the trace of a core.
    let of_fabric = [Kind::FabricSent, Kind::FabricDelivered];
    let of_daemon = [Kind::Lost, Kind::AddressRemoved, Kind::Configure, Kind::Interfaces, Kind::CloseClient];
    let of_provider = [Kind::ProviderMessage, Kind::ProviderCall];
    let excluded = [&of_fabric[..], &of_daemon, &of_provider].concat();
    let missing: Vec<&Kind> =
        Kind::ALL.iter().filter(|kind| !seen.contains(kind) && !excluded.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(replies.is_superset(&BTreeSet::from([0, 2, 6, 7])), "{replies:?}");
}

/// Environment variable of the second process: the folder for its traces.
const CHILD: &str = "ACM_SIM_SESSIONS_TO";

/// The second process has another memory layout and another environment.
#[test]
fn sessions_give_the_same_traces_in_another_process() {
    if let Some(folder) = env::var_os(CHILD) {
        for session in SESSIONS {
            fs::write(PathBuf::from(&folder).join(session.name), session.trace()).unwrap();
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "sessions::sessions_give_the_same_traces_in_another_process"]).current_dir("/");
    child.env_clear().env(CHILD, folder.path()).env("TZ", "Asia/Kathmandu").env("LC_ALL", "tr_TR.UTF-8");
    assert!(child.output().unwrap().status.success());
    for session in SESSIONS {
        let other = fs::read(folder.path().join(session.name)).unwrap();
        assert!(other == session.trace(), "{} differs in another process", session.name);
    }
}
