//! Subnet management: responses of a port's agent to tools such as `smpquery`.
//!
//! The subnet has no switches that can be managed. A directed route must have no hops, and reaches the local node.
//! Attributes cannot be set.
use crate::{
    id::PortId,
    port::{Node, Port},
    subnet::Subnet,
};
use ib_mad::{
    Guid, Lid, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkSpeeds, LinkSpeedsExt, LinkSpeedsExt2,
    LinkWidth, LinkWidths, Mad, Method, Mtu, NodeType, Pkey, PortPhysicalState, PortState, Status, TimeCode, VendorId,
    VlCap,
    attribute::Attribute,
    code::SpeedField,
    smp::{
        DrSmp, ExtEnabled, ExtSpeeds, ExtSpeeds2, GuidInfo, InitReplyMtu, LinkSpeedWord, MkeyLmc, NeighborMtuSl,
        NodeDescription, NodeInfo, OperationalVls, PhysicalStates, PkeyTable, PortCapability, PortInfo, PortVendor,
        RegisterTimeOut, RespTime, SpeedState, VlCapInit,
    },
    wire::{Be16, Be64, Text},
};

/// PortInfo.CapabilityMask of every port. Among others, client reregistration is supported.
pub(crate) const CAPABILITIES: u32 = 0x2651_e848;
/// Vendor id of every node, for which tools know a name.
const VENDOR: VendorId = VendorId::of::<0x02c9>();
/// Entries of every P_Key table, used or not.
pub(crate) const PKEY_ENTRIES: usize = 32;
/// Entries of every GID table, used or not.
pub(crate) const GID_ENTRIES: usize = 8;

impl Subnet {
    /// Returns the response to a subnet management packet from the port `from` to `dlid`; `None` if no port responds.
    #[must_use]
    pub fn smp_response(&self, from: PortId, dlid: Lid, request: &Mad) -> Option<Mad> {
        let id = match request.datagram::<DrSmp>() {
            Ok(directed) if directed.hop_count == 0 => from,
            Ok(_) => return None,
            Err(_) => self.port_by_lid(dlid)?,
        };
        let from_state = self.port(from)?.state;
        if request.header.method.is_response() || (id != from && from_state == PortState::DOWN) {
            return None;
        }
        let port = self.port(id).filter(|port| id == from || port.state != PortState::DOWN)?;
        let node = self.node(id.node)?;
        let response = match request.header.method {
            Method::GET => attribute(node, port, id, request),
            _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
        };
        response.or_else(|status| request.answer(status)).ok()
    }
}

fn attribute(node: &Node, port: &Port, id: PortId, request: &Mad) -> Result<Mad, Status> {
    let modifier = request.header.attribute_modifier.get();
    // Number of entries before the requested block of a table.
    let entries_before =
        |entries: usize| usize::try_from(modifier & 0xffff).map_or(usize::MAX, |block| block * entries);
    match request.header.attribute_id {
        NodeDescription::ATTRIBUTE => with(request, &description(node)),
        NodeInfo::ATTRIBUTE => with(request, &node_info(node, port, id)),
        PortInfo::ATTRIBUTE => {
            let knows_extended_speeds = modifier & PortInfo::EXTENDED_SPEEDS != 0;
            let number = modifier & !PortInfo::EXTENDED_SPEEDS;
            let number = u8::try_from(number).map_err(|_| Status::INVALID_FIELD)?;
            let number = if number == 0 { id.port } else { number };
            let index = usize::from(number).checked_sub(1);
            let port = index.and_then(|index| node.ports.get(index)).ok_or(Status::INVALID_FIELD)?;
            let mut info = port_info(port, id.port);
            if !knows_extended_speeds {
                (info.ext_speeds, info.ext_enabled) = (ExtSpeeds::default(), ExtEnabled::default());
                info.ext_speeds2 = ExtSpeeds2::default();
            }
            with(request, &info)
        }
        GuidInfo::ATTRIBUTE => {
            let mut guids = [Guid::default(); 8];
            let entries = port.gids.iter().skip(entries_before(8));
            guids.iter_mut().zip(entries).for_each(|(to, gid)| *to = gid.interface_id());
            with(request, &GuidInfo { guids })
        }
        PkeyTable::ATTRIBUTE => {
            let mut pkeys = [Pkey::default(); 32];
            let entries = port.pkeys.iter().skip(entries_before(32));
            pkeys.iter_mut().zip(entries).for_each(|(to, pkey)| *to = *pkey);
            with(request, &PkeyTable { pkeys })
        }
        _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
    }
}

