//! An open device.
use crate::log::{Lines, limited};
use acm_sansio::{
    PortId,
    api::{SaAddress, SaSend},
    port::PortAttributes,
};
use ib_device::{
    Error, LinkLayer, Result, sysfs,
    umad::{Agent, AgentId, Expect, MadAddress, Methods, Rmpp, UmadPort},
    verbs::Context,
};
use ib_mad::{
    AddressVector, Method, MgmtClass, PortState,
    sa::{SA_CLASS_VERSION, SaMad},
};

/// An open device.
#[derive(Debug)]
pub(super) struct Device {
    /// The device as last read from sysfs.
    pub(super) info: sysfs::Device,
    pub(super) ports: Vec<Port>,
    /// The last field: ports are dropped before the context.
    pub(super) context: Context,
}

/// A port that is served.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) id: PortId,
    pub(super) number: u8,
    pub(super) umad: UmadPort,
    agent: AgentId,
    /// True if this agent, and not another program, receives the reports of subnet administration.
    takes_reports: bool,
    /// True if addresses without a global route are refused. The kernel determines it when it registers the device.
    grh_required: bool,
}

/// Reports whether a port is served. A port that is not InfiniBand has no subnet administration, and is not served.
pub(super) fn is_served(port: &sysfs::Port) -> bool {
    port.link_layer == LinkLayer::InfiniBand
}

impl Port {
    /// Opens a port's MAD interface.
    pub(super) fn open(
        id: PortId,
        port: &sysfs::Port,
        context: &Context,
        lines: &Lines,
    ) -> core::result::Result<Self, PortError> {
        let file = port.umad.as_ref().ok_or(PortError::NoUmad)?;
        let umad = UmadPort::open(&file.path)?;
        let client = Agent::client(MgmtClass::SUBN_ADM, SA_CLASS_VERSION).with_rmpp(Rmpp::Kernel);
        let (agent, takes_reports) = match umad.register(&client.serving(Methods::NONE.with(Method::REPORT))) {
            Ok(agent) => (agent, true),
            Err(error) => {
                let agent = umad.register(&client)?;
                let number = port.number;
                limited!(
                    lines,
                    WARN,
                    "devices",
                    "port {number}: notices of subnet administration go to another program, such as another daemon: {error}"
                );
                (agent, false)
            }
        };
        let grh_required = context.query_port(port.number)?.grh_required;
        Ok(Self { id, number: port.number, umad, agent, takes_reports, grh_required })
    }
}

/// Reason why a port cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum PortError {
    /// The module is not loaded, or the device file does not exist yet.
    #[error("no umad; modprobe ib_umad")]
    NoUmad,
    /// The device file cannot be opened.
    #[error("{0}; see acmctl check")]
    Open(#[from] Error),
}

impl Device {
    /// Opens a device without any port.
    pub(super) fn open(info: sysfs::Device) -> Result<Self> {
        let context = Context::open(&info.name)?;
        Ok(Self { info, ports: Vec::new(), context })
    }

    /// Returns the open port with this number.
    pub(super) fn port(&self, number: u8) -> Option<&Port> {
        self.ports.iter().find(|port| port.number == number)
    }

    /// Returns an open port.
    pub(super) fn port_of(&self, id: PortId) -> Option<&Port> {
        self.ports.iter().find(|port| port.id == id)
    }

    /// Returns the number of an open port.
    pub(super) fn number_of(&self, id: PortId) -> Option<u8> {
        self.port_of(id).map(|port| port.number)
    }

    /// Returns the attributes of a port; `None` while the port is not active, or has no GID to join a group with.
    pub(super) fn attributes(&self, number: u8) -> Result<Option<PortAttributes>> {
        // The device is queried, because sysfs lacks MTU and subnet time-out, and was read earlier.
        let queried = self.context.query_port(number)?;
        let Some(port) = self.info.port(number).filter(|_| queried.state == PortState::ACTIVE) else { return Ok(None) };
        if port.gids.iter().all(|entry| entry.gid.is_zero()) {
            return Ok(None);
        }
        let rate = port.rate.or(queried.rate).map(ib_device::LinkRate::code);
        Ok(Some(PortAttributes {
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
            takes_reports: self.port(number).is_some_and(|port| port.takes_reports),
        }))
    }

    /// Sends a request to subnet administration.
    pub(super) fn sa_send(&mut self, send: &SaSend) -> Result<()> {
        let expect = Expect::Response { timeout: send.timeout, retries: send.retries };
        self.send_mad(send.port, send.to, expect, &send.mad)
    }

    /// Sends the response to a report.
    pub(super) fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad) -> Result<()> {
        self.send_mad(port, to, Expect::Nothing, mad)
    }

    fn send_mad(&mut self, id: PortId, to: SaAddress, expect: Expect, mad: &SaMad) -> Result<()> {
        let Some(port) = self.ports.iter_mut().find(|port| port.id == id) else {
            return Err(Error::Gone);
        };
        let mut address = MadAddress::general_services(AddressVector::local(to.lid, to.sl), to.pkey_index);
        if port.grh_required
            && let Some(gid) = self.info.port(port.number).and_then(|port| port.gids.first())
        {
            address = address.with_administration_grh(*gid);
        }
        port.umad.send(port.agent, &address, expect, ib_mad::as_bytes(mad))
    }
}

/// Returns a table with the entries at their indices; missing entries are zero.
fn table<T: Default + Clone>(entries: impl Iterator<Item = (u16, T)>) -> Vec<T> {
    let mut table = Vec::new();
    for (index, value) in entries {
        let index = usize::from(index);
        if table.len() <= index {
            table.resize(index + 1, T::default());
        }
        if let Some(entry) = table.get_mut(index) {
            *entry = value;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn missing_entries_of_a_table_are_zero() {
        assert_eq!(super::table([(0_u16, 7), (3, 9)].into_iter()), [7, 0, 0, 9]);
        assert!(super::table(core::iter::empty::<(u16, u8)>()).is_empty());
    }
}
