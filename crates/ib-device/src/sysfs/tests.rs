//! Scans of invented trees, which have the form of those of Linux 6.1 for mlx5, rxe and qib.
use super::*;
use crate::{Error, LinkLayer};
use ib_mad::{Gid, Guid, Lid, Pkey, PortState, Rate, ServiceLevel, id::Lmc};
use std::{fs, path::Path};
use tempfile::TempDir;

struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }
    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    fn device(&self, name: &str, guid: &str) {
        self.put(&format!("infiniband/{name}/node_guid"), guid);
        self.put(&format!("infiniband/{name}/node_desc"), "node1 HCA-1");
        self.put(&format!("infiniband/{name}/fw_ver"), "20.31.1014");
    }
    fn port(&self, device: &str, port: u8, lid: &str) {
        let values = [
            ("state", "4: ACTIVE"),
            ("lid", lid),
            ("lid_mask_count", "2"),
            ("sm_lid", "0x1"),
            ("sm_sl", "3"),
            ("link_layer", "InfiniBand"),
            ("rate", "200 Gb/sec (4X HDR)"),
            ("gids/0", "fe80:0000:0000:0000:0002:c903:0000:0011"),
            ("pkeys/0", "0xffff"),
        ];
        for (file, text) in values {
            self.put(&format!("infiniband/{device}/ports/{port}/{file}"), text);
        }
    }
    fn sysfs(&self) -> Sysfs {
        Sysfs::new(self.0.path(), "/dev/infiniband")
    }
    fn devices(&self) -> Vec<Device> {
        let scan = self.sysfs().scan().unwrap();
        assert!(scan.failures.is_empty(), "{:?}", scan.failures);
        scan.devices
    }
}

fn one_port() -> Tree {
    let tree = Tree::new();
    tree.device("mlx5_0", "0002:c903:0000:0010");
    tree.port("mlx5_0", 1, "0x1234");
    tree
}

#[test]
fn scan_without_drivers_finds_no_devices() {
    assert!(Tree::new().devices().is_empty());
    assert!(Sysfs::new("/nonexistent", "/nonexistent").scan().unwrap().devices.is_empty());
}

#[test]
fn scan_reads_the_attributes_of_device_and_port() {
    let tree = one_port();
    tree.put("infiniband_mad/abi_version", "5");
    tree.put("infiniband_mad/issm3/ibdev", "mlx5_0");
    tree.put("infiniband_mad/umad3/ibdev", "mlx5_0");
    tree.put("infiniband_mad/umad3/port", "1");
    tree.put("infiniband_verbs/abi_version", "6");
    tree.put("infiniband_verbs/uverbs7/ibdev", "mlx5_0");
    let devices = tree.devices();
    let device = &devices[0];
    assert_eq!((device.name.as_str(), device.node_guid), ("mlx5_0", Guid::new(0x0002_c903_0000_0010)));
    assert_eq!((device.node_description.as_str(), device.firmware.as_deref()), ("node1 HCA-1", Some("20.31.1014")));
    assert_eq!(device.uverbs.as_deref(), Some(Path::new("/dev/infiniband/uverbs7")));
    let port = device.port(1).unwrap();
    assert_eq!((port.state, port.link_layer), (PortState::ACTIVE, LinkLayer::InfiniBand));
    assert_eq!((port.lid, port.lmc), (Lid::new(0x1234), Lmc::of::<2>()));
    assert_eq!((port.sm_lid, port.sm_sl), (Lid::new(1), ServiceLevel::of::<3>()));
    assert_eq!(port.rate.unwrap().code(), Rate::GBPS_200);
    assert_eq!(port.guid(), Some(Guid::new(0x0002_c903_0000_0011)));
    assert_eq!(port.umad.as_ref().unwrap().path, Path::new("/dev/infiniband/umad3"));
    assert!(port.is_usable());
    assert!(device.port(2).is_none());
    assert_eq!(tree.sysfs().device("mlx5_0").unwrap().as_ref(), Some(device));
    assert_eq!(tree.sysfs().device("mlx5_1").unwrap(), None);
}

