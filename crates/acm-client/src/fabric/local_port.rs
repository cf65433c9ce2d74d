//! The local port that sends requests.
use super::error::FabricError;
use ib_device::sysfs::{self, Sysfs};
use ib_mad::{Gid, Guid, Pkey};
use std::path::PathBuf;

/// An active port and its umad file.
#[derive(Clone, Debug)]
pub struct LocalPort {
    /// Name of the device, such as `mlx5_0`.
    pub device: String,
    /// The kernel's attributes of the port.
    pub port: sysfs::Port,
    pub(super) umad: PathBuf,
}

impl LocalPort {
    /// Returns the first active InfiniBand port, optionally of this device or with this number.
    ///
    /// # Errors
    /// There is no such port, or the kernel has no umad file for it.
    pub fn find(device: Option<&str>, number: Option<u8>) -> Result<Self, FabricError> {
        Self::choose(&Self::all()?, device, number)
    }

    /// Returns the first of these ports that [`find`](Self::find) returns.
    fn choose(ports: &[(String, sysfs::Port)], device: Option<&str>, number: Option<u8>) -> Result<Self, FabricError> {
        let matches = |name: &str, port: &sysfs::Port| {
            device.is_none_or(|device| device == name) && number.is_none_or(|number| number == port.number)
        };
        let text = |(name, port): &(String, sysfs::Port)| format!("{name} port {}", port.number);
        let list = |ports: Vec<String>| if ports.is_empty() { "none".to_owned() } else { ports.join(", ") };
        let active: Vec<_> = ports.iter().filter(|(_, port)| port.is_usable()).collect();
        let Some((name, port)) = active.iter().find(|(name, port)| matches(name, port)) else {
            let number = number.map(|number| format!("port {number}"));
            let requested = device.map(str::to_owned).into_iter().chain(number).collect::<Vec<_>>().join(" ");
            if ports.is_empty() {
                return Err(FabricError::NoDevice);
            } else if requested.is_empty() {
                let states = ports.iter().map(|found| format!("{}: {}", text(found), found.1.state)).collect();
                return Err(FabricError::NoActivePort(list(states)));
            }
            let active = list(active.into_iter().map(text).collect());
            return Err(FabricError::NoSuchPort { requested, active });
        };
        let Some(umad) = &port.umad else {
            return Err(FabricError::NoUmad(format!("{name} port {}", port.number)));
        };
        Ok(Self { device: name.clone(), port: port.clone(), umad: umad.path.clone() })
    }

    /// Returns the active port with this number of the device with this node GUID.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub fn of_device(node_guid: Guid, number: u8) -> Result<Self, FabricError> {
        let found = devices()?.into_iter().find(|device| device.node_guid == node_guid);
        let name = found.map_or_else(|| format!("device {node_guid}"), |device| device.name);
        Self::find(Some(&name), Some(number))
    }

    /// Returns the local device and port with this GID, if there is one.
    #[must_use]
    pub fn with_gid(gid: Gid) -> Option<(String, sysfs::Port)> {
        Self::all().ok()?.into_iter().find(|(_, port)| port.gid_index(gid).is_some())
    }

    /// Returns the index of the port's P_Key for paths in the partition of `pkey`: of the same P_Key, or otherwise of a
    /// P_Key of which one of the two is a full member.
    #[must_use]
    pub fn index_for(port: &sysfs::Port, pkey: Pkey) -> Option<u16> {
        let may_talk = || port.pkeys.iter().find(|entry| pkey.matches(entry.pkey)).map(|entry| entry.index);
        port.pkey_index(pkey).or_else(may_talk)
    }

    fn all() -> Result<Vec<(String, sysfs::Port)>, FabricError> {
        let ports = |device: sysfs::Device| device.ports.into_iter().map(move |port| (device.name.clone(), port));
        Ok(devices()?.into_iter().flat_map(ports).collect())
    }

    /// Returns the first GID, which identifies the port for the SA.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.port.gids.first().map_or(Gid::ZERO, |entry| entry.gid)
    }

    /// Returns a name such as `mlx5_0 port 1`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} port {}", self.device, self.port.number)
    }
}

fn devices() -> Result<Vec<sysfs::Device>, FabricError> {
    let scan = Sysfs::default().scan();
    Ok(scan.map_err(|source| FabricError::Device { what: "InfiniBand devices".to_owned(), source })?.devices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_device::{
        LinkLayer,
        sysfs::{PkeyEntry, UmadFile},
    };
    use ib_mad::{Lid, PortState, ServiceLevel, id::Lmc};

    fn port(device: &str, number: u8, state: PortState) -> (String, sysfs::Port) {
        let umad = UmadFile { name: "umad0".to_owned(), path: PathBuf::from("/dev/infiniband/umad0") };
        let port = sysfs::Port {
            number,
            state,
            link_layer: LinkLayer::InfiniBand,
            lid: Lid::new(1),
            lmc: Lmc::default(),
            sm_lid: Lid::new(2),
            sm_sl: ServiceLevel::default(),
            rate: None,
            gids: Vec::new(),
            pkeys: [(0, 0x8001), (1, 0x7fff)].map(|(index, pkey)| PkeyEntry { index, pkey: Pkey::new(pkey) }).into(),
            umad: Some(umad),
        };
        (device.to_owned(), port)
    }

    #[test]
    fn first_active_port_of_the_device_with_the_number_is_found() {
        let (active, down) = (PortState::ACTIVE, PortState::DOWN);
        let ports = [port("a", 1, down), port("a", 2, active), port("b", 1, active), port("b", 2, active)];
        let name = |device, number| LocalPort::choose(&ports, device, number).map(|port| port.name());
        assert_eq!(name(None, None).unwrap(), "a port 2");
        assert_eq!(name(None, Some(1)).unwrap(), "b port 1");
        assert_eq!(name(Some("b"), None).unwrap(), "b port 1");
        assert_eq!(name(Some("b"), Some(2)).unwrap(), "b port 2");
        let error = name(Some("a"), Some(1)).unwrap_err();
        assert!(matches!(&error, FabricError::NoSuchPort { requested, .. } if requested == "a port 1"), "{error}");
        let error = LocalPort::choose(&ports[..1], None, None).unwrap_err();
        assert!(matches!(&error, FabricError::NoActivePort(states) if states.starts_with("a port 1: ")), "{error}");
    }

    #[test]
    fn index_of_a_p_key_is_of_the_same_one_or_of_one_that_may_talk_to_it() {
        let (_, port) = port("a", 1, PortState::ACTIVE);
        for (pkey, expected) in
            [(0x8001, Some(0)), (0x0001, Some(0)), (0x7fff, Some(1)), (0xffff, Some(1)), (0x8002, None)]
        {
            assert_eq!(LocalPort::index_for(&port, Pkey::new(pkey)), expected, "{pkey:#x}");
        }
    }
}
