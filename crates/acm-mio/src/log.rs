//! The log: lines as ibacm writes them, `2026-01-31T12:34:56.789: place: text`.
use crate::clock;
use acm_sansio::event::Level;
use acm_wire::files::opts::{LogLevel, LogTarget};
use core::fmt;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use tracing::{Event, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    registry::LookupSpan,
};

/// Where lines go; can be opened again when somebody has moved the file away.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    path: Option<PathBuf>,
    out: Arc<Mutex<Out>>,
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
        let log = Self { path, out: Arc::new(Mutex::new(out)) };
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

    /// Opens the file again, at its end: for log rotation.
    pub(crate) fn reopen(&self) {
        let Some(path) = &self.path else { return };
        if let Ok(file) = open(path, false) {
            *self.out.lock().unwrap_or_else(PoisonError::into_inner) = Out::File(file);
        }
    }
}

fn open(path: &PathBuf, truncate: bool) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(truncate).append(!truncate).mode(0o644).open(path)
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.out.lock().unwrap_or_else(PoisonError::into_inner) {
            Out::Stdout => io::stdout().write(bytes),
            Out::Stderr => io::stderr().write(bytes),
            Out::File(file) => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut *self.out.lock().unwrap_or_else(PoisonError::into_inner) {
            Out::Stdout => io::stdout().flush(),
            Out::Stderr => io::stderr().flush(),
            Out::File(file) => file.flush(),
        }
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

/// Writes an event of the core.
pub(crate) fn event(event: &acm_sansio::Event) {
    match event.level() {
        Level::Always => tracing::info!(target: "acm", "{event}"),
        Level::Verbose => tracing::debug!(target: "acm", "{event}"),
        Level::Debug => tracing::trace!(target: "acm", "{event}"),
    }
}
