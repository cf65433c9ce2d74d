//! The program `acm-replay`: exit codes and messages.
use crate::common;
use acm_sansio::{Input, PortId};
use acm_trace::{Fact, OwnedInput, VERSION};
use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces")
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_acm-replay")).args(arguments).current_dir(traces()).output().unwrap()
}

fn result(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Writes a trace with another status in one reply, as a core with another behaviour would have recorded it.
fn changed(folder: &Path) -> PathBuf {
    let mut trace = fs::read(traces().join("lid.pcapng")).unwrap();
    let reply = [b"ACMT".as_slice(), &[VERSION.0, VERSION.1, 0, 0x40]].concat();
    let header = trace.windows(reply.len()).position(|bytes| bytes == reply).unwrap();
    // The status is byte 2 of the message, behind the header (8 bytes) and the client's id (8 bytes).
    trace[header + 8 + 8 + 2] = 6;
    let path = folder.join("changed.pcapng");
    fs::write(&path, trace).unwrap();
    path
}

#[test]
fn replay_as_recorded_exits_with_0() {
    let (code, out, err) = result(&run(&["lid.pcapng", "cold-name.pcapng"]));
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("lid.pcapng: as recorded: 1 cores, "), "{out}");
    assert!(lines[1].starts_with("cold-name.pcapng: as recorded: ") && lines.len() == 2, "{out}");
}

#[test]
fn difference_is_reported_with_its_step_and_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path());
    let (code, out, err) = result(&run(&[path.to_str().unwrap(), "lid.pcapng"]));
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("lid.pcapng: as recorded"), "the second trace is replayed: {out}");
    let lines: Vec<&str> = err.lines().collect();
    let first = format!("acm-replay: {}: differs at 0.000000000s, step ", path.display());
    assert!(lines[0].starts_with(&first) && lines[0].contains(" (sa_answer sa"), "{err}");
    assert_eq!(lines[1], "  status: expected timed out, actual success", "{err}");
}

#[test]
fn exit_code_is_that_of_the_worst_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path());
    let changed = path.to_str().unwrap();
    let code = |files: &[&str]| run(files).status.code();
    assert_eq!(code(&[changed, "lid.pcapng"]), Some(1));
    assert_eq!(code(&["nothing-of-this-name", changed]), Some(2));
    assert_eq!(code(&[changed, "nothing-of-this-name", "lid.pcapng"]), Some(2));
}

#[test]
fn middle_of_a_recording_is_not_as_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FILE");
    let shutdown = || Fact::Input(OwnedInput::Other(Input::Shutdown));
    fs::write(&path, common::trace(&[Fact::Lost(5), shutdown()])).unwrap();
    let (code, out, err) = result(&run(&[path.to_str().unwrap()]));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains(": it does not begin at the start of the daemon: "), "{err}");
}

#[test]
fn from_and_to_include_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FILE");
    let facts = [4, 5, 6, 7].map(|port| Fact::Input(OwnedInput::Other(Input::PortDown(PortId(port)))));
    // The facts are at 1, 2, 3 and 4 us.
    fs::write(&path, common::trace(&facts)).unwrap();
    let path = path.to_str().unwrap();
    let shown = |range: &[&str]| {
        let (_, out, _) = result(&run(&[&["--print"], range, &[path]].concat()));
        (4..8).filter(|port| out.contains(&format!("{{\"PortDown\":{port}}}"))).collect::<Vec<_>>()
    };
    assert_eq!(shown(&["--from", "0.000002", "--to", "0.000003"]), [5, 6]);
    assert_eq!(shown(&["--from", "0.000003"]), [6, 7]);
    assert_eq!(shown(&["--to", "0.000001"]), [4]);
}

#[test]
fn unreadable_file_is_reported_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "not a trace at all").unwrap();
    let (code, out, err) = result(&run(&[text.to_str().unwrap()]));
    let expected = format!("acm-replay: {}: not a trace: byte 0 does not begin a section of one\n", text.display());
    assert_eq!((code, out.as_str(), err), (2, "", expected));
    let (code, _, err) = result(&run(&["nothing-of-this-name"]));
    assert_eq!(code, 2);
    assert!(err.starts_with("acm-replay: nothing-of-this-name: No such file") && err.lines().count() == 1, "{err}");
    assert_eq!(run(&[]).status.code(), Some(2));
    assert_eq!(run(&["--from", "1", "lid.pcapng"]).status.code(), Some(2), "--from needs --print");
    assert_eq!(run(&["--print", "--from", "-1", "lid.pcapng"]).status.code(), Some(2));
}

#[test]
fn truncated_trace_is_replayed_up_to_the_cut() {
    let trace = fs::read(traces().join("lid.pcapng")).unwrap();
    for length in [trace.len() - 8, trace.len() / 2, trace.len() / 3] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_acm-replay"))
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&trace[..length]).unwrap();
        let (code, out, err) = result(&child.wait_with_output().unwrap());
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with("-: as recorded: 1 cores, "), "{out}");
        assert!(err.starts_with("acm-replay: -: the trace is cut after byte "), "{err}");
    }
}

