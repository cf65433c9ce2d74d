//! Runs of `ib_acme`, and a parser of its output.
use crate::process::{Finished, run};
use crate::program;
use core::str::FromStr;
use ib_mad::{Gid, Lid, Mtu, PacketLifeTime, Pkey, Rate, ServiceLevel};
use std::collections::BTreeMap;

/// A run of `ib_acme`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acme {
    /// The service (`-S`).
    pub service: String,
    /// Exit code and output.
    pub finished: Finished,
}

/// The result for one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeResult {
    /// The destination.
    pub destination: String,
    /// The source, given or selected by the daemon.
    pub source: Option<String>,
    /// The path, or the error line.
    pub path: Result<Path, String>,
    /// The result of `-v`.
    pub verification: Option<Verification>,
}

/// Comparison of a path with that of subnet administration (`-v`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Subnet administration gives the same path.
    Success,
    /// The verification failed, with the reason.
    Failed(String),
}

/// A path record as printed by `ib_acme`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// GID of the destination.
    pub dgid: Gid,
    /// GID of the source.
    pub sgid: Gid,
    /// LID of the destination.
    pub dlid: Lid,
    /// LID of the source.
    pub slid: Lid,
    /// Flow label.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// True if the path is valid in both directions.
    pub reversible: bool,
    /// Partition.
    pub pkey: Pkey,
    /// Service level.
    pub sl: ServiceLevel,
    /// MTU.
    pub mtu: Mtu,
    /// Rate.
    pub rate: Rate,
    /// Lifetime of a packet.
    pub packet_life_time: PacketLifeTime,
}

/// A row of the output of `-P`: values by names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRow(BTreeMap<String, u64>);

/// A row of the output of `-e`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointRow {
    /// GUID of the device.
    pub guid: String,
    /// Number of the port.
    pub port: u8,
    /// Partition.
    pub pkey: Pkey,
    /// Index, from 1.
    pub index: u32,
    /// Provider.
    pub provider: String,
    /// Addresses.
    pub addresses: Vec<String>,
}

impl From<Finished> for Acme {
    /// Reads the service's name from the output.
    fn from(finished: Finished) -> Self {
        let service = finished.stdout.lines().find_map(|line| line.strip_prefix("Service: "));
        Self { service: service.unwrap_or_default().to_owned(), finished }
    }
}

/// Runs `ib_acme` with the daemon at `service` (`-S`).
#[must_use]
pub fn ib_acme(service: &str, arguments: &[&str]) -> Acme {
    let finished = run(program("ib_acme", "ibacm"), &[&["-S", service], arguments].concat());
    Acme { service: service.to_owned(), finished }
}

impl Acme {
    /// Returns the results for all destinations in order.
    #[must_use]
    pub fn results(&self) -> Vec<AcmeResult> {
        let sections = self.finished.stdout.split("Destination: ").skip(1);
        let results: Vec<AcmeResult> = sections.map(AcmeResult::parse).collect();
        assert!(!results.is_empty(), "no result: {}", self.finished);
        results
    }

