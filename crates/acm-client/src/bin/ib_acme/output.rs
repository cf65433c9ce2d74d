//! Standard output, and the formats of errors and paths.
use acm_client::ib_mad::{PacketLifeTime, sa::PathRecord};
use core::fmt;
use serde_json::{Map, Value, json};
use std::{
    env,
    io::{self, BufWriter, IsTerminal, Stdout, Write},
};

/// Exit status of a program that was ended by SIGPIPE, as a shell reports it: 128 plus the signal's number.
pub(crate) const BROKEN_PIPE: u8 = 141;

/// The destination of printed lines.
#[derive(Debug)]
pub(crate) struct Output {
    to: To,
    /// True for a terminal: lines are flushed at once, and coloured.
    is_terminal: bool,
}

#[derive(Debug)]
enum To {
    Stdout(BufWriter<Stdout>),
    Memory(Vec<u8>),
}

/// The mark of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Good,
    Bad,
    Note,
}

impl Default for Output {
    /// Returns standard output.
    fn default() -> Self {
        let to = io::stdout();
        let is_terminal = to.is_terminal();
        Self { to: To::Stdout(BufWriter::new(to)), is_terminal }
    }
}

impl Output {
    /// Collects the lines in memory, formatted as for standard output.
    pub(crate) fn in_memory() -> Self {
        Self { to: To::Memory(Vec::new()), ..Self::default() }
    }

    /// Returns the collected bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self.to {
            To::Memory(bytes) => bytes,
            To::Stdout(_) => Vec::new(),
        }
    }

    /// Prints a line.
    ///
    /// # Errors
    /// The reader of the output closed the pipe, or the disk is full.
    pub(crate) fn line(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(to) => writeln!(to, "{text}")?,
            To::Memory(bytes) => writeln!(bytes, "{text}")?,
        }
        if self.is_terminal { self.flush() } else { Ok(()) }
    }

    /// Prints a line with a mark. The mark is coloured on a terminal unless `NO_COLOR` is set.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub(crate) fn marked(&mut self, mark: Mark, text: &str) -> io::Result<()> {
        let (word, colour) = match mark {
            Mark::Good => ("ok", 32),
            Mark::Bad => ("FAIL", 31),
            Mark::Note => ("note", 33),
        };
        if self.is_terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) {
            return self.line(format_args!("\x1b[{colour}m{word:<4}\x1b[0m {text}"));
        }
        self.line(format_args!("{word:<4} {text}"))
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(to) => to.flush(),
            To::Memory(_) => Ok(()),
        }
    }
}

/// Prints a note to standard error. Standard output has only what C's ib_acme prints.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "note: {text}");
}

/// Returns the C library's text for an error number, such as `No data available`.
pub(crate) fn strerror(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text.get(..end).unwrap_or_default().to_owned()
}

/// Returns a packet lifetime in nanoseconds.
pub(crate) fn nanoseconds(time: PacketLifeTime) -> Option<u64> {
    u64::try_from(time.duration().as_nanos()).ok()
}

/// Returns names and values of the fields. A code without a meaning is null.
pub(crate) fn fields(path: &PathRecord) -> Map<String, Value> {
    let values = json!({
        "service_id": path.service_id.to_string(),
        "dgid": path.dgid.to_string(),
        "sgid": path.sgid.to_string(),
        "dlid": path.dlid.get(),
        "slid": path.slid.get(),
        "flow_label": path.flow_hop.flow_label().get(),
        "hop_limit": path.flow_hop.hop_limit(),
        "traffic_class": path.traffic_class,
        "reversible": path.reversible_paths.reversible(),
        "pkey": path.pkey.to_string(),
        "qos_class": path.qos_sl.qos_class(),
        "sl": path.qos_sl.sl().get(),
        "mtu_bytes": path.mtu.value().bytes(),
        "rate_mbps": path.rate.value().mbps(),
        "packet_life_time_ns": nanoseconds(path.packet_life_time.value()),
    });
    match values {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_client::ib_mad::{
        FlowLabel, Lid, Mtu, Pkey, Rate, ServiceId, ServiceLevel,
        code::Selected,
        sa::{FlowHop, QosSl, ReversiblePaths},
    };

    #[test]
    fn error_text_has_no_number() {
        let texts = [0, 2, 61, 99].map(strerror);
        assert_eq!(
            texts,
            ["Success", "No such file or directory", "No data available", "Cannot assign requested address"]
        );
    }

    #[test]
    fn each_field_of_a_path_has_its_own_value() {
        let path = PathRecord {
            service_id: ServiceId::new(1),
            dgid: "fe80::2".parse().unwrap(),
            sgid: "fe80::3".parse().unwrap(),
            dlid: Lid::new(4),
            slid: Lid::new(5),
            flow_hop: FlowHop::default().with_flow_label(FlowLabel::of::<6>()).with_hop_limit(7),
            traffic_class: 8,
            reversible_paths: ReversiblePaths::default().with_reversible(true),
            pkey: Pkey::new(0x8009),
            qos_sl: QosSl::default().with_qos_class(10).with_sl(ServiceLevel::of::<11>()),
            mtu: Selected::exactly(Mtu::B1024),
            rate: Selected::exactly(Rate::GBPS_40),
            packet_life_time: Selected::exactly(PacketLifeTime::of::<3>()),
            ..PathRecord::default()
        };
        let expected = json!({
            "service_id": "0x0000000000000001",
            "dgid": "fe80::2",
            "sgid": "fe80::3",
            "dlid": 4,
            "slid": 5,
            "flow_label": 6,
            "hop_limit": 7,
            "traffic_class": 8,
            "reversible": true,
            "pkey": "0x8009",
            "qos_class": 10,
            "sl": 11,
            "mtu_bytes": 1024,
            "rate_mbps": 40_000,
            "packet_life_time_ns": 4096 << 3,
        });
        assert_eq!(Value::Object(fields(&path)), expected);
    }
}
