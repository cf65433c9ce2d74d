//! The log. Lines that cannot be written are counted, and are not fatal.
use super::out::{Out, Standard, open};
use crate::{clock, regular::can_create};
use acm_wire::files::opts::{LogLevel, LogTarget};
use core::fmt;
use nix::{
    errno::Errno,
    sys::stat::{FileStat, fstat},
    unistd::{AccessFlags, access},
};
use std::{
    fs,
    io::{self, Write},
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{Event, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Registry,
    filter::Targets,
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    layer::SubscriberExt,
    registry::LookupSpan,
    reload,
};

/// The log. Its file can be opened again after log rotation.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    sink: Arc<Mutex<Sink>>,
    /// The level filter; `None` in a writer of lines.
    level: Option<reload::Handle<Targets, Registry>>,
}

#[derive(Debug)]
struct Sink {
    out: Out,
    /// True if the output is the journal, whose lines begin with their priority.
    is_journal: bool,
    /// Error of the last line, and number of lines lost since the last written line.
    failing: Option<(Errno, u64)>,
    /// Lines lost since the start.
    lost: u64,
    /// Failed attempts to open the file again.
    not_reopened: u64,
}

/// Reason why a log file cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}; {}", self.what(), self.advice())]
pub(crate) struct LogError {
    path: PathBuf,
    error: io::Error,
}

impl LogError {
    /// Opens the file as the start does, and closes it. A file that does not exist is not created, and a pipe is not
    /// opened, because that would end a reader that waits for the daemon.
    ///
    /// # Errors
    /// The start would fail, or log to standard output.
    pub(crate) fn check(path: &Path) -> Result<(), Self> {
        let opened = match fs::metadata(path) {
            Ok(found) if found.file_type().is_fifo() => access(path, AccessFlags::W_OK).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => can_create(path),
            _ => open(path).map(|_| ()),
        };
        opened.map_err(|error| Self { path: path.to_owned(), error })
    }

    /// Returns the problem without the advice.
    pub(crate) fn what(&self) -> String {
        format!("log file {}: {}", self.path.display(), self.error)
    }

    pub(crate) fn advice(&self) -> String {
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

/// Behaviour if the log file cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutFile {
    /// The log is standard output, with a warning, as in ibacm.
    Stdout,
    /// The daemon ends, because it has no standard output.
    Fails,
}

impl Log {
    /// Starts the log. Lines are appended to the file.
    pub(crate) fn start(target: LogTarget<'_>, level: LogLevel, without: WithoutFile) -> Result<Self, LogError> {
        let (out, problem) = match open_target(target) {
            Ok(out) => (out, None),
            Err(error) if without == WithoutFile::Fails => return Err(error),
            Err(error) => (Out::standard(Standard::Output), Some(error)),
        };
        let writer = Self { sink: Arc::new(Mutex::new(Sink::new(out))), level: None };
        let (filter, handle) = reload::Layer::new(Targets::new().with_default(filter(level)));
        let lines = tracing_subscriber::fmt::layer().event_format(Lines(writer.clone())).with_writer(writer.clone());
        // Fails only if another daemon in this process has set it.
        let _ = tracing::subscriber::set_global_default(Registry::default().with(filter).with(lines));
        if let Some(error) = problem {
            tracing::warn!(target: "log", "{error}; logging to standard output");
        }
        Ok(Self { level: Some(handle), ..writer })
    }

    /// Opens the file again, or another file, for log rotation and changed options. If opening fails, the log keeps its
    /// current file, and the reason is returned.
    pub(crate) fn reopen(&self, target: LogTarget<'_>, level: LogLevel) -> Option<String> {
        self.set_level(level, level);
        match open_target(target) {
            Ok(out) => {
                let is_journal = out.is_journal();
                let mut sink = self.lock();
                (sink.out, sink.is_journal) = (out, is_journal);
                None
            }
            Err(error) => {
                // The lock is released before the warning, because writing the warning takes the lock.
                self.lock().not_reopened += 1;
                tracing::warn!(target: "log", "not opened again, the old one goes on: {error}");
                Some(error.to_string())
            }
        }
    }

    /// Sets the level of all lines, and that of the core's events.
    pub(crate) fn set_level(&self, level: LogLevel, events: LogLevel) {
        let targets = Targets::new().with_default(filter(level)).with_target("acm", filter(events));
        if let Some(handle) = &self.level
            && let Err(error) = handle.reload(targets)
        {
            tracing::warn!(target: "log", "log_level stays as it was: {error}");
        }
    }

