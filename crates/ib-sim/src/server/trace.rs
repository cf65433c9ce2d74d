//! What programs send, as text: a line each, for whoever wants to compare bytes.
use crate::PortId;
use alloc::string::String;
use core::{fmt::Write as _, time::Duration};
use std::{
    fs::File,
    io::{self, LineWriter, Write as _},
    path::Path,
};

/// A file of lines `MICROSECONDS NODE/PORT KIND HEX`; KIND is `mad` (to the subnet manager's QP 1) or `datagram`.
#[derive(Debug)]
pub(super) struct Trace(LineWriter<File>);

impl Trace {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(LineWriter::new(File::create(path)?)))
    }

    /// Writes a line. A disk that is full must not stop the subnet: what cannot be written is left out.
    pub(super) fn sent(&mut self, now: Duration, port: PortId, kind: &str, bytes: &[u8]) {
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let _ = writeln!(self.0, "{} {port} {kind} {hex}", now.as_micros());
    }
}
