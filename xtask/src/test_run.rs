//! Runs `cargo test` with its output passed on, and says before its last words what took longest.
use crate::{command, error::TaskError, slowest, slowest::Slowest, stopwatch::Stopwatch};
use core::time::Duration;
use std::{
    env,
    fs::File,
    io::{self, BufRead, BufReader, Write},
    os::fd::OwnedFd,
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
};

/// How long is waited for more output before it is seen whether the runner still runs.
const PAUSE: Duration = Duration::from_millis(200);

/// Runs the tests. `before` is said with what took longest.
///
/// # Errors
/// [`TaskError::Failed`] if a test failed.
pub(crate) fn run(command: &mut Command, before: &str) -> Result<(), TaskError> {
    println!("$ {}", command::line(command));
    let _ = io::stdout().flush();
    let spawn = |source| command::spawn(&Command::new("cargo"), source);
    // One pipe for both, so that the lines stay in order.
    let (read, write) = nix::unistd::pipe().map_err(|error| spawn(error.into()))?;
    let errors = write.try_clone().map_err(spawn)?;
    command.stdin(Stdio::null()).stdout(Stdio::from(write)).stderr(Stdio::from(errors));
    let mut child = command.spawn().map_err(spawn)?;
    // The command has copies of the pipe's end, which would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let lines = lines(read);
    let threads = env::var("RUST_TEST_THREADS").ok().and_then(|threads| threads.parse().ok());
    let threads = threads.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let mut told =
        Told { output: io::stdout(), slowest: Slowest::new(threads), watch: Stopwatch::start(), last: Vec::new() };
    let mut ended = None;
    loop {
        match lines.recv_timeout(PAUSE) {
            Ok(line) => told.line(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            // A program that a test has left behind may have the pipe still: who waits for its end waits for ever.
            Err(RecvTimeoutError::Timeout) if ended.is_some() => break,
            Err(RecvTimeoutError::Timeout) => ended = child.try_wait().map_err(spawn)?,
        }
    }
    let status = match ended {
        Some(status) => status,
        None => child.wait().map_err(spawn)?,
    };
    told.end(before);
    if status.success() { Ok(()) } else { Err(TaskError::Failed { command: command::line(command), status }) }
}

/// The lines that come out of a pipe, with their ends.
fn lines(pipe: OwnedFd) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut pipe = BufReader::new(File::from(pipe));
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            if sender.send(core::mem::take(&mut line)).is_err() {
                break;
            }
        }
    });
    receiver
}

/// What was passed on, and what is kept back: the last summary and what follows it.
struct Told<W> {
    output: W,
    slowest: Slowest,
    watch: Stopwatch,
    last: Vec<u8>,
}

impl<W: Write> Told<W> {
    fn line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        self.slowest.handle_line(text, self.watch);
        let is_summary = text.starts_with("test result: ");
        if is_summary || slowest::begins(text).is_some() {
            self.pass_on();
        }
        if is_summary || !self.last.is_empty() {
            self.last.extend_from_slice(line);
        } else {
            self.write(line);
        }
    }

    fn pass_on(&mut self) {
        let last = core::mem::take(&mut self.last);
        self.write(&last);
    }

    fn end(&mut self, before: &str) {
        self.write(format!("{before}\n{}\n", self.slowest).as_bytes());
        self.pass_on();
    }

    // As println! without its panic: who closed our output has seen enough.
    fn write(&mut self, bytes: &[u8]) {
        let _ = self.output.write_all(bytes).and_then(|()| self.output.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[&str]) -> String {
        let mut told =
            Told { output: Vec::new(), slowest: Slowest::new(2), watch: Stopwatch::start(), last: Vec::new() };
        lines.iter().for_each(|line| told.line(format!("{line}\n").as_bytes()));
        told.end("steps");
        String::from_utf8(told.output).unwrap()
    }

    #[test]
    fn the_runner_has_the_last_word() {
        let first = "test result: ok. 1 passed; finished in 3.00s";
        let last = "test result: FAILED. 1 failed; finished in 2.00s";
        let said = shown(&[
            "     Running tests/a.rs (target/debug/deps/a-0)",
            first,
            "",
            "     Running tests/b.rs (target/debug/deps/b-0)",
            "test x ... FAILED",
            last,
            "",
            "error: 1 target failed:",
        ]);
        let (before, after) = said.split_once("steps\n").unwrap();
        assert!(before.contains(first) && !before.contains(last) && before.ends_with("x ... FAILED\n"), "{said}");
        assert!(after.contains("3.0 s  program a tests/a.rs"), "{said}");
        assert!(after.ends_with(&format!("{last}\n\nerror: 1 target failed:\n")), "{said}");
    }

    #[test]
    fn what_is_no_test_is_passed_on() {
        assert!(shown(&["error: could not compile"]).starts_with("error: could not compile\nsteps\n"));
    }
}
