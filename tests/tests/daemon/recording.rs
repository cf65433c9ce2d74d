//! `acmctl record`: a recording of a running daemon.
use acm_sansio::{Seed, Time};
use acm_tests::{Binary, Finished, Node, binary, run, until};
use acm_trace::{Dated, Entry, Fact, OwnedInput, Reader, Replay, Start};
use core::time::Duration;
use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::UNIX_EPOCH};

fn recording(node: &Node, words: &[&str]) -> Finished {
    let dir = node.dir().to_str().unwrap();
    run(binary(Binary::AcmCtl), &[&["--run-dir", dir, "record"], words].concat())
}

fn start(file: &Path) -> Start {
    match Reader::new(fs::read(file).unwrap().as_slice()).next() {
        Some(Ok(Entry::Start(start))) => *start,
        other => panic!("{other:?}"),
    }
}

fn facts(file: &Path) -> Vec<Dated> {
    let fact = |entry| match entry {
        Entry::Fact(dated) => Some(dated),
        _ => None,
    };
    Reader::new(fs::read(file).unwrap().as_slice()).filter_map(|entry| fact(entry.unwrap())).collect()
}

#[test]
fn recording_is_started_and_ended_in_a_running_daemon() {
    let node = Node::embedded().join();
    let file = node.dir().join("trace");
    let path = file.to_str().unwrap().to_owned();
    let started = recording(&node, &["start", &path, "--size", "16K", "--files", "2"]);
    assert_eq!(started.stdout, format!("recording into {path} for 600s\n"), "{started}");
    let again = recording(&node, &["start", &path]);
    assert!(again.code == Some(1) && again.stderr.contains("is in progress"), "{again}");
    let status = recording(&node, &["status"]).stdout;
    let (start_of_line, rest) = status.split_at(format!("recording into {path}: ").len());
    assert_eq!(start_of_line, format!("recording into {path}: "));
    assert!(rest.contains(" bytes in 1 file, ends in ") && rest.ends_with("s\n"), "{status}");
    let _ = node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path();
    let stopped = recording(&node, &["stop"]);
    assert_eq!(stopped.stdout, format!("the recording into {path} has ended\n"), "{stopped}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let facts = until("the file is complete", || {
        let facts = facts(&file);
        matches!(facts.last()?.fact, Fact::End).then_some(facts)
    });
    assert!(matches!(facts[0].fact, Fact::Lost(count) if count > 0), "{:?}", facts[0]);
    assert!(facts.iter().any(|dated| matches!(dated.fact, Fact::Input(OwnedInput::ClientMessage { .. }))));
    let done = Replay::default().run(fs::read(&file).unwrap().as_slice()).unwrap();
    assert!(done.inputs == 0 && done.not_compared > 1, "{done:?}");
    let written = file.metadata().unwrap().modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
    let recorded = start(&file).epoch + facts.last().unwrap().time.since(Time::ZERO);
    assert!(written.abs_diff(recorded) < Duration::from_secs(60), "{written:?} {recorded:?}");
    assert_eq!(start(&file).seed, Seed::from(0), "it is secret");
    assert_eq!(recording(&node, &["stop"]).code, Some(1), "there is none");
    assert_eq!(recording(&node, &["status"]).stdout, "there is no recording\n");
    let relative = recording(&node, &["start", "trace"]);
    assert!(relative.stderr.contains("trace: expected a full path"), "{relative}");
    let unwritable = recording(&node, &["start", "/none/at/all"]);
    assert!(unwritable.stderr.contains("cannot record into /none/at/all: "), "{unwritable}");
}

/// Each write to /dev/full fails as on a full disk.
#[test]
fn recording_into_a_full_disk_ends_and_status_and_stop_name_the_reason() {
    let mut node = Node::embedded().join();
    let reason = "acmctl: the recording into /dev/full has failed: /dev/full: No space left on device (os error 28)\n";
    for _ in 0..2 {
        assert_eq!(recording(&node, &["start", "/dev/full"]).code, Some(0));
        let failed = until("the recording fails", || {
            let status = recording(&node, &["status"]);
            (status.code == Some(1)).then_some(status)
        });
        assert_eq!(failed.stderr, reason);
        let metrics = run(binary(Binary::AcmCtl), &["--run-dir", node.dir().to_str().unwrap(), "metrics"]);
        let gauge = "\nacm_recording{} 0\n";
        assert!(metrics.success().contains(gauge));
    }
    let stopped = recording(&node, &["stop"]);
    assert_eq!((stopped.code, stopped.stderr.as_str()), (Some(1), reason));
    assert_eq!(recording(&node, &["status"]).stdout, "there is no recording\n");
    node.process.wait_for("; the recording ends here", 2);
}

#[test]
fn recording_ends_after_its_time() {
    let mut node = Node::embedded().join();
    let path = node.dir().join("trace").to_str().unwrap().to_owned();
    assert_eq!(recording(&node, &["start", &path, "--time", "1s"]).code, Some(0));
    node.process.wait_for(&format!("the recording into {path} ends"), 1);
    assert_eq!(recording(&node, &["stop"]).code, Some(1));
}

#[test]
fn status_has_the_size_of_all_files_of_the_recording() {
    let node = Node::embedded().join();
    let file = node.dir().join("trace");
    // The first bytes of a recording: the daemon renames nothing else.
    const EARLIER: &str = "\n\r\r\nof an earlier recording";
    fs::write(&file, EARLIER).unwrap();
    let path = file.to_str().unwrap();
    assert_eq!(recording(&node, &["start", path, "--size", "16K", "--files", "3"]).code, Some(0));
    let status = || recording(&node, &["status"]).stdout;
    until("the second file begins", || {
        let _ = node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path();
        status().contains(" bytes in 2 files, ").then_some(())
    });
    until("the status has the sizes of both files", || {
        let sizes = ["", ".1"].map(|end| fs::metadata(format!("{path}{end}")).map_or(0, |file| file.len()));
        let [newest, older] = sizes;
        let expected = format!("recording into {path}: {} bytes in 2 files, ends in ", newest + older);
        (newest > 0 && older > 0 && status().starts_with(&expected)).then_some(())
    });
    assert_eq!(fs::read_to_string(format!("{path}.2")).unwrap(), EARLIER);
}
