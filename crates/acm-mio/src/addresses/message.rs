//! Parses messages of rtnetlink. Only the required attributes are parsed. Other attributes are ignored, even if they
//! are unknown or malformed.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use ib_mad::{Gid, Pkey};
use netlink_packet_core::{
    DoneBuffer, ErrorBuffer, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NLMSG_OVERRUN,
    NetlinkBuffer, NetlinkMessage, NlasIterator,
};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    address::{AddressHeader, AddressMessage},
    link::{LinkHeader, LinkLayerType, LinkMessage},
};

/// Numbers from `linux/rtnetlink.h`, `if_link.h` and `if_addr.h`.
mod number {
    pub(super) const RTM_NEWLINK: u16 = 16;
    pub(super) const RTM_DELLINK: u16 = 17;
    pub(super) const RTM_NEWADDR: u16 = 20;
    pub(super) const RTM_DELADDR: u16 = 21;
    pub(super) const IFLA_ADDRESS: u16 = 1;
    pub(super) const IFLA_IFNAME: u16 = 3;
    pub(super) const IFLA_MASTER: u16 = 10;
    pub(super) const IFLA_LINKINFO: u16 = 18;
    pub(super) const IFLA_IFALIAS: u16 = 20;
    pub(super) const IFLA_INFO_KIND: u16 = 1;
    pub(super) const IFLA_INFO_DATA: u16 = 2;
    pub(super) const IFLA_IPOIB_PKEY: u16 = 1;
    pub(super) const IFA_ADDRESS: u16 = 1;
    pub(super) const IFA_LOCAL: u16 = 2;
    pub(super) const IFA_FLAGS: u16 = 8;
    pub(super) const IFA_F_OPTIMISTIC: u32 = 0x04;
    pub(super) const IFA_F_DADFAILED: u32 = 0x08;
    pub(super) const IFA_F_TENTATIVE: u32 = 0x40;
}

/// Length of a netlink header in bytes.
pub(super) const HEADER: usize = 16;
/// Length of the fixed part of a link's message in bytes.
const LINK_HEADER: usize = 16;
/// Length of the fixed part of an address's message in bytes.
const ADDRESS_HEADER: usize = 8;

/// A link, with the attributes of one message.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Link {
    pub(super) index: u32,
    pub(super) name: String,
    /// True if the link layer is InfiniBand.
    pub(super) infiniband: bool,
    /// GID of the link's port: bytes 4 to 19 of the hardware address, which has 20 bytes.
    pub(super) gid: Option<Gid>,
    /// Index of the bond or bridge that the link is part of.
    pub(super) master: Option<u32>,
    /// The alias that an administrator has set.
    pub(super) alias: String,
    /// P_Key of an IPoIB link, if the message contains the P_Key.
    pub(super) pkey: Option<Pkey>,
}

/// A parsed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notification {
    /// A link exists: new, changed, or part of a dump.
    Link(Link),
    /// A link was removed, perhaps to another namespace.
    LinkRemoved(u32),
    /// A link has an address.
    Address(u32, IpAddr),
    /// An address of a link was removed, or is not yet usable.
    AddressRemoved(u32, IpAddr),
    /// The dump with this number is complete, or the kernel rejected it.
    Done { sequence: u32, failed: bool },
    /// The kernel's tables changed during the dump with this number.
    Interrupted { sequence: u32 },
    /// Messages were lost.
    Lost,
}

