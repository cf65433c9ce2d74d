//! Subnet management: what a port's agent answers to tools that look at one port (`smpquery`).
//!
//! There are no switches, so a directed route reaches the own node only (no hop). Nothing can be set.
use crate::{Node, Port, PortState, Subnet, id::PortId};
use core::cmp::min;
use ib_mad::{
    AttributeId, Gid, Guid, Lid, Method, MgmtClass, Mtu, Pkey, Status, Wire, as_bytes, bits,
    sa::SaMad,
    wire,
    wire::{Be16, Be32, Be64, Octets, Reserved, Text},
};

const NODE_DESCRIPTION: AttributeId = AttributeId::new(0x10);
const NODE_INFO: AttributeId = AttributeId::new(0x11);
const GUID_INFO: AttributeId = AttributeId::new(0x14);
const PORT_INFO: AttributeId = AttributeId::new(0x15);
const PKEY_TABLE: AttributeId = AttributeId::new(0x16);

/// PortInfo.CapabilityMask of every port: among others that it takes a client reregister.
pub(crate) const CAPABILITIES: u32 = 0x2651_e848;
/// Vendor and device of every node: any that tools know as a channel adapter.
pub(crate) const VENDOR: u32 = 0x02c9;
/// Entries of every P_Key table, used or not.
pub(crate) const PKEY_ENTRIES: usize = 32;
/// Entries of every GID table, used or not.
pub(crate) const GID_ENTRIES: usize = 8;

wire! {
    /// A subnet management packet (IBTA 14.2.1): the parts that both routings share.
    pub struct Smp [256] {
        /// Common header. Directed route: the upper bit of the status is the direction, and the class specific half
        /// word behind it has hop pointer and hop count.
        pub header: ib_mad::MadHeader,
        /// Management key.
        pub m_key: Be64,
        /// Directed route: LIDs at both ends of it.
        pub directed_lids: Be32,
        /// Zero.
        pub reserved: Reserved<28>,
        /// The attribute.
        pub data: Octets<64>,
        /// Directed route: ports on the way out and back.
        pub paths: Octets<128>,
    }
}

wire! {
    /// What a node is (IBTA 14.2.5.3).
    pub struct NodeInfo [40] {
        /// Version of management datagrams: 1.
        pub base_version: u8,
        /// Version of subnet management: 1.
        pub class_version: u8,
        /// 1: channel adapter.
        pub node_type: u8,
        /// Its ports.
        pub port_count: u8,
        /// GUID of the system.
        pub system_guid: Guid,
        /// GUID of the node.
        pub node_guid: Guid,
        /// GUID of the port that answers.
        pub port_guid: Guid,
        /// Entries of a P_Key table.
        pub partition_cap: Be16,
        /// The vendor's number of the device.
        pub device_id: Be16,
        /// Revision.
        pub revision: Be32,
        /// The port that answers, and the vendor's id (24 bits).
        pub port_vendor: PortVendor,
    }
}

bits! {
    /// Port number, vendor id.
    pub struct PortVendor [4] {
        /// The port that answers.
        port / with_port: u8 = 8,
        /// Vendor.
        vendor / with_vendor: u32 = 24,
    }
}

bits! {
    /// Two numbers of four bits.
    pub struct Halves [1] {
        /// The upper four bits.
        upper / with_upper: u8 = 4,
        /// The lower four bits.
        lower / with_lower: u8 = 4,
    }
}

