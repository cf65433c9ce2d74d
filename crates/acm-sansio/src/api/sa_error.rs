//! Errors of queries to the subnet administrator.
use acm_wire::client::ClientStatus;
use ib_mad::{MgmtClass, Status};

/// The reason why the subnet administrator (SA) returned no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SaError {
    /// No response came in time, after all retries.
    #[error("no answer from the SA")]
    TimedOut,
    /// The device did not send the request.
    #[error("request to the SA not sent")]
    NotSent,
    /// The query waited too long for its turn.
    #[error("no turn at the SA within the deadline")]
    NoTurn,
    /// The query would have to be sent again, but no account needs its response any more.
    #[error("nobody needs the answer of the SA any more")]
    Unneeded,
    /// The response is malformed: truncated, or of another attribute.
    #[error("malformed answer of the SA")]
    #[cfg_attr(feature = "serde", serde(rename = "BadAnswer"))]
    BadResponse,
    /// The port is not active.
    #[error("port is down")]
    PortDown,
    /// The SA responded with this status.
    #[error("SA status {} ({n:#06x})", .0.of(MgmtClass::SUBN_ADM), n = .0.get())]
    Status(Status),
}

impl SaError {
    /// Reports whether the SA answered that there is no such path, as opposed to a temporary failure.
    #[must_use]
    pub const fn is_no_path(self) -> bool {
        matches!(self, Self::Status(Status::SA_NO_RECORDS | Status::SA_INVALID_GID))
    }

    /// Returns the status for a client.
    #[must_use]
    pub const fn client_status(self) -> ClientStatus {
        match self {
            Self::TimedOut | Self::NoTurn => ClientStatus::ETIMEDOUT,
            Self::NotSent | Self::Unneeded | Self::BadResponse | Self::PortDown => ClientStatus::ENODATA,
            Self::Status(status) => match (status.general(), status.class_code()) {
                (general, _) if general & 1 != 0 => ClientStatus::ETIMEDOUT,
                (0, 1) => ClientStatus::ENOMEM,
                (0, 2 | 4 | 6) => ClientStatus::EINVAL,
                _ => ClientStatus::ENODATA,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // docs/deviations.md: sa-status
    #[test]
    fn sa_status_maps_to_a_client_status() {
        let status_of = |status| SaError::Status(Status::new(status)).client_status();
        // BUSY, NO_RESOURCES, REQ_INVALID, NO_RECORDS, TOO_MANY_RECORDS, INVALID_GID, INSUFFICIENT_COMPONENTS.
        assert_eq!(
            [0x0001, 0x0100, 0x0200, 0x0300, 0x0400, 0x0500, 0x0600].map(status_of),
            [
                ClientStatus::ETIMEDOUT,
                ClientStatus::ENOMEM,
                ClientStatus::EINVAL,
                ClientStatus::ENODATA,
                ClientStatus::EINVAL,
                ClientStatus::ENODATA,
                ClientStatus::EINVAL,
            ]
        );
        assert_eq!(status_of(0x0204), ClientStatus::ENODATA, "the general part means an unsupported method");
    }
}
