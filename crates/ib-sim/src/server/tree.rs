//! The files of each node's devices in the form of Linux's sysfs, for programs under ib-sim-preload.
//!
//! The classes are `DIR/HOST/sys/class/infiniband`, `infiniband_mad` and `infiniband_verbs`. Empty device files are in
//! `DIR/HOST/dev/infiniband`.
use crate::{
    port::{Node, Port, umad_number},
    subnet::smp::{CAPABILITIES, GID_ENTRIES, PKEY_ENTRIES},
};
use alloc::{
    format,
    string::{String, ToString},
};
use ib_mad::{Gid, Guid, Pkey, PortState};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The folder with the files of all hosts.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) root: PathBuf,
}

impl Tree {
    /// Writes all files of a node.
    pub(super) fn write_node(&self, node: &Node) -> io::Result<()> {
        let (home, name, uverbs) = (self.home(node), node.device(), uverbs(node));
        let (class, dev) = (home.join("sys/class"), home.join("dev/infiniband"));
        let device = class.join("infiniband").join(&name);
        let verbs = class.join("infiniband_verbs").join(&uverbs);
        let mads = class.join("infiniband_mad");
        for dir in [&device, &verbs, &mads, &dev] {
            fs::create_dir_all(dir)?;
        }
        let guid = guid_text(node.guid);
        for (file, value) in [
            ("node_type", "1: CA"),
            ("node_guid", &guid),
            ("sys_image_guid", &guid),
            ("node_desc", &format!("{} {name}", node.host_and_device().0)),
            ("fw_ver", env!("CARGO_PKG_VERSION")),
            ("hw_rev", "0"),
            ("hca_type", "IBSIM"),
            ("board_id", "IBSIM"),
        ] {
            self.write(&device.join(file), value)?;
        }
        self.write(&class.join("infiniband_verbs/abi_version"), "6")?;
        self.write(&verbs.join("ibdev"), &name)?;
        self.write(&verbs.join("abi_version"), "1")?;
        self.write(&verbs.join("dev"), &format!("231:{}", 192 + u16::from(node.host_and_device().1)))?;
        self.write(&dev.join(uverbs), "")?;
        self.write(&mads.join("abi_version"), "5")?;
        for (number, port) in (1..).zip(&node.ports) {
            self.write_umad(node, number)?;
            self.write_port(node, number, port)?;
        }
        Ok(())
    }

    /// Writes the files of a port's MAD interface.
    pub(super) fn write_umad(&self, node: &Node, number: u8) -> io::Result<()> {
        let home = self.home(node);
        for name in umad_names(node, number) {
            let entry = home.join("sys/class/infiniband_mad").join(&name);
            fs::create_dir_all(&entry)?;
            self.write(&entry.join("ibdev"), &node.device())?;
            self.write(&entry.join("port"), &number.to_string())?;
            self.write(&entry.join("dev"), &format!("231:{}", umad_number(node.host_and_device().1, number)))?;
            self.write(&home.join("dev/infiniband").join(&name), "")?;
        }
        Ok(())
    }

    /// Removes the files of a port's MAD interface.
    pub(super) fn remove_umad(&self, node: &Node, number: u8) -> io::Result<()> {
        let home = self.home(node);
        for name in umad_names(node, number) {
            fs::remove_dir_all(home.join("sys/class/infiniband_mad").join(&name))?;
            fs::remove_file(home.join("dev/infiniband").join(&name))?;
        }
        Ok(())
    }

    /// Removes the files of a node's device. The classes stay.
    pub(super) fn remove_node(&self, node: &Node) -> io::Result<()> {
        let home = self.home(node);
        let class = home.join("sys/class");
        for (number, _) in (1..).zip(&node.ports) {
            // An error means that the umad device was removed before.
            let _ = self.remove_umad(node, number);
        }
        fs::remove_dir_all(class.join("infiniband_verbs").join(uverbs(node)))?;
        fs::remove_file(home.join("dev/infiniband").join(uverbs(node)))?;
        // The rename removes all files of the device at once, for programs that read them.
        let gone = self.root.join(".gone");
        fs::rename(class.join("infiniband").join(node.device()), &gone)?;
        fs::remove_dir_all(gone)
    }

    /// Writes the files of a port's changing attributes.
    pub(super) fn write_port(&self, node: &Node, number: u8, port: &Port) -> io::Result<()> {
        let class = self.home(node).join("sys/class/infiniband");
        let dir = class.join(node.device()).join("ports").join(number.to_string());
        let (gids, types, pkeys) = (dir.join("gids"), dir.join("gid_attrs/types"), dir.join("pkeys"));
        for dir in [&gids, &types, &pkeys] {
            fs::create_dir_all(dir)?;
        }
        for index in 0..GID_ENTRIES.max(port.gids.len()) {
            let gid = port.gids.get(index).copied().unwrap_or(Gid::ZERO);
            self.write(&gids.join(index.to_string()), &gid_text(gid))?;
            if !gid.is_zero() {
                self.write(&types.join(index.to_string()), "IB/RoCE v1")?;
            }
        }
        // If the old table was longer, its remaining entries become unused.
        let entries = fs::read_dir(&pkeys)?.count().max(PKEY_ENTRIES).max(port.pkeys.len());
        for index in 0..entries {
            let pkey = port.pkeys.get(index).copied().unwrap_or(Pkey::new(0));
            self.write(&pkeys.join(index.to_string()), &format!("{:#06x}", pkey.get()))?;
        }
        let state = format!("{}: {}", port.state.get(), port.state.to_string().to_uppercase());
        for (name, value) in [
            ("phys_state", if port.state == PortState::DOWN { "2: Polling" } else { "5: LinkUp" }),
            ("lid", &format!("{:#x}", port.lid.get())),
            ("lid_mask_count", &port.lmc.get().to_string()),
            ("sm_lid", &format!("{:#x}", port.sm_lid.get())),
            ("sm_sl", &port.sm_sl.get().to_string()),
            ("cap_mask", &format!("{CAPABILITIES:#010x}")),
            ("rate", &rate_text(port)),
            ("link_layer", if port.ethernet { "Ethernet" } else { "InfiniBand" }),
            // The file `state` is written last, so that a program that waits for the state reads the new values of all
            // files.
            ("state", &state),
        ] {
            self.write(&dir.join(name), value)?;
        }
        Ok(())
    }