    /// Returns the path of a successful run with one destination.
    #[must_use]
    pub fn path(&self) -> Path {
        assert_eq!(self.finished.code, Some(0), "{}", self.finished);
        self.only().path.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the path of a successful run with `-v` whose verification succeeded.
    #[must_use]
    pub fn verified(&self) -> Path {
        assert_eq!(self.only().verification, Some(Verification::Success), "{}", self.finished);
        self.path()
    }

    /// Returns the error line of a failed run.
    #[must_use]
    pub fn failure(&self) -> String {
        assert_eq!(self.finished.code, Some(255), "{}", self.finished);
        self.only().path.expect_err("a path")
    }

    fn only(&self) -> AcmeResult {
        let mut results = self.results();
        assert_eq!(results.len(), 1, "{}", self.finished);
        results.remove(0)
    }

    /// Returns the rows of `-P`, `-P all`, `-P N` or `-P s`.
    #[must_use]
    pub fn counters(&self) -> Vec<CounterRow> {
        let (names, rows) = self.table();
        let row = |row: Vec<String>| {
            let values = row.iter().skip(1).map(|value| value.parse().unwrap());
            CounterRow(names.iter().skip(1).cloned().zip(values).collect())
        };
        rows.into_iter().map(row).collect()
    }

    /// Returns the lines of `-P col`.
    #[must_use]
    pub fn counter_column(&self) -> CounterRow {
        assert_eq!(self.finished.code, Some(0), "{}", self.finished);
        let pairs = self.finished.stdout.lines().filter_map(|line| line.split_once(" : "));
        CounterRow(pairs.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect())
    }

    /// Returns the rows of `-e`.
    #[must_use]
    pub fn endpoints(&self) -> Vec<EndpointRow> {
        let (names, rows) = self.table();
        assert_eq!(names[..6], ["svc", "guid", "port", "pkey", "ep_index", "prov"]);
        let row = |row: Vec<String>| EndpointRow {
            guid: row[1].clone(),
            port: row[2].parse().unwrap(),
            pkey: Pkey::new(number(&row[3]).try_into().unwrap()),
            index: row[4].parse().unwrap(),
            provider: row[5].clone(),
            addresses: row[6..].to_vec(),
        };
        rows.into_iter().map(row).collect()
    }

    /// Returns the head and the rows of a table, in which each row begins with the service.
    fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        assert_eq!(self.finished.code, Some(0), "{}", self.finished);
        let words = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<String>>();
        let mut lines = self.finished.stdout.lines().filter(|line| !line.starts_with("return status"));
        let head = lines.next().map(words).expect("an empty table");
        let rows: Vec<Vec<String>> = lines.map(words).collect();
        assert!(rows.iter().all(|row| row[0] == self.service), "{}", self.finished);
        (head, rows)
    }
}

impl AcmeResult {
    /// Parses the text after `Destination: `.
    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let destination = lines.next().unwrap_or_default().to_owned();
        let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned);
        let path = match text.split_once("Path information\n") {
            Some((_, path)) => Ok(Path::parse(path)),
            None => Err(text.lines().find(|line| line.contains(" failed: ")).unwrap_or(text).to_owned()),
        };
        let verification = after("SA verification: ").map(|result| match result.as_str() {
            "success" => Verification::Success,
            other => Verification::Failed(other.to_owned()),
        });
        Self { destination, source: after("Source: "), path, verification }
    }
}

impl Path {
    fn parse(text: &str) -> Self {
        let fields: BTreeMap<&str, &str> =
            text.lines().map_while(|line| line.strip_prefix("  ")?.split_once(": ")).collect();
        let field = |name: &str| *fields.get(name).unwrap_or_else(|| panic!("no {name} in {text}"));
        let byte = |name: &str| u8::try_from(number(field(name))).unwrap();
        Self {
            dgid: parse(field("dgid")),
            sgid: parse(field("sgid")),
            dlid: parse(field("dlid")),
            slid: parse(field("slid")),
            flow_label: number(field("flow label")).try_into().unwrap(),
            hop_limit: byte("hop limit"),
            traffic_class: byte("tclass"),
            reversible: byte("reversible") != 0,
            pkey: Pkey::new(number(field("pkey")).try_into().unwrap()),
            sl: ServiceLevel::checked(byte("sl")).unwrap(),
            mtu: Mtu::new(byte("mtu")),
            rate: Rate::new(byte("rate")),
            packet_life_time: PacketLifeTime::checked(byte("packet lifetime")).unwrap(),
        }
    }
}

impl CounterRow {
    /// Returns a counter by its name in the table's head.
    #[must_use]
    pub fn get(&self, name: &str) -> u64 {
        *self.0.get(name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

fn parse<T: FromStr>(text: &str) -> T {
    text.parse().ok().unwrap_or_else(|| panic!("not a {}: {text:?}", core::any::type_name::<T>()))
}

/// Parses a decimal number, or a hexadecimal number after `0x`.
pub(crate) fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}