wire! {
    /// What a port is and has (IBTA 14.2.5.6).
    pub struct PortAttributes [64] {
        /// Management key.
        pub m_key: Be64,
        /// Upper half of the GIDs.
        pub gid_prefix: Be64,
        /// LID.
        pub lid: Lid,
        /// LID of the subnet manager.
        pub sm_lid: Lid,
        /// Capabilities.
        pub capabilities: Be32,
        /// Diagnostic code, lease of the management key.
        pub diagnostics: Be32,
        /// The port that answers.
        pub local_port: u8,
        /// Link widths: bit set.
        pub width_enabled: u8,
        /// Link widths: bit set.
        pub width_supported: u8,
        /// Link width.
        pub width_active: u8,
        /// Link speeds supported, port state.
        pub speed_supported_state: Halves,
        /// Physical state, state to fall back to.
        pub physical_state: Halves,
        /// LMC, in the lower three bits.
        pub lmc: u8,
        /// Link speed active, link speeds enabled.
        pub speed_active_enabled: Halves,
        /// Active MTU, SL of the subnet manager.
        pub mtu_sm_sl: Halves,
        /// Virtual lanes supported (code), init type.
        pub vl_cap: Halves,
        /// Arbitration of virtual lanes.
        pub vl_limits: Reserved<3>,
        /// Init type reply, largest MTU.
        pub mtu_cap: Halves,
        /// Stall count, head of queue lifetime.
        pub stall: u8,
        /// Virtual lanes in use (code), enforcement.
        pub operational_vls: Halves,
        /// Violations of M_Keys, P_Keys, Q_Keys.
        pub violations: Reserved<6>,
        /// Entries of the GUID table.
        pub guid_cap: u8,
        /// PortInfo.SubnetTimeOut in the lower five bits.
        pub subnet_timeout: u8,
        /// RespTimeValue in the lower five bits.
        pub response_time: u8,
        /// Thresholds of errors, hint of credits, round trip latency, more capabilities.
        pub rest: Reserved<9>,
        /// Extended speed active, extended speeds supported.
        pub extended_speed: Halves,
        /// Extended speeds enabled, in the lower five bits.
        pub extended_enabled: u8,
    }
}

/// The bit of the status field that tells an answer on a directed route.
const RETURNING: u16 = 0x8000;

impl Subnet {
    /// The answer to a subnet management packet that the port `from` sends to `dlid`; `None`: nobody answers.
    #[must_use]
    pub fn answer_smp(&self, from: PortId, dlid: Lid, request: &SaMad) -> Option<SaMad> {
        let smp = Smp::parse(as_bytes(request)).ok()?;
        let directed = smp.header.mgmt_class == MgmtClass::SUBN_DIRECTED_ROUTE;
        let hops = smp.header.class_specific.get() & 0xff;
        let id = match (directed, hops) {
            (true, 0) => from,
            (true, _) => return None,
            (false, _) => self.port_by_lid(dlid)?,
        };
        let own_state = self.port(from)?.state;
        if smp.header.method.is_response() || (id != from && own_state == PortState::Down) {
            return None;
        }
        let port = self.port(id).filter(|port| id == from || port.state != PortState::Down)?;
        let node = self.node(id.node)?;
        let mut answer = *smp;
        answer.header.method = Method::GET_RESP;
        let outcome = match smp.header.method {
            Method::GET => attribute(node, port, id, smp),
            _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
        };
        let status = match outcome {
            Ok(data) => {
                answer.data = data;
                Status::OK
            }
            Err(status) => status,
        };
        answer.header.status = Status::new(status.get() | if directed { RETURNING } else { 0 });
        SaMad::parse(as_bytes(&answer)).ok().copied()
    }
}

fn attribute(node: &Node, port: &Port, id: PortId, smp: &Smp) -> Result<Octets<64>, Status> {
    let modifier = smp.header.attribute_modifier.get();
    match smp.header.attribute_id {
        NODE_DESCRIPTION => Ok(block(as_bytes(&description(node)))),
        NODE_INFO => Ok(block(as_bytes(&node_info(node, port, id)))),
        PORT_INFO => {
            let number = u8::try_from(modifier).map_err(|_| Status::INVALID_FIELD)?;
            let number = if number == 0 { id.port } else { number };
            let index = usize::from(number).checked_sub(1);
            let asked = index.and_then(|index| node.ports.get(index)).ok_or(Status::INVALID_FIELD)?;
            Ok(block(as_bytes(&port_attributes(asked, id.port))))
        }
        GUID_INFO => {
            let first = usize::try_from(modifier).unwrap_or(usize::MAX).saturating_mul(8);
            let guid = |gid: &Gid| gid.interface_id().get().to_be_bytes();
            Ok(collect(port.gids.iter().skip(first).take(8).flat_map(guid)))
        }
        PKEY_TABLE => {
            let first = usize::try_from(modifier & 0xffff).unwrap_or(usize::MAX).saturating_mul(32);
            let pkeys = port.pkeys.iter().skip(first).take(32);
            Ok(collect(pkeys.flat_map(|pkey: &Pkey| pkey.get().to_be_bytes())))
        }
        _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
    }
}

/// NodeDescription: the node's name and its device.
pub(crate) fn description(node: &Node) -> Text<64> {
    Text::new(alloc::format!("{} {}", node.name, crate::DEVICE).as_bytes())
}

