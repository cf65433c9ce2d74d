//! Values of the options `--fabric`, `--kernel`, `--interfaces` and `--record`.
use clap::ValueEnum;
use core::{str::FromStr, time::Duration};
use std::path::PathBuf;

/// Value of `--fabric`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FabricChoice {
    /// The RDMA devices of this machine.
    Devices,
    /// A simulated fabric in this process.
    Embedded,
    /// A simulated fabric that another process serves.
    Sim {
        /// The unix socket of the fabric.
        path: PathBuf,
        /// Name of the node to attach to; `None` for any free node.
        node: Option<String>,
    },
}

impl FromStr for FabricChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "devices" => return Ok(Self::Devices),
            "embedded" => return Ok(Self::Embedded),
            _ => {}
        }
        let Some(rest) = text.strip_prefix("sim:") else {
            return Err("expected devices, embedded or sim:PATH?node=NAME".into());
        };
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let node = match query.map(|query| query.strip_prefix("node=")) {
            None => None,
            Some(Some(name)) if !name.is_empty() => Some(name.to_owned()),
            Some(_) => return Err("expected ?node=NAME after the path".into()),
        };
        if path.is_empty() {
            return Err("expected the path of the fabric's socket after sim:".into());
        }
        Ok(Self::Sim { path: PathBuf::from(path), node })
    }
}

/// Value of `--kernel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelChoice {
    /// Respond to requests of the kernel.
    On,
    /// Open no socket.
    Off,
    /// Respond to requests of programs as well. These need CAP_NET_ADMIN to send one.
    Any,
}

/// Value of `--interfaces`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InterfaceChoice {
    /// Serve addresses of IPoIB interfaces.
    On,
    /// Open no socket.
    Off,
    /// Serve addresses of interfaces of any type whose alias names a port: `infiniband GID [PKEY]`.
    Alias,
}

/// Minimum size of a recording's file in bytes: each file begins with the core's options.
const SMALLEST: u64 = 16 << 10;
const MOST_FILES: u32 = 1000;
/// Maximum size of all files of a recording together, in GiB: a recording must not fill the disk.
const MOST_GIB: u64 = 64;
/// Maximum time of a recording in seconds: a day.
const LONGEST: u32 = 86_400;

/// Value of `--record`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordChoice {
    /// The newest file.
    pub(crate) path: PathBuf,
    /// Maximum size of a file in bytes; the next packets go to another file.
    pub(crate) size: u64,
    /// Maximum number of files.
    pub(crate) files: u32,
    /// Replace names and IP addresses.
    pub(crate) masked: bool,
    /// Time after which the recording ends; `None` for the end of the daemon.
    pub(crate) time: Option<Duration>,
}

impl FromStr for RecordChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let path = words.next().filter(|path| !path.is_empty()).ok_or("expected FILE")?;
        // The log and the output of commands have the path in a line.
        if path.chars().any(char::is_control) {
            return Err(format!("{path:?}: expected FILE without control characters"));
        }
        let mut choice = Self { path: path.into(), size: 64 << 20, files: 4, masked: false, time: None };
        for word in words {
            match word.split_once('=') {
                Some(("size", value)) => {
                    choice.size = bytes(value)
                        .filter(|size| *size >= SMALLEST)
                        .ok_or_else(|| format!("size={value}: expected bytes, from 16K on, such as 64M"))?;
                }
                Some(("files", value)) => {
                    choice.files = value
                        .parse()
                        .ok()
                        .filter(|files| (1..=MOST_FILES).contains(files))
                        .ok_or_else(|| format!("files={value}: expected a number from 1 to {MOST_FILES}"))?;
                }
                Some(("mask", "names")) => choice.masked = true,
                Some(("time", value)) => {
                    let seconds = value.parse::<u32>().ok().filter(|seconds| (1..=LONGEST).contains(seconds));
                    let seconds =
                        seconds.ok_or_else(|| format!("time={value}: expected seconds, from 1 to {LONGEST}"))?;
                    choice.time = Some(Duration::from_secs(seconds.into()));
                }
                _ => return Err(format!("{word:?}: expected size=BYTES, files=NUMBER, time=SECONDS or mask=names")),
            }
        }
        match choice.size.checked_mul(choice.files.into()) {
            Some(all) if all <= MOST_GIB << 30 => Ok(choice),
            _ => Err(format!(
                "expected at most {MOST_GIB}G of all files together, size={} files={}",
                choice.size, choice.files
            )),
        }
    }
}

