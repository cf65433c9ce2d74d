//! The log that lines go to. What cannot be written is counted; it ends nobody.
use super::out::{Out, Standard, open};
use crate::clock;
use acm_wire::files::opts::{LogLevel, LogTarget};
use core::fmt;
use nix::{
    errno::Errno,
    sys::stat::{FileStat, fstat},
};
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{Event, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Registry,
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    layer::SubscriberExt,
    registry::LookupSpan,
    reload,
};

/// The log; can be opened again when somebody has moved its file away.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    sink: Arc<Mutex<Sink>>,
    /// How much is written; `None` in a writer of lines.
    level: Option<reload::Handle<LevelFilter, Registry>>,
}

#[derive(Debug)]
struct Sink {
    out: Out,
    /// Why the last line could not be written, and how many could not since one could.
    failing: Option<(Errno, u64)>,
    /// Lines that could not be written since the start.
    lost: u64,
    /// How often a file could not be opened again.
    not_reopened: u64,
}

/// Why there is no such log.
#[derive(Debug, thiserror::Error)]
#[error("log file {path}: {error}; {}", self.advice())]
pub(crate) struct LogError {
    path: PathBuf,
    error: io::Error,
}

impl LogError {
    fn advice(&self) -> String {
        match self.error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOENT) => {
                let folder = self.path.parent().unwrap_or(&self.path);
                format!("make its directory first (mkdir -p {}), or name another log_file", folder.display())
            }
            Some(Errno::ENXIO) => "nobody reads this pipe: start its reader first, or name another log_file".to_owned(),
            Some(Errno::EACCES | Errno::EPERM | Errno::EROFS) => {
                "run as root, or name a log_file that you may write to".to_owned()
            }
            _ => "name another log_file".to_owned(),
        }
    }
}

/// What becomes of a log whose file cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutFile {
    /// Standard output, as in ibacm, and a line that says so.
    Stdout,
    /// There is no log: standard output leads nowhere.
    Fails,
}

impl Log {
    /// Starts the log, behind what is in its file already.
    pub(crate) fn start(target: LogTarget<'_>, level: LogLevel, without: WithoutFile) -> Result<Self, LogError> {
        let (out, problem) = match open_target(target) {
            Ok(out) => (out, None),
            Err(error) if without == WithoutFile::Fails => return Err(error),
            Err(error) => (Out::standard(Standard::Output), Some(error)),
        };
        let writer = Self { sink: Arc::new(Mutex::new(Sink::new(out))), level: None };
        let (filter, handle) = reload::Layer::new(filter(level));
        let lines = tracing_subscriber::fmt::layer().event_format(Lines).with_writer(writer.clone());
        // Only a second daemon in one process could have set it before.
        let _ = tracing::subscriber::set_global_default(Registry::default().with(filter).with(lines));
        if let Some(error) = problem {
            tracing::warn!(target: "log", "{error}; logging to standard output");
        }
        Ok(Self { level: Some(handle), ..writer })
    }

    /// Opens the file again, or another one: for log rotation, and for other options. If that fails, the old one goes
    /// on.
    pub(crate) fn reopen(&self, target: LogTarget<'_>, level: LogLevel) {
        if let Some(handle) = &self.level
            && let Err(error) = handle.reload(filter(level))
        {
            tracing::warn!(target: "log", "log_level stays as it was: {error}");
        }
        match open_target(target) {
            Ok(out) => self.lock().out = out,
            Err(error) => {
                // The lock is the writer's, too.
                self.lock().not_reopened += 1;
                tracing::warn!(target: "log", "not opened again, the old one goes on: {error}");
            }
        }
    }

    /// What it goes to, if it was opened for that, for somebody else.
    #[cfg(feature = "plugins")]
    pub(crate) fn duplicate(&self) -> Option<std::os::fd::OwnedFd> {
        match &self.lock().out {
            Out::Own(file) => file.try_clone().ok().map(Into::into),
            Out::Passed(_) => None,
        }
    }

    /// Lines that could not be written since the start.
    pub(crate) fn lost(&self) -> u64 {
        self.lock().lost
    }

    /// How often its file could not be opened again.
    pub(crate) fn not_reopened(&self) -> u64 {
        self.lock().not_reopened
    }

    /// Whether whoever reads standard error reads the log, too.
    pub(crate) fn is_where_standard_error_is(&self) -> bool {
        let of = |status: nix::Result<FileStat>| status.map(|status| (status.st_dev, status.st_ino)).ok();
        let log = match &self.lock().out {
            Out::Own(file) => of(fstat(file)),
            Out::Passed(Standard::Output) => of(fstat(io::stdout())),
            Out::Passed(Standard::Error) => of(fstat(io::stderr())),
        };
        log.is_some() && log == of(fstat(io::stderr()))
    }

    fn lock(&self) -> impl core::ops::DerefMut<Target = Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Basic => LevelFilter::INFO,
        LogLevel::Verbose => LevelFilter::DEBUG,
        LogLevel::Operation => LevelFilter::TRACE,
    }
}

fn open_target(target: LogTarget<'_>) -> Result<Out, LogError> {
    match target {
        LogTarget::Stdout => Ok(Out::standard(Standard::Output)),
        LogTarget::Stderr => Ok(Out::standard(Standard::Error)),
        LogTarget::File(path) => open(path).map(Out::Own).map_err(|error| LogError { path: path.into(), error }),
    }
}