    /// Returns the folder of the node's host.
    fn home(&self, node: &Node) -> PathBuf {
        self.root.join(node.host_and_device().0)
    }

    /// Writes a line to a new file and renames the file, so that readers see either the old or the new line. An
    /// unchanged file is not written.
    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        let line = if value.is_empty() { String::new() } else { format!("{value}\n") };
        if fs::read_to_string(path).is_ok_and(|old| old == line) {
            return Ok(());
        }
        let draft = self.root.join(".draft");
        fs::write(&draft, line)?;
        fs::rename(&draft, path)
    }
}

/// Returns the names of the files of a port's MAD interface.
fn umad_names(node: &Node, port: u8) -> [String; 2] {
    let number = umad_number(node.host_and_device().1, port);
    [format!("umad{number}"), format!("issm{number}")]
}

/// Returns the name of a device's verbs interface.
pub(super) fn uverbs(node: &Node) -> String {
    format!("uverbs{}", node.host_and_device().1)
}

fn guid_text(guid: Guid) -> String {
    let guid = guid.get();
    let part = |shift: u32| guid >> shift & 0xffff;
    format!("{:04x}:{:04x}:{:04x}:{:04x}", part(48), part(32), part(16), part(0))
}

fn gid_text(gid: Gid) -> String {
    let parts = gid.get();
    let parts: alloc::vec::Vec<String> =
        parts.chunks(2).map(|pair| pair.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))).collect();
    parts.join(":")
}

fn rate_text(port: &Port) -> String {
    let (lanes, generation) = port.link();
    // The kernel writes the nominal rate: 100, not 103.125.
    let (gbps, tenth) = (generation.link_tenths(lanes) / 10, generation.link_tenths(lanes) % 10);
    let fraction = if tenth == 0 { String::new() } else { format!(".{tenth}") };
    format!("{gbps}{fraction} Gb/sec ({lanes}X {})", generation.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::SubnetConfig;

    #[test]
    fn files_have_the_attributes_of_the_port() {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { root: dir.path().to_path_buf() };
        let mut node = SubnetConfig::default().node(1).unwrap();
        tree.write_node(&node).unwrap();
        let device = dir.path().join("node1/sys/class/infiniband/ibsim0");
        let read = |name: &str| fs::read_to_string(device.join(name)).unwrap();
        assert_eq!(read("node_guid"), "0002:c903:0000:0010\n");
        assert_eq!(read("ports/1/gids/0"), "fe80:0000:0000:0000:0002:c903:0000:0011\n");
        assert_eq!(read("ports/1/rate"), "100 Gb/sec (4X EDR)\n");
        assert_eq!((read("ports/1/pkeys/0"), read("ports/1/pkeys/31")), ("0xffff\n".into(), "0x0000\n".into()));
        node.ports[0].state = PortState::DOWN;
        node.ports[0].pkeys = [Pkey::new(0x8001)].into();
        tree.write_port(&node, 1, &node.ports[0]).unwrap();
        assert_eq!((read("ports/1/state"), read("ports/1/pkeys/0")), ("1: DOWN\n".into(), "0x8001\n".into()));
    }

    #[test]
    fn devices_of_one_host_have_files_in_the_same_classes() {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { root: dir.path().to_path_buf() };
        let config = SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() };
        let named = |number, name: &str| Node { name: name.into(), ..config.node(number).unwrap() };
        let (first, second) = (named(1, "node1"), named(2, "node1:1"));
        tree.write_node(&first).unwrap();
        tree.write_node(&second).unwrap();
        let class = dir.path().join("node1/sys/class");
        let read = |name: &str| fs::read_to_string(class.join(name)).unwrap();
        assert_eq!(read("infiniband/ibsim1/node_guid"), "0002:c903:0000:0020\n");
        let umad = (read("infiniband_mad/umad17/ibdev"), read("infiniband_mad/umad17/port"));
        assert_eq!(umad, ("ibsim1\n".into(), "2\n".into()));
        assert_eq!(crate::port::umad_port(17), Some((1, 2)));
        assert_eq!(read("infiniband_verbs/uverbs1/ibdev"), "ibsim1\n");
        tree.remove_node(&second).unwrap();
        assert!(!class.join("infiniband/ibsim1").exists() && !class.join("infiniband_mad/umad17").exists());
        assert_eq!(read("infiniband/ibsim0/node_guid"), "0002:c903:0000:0010\n");
    }
}
