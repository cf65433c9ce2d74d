//! For tests of what is written.
use std::{
    io,
    sync::{Arc, Mutex},
};

/// Where lines go.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is written meanwhile by this thread, up to this level.
pub(crate) fn said(level: tracing::Level, act: impl FnOnce()) -> String {
    let written = Written::default();
    let writer = written.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_max_level(level).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, act);
    let bytes = written.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}
