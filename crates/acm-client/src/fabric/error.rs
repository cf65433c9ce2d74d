//! What can go wrong with the fabric, each with what to do about it.
use ib_mad::{Lid, MgmtClass, Status};
use std::io;

/// Why the fabric was not asked, or has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// No device at all.
    #[error("no InfiniBand device here: is the adapter's driver loaded (ls /sys/class/infiniband)?")]
    NoDevice,
    /// Devices, but no port that is active.
    #[error("no active InfiniBand port ({0}): is there a cable, and a subnet manager (ibstat, sminfo)?")]
    NoActivePort(String),
    /// The port that was named is not there, or not active.
    #[error("{wanted} is no active InfiniBand port; these are: {active}")]
    NoSuchPort {
        /// What was named.
        wanted: String,
        /// Those that would do.
        active: String,
    },
    /// The kernel has no umad file for the port.
    #[error("{0} has no umad file: modprobe ib_umad")]
    NoUmad(String),
    /// The umad file cannot be opened, or does not do what it should.
    #[error("{what}: {source}{}", advice(source))]
    Device {
        /// The port, as `mlx5_0 port 1`, or the devices where all were looked at.
        what: String,
        /// What is wrong.
        source: ib_device::Error,
    },
    /// Waiting for it failed.
    #[error("{what}: {source}")]
    Wait {
        /// The port, as `mlx5_0 port 1`.
        what: String,
        /// What is wrong.
        source: io::Error,
    },
    /// No answer came in time, retries included.
    #[error(
        "subnet administration (LID {sm_lid}) does not answer: does the subnet manager run (sminfo)?{}",
        if *trusted { " OpenSM does not answer a wrong SM_Key either" } else { "" }
    )]
    NoAnswer {
        /// Where it was asked.
        sm_lid: Lid,
        /// Whether an `SM_Key` was in the question.
        trusted: bool,
    },
    /// Subnet administration says no.
    #[error("{what}: {}{}", status.of(MgmtClass::SUBN_ADM), meaning(*status))]
    Refused {
        /// What was asked.
        what: String,
        /// Status of its answer, which says why.
        status: Status,
    },
    /// There is more than arrived.
    #[error("there are more of {what}: only the first datagram of an answer arrived (ibsim?)")]
    Cut {
        /// What was asked for.
        what: String,
    },
    /// The answer is none to what was asked.
    #[error("subnet administration's answer cannot be read: {0}")]
    Answer(#[from] ib_mad::DecodeError),
}

impl FabricError {
    /// The status that subnet administration gave, if it gave one.
    #[must_use]
    pub const fn status(&self) -> Option<Status> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

fn advice(error: &ib_device::Error) -> &'static str {
    use nix::errno::Errno;
    match error.errno() {
        Some(Errno::EACCES | Errno::EPERM) => "; run as root, or let this user read and write the file (group rdma)",
        Some(Errno::ENOENT) => "; modprobe ib_umad, and has udev made the file?",
        _ => "",
    }
}

const fn meaning(status: Status) -> &'static str {
    match status {
        Status::BUSY => "; ask again in a moment",
        Status::SA_NO_RESOURCES => "; it has no room, or no MLID, left",
        Status::SA_REQUEST_INVALID => {
            "; there is no such group or membership, or it has other parameters (P_Key, MTU, rate) than this port"
        }
        Status::SA_NO_RECORDS => "; there is none",
        Status::SA_INSUFFICIENT_COMPONENTS => "; there is no such group: to make it, say all its parameters",
        Status::SA_REQUEST_DENIED => "; this port may not do that",
        Status::METHOD_ATTRIBUTE_NOT_SUPPORTED | Status::METHOD_NOT_SUPPORTED => "; it cannot do that",
        _ => "",
    }
}