#[test]
#[cfg_attr(miri, ignore = "minutes long under miri")]
fn unused_gids_are_left_out_and_the_others_keep_their_indexes() {
    let tree = one_port();
    for index in 1..1000 {
        let gid = match index {
            9 | 300 | 999 => format!("fe80:0000:0000:0000:0000:0000:0000:{index:04x}"),
            _ => "0000:0000:0000:0000:0000:0000:0000:0000".into(),
        };
        tree.put(&format!("infiniband/mlx5_0/ports/1/gids/{index}"), &gid);
    }
    let devices = tree.devices();
    let gids = &devices[0].ports[0].gids;
    assert_eq!(gids.iter().map(|entry| entry.index).collect::<Vec<_>>(), [0, 9, 300, 999]);
    let gid: Gid = "fe80::12c".parse().unwrap();
    assert_eq!((gids[2].gid, devices[0].ports[0].gid_index(gid)), (gid, Some(300)));
}

#[test]
fn sa_pkey_is_the_default_partition_or_else_index_0() {
    let tree = one_port();
    for (index, pkey) in [(0, "0x8001"), (1, "0x0000"), (2, "0x8000"), (3, "0x7fff"), (10, "0xffff")] {
        tree.put(&format!("infiniband/mlx5_0/ports/1/pkeys/{index}"), pkey);
    }
    let port = &tree.devices()[0].ports[0];
    let table: Vec<_> = port.pkeys.iter().map(|entry| (entry.index, entry.pkey.get())).collect();
    assert_eq!(table, [(0, 0x8001), (3, 0x7fff), (10, 0xffff)]);
    assert_eq!((port.sa_pkey_index(), port.pkey_index(Pkey::new(0x8000))), (10, None));
    let limited = Port { pkeys: port.pkeys[..2].to_vec(), ..port.clone() };
    assert_eq!(limited.sa_pkey_index(), 3);
    assert_eq!(Port { pkeys: port.pkeys[..1].to_vec(), ..limited }.sa_pkey_index(), 0);
}

#[test]
fn ethernet_and_down_ports_are_found_but_not_usable() {
    let tree = one_port();
    tree.port("mlx5_0", 2, "0x0");
    tree.put("infiniband/mlx5_0/ports/2/link_layer", "Ethernet");
    tree.put("infiniband/mlx5_0/ports/1/state", "1: DOWN");
    let devices = tree.devices();
    let [down, ethernet] = &devices[0].ports[..] else { panic!("{devices:?}") };
    assert_eq!((down.state, down.is_usable()), (PortState::DOWN, false));
    assert_eq!((ethernet.link_layer, ethernet.guid(), ethernet.is_usable()), (LinkLayer::Ethernet, None, false));
}

#[test]
fn names_of_devices_with_an_infiniband_port_are_found_without_reading_the_devices() {
    let tree = one_port();
    for name in ["mlx5_10", "mlx5_2", "rocep1"] {
        tree.port(name, 1, "?");
        tree.port(name, 2, "?");
    }
    for ethernet in ["mlx5_2/ports/1", "rocep1/ports/1", "rocep1/ports/2"] {
        tree.put(&format!("infiniband/{ethernet}/link_layer"), "Ethernet");
    }
    // A device whose ports cannot be listed.
    tree.put("infiniband/mlx5_3/ports", "");
    assert_eq!(tree.sysfs().infiniband_names().unwrap(), ["mlx5_0", "mlx5_2", "mlx5_3", "mlx5_10"]);
}

#[test]
fn files_that_old_kernels_lack_are_optional() {
    let tree = one_port();
    for file in ["infiniband/mlx5_0/fw_ver", "infiniband/mlx5_0/ports/1/link_layer", "infiniband/mlx5_0/ports/1/rate"] {
        fs::remove_file(tree.0.path().join(file)).unwrap();
    }
    let devices = tree.devices();
    let port = &devices[0].ports[0];
    assert_eq!((&devices[0].firmware, port.rate, port.link_layer), (&None, None, LinkLayer::InfiniBand));
}