    /// Duplicates the descriptor of the log, if the daemon has opened the log.
    #[cfg(feature = "plugins")]
    pub(crate) fn duplicate(&self) -> Option<std::os::fd::OwnedFd> {
        match &self.lock().out {
            Out::Own(file) => file.try_clone().ok().map(Into::into),
            Out::Passed(_) => None,
        }
    }

    /// Reports whether the log is a file that the daemon has opened.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.lock().out, Out::Own(_))
    }

    /// Returns the number of lines lost since the start.
    pub(crate) fn lost(&self) -> u64 {
        self.lock().lost
    }

    /// Returns the number of failed attempts to open the file again.
    pub(crate) fn not_reopened(&self) -> u64 {
        self.lock().not_reopened
    }

    /// Reports whether standard error and the log are the same file.
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
    fn new(out: Out) -> Self {
        Self { is_journal: out.is_journal(), out, failing: None, lost: 0, not_reopened: 0 }
    }

    /// Writes a line, or counts the line as lost.
    fn write_line(&mut self, line: &[u8]) {
        if let Some((errno, lost)) = self.failing {
            // The failed line may have been written in part.
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
    /// Writes a whole line. Never fails: callers cannot handle an error of the log.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lock().write_line(line);
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The form of a line of this log.
struct Lines(Log);

/// Returns the priority of syslog.
const fn priority(level: tracing::Level) -> u8 {
    match level {
        tracing::Level::ERROR => 3,
        tracing::Level::WARN => 4,
        tracing::Level::INFO => 6,
        _ => 7,
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>, N: for<'a> FormatFields<'a> + 'static> FormatEvent<S, N> for Lines {
    fn format_event(&self, cx: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let is_journal = self.0.lock().is_journal;
        if is_journal {
            write!(out, "<{}>{}: ", priority(*event.metadata().level()), event.metadata().target())?;
        } else {
            write!(out, "{}: {}: ", clock::log_time(), event.metadata().target())?;
        }
        cx.field_format().format_fields(out.by_ref(), event)?;
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_time;
    use nix::{
        fcntl::{FcntlArg, OFlag, fcntl},
        libc, unistd,
    };
    use std::{
        fs::{self, File},
        os::{fd::AsRawFd, unix::net::UnixStream},
    };

    #[test]
    fn failure_to_open_the_log_again_is_counted_and_the_log_goes_on() {
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
    fn error_of_the_log_file_has_advice() {
        let advice = |errno: Errno| LogError { path: "/a/b/log".into(), error: io::Error::from(errno) }.advice();
        assert!(advice(Errno::ENOENT).starts_with("make its directory first (mkdir -p /a/b)"));
        assert!(advice(Errno::ENXIO).starts_with("nobody reads this pipe"));
        for denied in [Errno::EACCES, Errno::EPERM, Errno::EROFS] {
            assert!(advice(denied).starts_with("run as root"));
        }
        assert_eq!(advice(Errno::ENOSPC), "name another log_file");
    }

    #[test]
    fn lost_lines_are_counted_and_reported_later() {
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
    fn closed_pipe_causes_no_signal() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let file = File::from(std::os::fd::OwnedFd::from(ours));
        let mut sink = Sink::new(Out::Own(file));
        sink.write_line(b"lost\n");
        assert_eq!(sink.failing, Some((Errno::EPIPE, 1)));
    }

    #[test]
    fn pipe_without_a_reader_does_not_block() {
        let (reader, writer) = unistd::pipe().unwrap();
        // Opened as for standard output.
        let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
        let mut sink = Sink::new(Out::Own(open(path).unwrap()));
        let line = [b'x'; 100];
        let mut sink = in_time(move || {
            (0..2000).for_each(|_| sink.write_line(&line));
            sink
        });
        assert!(matches!(sink.failing, Some((Errno::EAGAIN, _))), "{:?}", sink.failing);
        // Non-blocking, so that the test does not block if there is nothing to read.
        fcntl(&reader, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        let mut text = vec![0; 1 << 20];
        let mut read = || {
            let read = unistd::read(&reader, &mut text).unwrap();
            String::from_utf8_lossy(&text[..read]).into_owned()
        };
        // The line with the number of lost lines may fit where a longer line did not.
        let written = read().matches('x').count() / line.len();
        assert_eq!(written + usize::try_from(sink.lost).unwrap(), 2000);
        sink.write_line(b"here\n");
        let text = read();
        assert!(text.contains(" lines lost: EAGAIN") && text.ends_with("\nhere\n"), "{text}");
        // The open file that was passed still blocks.
        let flags = fcntl(&writer, FcntlArg::F_GETFL).unwrap();
        assert_eq!(flags & libc::O_NONBLOCK, 0);
    }
}
