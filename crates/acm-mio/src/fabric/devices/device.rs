//! One open device.
use acm_sansio::{PortId, door::SaSend, port::PortAttributes};
use ib_device::{
    LinkLayer, sysfs,
    umad::{Agent, AgentId, Expect, MadAddress, UmadPort},
    verbs::Context,
};
use ib_mad::{AddressVector, MgmtClass, PortState, sa::SA_CLASS_VERSION};
use std::os::fd::{AsFd, BorrowedFd};

/// One open device.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) info: sysfs::Device,
    pub(super) ports: Vec<Port>,
    /// Last: ports and queue pairs go before it.
    pub(super) context: Context,
}

/// A port with link layer InfiniBand.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) id: PortId,
    pub(super) number: u8,
    pub(super) umad: UmadPort,
    agent: AgentId,
}

impl Device {
    /// Opens a device, if it has a port to serve. What does not work is said in the log.
    pub(super) fn open(info: sysfs::Device, mut id: impl FnMut(u8) -> PortId) -> Option<Self> {
        let served = |port: &&sysfs::Port| port.link_layer == LinkLayer::InfiniBand;
        if !info.ports.iter().any(|port| served(&port)) {
            tracing::debug!(target: "devices", "{} has no InfiniBand port", info.name);
            return None;
        }
        let context = Context::open(&info.name)
            .inspect_err(|error| tracing::error!(target: "devices", "{}: {error}; see --check", info.name))
            .ok()?;
        let mut ports = Vec::new();
        for port in info.ports.iter().filter(served) {
            let Some(file) = &port.umad else {
                tracing::error!(target: "devices", "{} port {}: no umad; modprobe ib_umad", info.name, port.number);
                continue;
            };
            let opened = UmadPort::open(&file.path).and_then(|umad| {
                let agent = umad.register(&Agent::client(MgmtClass::SUBN_ADM, SA_CLASS_VERSION))?;
                Ok(Port { id: id(port.number), number: port.number, umad, agent })
            });
            match opened {
                Ok(port) => ports.push(port),
                Err(error) => {
                    tracing::error!(target: "devices", "{} port {}: {error}; see --check", info.name, port.number);
                }
            }
        }
        (!ports.is_empty()).then(|| Self { name: info.name.clone(), info, ports, context })
    }

    pub(super) fn port(&self, number: u8) -> Option<&Port> {
        self.ports.iter().find(|port| port.number == number)
    }

    /// Name, number and id of each port.
    pub(super) fn clone_ports(&self) -> Vec<(String, u8, PortId)> {
        self.ports.iter().map(|port| (self.name.clone(), port.number, port.id)).collect()
    }

    /// Everything to wait for.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [self.context.async_fd(), self.context.completion_fd()]
            .into_iter()
            .chain(self.ports.iter().map(|port| port.umad.as_fd()))
    }

    /// What sysfs says now.
    pub(super) fn refresh(&mut self, info: sysfs::Device) {
        self.info = info;
    }

    /// What the core reads of a port; `None` while it is not active.
    pub(super) fn attributes(&self, number: u8) -> Option<PortAttributes> {
        let port = self.info.port(number)?;
        // MTU and subnet timeout are not in sysfs; the state of this moment is the device's.
        let queried = self
            .context
            .query_port(number)
            .inspect_err(|error| tracing::warn!(target: "devices", "{} port {number}: {error}", self.name))
            .ok()?;
        if queried.state != PortState::ACTIVE {
            return None;
        }
        let rate = port.rate.or(queried.rate).map(ib_device::LinkRate::code);
        Some(PortAttributes {
            device_guid: self.info.node_guid,
            port_number: number,
            port_count: u8::try_from(self.info.ports.len()).unwrap_or(u8::MAX),
            lid: queried.lid,
            lmc: queried.lmc,
            sm_lid: queried.sm_lid,
            sm_sl: queried.sm_sl,
            gids: table(port.gids.iter().map(|entry| (entry.index, entry.gid))),
            pkeys: table(port.pkeys.iter().map(|entry| (entry.index, entry.pkey))),
            mtu: queried.active_mtu,
            rate: rate.unwrap_or(ib_mad::Rate::GBPS_10),
            subnet_timeout: queried.subnet_timeout,
        })
    }

    /// Sends a request to subnet administration.
    pub(super) fn sa_send(&mut self, number: u8, send: &SaSend) -> ib_device::Result<()> {
        let Some(port) = self.ports.iter_mut().find(|port| port.number == number) else {
            return Err(ib_device::Error::Gone);
        };
        let address = MadAddress::general_services(AddressVector::local(send.to.lid, send.to.sl), send.to.pkey_index);
        let expect = Expect::Answer { timeout: send.timeout, retries: send.retries };
        port.umad.send(port.agent, &address, expect, ib_mad::as_bytes(&send.mad))
    }
}

/// A table with its holes.
fn table<T: Default + Clone>(entries: impl Iterator<Item = (u16, T)>) -> Vec<T> {
    let mut table = Vec::new();
    for (index, value) in entries {
        let index = usize::from(index);
        if table.len() <= index {
            table.resize(index + 1, T::default());
        }
        if let Some(place) = table.get_mut(index) {
            *place = value;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_keep_their_holes() {
        assert_eq!(super::table([(0_u16, 7), (3, 9)].into_iter()), [7, 0, 0, 9]);
        assert!(super::table(core::iter::empty::<(u16, u8)>()).is_empty());
    }
}
