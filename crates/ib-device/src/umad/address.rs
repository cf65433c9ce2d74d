//! Destinations of MADs.
use crate::sysfs::GidEntry;
use ib_mad::{AddressVector, Gid, GlobalRoute, Guid, Lid, Qkey, Qpn, ServiceLevel};

/// The destination of a MAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadAddress {
    /// Queue pair of the destination: [`Qpn::GSI`] except for subnet management.
    pub qpn: Qpn,
    /// Queue key of the destination: [`Qkey::GSI`] for [`Qpn::GSI`].
    pub qkey: Qkey,
    /// Index of a P_Key in the local port's table.
    pub pkey_index: u16,
    /// The path to the destination. umad ignores `static_rate`.
    pub path: AddressVector,
}

impl MadAddress {
    /// Returns the address of a port's general services (QP 1).
    #[must_use]
    pub const fn general_services(path: AddressVector, pkey_index: u16) -> Self {
        Self { qpn: Qpn::GSI, qkey: Qkey::GSI, pkey_index, path }
    }

    /// Adds the global route to the subnet administrator of the subnet of `source`, a GID of the local port. A port that
    /// requires a global route refuses an address without one (`EINVAL`).
    #[must_use]
    pub fn with_administration_grh(self, source: GidEntry) -> Self {
        let dgid = Gid::from_parts(source.gid.prefix(), Guid::SUBNET_ADMINISTRATION);
        // Tables have more entries than a global route has indexes; the first is that of the port's GUID.
        let sgid_index = u8::try_from(source.index).unwrap_or(0);
        Self { path: self.path.with_grh(GlobalRoute { dgid, sgid_index, ..GlobalRoute::default() }), ..self }
    }

    /// Returns the address of the subnet management agent (QP 0) at the end of a path.
    #[must_use]
    pub const fn subnet_management(path: AddressVector) -> Self {
        Self { qpn: Qpn::SMI, qkey: Qkey::new(0), pkey_index: 0, path }
    }

    /// Returns the address of a datagram that follows its own list of ports from the local port.
    #[must_use]
    pub const fn directed_route() -> Self {
        Self::subnet_management(AddressVector::local(Lid::PERMISSIVE, ServiceLevel::ZERO))
    }
}
