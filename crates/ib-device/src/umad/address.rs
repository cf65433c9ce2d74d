//! Where datagrams go.
use ib_mad::{AddressVector, Qkey, Qpn};

/// Where a MAD goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadAddress {
    /// Queue pair of the other side: [`Qpn::GSI`] but for subnet management.
    pub qpn: Qpn,
    /// Its queue key: [`Qkey::GSI`] for [`Qpn::GSI`].
    pub qkey: Qkey,
    /// Which of our P_Keys, an index of the port's table.
    pub pkey_index: u16,
    /// The way. `static_rate` does not count here.
    pub path: AddressVector,
}

impl MadAddress {
    /// General services (QP 1) of a port.
    #[must_use]
    pub const fn general_services(path: AddressVector, pkey_index: u16) -> Self {
        Self { qpn: Qpn::GSI, qkey: Qkey::GSI, pkey_index, path }
    }
}