/// Parses a datagram. Returns its notifications, and whether all of it could be parsed.
pub(super) fn parse(datagram: &[u8]) -> (Vec<Notification>, bool) {
    let (mut notifications, mut whole) = (Vec::new(), true);
    let mut rest = datagram;
    while !rest.is_empty() {
        let Ok(message) = NetlinkBuffer::new_checked(rest) else { return (notifications, false) };
        let length = usize::try_from(message.length()).unwrap_or(usize::MAX);
        let payload = rest.get(HEADER..length).unwrap_or_default();
        let sequence = message.sequence_number();
        if message.flags() & NLM_F_DUMP_INTR != 0 {
            notifications.push(Notification::Interrupted { sequence });
        }
        match parse_message(message.message_type(), sequence, payload) {
            Some(notification) => notifications.extend(notification),
            None => whole = false,
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    (notifications, whole)
}

/// Parses one message. Returns `None` for a malformed message, and `Some(None)` for a message that is not needed.
fn parse_message(kind: u16, sequence: u32, payload: &[u8]) -> Option<Option<Notification>> {
    Some(match kind {
        NLMSG_DONE => {
            let failed = DoneBuffer::new_checked(payload).is_ok_and(|done| done.code() < 0);
            Some(Notification::Done { sequence, failed })
        }
        NLMSG_ERROR => {
            let failed = ErrorBuffer::new_checked(payload).ok()?.code().is_some();
            Some(Notification::Done { sequence, failed })
        }
        NLMSG_OVERRUN => Some(Notification::Lost),
        number::RTM_NEWLINK | number::RTM_DELLINK => {
            let header = LinkHeader::parse(payload).ok()?;
            // When a port leaves its bridge, the kernel sends a message of the bridge family. The link still exists.
            if header.interface_family != AddressFamily::Unspec {
                return Some(None);
            }
            if kind == number::RTM_DELLINK {
                return Some(Some(Notification::LinkRemoved(header.index)));
            }
            let link = link(&header, payload.get(LINK_HEADER..)?)?;
            // Some events of drivers are link messages without any attribute of the link.
            (!link.name.is_empty()).then_some(Notification::Link(link))
        }
        number::RTM_NEWADDR | number::RTM_DELADDR => address(kind == number::RTM_NEWADDR, payload)?,
        _ => None,
    })
}

/// Returns the attributes with their numbers. The last item is `None` if malformed bytes follow.
pub(super) fn attributes<'a>(bytes: &'a [u8]) -> impl Iterator<Item = Option<(u16, &'a [u8])>> {
    // `into_inner` returns all bytes that follow; the value is their first part.
    NlasIterator::new(bytes).map(|attribute| {
        let attribute = attribute.ok()?;
        let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
        let value: &'a [u8] = attribute.into_inner().get(4..length)?;
        Some((kind, value))
    })
}

fn link(header: &LinkHeader, bytes: &[u8]) -> Option<Link> {
    let infiniband = header.link_layer_type == LinkLayerType::Infiniband;
    let mut link = Link { index: header.index, infiniband, ..Link::default() };
    for attribute in attributes(bytes) {
        let (kind, value) = attribute?;
        match kind {
            number::IFLA_IFNAME => link.name = text(value),
            number::IFLA_IFALIAS => link.alias = text(value),
            number::IFLA_MASTER => link.master = value.try_into().ok().map(u32::from_ne_bytes),
            number::IFLA_ADDRESS if infiniband => link.gid = gid(value),
            number::IFLA_LINKINFO => link.pkey = pkey(value),
            _ => {}
        }
    }
    Some(link)
}

/// Parses the hardware address of IPoIB: four bytes of flags and queue pair number, then the GID (RFC 4391, 9.1.1).
fn gid(hardware: &[u8]) -> Option<Gid> {
    let (_, gid) = hardware.split_first_chunk::<4>()?;
    gid.try_into().ok().map(Gid::new).filter(|gid| !gid.is_zero())
}

/// Returns the P_Key in the link information of IPoIB.
fn pkey(info: &[u8]) -> Option<Pkey> {
    let (mut is_ipoib, mut data) = (false, None);
    for (kind, value) in attributes(info).map_while(|attribute| attribute) {
        match kind {
            number::IFLA_INFO_KIND => is_ipoib = text(value) == "ipoib",
            number::IFLA_INFO_DATA => data = Some(value),
            _ => {}
        }
    }
    let data = data.filter(|_| is_ipoib)?;
    let (_, value) =
        attributes(data).map_while(|attribute| attribute).find(|(kind, _)| *kind == number::IFLA_IPOIB_PKEY)?;
    value.try_into().ok().map(u16::from_ne_bytes).map(Pkey::new).filter(|pkey| pkey.is_valid())
}

/// Returns the text up to the first NUL. Control characters are escaped, so that the text cannot forge a line of the
/// log.
fn text(value: &[u8]) -> String {
    let value = value.split(|byte| *byte == 0).next().unwrap_or_default();
    value.escape_ascii().to_string()
}

fn address(is_new: bool, payload: &[u8]) -> Option<Option<Notification>> {
    let header = AddressHeader::parse(payload).ok()?;
    let (mut local, mut other, mut flags) = (None, None, u32::from(header.flags.bits()));
    for attribute in attributes(payload.get(ADDRESS_HEADER..)?) {
        let (kind, value) = attribute?;
        match kind {
            number::IFA_LOCAL => local = ip(header.family, value),
            number::IFA_ADDRESS => other = ip(header.family, value),
            number::IFA_FLAGS => flags = value.try_into().ok().map_or(flags, u32::from_ne_bytes),
            _ => {}
        }
    }
    // On a point-to-point link, IFA_ADDRESS is the address of the other end.
    let Some(ip) = local.or(other) else { return Some(None) };
    let tentative = flags & number::IFA_F_TENTATIVE != 0 && flags & number::IFA_F_OPTIMISTIC == 0;
    let usable = is_new && !tentative && flags & number::IFA_F_DADFAILED == 0;
    let notification = if usable { Notification::Address } else { Notification::AddressRemoved };
    Some(Some(notification(header.index, ip)))
}

pub(super) fn ip(family: AddressFamily, value: &[u8]) -> Option<IpAddr> {
    match family {
        AddressFamily::Inet => <[u8; 4]>::try_from(value).ok().map(Ipv4Addr::from).map(IpAddr::V4),
        AddressFamily::Inet6 => <[u8; 16]>::try_from(value).ok().map(Ipv6Addr::from).map(IpAddr::V6),
        _ => None,
    }
}

/// A table that can be requested as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dump {
    Links,
    /// Addresses of IPv4 and IPv6.
    Addresses,
}

/// Returns the request for a dump.
pub(super) fn request(dump: Dump, sequence: u32) -> Vec<u8> {
    let message = match dump {
        Dump::Links => RouteNetlinkMessage::GetLink(LinkMessage::default()),
        Dump::Addresses => RouteNetlinkMessage::GetAddress(AddressMessage::default()),
    };
    bytes(message, NLM_F_DUMP, sequence)
}

/// Returns the bytes of a request.
pub(super) fn bytes(message: RouteNetlinkMessage, flags: u16, sequence: u32) -> Vec<u8> {
    let mut message = NetlinkMessage::from(message);
    message.header.flags = NLM_F_REQUEST | flags;
    message.header.sequence_number = sequence;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}
