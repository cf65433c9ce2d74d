//! Errors of queries to the fabric, each with advice.
use ib_mad::{Lid, MgmtClass, Status};

/// The reason why a query to the fabric failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// There is no InfiniBand device.
    #[error("no InfiniBand device here: is the adapter's driver loaded (ls /sys/class/infiniband)?")]
    NoDevice,
    /// No port is active.
    #[error("no active InfiniBand port ({0}): is there a cable, and a subnet manager (ibstat, sminfo)?")]
    NoActivePort(String),
    /// The requested port does not exist or is not active.
    #[error("{requested} is no active InfiniBand port; these are: {active}")]
    NoSuchPort {
        /// The requested port.
        requested: String,
        /// The active ports.
        active: String,
    },
    /// The kernel has no umad file for the port.
    #[error("{0} has no umad file: modprobe ib_umad")]
    NoUmad(String),
    /// The umad file cannot be opened, or an operation on it failed.
    #[error("{what}: {source}{}", advice(source))]
    Device {
        /// The port, such as `mlx5_0 port 1`, or a phrase that means all devices.
        what: String,
        /// The error.
        source: ib_device::Error,
    },
    /// No response was received in time, after all retries.
    #[error(
        "subnet administration (LID {sm_lid}) does not answer: does the subnet manager run (sminfo)?{}",
        if *trusted { " OpenSM does not answer a wrong SM_Key either" } else { "" }
    )]
    NoAnswer {
        /// LID of the subnet manager.
        sm_lid: Lid,
        /// True if the request had an `SM_Key`.
        trusted: bool,
    },
    /// The SA responded with an error status.
    #[error("{what}: {}{}", status.of(MgmtClass::SUBN_ADM), meaning(*status))]
    Refused {
        /// The request, as text.
        what: String,
        /// The status of the response.
        status: Status,
    },
    /// The response is incomplete.
    #[error("there are more of {what}: only the first datagram of an answer arrived (ibsim?)")]
    Cut {
        /// The requested records, as text.
        what: String,
    },
    /// The response is malformed.
    #[error("subnet administration's answer cannot be read: {0}")]
    Answer(#[from] ib_mad::DecodeError),
}

impl FabricError {
    /// Returns the status of the SA, if there is one.
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
        Some(Errno::EACCES | Errno::EPERM) => "; run as root, or let a udev rule give this user access",
        Some(Errno::ENOENT) => "; modprobe ib_umad, and has udev made the file?",
        _ => "",
    }
}

const fn meaning(status: Status) -> &'static str {
    match status {
        Status::BUSY => "; retry in a moment",
        Status::SA_NO_RESOURCES => "; it has no room or no MLID left",
        Status::SA_REQUEST_INVALID => {
            "; there is no such group or membership, or it has other parameters (P_Key, MTU, rate) than this port"
        }
        Status::SA_NO_RECORDS => "; there is none",
        Status::SA_INSUFFICIENT_COMPONENTS => "; there is no such group: to create it, name all its parameters",
        Status::SA_REQUEST_DENIED => "; this port may not do that",
        Status::METHOD_ATTRIBUTE_NOT_SUPPORTED | Status::METHOD_NOT_SUPPORTED => "; it cannot do that",
        _ => "",
    }
}
