//! Copies the attributes of ibsim's ports to the subnet.
use crate::{
    id::PortId,
    port::{Port, possible_state},
    subnet::Subnet,
};
use alloc::{collections::BTreeMap, vec, vec::Vec};
use ib_mad::{
    Gid, LinkSpeed, LinkWidth, PortState, Rate,
    smp::{PkeyTable, PortInfo},
};

/// Ports whose new attributes at ibsim could not be applied yet. Ports that exchange LIDs can be changed only together,
/// so a changed port waits for the queries of the other ports.
#[derive(Debug, Default)]
pub(super) struct Ports {
    waiting: BTreeMap<PortId, Port>,
}

impl Ports {
    /// Applies the attributes of a port at ibsim to the port of the subnet.
    pub(super) fn update(&mut self, subnet: &mut Subnet, id: PortId, info: &PortInfo, pkeys: &PkeyTable) {
        self.waiting.remove(&id);
        let Some(old) = subnet.port(id) else { return };
        let new = changed(old, info, pkeys);
        if new == *old {
            return;
        }
        let single = BTreeMap::from([(id, new.clone())]);
        self.waiting.insert(id, new);
        if set(subnet, &self.waiting) {
            self.waiting.clear();
        } else if set(subnet, &single) {
            self.waiting.remove(&id);
        }
    }
}

/// Changes all of the ports, or none.
fn set(subnet: &mut Subnet, ports: &BTreeMap<PortId, Port>) -> bool {
    // OpenSM requests a new registration when a port comes up, and after OpenSM took over the subnet. ibsim does not
    // pass this request on.
    let must_register = |(id, new): &(&PortId, &Port)| {
        let old = subnet.port(**id);
        let differs = old.is_some_and(|old| old.state != new.state || old.sm_lid != new.sm_lid);
        new.state == PortState::ACTIVE && differs
    };
    let registering: Vec<PortId> = ports.iter().filter(must_register).map(|(id, _)| *id).collect();
    if subnet.set_ports(ports).is_err() {
        return false;
    }
    for id in registering {
        let _ = subnet.reregister(id);
    }
    true
}

/// Returns the port with the attributes at ibsim.
fn changed(old: &Port, info: &PortInfo, pkeys: &PkeyTable) -> Port {
    let state = possible_state(info.speed_state.port_state()).unwrap_or(PortState::DOWN);
    let used = pkeys.pkeys.iter().rposition(|pkey| pkey.is_valid()).map_or(0, |last| last + 1);
    let mtu = info.neighbor_mtu_sl.neighbor_mtu();
    Port {
        guid: old.guid,
        state,
        lid: info.lid,
        lmc: info.mkey_lmc.lmc(),
        gids: vec![Gid::from_parts(info.gid_prefix.get(), old.guid)],
        pkeys: pkeys.pkeys.get(..used).unwrap_or_default().to_vec(),
        mtu: if mtu.bytes().is_some() { mtu } else { old.mtu },
        rate: rate(info.link_width_active, info.link_speed.link_speed_active()).unwrap_or(old.rate),
        sm_lid: info.master_sm_lid,
        sm_sl: info.neighbor_mtu_sl.master_smsl(),
        subnet_timeout: info.register_time_out.subnet_time_out().get(),
        ethernet: old.ethernet,
        grh_required: old.grh_required,
    }
}