fn with<A: Attribute>(request: &Mad, attribute: &A) -> Result<Mad, Status> {
    request.answer_with(attribute).map_err(|_| Status::INVALID_FIELD)
}

/// Returns the NodeDescription: the names of host and device.
pub(crate) fn description(node: &Node) -> NodeDescription {
    let node_string = Text::new(alloc::format!("{} {}", node.host_and_device().0, node.device()).as_bytes());
    NodeDescription { node_string }
}

pub(crate) fn node_info(node: &Node, port: &Port, id: PortId) -> NodeInfo {
    NodeInfo {
        base_version: 1,
        class_version: 1,
        node_type: NodeType::CHANNEL_ADAPTER,
        num_ports: u8::try_from(node.ports.len()).unwrap_or(u8::MAX),
        system_image_guid: node.guid,
        node_guid: node.guid,
        port_guid: port.guid,
        partition_cap: Be16::new(u16::try_from(PKEY_ENTRIES.max(port.pkeys.len())).unwrap_or(u16::MAX)),
        port_vendor: PortVendor::default().with_local_port_num(id.port).with_vendor_id(VENDOR),
        ..NodeInfo::default()
    }
}

fn port_info(port: &Port, local_port_num: u8) -> PortInfo {
    let (width, _) = port.width_and_speed();
    let (mut base, mut extended, mut extended2) = (LinkSpeed::QDR, LinkSpeedExt::NONE, LinkSpeedExt2::NONE);
    match port.link().1.field {
        SpeedField::LinkSpeed(speed) => base = speed,
        SpeedField::LinkSpeedExt(speed) => extended = speed,
        SpeedField::LinkSpeedExt2(speed) => extended2 = speed,
        _ => {}
    }
    let physical = if port.state == PortState::DOWN { PortPhysicalState::POLLING } else { PortPhysicalState::LINK_UP };
    let widths = LinkWidths::X1 | LinkWidths::X4 | LinkWidths::from_bits_retain(width);
    let speeds = LinkSpeeds::SDR | LinkSpeeds::DDR | LinkSpeeds::QDR;
    let extended_speeds = LinkSpeedsExt::FDR | LinkSpeedsExt::EDR | LinkSpeedsExt::HDR | LinkSpeedsExt::NDR;
    let time = TimeCode::masked;
    PortInfo {
        gid_prefix: Be64::new(port.gids.first().map_or(0, |gid| gid.prefix())),
        lid: port.lid,
        master_sm_lid: port.sm_lid,
        capability_mask: PortCapability::from_bits_retain(CAPABILITIES),
        local_port_num,
        link_width_enabled: widths,
        link_width_supported: widths,
        link_width_active: LinkWidth::new(width),
        speed_state: SpeedState::default().with_link_speed_supported(speeds).with_port_state(port.state),
        physical_states: PhysicalStates::default()
            .with_port_physical_state(physical)
            .with_link_down_default_state(LinkDownDefault::POLLING),
        mkey_lmc: MkeyLmc::default().with_lmc(port.lmc),
        link_speed: LinkSpeedWord::default().with_link_speed_active(base).with_link_speed_enabled(speeds),
        neighbor_mtu_sl: NeighborMtuSl::default().with_neighbor_mtu(port.mtu).with_master_smsl(port.sm_sl),
        vl_cap_init: VlCapInit::default().with_vl_cap(VlCap::ONE),
        init_reply_mtu: InitReplyMtu::default().with_mtu_cap(Mtu::B4096),
        operational: OperationalVls::default().with_operational_vls(VlCap::ONE),
        guid_cap: u8::try_from(GID_ENTRIES).unwrap_or(u8::MAX),
        register_time_out: RegisterTimeOut::default().with_subnet_time_out(time(port.subnet_timeout)),
        resp_time: RespTime::default().with_resp_time_value(time(16)),
        ext_speeds: ExtSpeeds::default()
            .with_link_speed_ext_active(extended)
            .with_link_speed_ext_supported(extended_speeds),
        ext_speeds2: ExtSpeeds2::default()
            .with_link_speed_ext_active2(extended2)
            .with_link_speed_ext_supported2(LinkSpeedsExt2::XDR)
            .with_link_speed_ext_enabled2(LinkSpeedsExt2::XDR),
        ext_enabled: ExtEnabled::default().with_link_speed_ext_enabled(extended_speeds),
        ..PortInfo::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::SubnetConfig;
    use ib_mad::{AttributeId, MgmtClass, Rate, TransactionId, Wire, as_bytes, smp::DrPath};

    fn get(subnet: &Subnet, mgmt_class: MgmtClass, lid: u16, attribute_id: AttributeId) -> Option<DrSmp> {
        get_with(subnet, mgmt_class, lid, attribute_id, 0)
    }

    fn get_with(
        subnet: &Subnet,
        mgmt_class: MgmtClass,
        lid: u16,
        attribute_id: AttributeId,
        modifier: u32,
    ) -> Option<DrSmp> {
        let request = DrSmp::request(Method::GET, &DrPath::new(), modifier, TransactionId::new(7), &NodeInfo::ZERO);
        let smp = DrSmp { mgmt_class, attribute_id, ..request };
        let response = subnet.smp_response(PortId::new(1, 1), Lid::new(lid), &Mad::from(smp))?;
        Some(*<DrSmp as Wire>::parse(as_bytes(&response)).unwrap())
    }

    #[test]
    fn local_port_responds_by_directed_route_and_others_by_lid() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        subnet.add_node().unwrap();
        let local = get(&subnet, MgmtClass::SUBN_DIRECTED_ROUTE, 0xffff, PortInfo::ATTRIBUTE).unwrap();
        let info = PortInfo::parse(&local.data.0).unwrap();
        assert!(local.dr_status.direction() && local.dr_status.status().is_ok());
        assert_eq!((info.lid, info.speed_state.port_state()), (Lid::new(16), PortState::ACTIVE));
        // The request did not say that the reader knows extended speeds.
        assert_eq!((info.link_mbps(), info.ext_speeds.link_speed_ext_active()), (None, LinkSpeedExt::NONE));
        let of_port = |number| {
            let (class, modifier) = (MgmtClass::SUBN_DIRECTED_ROUTE, PortInfo::of_port(number));
            *PortInfo::parse(&get_with(&subnet, class, 0xffff, PortInfo::ATTRIBUTE, modifier).unwrap().data.0).unwrap()
        };
        for number in [0, 1] {
            assert_eq!(of_port(number).link_mbps(), Some(103_125));
            assert_eq!(of_port(number).ext_speeds.link_speed_ext_active(), LinkSpeedExt::EDR);
        }
        let other = get(&subnet, MgmtClass::SUBN_LID_ROUTED, 17, NodeInfo::ATTRIBUTE).unwrap();
        let info = NodeInfo::parse_prefix(&other.data.0).unwrap().0;
        assert_eq!((info.node_guid.get(), info.port_vendor.local_port_num()), (0x0002_c903_0000_0020, 1));
        assert_eq!((info.node_type, info.num_ports), (NodeType::CHANNEL_ADAPTER, 1));
        assert_eq!((info.base_version, info.class_version, info.system_image_guid), (1, 1, info.node_guid));
        assert_eq!((info.port_guid, info.partition_cap.get()), (subnet.port(PortId::new(2, 1)).unwrap().guid, 32));
        assert_eq!(get(&subnet, MgmtClass::SUBN_LID_ROUTED, 99, NodeInfo::ATTRIBUTE), None);
        subnet.set_port_state(PortId::new(2, 1), PortState::DOWN).unwrap();
        assert_eq!(get(&subnet, MgmtClass::SUBN_LID_ROUTED, 17, NodeInfo::ATTRIBUTE), None);
        let unknown = get(&subnet, MgmtClass::SUBN_LID_ROUTED, 16, AttributeId::new(0x99)).unwrap();
        assert_eq!(unknown.dr_status.status(), Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
        assert!(!unknown.dr_status.direction());
    }

    #[test]
    fn tables_are_read_in_blocks_and_the_description_names_the_device() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let id = PortId::new(1, 1);
        let guid = |number: u64| Guid::new(0x7700 + number);
        let gids = (0..9).map(|number| ib_mad::Gid::from_parts(9, guid(number))).collect();
        let pkeys = (1..=33).map(|number| Pkey::new(0x8000 + number)).collect();
        let port = subnet.port(id).unwrap().clone();
        subnet.set_port(id, Port { gids, pkeys, ..port }).unwrap();
        let of_block = |attribute_id, block| {
            let smp = DrSmp {
                attribute_id,
                ..DrSmp::request(Method::GET, &DrPath::new(), block, TransactionId::new(7), &NodeInfo::ZERO)
            };
            let response = subnet.smp_response(id, Lid::PERMISSIVE, &Mad::from(smp)).unwrap();
            DrSmp::parse(as_bytes(&response)).unwrap().data
        };
        let guids = |block| GuidInfo::parse_prefix(&of_block(GuidInfo::ATTRIBUTE, block).0).unwrap().0.guids;
        assert_eq!((guids(0)[0], guids(0)[7], guids(1)[0], guids(1)[1]), (guid(0), guid(7), guid(8), Guid::default()));
        let pkeys = |block| PkeyTable::parse_prefix(&of_block(PkeyTable::ATTRIBUTE, block).0).unwrap().0.pkeys;
        let key = Pkey::new;
        // The upper half of the modifier is the port of a switch.
        assert_eq!((pkeys(0)[0], pkeys(0)[31], pkeys(0x1_0001)[0]), (key(0x8001), key(0x8020), key(0x8021)));
        let text = of_block(NodeDescription::ATTRIBUTE, 0);
        assert!(text.0.starts_with(b"node1 ibsim0\0"), "{text:?}");
        // A directed route with a hop reaches no node.
        let away =
            DrSmp::request(Method::GET, &DrPath::new().then(1).unwrap(), 0, TransactionId::new(7), &NodeInfo::ZERO);
        assert!(subnet.smp_response(id, Lid::PERMISSIVE, &Mad::from(away)).is_none());
    }

    #[test]
    fn port_info_has_the_attributes_of_the_port() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let port = Port {
            lmc: ib_mad::Lmc::of::<2>(),
            sm_lid: Lid::new(9),
            sm_sl: ib_mad::ServiceLevel::of::<3>(),
            mtu: Mtu::B1024,
            subnet_timeout: 17,
            ..subnet.port(PortId::new(1, 1)).unwrap().clone()
        };
        let info = port_info(&port, 2);
        assert_eq!((info.gid_prefix.get(), info.master_sm_lid, info.local_port_num), (0xfe80 << 48, Lid::new(9), 2));
        assert_eq!((info.capability_mask, info.guid_cap), (PortCapability::from_bits_retain(CAPABILITIES), 8));
        let widths = LinkWidths::X1 | LinkWidths::X4;
        assert_eq!((info.link_width_enabled, info.link_width_supported), (widths, widths));
        assert_eq!(info.physical_states.port_physical_state(), PortPhysicalState::LINK_UP);
        assert_eq!((info.mkey_lmc.lmc(), info.neighbor_mtu_sl.neighbor_mtu()), (port.lmc, Mtu::B1024));
        assert_eq!((info.neighbor_mtu_sl.master_smsl(), info.init_reply_mtu.mtu_cap()), (port.sm_sl, Mtu::B4096));
        assert_eq!((info.vl_cap_init.vl_cap(), info.operational.operational_vls()), (VlCap::ONE, VlCap::ONE));
        assert_eq!(info.register_time_out.subnet_time_out(), TimeCode::of::<17>());
        assert_eq!(info.resp_time.resp_time_value(), TimeCode::of::<16>());
        assert_eq!(info.ext_enabled.link_speed_ext_enabled(), info.ext_speeds.link_speed_ext_supported());
        assert!(!info.ext_enabled.link_speed_ext_enabled().is_empty());
        let down = port_info(&Port { state: PortState::DOWN, rate: Rate::GBPS_120, ..port }, 1);
        assert_eq!(down.physical_states.port_physical_state(), PortPhysicalState::POLLING);
        assert_eq!(down.link_width_enabled, widths | LinkWidths::X12);
    }

    #[test]
    fn each_rate_has_a_width_and_speed_of_that_rate() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let port = subnet.port(PortId::new(1, 1)).unwrap();
        let link = |rate| port_info(&Port { rate, ..port.clone() }, 1).link_mbps();
        for (rate, name) in Rate::KNOWN {
            let (actual, nominal) = (link(*rate).unwrap(), rate.mbps().unwrap());
            // Eight lanes of EDR are slower than four of HDR; both are 200 Gb/s.
            assert!(actual.abs_diff(nominal) * 100 <= 4 * nominal, "{name}: {actual} instead of {nominal}");
        }
    }
}
