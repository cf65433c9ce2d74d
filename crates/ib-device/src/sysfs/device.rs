//! A device in sysfs.
use super::{
    Port,
    files::{Dir, guid},
};
use crate::Result;
use ib_mad::Guid;
use std::path::PathBuf;

/// An RDMA device: `/sys/class/infiniband/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The kernel's name, for example `mlx5_0`. Names are unique. An administrator can rename a device.
    pub name: String,
    /// GUID of the node. Not unique: a virtual function may have the GUID of its physical function.
    pub node_guid: Guid,
    /// Node description, usually the names of host and device.
    pub node_description: String,
    /// Version of the firmware, if the device reports a version.
    pub firmware: Option<String>,
    /// `/dev/infiniband/uverbsN`, if libibverbs can open the device.
    pub uverbs: Option<PathBuf>,
    /// The ports in the order of their numbers.
    pub ports: Vec<Port>,
}

impl Device {
    pub(super) fn read(dir: Dir<'_>, name: &str) -> Result<Self> {
        let ports = dir.join("ports");
        let numbers = Dir(&ports).numbers::<u8>()?;
        let read = |number: u8| Port::read(Dir(&ports.join(number.to_string())), number);
        Ok(Self {
            name: name.into(),
            node_guid: dir.value("node_guid", "GUID", guid)?,
            node_description: dir.optional_text("node_desc")?.unwrap_or_default(),
            firmware: dir.optional_text("fw_ver")?,
            uverbs: None,
            ports: numbers.into_iter().map(read).collect::<Result<_>>()?,
        })
    }

    /// Returns the port with this number.
    #[must_use]
    pub fn port(&self, number: u8) -> Option<&Port> {
        self.ports.iter().find(|port| port.number == number)
    }

    /// True if the attributes that never change are equal, so that both values can be the same device at different
    /// times. A replacement of the same name has another GUID.
    #[must_use]
    pub fn is_same_device(&self, other: &Self) -> bool {
        let numbers = |device: &Self| device.ports.iter().map(|port| port.number).collect::<Vec<_>>();
        self.name == other.name
            && self.node_guid == other.node_guid
            && self.uverbs == other.uverbs
            && numbers(self) == numbers(other)
    }
}