#[test]
fn port_numbers_up_to_254_are_read_in_order() {
    let tree = one_port();
    for port in [2, 10, 254] {
        tree.port("mlx5_0", port, "0x2");
    }
    let numbers: Vec<_> = tree.devices()[0].ports.iter().map(|port| port.number).collect();
    assert_eq!(numbers, [1, 2, 10, 254]);
}

#[test]
fn unreadable_device_is_a_failure_and_does_not_hide_others() {
    let tree = one_port();
    tree.device("mlx5_10", "0002:c903:0000:0030");
    tree.device("mlx5_2", "not a GUID");
    tree.port("mlx5_10", 1, "0x9");
    // The device exists, but lacks a file that every kernel has.
    tree.device("mlx5_3", "0002:c903:0000:0040");
    tree.port("mlx5_3", 1, "0xa");
    fs::remove_file(tree.0.path().join("infiniband/mlx5_3/ports/1/state")).unwrap();
    let scan = tree.sysfs().scan().unwrap();
    assert_eq!(scan.devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>(), ["mlx5_0", "mlx5_10"]);
    let mut failures: Vec<_> = scan.failures.iter().map(|(name, error)| (name.as_str(), error)).collect();
    failures.sort_by_key(|(name, _)| *name);
    let [("mlx5_2", Error::Text { what: "GUID", text, .. }), ("mlx5_3", Error::File { path, .. })] = &failures[..]
    else {
        panic!("{failures:?}")
    };
    assert_eq!((text.as_str(), path.ends_with("ports/1/state")), ("not a GUID", true));
    assert!(matches!(tree.sysfs().device("mlx5_3"), Err(Error::File { .. })));
    assert_eq!(tree.sysfs().device("mlx5_4").unwrap().map(|device| device.name), None);
}

#[test]
fn devices_are_sorted_by_the_number_in_their_name() {
    let tree = Tree::new();
    for name in ["mlx5_10", "mlx5_9", "hfi1_0", "mlx5_bond"] {
        tree.device(name, "0002:c903:0000:0010");
    }
    let names: Vec<_> = tree.devices().into_iter().map(|device| device.name).collect();
    assert_eq!(names, ["hfi1_0", "mlx5_9", "mlx5_10", "mlx5_bond"]);
}

#[test]
fn changes_list_removed_then_added_then_changed_devices() {
    let tree = one_port();
    tree.device("qib0", "0011:7500:0000:0001");
    let before = tree.devices();
    assert_eq!(changes(&before, &before), []);
    for (file, text, changed) in [
        ("state", "2: INIT", PortChange::STATE),
        ("lid", "0x5", PortChange::LID),
        ("lid_mask_count", "0", PortChange::LID),
        ("sm_lid", "0x7", PortChange::SM),
        ("pkeys/1", "0x8001", PortChange::PKEYS),
        ("gids/4", "fe80:0000:0000:0000:0000:0000:0000:0004", PortChange::GIDS),
        ("rate", "100 Gb/sec (2X HDR)", PortChange::RATE),
    ] {
        let old = tree.devices();
        tree.put(&format!("infiniband/mlx5_0/ports/1/{file}"), text);
        let expected = Change::Port { device: "mlx5_0".into(), port: 1, changed };
        assert_eq!(changes(&old, &tree.devices()), [expected], "{file}");
    }
    fs::remove_dir_all(tree.0.path().join("infiniband/qib0")).unwrap();
    tree.device("hfi1_0", "0011:7501:0000:0001");
    tree.device("mlx5_0", "0002:c903:0000:0099");
    let name = |name: &str| name.to_owned();
    assert_eq!(
        changes(&before, &tree.devices()),
        [
            Change::Removed(name("mlx5_0")),
            Change::Removed(name("qib0")),
            Change::Added(name("hfi1_0")),
            Change::Added(name("mlx5_0"))
        ]
    );
}