/// Parses a number of bytes with an optional unit: `64M`.
fn bytes(text: &str) -> Option<u64> {
    let units = [("K", 10), ("M", 20), ("G", 30)];
    let unit = units.into_iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fabric_is_devices_embedded_or_a_socket_with_a_node() {
        let sim = |path: &str, node: Option<&str>| FabricChoice::Sim { path: path.into(), node: node.map(Into::into) };
        assert_eq!("devices".parse(), Ok(FabricChoice::Devices));
        assert_eq!("embedded".parse(), Ok(FabricChoice::Embedded));
        assert_eq!("sim:/tmp/x?node=node2".parse(), Ok(sim("/tmp/x", Some("node2"))));
        assert_eq!("sim:/tmp/x".parse(), Ok(sim("/tmp/x", None)));
        for bad in ["", "sim", "sim:", "sim:?node=a", "sim:/x?", "sim:/x?node=", "sim:/x?nude=a", "devices:"] {
            assert!(bad.parse::<FabricChoice>().is_err(), "{bad}");
        }
    }

    #[test]
    fn kernel_is_on_off_or_any_and_interfaces_are_on_off_or_alias() {
        fn of<T: ValueEnum>(text: &str) -> Result<T, String> {
            T::from_str(text, false)
        }
        let all = [KernelChoice::On, KernelChoice::Off, KernelChoice::Any];
        assert_eq!(["on", "off", "any"].map(of), all.map(Ok));
        let all = [InterfaceChoice::On, InterfaceChoice::Off, InterfaceChoice::Alias];
        assert_eq!(["on", "off", "alias"].map(of), all.map(Ok));
        for bad in ["", "On"] {
            assert!(of::<KernelChoice>(bad).is_err() && of::<InterfaceChoice>(bad).is_err(), "{bad}");
        }
    }

    // docs/deadlines.md: record-files
    #[test]
    fn recording_has_a_size_a_number_of_files_and_a_mask() {
        let default = RecordChoice { path: "/x/y".into(), size: 64 << 20, files: 4, masked: false, time: None };
        assert_eq!("/x/y".parse(), Ok(default.clone()));
        let of = |size, files| RecordChoice { size, files, ..default.clone() };
        assert_eq!("/x/y,size=1G,files=1".parse(), Ok(of(1 << 30, 1)));
        assert_eq!("/x/y,size=64G,files=1".parse(), Ok(of(64 << 30, 1)));
        assert_eq!("/x/y,size=16G,files=4".parse(), Ok(of(16 << 30, 4)));
        assert_eq!("/x/y,files=1000,size=16384".parse(), Ok(of(16384, 1000)));
        assert_eq!("/x/y,size=16K,files=2,mask=names".parse(), Ok(RecordChoice { masked: true, ..of(16384, 2) }));
        let time = Some(Duration::from_secs(90));
        assert_eq!("/x/y,time=90".parse(), Ok(RecordChoice { time, ..default }));
        let day = Some(Duration::from_secs(86_400));
        assert_eq!("/x/y,time=86400".parse::<RecordChoice>().map(|choice| choice.time), Ok(day));
        for bad in [
            "",
            "x,time=0",
            "x,time=1m",
            "x,time=86401",
            ",size=1M",
            "x,",
            "x,size",
            "x,size=",
            "x,size=1T",
            "x,size=15K",
            "x,size=99999999999G",
            "x,files=0",
            "x,files=1001",
            "x,mask=all",
            "x,mask",
            "/x\ny",
            "/x\u{85}y",
            "x,size=16G,files=5",
            "x,size=68719476737,files=1",
            "x,size=99999999G,files=1000",
        ] {
            assert!(bad.parse::<RecordChoice>().is_err(), "{bad}");
        }
    }
}