impl Sink {
    const fn new(out: Out) -> Self {
        Self { out, failing: None, lost: 0, not_reopened: 0 }
    }

    /// Writes a line, or counts it.
    fn write_line(&mut self, line: &[u8]) {
        if let Some((errno, lost)) = self.failing {
            // What failed may have left a part of a line behind.
            let notice = format!("\n{}: log: {lost} lines lost: {errno}\n", clock::log_time());
            if self.out.write_all(notice.as_bytes()).is_err() {
                self.failing = Some((errno, lost + 1));
                self.lost += 1;
                return;
            }
            self.failing = None;
        }
        if let Err(errno) = self.out.write_all(line) {
            self.failing = Some((errno, 1));
            self.lost += 1;
        }
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Log {
    /// Takes a whole line. It never fails: whoever says something has no use for an error.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lock().write_line(line);
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Lines;

impl<S: Subscriber + for<'a> LookupSpan<'a>, N: for<'a> FormatFields<'a> + 'static> FormatEvent<S, N> for Lines {
    fn format_event(&self, cx: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        write!(out, "{}: {}: ", clock::log_time(), event.metadata().target())?;
        cx.field_format().format_fields(out.by_ref(), event)?;
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_time::in_time;
    use nix::{
        fcntl::{FcntlArg, OFlag, fcntl},
        libc, unistd,
    };
    use std::{
        fs::{self, File},
        os::{fd::AsRawFd, unix::net::UnixStream},
    };

    #[test]
    fn a_log_that_cannot_be_opened_again_goes_on_and_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let (path, next) = (dir.path().join("log"), dir.path().join("next"));
        let sink = Sink::new(Out::Own(open(&path).unwrap()));
        let log = Log { sink: Arc::new(Mutex::new(sink)), level: None };
        log.lock().lost = 7;
        let nowhere = dir.path().join("none/log");
        for times in 1..=3 {
            log.reopen(LogTarget::File(nowhere.to_str().unwrap()), LogLevel::Basic);
            assert_eq!((log.lost(), log.not_reopened()), (7, times));
        }
        log.lock().write_line(b"one\n");
        log.reopen(LogTarget::File(next.to_str().unwrap()), LogLevel::Basic);
        log.lock().write_line(b"two\n");
        assert_eq!(log.not_reopened(), 3);
        let texts = [path, next].map(|path| fs::read_to_string(path).unwrap());
        assert_eq!(texts, ["one\n", "two\n"]);
    }

    #[test]
    fn what_to_do_about_a_log_that_is_not_there() {
        let advice = |errno: Errno| LogError { path: "/a/b/log".into(), error: io::Error::from(errno) }.advice();
        assert!(advice(Errno::ENOENT).starts_with("make its directory first (mkdir -p /a/b)"));
        assert!(advice(Errno::ENXIO).starts_with("nobody reads this pipe"));
        for denied in [Errno::EACCES, Errno::EPERM, Errno::EROFS] {
            assert!(advice(denied).starts_with("run as root"));
        }
        assert_eq!(advice(Errno::ENOSPC), "name another log_file");
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted_and_said_later() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let full = open("/dev/full").unwrap();
        let mut sink = Sink::new(Out::Own(full));
        for _ in 0..3 {
            sink.write_line(b"lost\n");
        }
        assert_eq!(sink.failing, Some((Errno::ENOSPC, 3)));
        sink.out = Out::Own(open(&path).unwrap());
        sink.write_line(b"here\n");
        sink.write_line(b"and here\n");
        let text = fs::read_to_string(&path).unwrap();
        let rest = text.split_once(": log: ").unwrap().1;
        assert_eq!(rest, "3 lines lost: ENOSPC: No space left on device\nhere\nand here\n");
    }

    #[test]
    fn a_closed_pipe_is_no_signal() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let file = File::from(std::os::fd::OwnedFd::from(ours));
        let mut sink = Sink::new(Out::Own(file));
        sink.write_line(b"lost\n");
        assert_eq!(sink.failing, Some((Errno::EPIPE, 1)));
    }

    #[test]
    fn nobody_reads_a_pipe_and_nobody_waits() {
        let (reader, writer) = unistd::pipe().unwrap();
        // As it would be opened for standard output.
        let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
        let mut sink = Sink::new(Out::Own(open(path).unwrap()));
        let line = [b'x'; 100];
        let mut sink = in_time(move || {
            (0..2000).for_each(|_| sink.write_line(&line));
            sink
        });
        assert!(matches!(sink.failing, Some((Errno::EAGAIN, _))), "{:?}", sink.failing);
        // Nor does this test, should there be nothing to read.
        fcntl(&reader, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        let mut text = vec![0; 1 << 20];
        let mut read = || {
            let read = unistd::read(&reader, &mut text).unwrap();
            String::from_utf8_lossy(&text[..read]).into_owned()
        };
        // The count of what was lost may have found room where a line did not.
        let written = read().matches('x').count() / line.len();
        assert_eq!(written + usize::try_from(sink.lost).unwrap(), 2000);
        sink.write_line(b"here\n");
        let said = read();
        assert!(said.contains(" lines lost: EAGAIN") && said.ends_with("\nhere\n"), "{said}");
        // The opening that was passed blocks as it did.
        let flags = fcntl(&writer, FcntlArg::F_GETFL).unwrap();
        assert_eq!(flags & libc::O_NONBLOCK, 0);
    }
}
