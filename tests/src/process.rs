//! Processes that end with the test.
use crate::poll;
use core::fmt;
use nix::{
    sys::signal::{self, Signal},
    unistd::Pid,
};
use std::{
    ffi::OsStr,
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
};
use tempfile::TempDir;

/// A process of a test. Its output is kept in files, and it is killed when the value is dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    files: TempDir,
}

/// A process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Process {
    /// Starts a program with an empty standard input. Without a working directory in `command`, it gets an empty one,
    /// because some programs leave files there.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let files = tempfile::tempdir().unwrap();
        let name = command.get_program().display().to_string();
        let file = |name: &str| Stdio::from(File::create(files.path().join(name)).unwrap());
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        if command.get_current_dir().is_none() {
            let folder = files.path().join("present");
            fs::create_dir(&folder).unwrap();
            command.current_dir(folder);
        }
        let child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name, child, files }
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    /// Returns the standard output so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        read(self.files.path().join("stdout"))
    }

    /// Returns the standard error so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        read(self.files.path().join("stderr"))
    }

    /// Waits until standard output and standard error have `text` at least `times` times in total.
    pub fn wait_for(&mut self, text: &str, times: usize) {
        let what = format!("{times} x {text:?} of {}", self.name);
        poll::until(&what, || {
            let ended = self.ended();
            let found = self.stdout().matches(text).count() + self.stderr().matches(text).count();
            if found < times {
                assert!(ended.is_none(), "{} ended ({ended:?}) before it printed {text:?}", self.name);
            }
            (found >= times).then_some(())
        });
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        signal::kill(self.id(), signal).unwrap();
    }

    /// Stops the process until it gets SIGCONT, and waits until it does nothing any more.
    pub fn stop(&self) {
        self.signal(Signal::SIGSTOP);
        let stat = PathBuf::from(format!("/proc/{}/stat", self.id()));
        poll::until("a stopped process", || {
            let text = fs::read_to_string(&stat).unwrap();
            text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')).then_some(())
        });
    }

    /// True if the process still runs.
    pub fn is_running(&mut self) -> bool {
        self.ended().is_none()
    }

    /// Waits for the end of the process.
    pub fn wait(&mut self) -> Finished {
        let what = format!("the end of {}", self.name);
        let status = poll::until(&what, || self.ended());
        Finished { code: status.code(), stdout: self.stdout(), stderr: self.stderr() }
    }

    /// Waits for the end of a process that prints each of its steps. Each step may take the time limit.
    pub fn wait_for_all_steps(&mut self) -> Finished {
        let what = format!("the next step of {}", self.name);
        let files = ["stdout", "stderr"].map(|name| self.files.path().join(name));
        let printed = || files.each_ref().map(|file| fs::metadata(file).unwrap().len());
        loop {
            let before = printed();
            let step = poll::until(&what, || {
                let ended = self.ended();
                (ended.is_some() || printed() != before).then_some(ended)
            });
            if let Some(status) = step {
                return Finished { code: status.code(), stdout: self.stdout(), stderr: self.stderr() };
            }
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if the process has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- output of {} {}:\n{}{}", self.name, self.child.id(), self.stdout(), self.stderr());
        }
    }
}

impl Finished {
    /// Returns the standard output of a process that ended with exit code 0.
    #[must_use]
    pub fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{self}");
        self.stdout
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {:?}\n{}{}", self.code, self.stdout, self.stderr)
    }
}

/// Runs a program to its end.
pub fn run(program: impl AsRef<OsStr>, arguments: &[&str]) -> Finished {
    Process::start(Command::new(program).args(arguments)).wait()
}

fn read(path: PathBuf) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}