#[test]
fn print_shows_one_line_for_each_fact() {
    let (code, out, _) = result(&run(&["--print", "cold-name.pcapng"]));
    assert_eq!(code, 0);
    let has = |words: &[&str]| {
        assert!(out.lines().any(|line| words.iter().all(|word| line.contains(word))), "{words:?} in\n{out}");
    };
    has(&["start of a core, version 0.1.0"]);
    has(&["0.000000000s > port_up {\"PortUp\":{\"port\":0,"]);
    has(&[" > client_message client0.0 RESOLVE success EntryFlags(SOURCE) node1 EntryFlags(DEST) node2"]);
    has(&[" < sa_send sa", " to LID 1 within 2.", "s, 2 retries: ", "PathRecord"]);
    has(&[" < send endpoint0.0 to LID "]);
    has(&[" > datagram endpoint0.0 from LID "]);
    has(&[" < reply client0.0 RESOLVE success path LID 16 to LID 17 "]);
    has(&[" > timeout due "]);
    has(&["! end"]);
    let (_, part, _) = result(&run(&["--print", "--from", "0.5", "--to", "1.5", "cold-name.pcapng"]));
    assert!(part.lines().count() > 3 && part.lines().count() < out.lines().count(), "{part}");
    let between = |line: &str| {
        line.starts_with("start of a core") || ("0.5".."1.500000001s").contains(&line.split(' ').next().unwrap())
    };
    assert!(part.lines().all(between), "{part}");
}

#[test]
fn stats_shows_counts_and_durations() {
    let (code, out, _) = result(&run(&["--stats", "cold-name.pcapng"]));
    assert_eq!(code, 0);
    let line =
        |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name} in\n{out}"));
    let words = |name: &str| line(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("client_message "), ["client_message", "2"]);
    assert_eq!(words("client to reply")[3], "2");
    assert_eq!(words("group to response")[3], "1");
    assert!(line("phase").contains("99 %"));
}

#[test]
fn fabric_trace_is_printed_and_counted_but_not_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fabric");
    fs::write(&path, common::of_fabric().1).unwrap();
    let path = path.to_str().unwrap();
    let (code, out, err) = result(&run(&[path]));
    let why = "a trace of a fabric, not of a core: there is nothing to replay; --print and --stats show it";
    assert_eq!((code, out.as_str(), err), (2, "", format!("acm-replay: {path}: {why}\n")));
    let (code, out, err) = result(&run(&["--print", path]));
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("0.000001000s > fabric_sent 1/1 LID 16 QP 0x0 to LID 49152 QP 0xffffff Acm Get "),
        "{out}"
    );
    assert!(lines[1].starts_with("0.000002000s < fabric_delivered 2/1 LID 16 ") && lines.len() == 6, "{out}");
    assert!(lines[4].ends_with(" 3 bytes") && lines[5].ends_with("! end"), "{out}");
    let (code, out, _) = result(&run(&["--stats", path]));
    let has =
        |words: &str| out.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(words));
    assert!(code == 0 && has("fabric_sent 3") && has("fabric_delivered 2"), "{out}");
    assert!(has("group to response 1 3\u{b5}s 3\u{b5}s"), "from the request of the first node to the response: {out}");
}

#[test]
fn plot_draws_one_bar_for_each_span() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("p.svg");
    let (code, out, err) = result(&run(&["--plot", picture.to_str().unwrap(), "--stats", "loss.pcapng"]));
    assert_eq!((code, err.as_str()), (0, ""));
    let text = fs::read_to_string(&picture).unwrap();
    // One bar for each span.
    let counts = out.lines().skip_while(|line| !line.starts_with("phase")).skip(1);
    let bars: usize = counts.map(|line| line[26..].split_whitespace().next().unwrap().parse::<usize>().unwrap()).sum();
    assert!(bars > 5, "{out}");
    assert_eq!(text.matches("<rect x=").count(), bars, "{out}");
    assert!(text.contains(", failed</title>") && text.contains(">client to reply: "), "{text}");
    assert!(text.contains("port_up"), "the port event is a line");
    let two = run(&["--plot", picture.to_str().unwrap(), "loss.pcapng", "lid.pcapng"]);
    assert_eq!(two.status.code(), Some(2));
}

/// Tests every session of testdata/traces.
#[test]
fn anonymized_session_replays_and_has_no_original_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for entry in fs::read_dir(traces()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pcapng") {
            continue;
        }
        tried += 1;
        let copy = folder.path().join(path.file_name().unwrap());
        let arguments = ["--anonymize", copy.to_str().unwrap(), path.to_str().unwrap()];
        let (code, out, err) = result(&run(&arguments));
        assert_eq!((code, err.as_str()), (0, ""), "{}", path.display());
        let (_, before, _) = result(&run(&[path.to_str().unwrap()]));
        assert_eq!(out.split_once(": as").unwrap().1, before.split_once(": as").unwrap().1);
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600, "only the owner reads it");
        let bytes = fs::read(&copy).unwrap();
        let found = bytes.windows(4).filter(|part| *part == b"node" || *part == [10, 77, 0, 1]).count();
        // This session has a name at the position of a path record, which is not masked.
        let malformed = usize::from(path.ends_with("malformed-clients.pcapng"));
        assert!(found == malformed && !String::from_utf8_lossy(&bytes).contains("10.77.0"), "{}", path.display());
        // An existing copy is not overwritten.
        assert_eq!(run(&arguments).status.code(), Some(2));
    }
    assert!(tried >= 17, "{tried}");
}

/// Tests `acm-replay --print FILE | head -1`.
#[test]
fn closed_output_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_acm-replay"))
        .args(["--print", "dead-names.pcapng"])
        .current_dir(traces())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let (code, _, err) = result(&child.wait_with_output().unwrap());
    assert_eq!((code, err.as_str()), (0, ""));
}