/// Returns the rate of an active width and speed of PortInfo; `None` for a combination that ibsim does not have.
fn rate(width: LinkWidth, speed: LinkSpeed) -> Option<Rate> {
    Some(match (width, speed) {
        (LinkWidth::X1, LinkSpeed::SDR) => Rate::GBPS_2_5,
        (LinkWidth::X1, LinkSpeed::DDR) => Rate::GBPS_5,
        (LinkWidth::X1, LinkSpeed::QDR) | (LinkWidth::X4, LinkSpeed::SDR) => Rate::GBPS_10,
        (LinkWidth::X4, LinkSpeed::DDR) | (LinkWidth::X8, LinkSpeed::SDR) => Rate::GBPS_20,
        (LinkWidth::X12, LinkSpeed::SDR) => Rate::GBPS_30,
        (LinkWidth::X4, LinkSpeed::QDR) | (LinkWidth::X8, LinkSpeed::DDR) => Rate::GBPS_40,
        (LinkWidth::X12, LinkSpeed::DDR) => Rate::GBPS_60,
        (LinkWidth::X8, LinkSpeed::QDR) => Rate::GBPS_80,
        (LinkWidth::X12, LinkSpeed::QDR) => Rate::GBPS_120,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::Event,
        port::{PortChange, SubnetConfig},
    };
    use ib_mad::{Lid, Lmc, Mtu, Pkey, ServiceLevel, Wire};

    /// Returns a PortInfo with these bytes at these offsets (IBTA 14.2.5.6), and zero elsewhere.
    fn port_info(parts: &[(usize, &[u8])]) -> PortInfo {
        let mut bytes = [0; 64];
        for (at, part) in parts {
            bytes[*at..at + part.len()].copy_from_slice(part);
        }
        *PortInfo::parse(&bytes).unwrap()
    }

    #[test]
    fn port_gets_the_attributes_of_the_port_at_ibsim() {
        let id = PortId::new(1, 1);
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let old = subnet.port(id).unwrap().clone();
        let info = port_info(&[
            (8, &0xfec0_0000_0000_0001_u64.to_be_bytes()),
            (16, &[0, 0x44, 0, 9]),
            (31, &[2, 4, 0, 2, 0x41]),
            (36, &[0x43]),
            (51, &[0x93]),
        ]);
        let mut pkeys = PkeyTable::default();
        pkeys.pkeys[0] = Pkey::DEFAULT_FULL;
        pkeys.pkeys[2] = Pkey::new(0x8001);
        Ports::default().update(&mut subnet, id, &info, &pkeys);
        let new = Port {
            guid: old.guid,
            state: PortState::ACTIVE,
            lid: Lid::new(0x44),
            lmc: Lmc::of::<2>(),
            gids: vec![Gid::from_parts(0xfec0_0000_0000_0001, old.guid)],
            pkeys: vec![Pkey::DEFAULT_FULL, Pkey::new(0), Pkey::new(0x8001)],
            mtu: Mtu::B2048,
            rate: Rate::GBPS_40,
            sm_lid: Lid::new(9),
            sm_sl: ServiceLevel::of::<3>(),
            subnet_timeout: 19,
            ethernet: false,
            grh_required: false,
        };
        assert_eq!(subnet.port(id), Some(&new));
    }

    #[test]
    fn port_keeps_mtu_and_rate_if_ibsim_has_none() {
        let id = PortId::new(1, 1);
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        Ports::default().update(&mut subnet, id, &port_info(&[(32, &[1])]), &PkeyTable::default());
        let port = subnet.port(id).unwrap();
        assert_eq!((port.state, port.mtu, port.rate), (PortState::DOWN, Mtu::B4096, Rate::GBPS_100));
        assert!(port.pkeys.is_empty());
    }

    #[test]
    fn port_registers_again_when_it_comes_up_and_with_another_manager() {
        let id = PortId::new(1, 1);
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let up = subnet.port(id).unwrap().clone();
        let (down, moved) = (PortState::DOWN, Lid::new(9));
        for (before, after, registrations) in [
            (up.clone(), up.clone(), 0),
            (up.clone(), Port { lid: Lid::new(0x44), ..up.clone() }, 0),
            (up.clone(), Port { sm_lid: moved, ..up.clone() }, 1),
            (Port { state: down, ..up.clone() }, up.clone(), 1),
            (up.clone(), Port { state: down, sm_lid: moved, ..up.clone() }, 0),
        ] {
            subnet.set_port(id, before).unwrap();
            while subnet.poll_event().is_some() {}
            assert!(set(&mut subnet, &BTreeMap::from([(id, after.clone())])));
            let events = core::iter::from_fn(|| subnet.poll_event());
            let reregisters = |event: &Event| matches!(event, Event::Port { change: PortChange::ClientReregister, .. });
            assert_eq!(events.filter(reregisters).count(), registrations, "{after:?}");
        }
    }

    #[test]
    fn ports_that_exchange_their_lids_are_changed_together() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        let ids = [1, 2, 3].map(|number| PortId::new(number, 1));
        let mut lids = ids.map(|_| subnet.add_node().map(|node| subnet.port(PortId { node, port: 1 }).unwrap().lid));
        lids.rotate_left(1);
        let mut ports = Ports::default();
        for (id, lid) in ids.into_iter().zip(&lids) {
            let lid = lid.as_ref().unwrap().get().to_be_bytes();
            ports.update(&mut subnet, id, &port_info(&[(16, &lid), (32, &[4])]), &PkeyTable::default());
        }
        assert_eq!(ids.map(|id| subnet.port(id).unwrap().lid), lids.map(Result::unwrap));
        assert!(ports.waiting.is_empty());
    }
}
