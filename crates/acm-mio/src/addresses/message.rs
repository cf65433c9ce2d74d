//! What messages of rtnetlink say. Only the attributes that count here are looked at, so that one that is new or odd
//! costs nothing.
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

/// Numbers of `linux/rtnetlink.h`, `if_link.h` and `if_addr.h`.
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

/// Bytes of a netlink header.
const HEADER: usize = 16;
/// Bytes of the fixed part of a link's message.
const LINK_HEADER: usize = 16;
/// Bytes of the fixed part of an address's message.
const ADDRESS_HEADER: usize = 8;

/// A link, as one message has it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Link {
    pub(super) index: u32,
    pub(super) name: String,
    /// Whether its link layer is InfiniBand.
    pub(super) infiniband: bool,
    /// GID of its port: bytes 4 to 19 of the hardware address, which has 20.
    pub(super) gid: Option<Gid>,
    /// The link that it is a part of: a bond.
    pub(super) master: Option<u32>,
    /// What an administrator wrote to it.
    pub(super) alias: String,
    /// Its partition, if the kernel says it here.
    pub(super) pkey: Option<Pkey>,
}

/// What one message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// There is a link, new or changed.
    Link(Link),
    /// The link is gone, to another namespace perhaps.
    LinkGone(u32),
    /// A link has an address.
    Address(u32, IpAddr),
    /// A link has an address no more, or not yet.
    AddressGone(u32, IpAddr),
    /// The dump with this number is complete, or the kernel did not want to give it.
    Done { sequence: u32, failed: bool },
    /// Something changed while the dump with this number was made.
    Interrupted { sequence: u32 },
    /// Messages were lost.
    Lost,
}

/// What a datagram says, and whether all of it could be read.
pub(super) fn facts(datagram: &[u8]) -> (Vec<Fact>, bool) {
    let (mut facts, mut whole) = (Vec::new(), true);
    let mut rest = datagram;
    while !rest.is_empty() {
        let Ok(message) = NetlinkBuffer::new_checked(rest) else { return (facts, false) };
        let length = usize::try_from(message.length()).unwrap_or(usize::MAX);
        let payload = rest.get(HEADER..length).unwrap_or_default();
        let sequence = message.sequence_number();
        if message.flags() & NLM_F_DUMP_INTR != 0 {
            facts.push(Fact::Interrupted { sequence });
        }
        match fact(message.message_type(), sequence, payload) {
            Some(fact) => facts.extend(fact),
            None => whole = false,
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    (facts, whole)
}

/// `None` if the bytes are not what their type says.
fn fact(kind: u16, sequence: u32, payload: &[u8]) -> Option<Option<Fact>> {
    Some(match kind {
        NLMSG_DONE => {
            let failed = DoneBuffer::new_checked(payload).is_ok_and(|done| done.code() < 0);
            Some(Fact::Done { sequence, failed })
        }
        NLMSG_ERROR => {
            let failed = ErrorBuffer::new_checked(payload).ok()?.code().is_some();
            Some(Fact::Done { sequence, failed })
        }
        NLMSG_OVERRUN => Some(Fact::Lost),
        number::RTM_NEWLINK | number::RTM_DELLINK => {
            let header = LinkHeader::parse(payload).ok()?;
            // A bridge's port that leaves its bridge is a message of the bridge family, and the link stays.
            if header.interface_family != AddressFamily::Unspec {
                return Some(None);
            }
            if kind == number::RTM_DELLINK {
                return Some(Some(Fact::LinkGone(header.index)));
            }
            let link = link(&header, payload.get(LINK_HEADER..)?)?;
            // Some events of drivers are a link's message with nothing of the link in it.
            (!link.name.is_empty()).then_some(Fact::Link(link))
        }
        number::RTM_NEWADDR | number::RTM_DELADDR => address(kind == number::RTM_NEWADDR, payload)?,
        _ => None,
    })
}

/// Attributes, by their number; `None` behind the last if bytes are left that are none.
fn attributes<'a>(bytes: &'a [u8]) -> impl Iterator<Item = Option<(u16, &'a [u8])>> {
    // `into_inner` gives all that follows; the value is its first part.
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

/// Four bytes of flags and queue pair number, then the GID (RFC 4391, 9.1.1).
fn gid(hardware: &[u8]) -> Option<Gid> {
    let (_, gid) = hardware.split_first_chunk::<4>()?;
    gid.try_into().ok().map(Gid::new).filter(|gid| !gid.is_zero())
}

/// What IPoIB says of its link.
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

/// Names have an end, and no bytes that could forge a line of a log.
fn text(value: &[u8]) -> String {
    let value = value.split(|byte| *byte == 0).next().unwrap_or_default();
    value.escape_ascii().to_string()
}

fn address(is_new: bool, payload: &[u8]) -> Option<Option<Fact>> {
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
    // On a link to one other, IFA_ADDRESS is the other's.
    let Some(ip) = local.or(other) else { return Some(None) };
    let tentative = flags & number::IFA_F_TENTATIVE != 0 && flags & number::IFA_F_OPTIMISTIC == 0;
    let usable = is_new && !tentative && flags & number::IFA_F_DADFAILED == 0;
    Some(Some(if usable { Fact::Address(header.index, ip) } else { Fact::AddressGone(header.index, ip) }))
}

fn ip(family: AddressFamily, value: &[u8]) -> Option<IpAddr> {
    match family {
        AddressFamily::Inet => <[u8; 4]>::try_from(value).ok().map(Ipv4Addr::from).map(IpAddr::V4),
        AddressFamily::Inet6 => <[u8; 16]>::try_from(value).ok().map(Ipv6Addr::from).map(IpAddr::V6),
        _ => None,
    }
}

/// What can be asked for as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dump {
    Links,
    /// Of both families.
    Addresses,
}

/// The request for a dump.
pub(super) fn request(dump: Dump, sequence: u32) -> Vec<u8> {
    let message = match dump {
        Dump::Links => RouteNetlinkMessage::GetLink(LinkMessage::default()),
        Dump::Addresses => RouteNetlinkMessage::GetAddress(AddressMessage::default()),
    };
    let mut message = NetlinkMessage::from(message);
    message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.header.sequence_number = sequence;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}
