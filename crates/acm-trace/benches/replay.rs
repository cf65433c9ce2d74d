//! Measures how fast traces are read and replayed: `cargo bench -p acm-trace --bench replay [-- FILE...]`. The default
//! files are those of testdata/traces.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
use acm_trace::{Reader, Replay};
use core::time::Duration;
use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Instant,
};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // `cargo test --benches` runs the program once, without measuring.
    let time =
        if arguments.iter().any(|argument| argument == "--bench") { Duration::from_secs(5) } else { Duration::ZERO };
    let named: Vec<PathBuf> =
        arguments.iter().filter(|argument| !argument.starts_with('-')).map(PathBuf::from).collect();
    let files = if named.is_empty() { sessions() } else { named };
    let traces: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let bytes: usize = traces.iter().map(Vec::len).sum();
    let (inputs, outputs, replayed) = rate(time, || {
        traces.iter().fold((0, 0), |(inputs, outputs), trace| {
            let done = Replay::default().run(trace.as_slice()).unwrap();
            (inputs + done.inputs, outputs + done.outputs)
        })
    });
    let (.., read) = rate(time, || (traces.iter().map(|trace| Reader::new(trace.as_slice()).count() as u64).sum(), 0));
    println!("{} traces of {bytes} bytes, {inputs} inputs and {outputs} outputs", traces.len());
    println!("replayed: {:.0} inputs a second", inputs as f64 / replayed.as_secs_f64());
    println!("only read: {:.0} MB a second", bytes as f64 / read.as_secs_f64() / 1e6);
}

fn sessions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/traces");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pcapng"));
    files.sort();
    files
}

/// Repeats `work` for the given time. Returns its result and its median duration.
fn rate(time: Duration, mut work: impl FnMut() -> (u64, u64)) -> (u64, u64, Duration) {
    let (begin, mut times) = (Instant::now(), Vec::new());
    loop {
        let since = Instant::now();
        let (inputs, outputs) = work();
        times.push(since.elapsed());
        if begin.elapsed() >= time {
            times.sort();
            return (inputs, outputs, times.get(times.len() / 2).copied().unwrap_or_default());
        }
    }
}