pub(crate) fn node_info(node: &Node, port: &Port, id: PortId) -> NodeInfo {
    NodeInfo {
        base_version: 1,
        class_version: 1,
        node_type: 1,
        port_count: u8::try_from(node.ports.len()).unwrap_or(u8::MAX),
        system_guid: node.guid,
        node_guid: node.guid,
        port_guid: port.guid,
        partition_cap: Be16::new(u16::try_from(PKEY_ENTRIES.max(port.pkeys.len())).unwrap_or(u16::MAX)),
        port_vendor: PortVendor::default().with_port(id.port).with_vendor(VENDOR),
        ..NodeInfo::default()
    }
}

fn port_attributes(port: &Port, local_port: u8) -> PortAttributes {
    let (width, speed) = port.width_and_speed();
    // The first three speeds have bits of their own here; from FDR (verbs: 16) on they are "extended".
    let (base, extended) = if speed < 16 { (min(speed, 4), 0) } else { (4, speed >> 4) };
    let physical = if port.state == PortState::Down { 2 } else { 5 };
    PortAttributes {
        gid_prefix: Be64::new(port.gids.first().map_or(0, |gid| gid.prefix())),
        lid: port.lid,
        sm_lid: port.sm_lid,
        capabilities: Be32::new(CAPABILITIES),
        local_port,
        width_enabled: 3,
        width_supported: 3,
        width_active: width,
        speed_supported_state: Halves::default().with_upper(7).with_lower(port.state.code()),
        physical_state: Halves::default().with_upper(physical).with_lower(2),
        lmc: port.lmc.get(),
        speed_active_enabled: Halves::default().with_upper(base).with_lower(7),
        mtu_sm_sl: Halves::default().with_upper(port.mtu.get()).with_lower(port.sm_sl.get()),
        vl_cap: Halves::default().with_upper(1),
        mtu_cap: Halves::default().with_lower(Mtu::B4096.get()),
        operational_vls: Halves::default().with_upper(1),
        guid_cap: u8::try_from(GID_ENTRIES).unwrap_or(u8::MAX),
        subnet_timeout: port.subnet_timeout,
        response_time: 16,
        extended_speed: Halves::default().with_upper(extended).with_lower(extended),
        extended_enabled: extended,
        ..PortAttributes::default()
    }
}

fn block(bytes: &[u8]) -> Octets<64> {
    collect(bytes.iter().copied())
}

fn collect(bytes: impl Iterator<Item = u8>) -> Octets<64> {
    let mut data = Octets::default();
    data.0.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SubnetConfig;
    use ib_mad::{MadHeader, TransactionId};

    fn ask(subnet: &Subnet, class: MgmtClass, lid: u16, attribute: AttributeId) -> Option<Smp> {
        let tid = TransactionId::new(7);
        let smp = Smp { header: MadHeader::new(class, 1, Method::GET, attribute, tid), ..Smp::default() };
        let mad = *SaMad::parse(as_bytes(&smp)).unwrap();
        let answer = subnet.answer_smp(PortId::new(1, 1), Lid::new(lid), &mad)?;
        Some(*Smp::parse(as_bytes(&answer)).unwrap())
    }

    #[test]
    fn own_port_by_directed_route_and_others_by_lid() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        subnet.add_node().unwrap();
        let own = ask(&subnet, MgmtClass::SUBN_DIRECTED_ROUTE, 0xffff, PORT_INFO).unwrap();
        let own_info = PortAttributes::parse(&own.data.0).unwrap();
        assert_eq!((own.header.status.get(), own_info.lid), (RETURNING, Lid::new(16)));
        assert_eq!((own_info.speed_supported_state.lower(), own_info.extended_speed.upper()), (4, 2));
        let other = ask(&subnet, MgmtClass::SUBN_LID_ROUTED, 17, NODE_INFO).unwrap();
        let info = NodeInfo::parse_prefix(&other.data.0).unwrap().0;
        assert_eq!((info.node_guid.get(), info.port_vendor.port()), (0x0002_c903_0000_0020, 1));
        assert_eq!(ask(&subnet, MgmtClass::SUBN_LID_ROUTED, 99, NODE_INFO), None);
        subnet.set_port_state(PortId::new(2, 1), PortState::Down).unwrap();
        assert_eq!(ask(&subnet, MgmtClass::SUBN_LID_ROUTED, 17, NODE_INFO), None);
        let unknown = ask(&subnet, MgmtClass::SUBN_LID_ROUTED, 16, AttributeId::new(0x99)).unwrap();
        assert_eq!(unknown.header.status, Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
    }
}
