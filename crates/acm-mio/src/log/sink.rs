//! Where lines go. What cannot be written is counted; it ends nobody.
use crate::clock;
use acm_wire::files::opts::{LogLevel, LogTarget};
use core::fmt;
use nix::{errno::Errno, unistd};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::OpenOptionsExt,
    },
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{Event, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    registry::LookupSpan,
};

/// The log; can be opened again when somebody has moved its file away.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    path: Option<PathBuf>,
    sink: Arc<Mutex<Sink>>,
}

#[derive(Debug)]
struct Sink {
    out: Out,
    /// Why the last line could not be written, and how many could not since one could.
    failing: Option<(Errno, u64)>,
}

#[derive(Debug)]
enum Out {
    Stdout,
    Stderr,
    File(File),
}

impl Log {
    /// Starts the log. A file that cannot be opened becomes standard output, as in ibacm.
    pub(crate) fn start(target: LogTarget<'_>, level: LogLevel) -> Self {
        let path = match target {
            LogTarget::File(path) => Some(PathBuf::from(path)),
            LogTarget::Stdout | LogTarget::Stderr => None,
        };
        let opened = path.as_ref().map(|path| open(path, true));
        let (out, problem) = match (target, opened) {
            (LogTarget::Stderr, _) => (Out::Stderr, None),
            (_, Some(Ok(file))) => (Out::File(file), None),
            (_, Some(Err(error))) => (Out::Stdout, Some(error)),
            (_, None) => (Out::Stdout, None),
        };
        let log = Self { path, sink: Arc::new(Mutex::new(Sink { out, failing: None })) };
        let filter = match level {
            LogLevel::Basic => LevelFilter::INFO,
            LogLevel::Verbose => LevelFilter::DEBUG,
            LogLevel::Operation => LevelFilter::TRACE,
        };
        let subscriber =
            tracing_subscriber::fmt().event_format(Lines).with_max_level(filter).with_writer(log.clone()).finish();
        // Only a second daemon in one process could have set it before.
        let _ = tracing::subscriber::set_global_default(subscriber);
        if let (Some(error), Some(path)) = (problem, &log.path) {
            tracing::warn!(target: "log", "log file {}: {error}; logging to standard output", path.display());
        }
        log
    }

    /// Opens the file again, at its end: for log rotation. If that fails, the old one goes on.
    pub(crate) fn reopen(&self) {
        let Some(path) = &self.path else { return };
        match open(path, false) {
            Ok(file) => *self.lock() = Sink { out: Out::File(file), failing: None },
            Err(error) => {
                tracing::warn!(target: "log", "log file {} not opened again: {error}; the old one goes on", path.display());
            }
        }
    }

    fn lock(&self) -> impl core::ops::DerefMut<Target = Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(path: &PathBuf, truncate: bool) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(truncate).append(!truncate).mode(0o644).open(path)
}

impl Sink {
    /// Writes a line, or counts it.
    fn write_line(&mut self, line: &[u8]) {
        if let Some((errno, lost)) = self.failing {
            // What failed may have left a part of a line behind.
            let notice = format!("\n{}: log: {lost} lines lost: {errno}\n", clock::log_time());
            if self.out.write_all(notice.as_bytes()).is_err() {
                self.failing = Some((errno, lost + 1));
                return;
            }
            self.failing = None;
        }
        if let Err(errno) = self.out.write_all(line) {
            self.failing = Some((errno, 1));
        }
    }
}

impl Out {
    /// Writes with nothing in between: what a buffer kept would be written twice, or fail later.
    fn write_all(&self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(0) => return Err(Errno::ENOSPC),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> nix::Result<usize> {
        let write = |fd: BorrowedFd<'_>| unistd::write(fd, bytes);
        match self {
            Self::Stdout => write(io::stdout().as_fd()),
            Self::Stderr => write(io::stderr().as_fd()),
            Self::File(file) => write(file.as_fd()),
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
    use std::{fs, os::unix::net::UnixStream};

    #[test]
    fn lines_that_cannot_be_written_are_counted_and_said_later() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let full = open(&PathBuf::from("/dev/full"), true).unwrap();
        let mut sink = Sink { out: Out::File(full), failing: None };
        for _ in 0..3 {
            sink.write_line(b"lost\n");
        }
        assert_eq!(sink.failing, Some((Errno::ENOSPC, 3)));
        sink.out = Out::File(open(&path, true).unwrap());
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
        let mut sink = Sink { out: Out::File(file), failing: None };
        sink.write_line(b"lost\n");
        assert_eq!(sink.failing, Some((Errno::EPIPE, 1)));
    }
}
