//! Converts what sysfs and libibverbs report about a port to the core's attributes.
use acm_sansio::port::PortAttributes;
use ib_device::{LinkRate, sysfs, verbs};
use ib_mad::{PortState, Rate};

/// Returns the attributes of a port; `None` if it is not active or not in sysfs.
pub(crate) fn attributes(
    device: &sysfs::Device,
    number: u8,
    queried: &verbs::PortAttributes,
) -> Option<PortAttributes> {
    let port = device.port(number).filter(|_| queried.state == PortState::ACTIVE)?;
    let mut attributes = PortAttributes {
        device_guid: device.node_guid,
        port_number: number,
        port_count: u8::try_from(device.ports.len()).unwrap_or(u8::MAX),
        lid: queried.lid,
        lmc: queried.lmc,
        sm_lid: queried.sm_lid,
        sm_sl: queried.sm_sl,
        gids: Vec::new(),
        pkeys: Vec::new(),
        mtu: queried.active_mtu,
        rate: port.rate.or(queried.rate).map_or(Rate::GBPS_10, LinkRate::code),
        subnet_timeout: queried.subnet_timeout,
        takes_reports: false,
    };
    port.gids.iter().for_each(|entry| put(&mut attributes.gids, entry.index, entry.gid));
    port.pkeys.iter().for_each(|entry| put(&mut attributes.pkeys, entry.index, entry.pkey));
    Some(attributes)
}

/// Sets a value of a table. Unused indexes get the default.
fn put<T: Clone + Default>(table: &mut Vec<T>, index: u16, value: T) {
    let index = usize::from(index);
    if table.len() <= index {
        table.resize(index.saturating_add(1), T::default());
    }
    if let Some(slot) = table.get_mut(index) {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_device::{
        LinkLayer,
        sysfs::{GidEntry, PkeyEntry},
    };
    use ib_mad::{Gid, Guid, Lid, Mtu, Pkey, ServiceLevel, id::Lmc};

    const RATE: Option<LinkRate> = LinkRate::from_tenths(1000);

    /// A device with two ports. The tables of port 2 have unused entries.
    fn device() -> sysfs::Device {
        let port = |number| sysfs::Port {
            number,
            state: PortState::DOWN,
            link_layer: LinkLayer::InfiniBand,
            lid: Lid::NONE,
            lmc: Lmc::default(),
            sm_lid: Lid::NONE,
            sm_sl: ServiceLevel::default(),
            rate: RATE,
            gids: [0, 3].map(|index| GidEntry { index, gid: Gid::new([9; 16]) }).into(),
            pkeys: [(1, 0xffff), (4, 0x8001)].map(|(index, pkey)| PkeyEntry { index, pkey: Pkey::new(pkey) }).into(),
            umad: None,
        };
        sysfs::Device {
            name: "mlx5_0".into(),
            node_guid: Guid::new(5),
            node_description: String::new(),
            firmware: None,
            uverbs: None,
            ports: vec![port(1), port(2)],
        }
    }

    const QUERIED: verbs::PortAttributes = verbs::PortAttributes {
        state: PortState::ACTIVE,
        link_layer: LinkLayer::InfiniBand,
        max_mtu: Mtu::B4096,
        active_mtu: Mtu::B1024,
        lid: Lid::new(7),
        lmc: Lmc::ZERO,
        sm_lid: Lid::new(3),
        sm_sl: ServiceLevel::ZERO,
        subnet_timeout: 18,
        rate: LinkRate::from_tenths(400),
        pkey_table_len: 128,
        grh_required: false,
    };

    #[test]
    fn tables_keep_the_index_of_each_entry() {
        let port = attributes(&device(), 2, &QUERIED).unwrap();
        let (gid, none) = (Gid::new([9; 16]), Gid::default());
        assert_eq!(port.gids, [gid, none, none, gid]);
        assert_eq!(port.pkeys.iter().map(|pkey| pkey.get()).collect::<Vec<_>>(), [0, 0xffff, 0, 0, 0x8001]);
    }

    #[test]
    fn state_and_addresses_are_those_of_libibverbs() {
        let port = attributes(&device(), 2, &QUERIED).unwrap();
        assert_eq!((port.device_guid, port.port_number, port.port_count), (Guid::new(5), 2, 2));
        assert_eq!((port.lid, port.sm_lid, port.mtu, port.subnet_timeout), (Lid::new(7), Lid::new(3), Mtu::B1024, 18));
        assert!(attributes(&device(), 3, &QUERIED).is_none(), "no such port");
        let armed = verbs::PortAttributes { state: PortState::ARMED, ..QUERIED };
        assert!(attributes(&device(), 2, &armed).is_none(), "not active");
    }

    #[test]
    fn rate_of_sysfs_comes_before_that_of_libibverbs_and_the_default_is_10_gbps() {
        let mut device = device();
        let rate = |device: &_, rate| attributes(device, 1, &verbs::PortAttributes { rate, ..QUERIED }).unwrap().rate;
        assert_eq!(rate(&device, QUERIED.rate), Rate::GBPS_100);
        device.ports[0].rate = None;
        assert_eq!(rate(&device, QUERIED.rate), Rate::GBPS_40);
        assert_eq!(rate(&device, None), Rate::GBPS_10);
    }
}
