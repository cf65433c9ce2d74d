//! All that is open, and what the core is to be told.
use super::{
    counters::Counters,
    device::{Device, DeviceKey},
    endpoint::Endpoint,
    retry::Retries,
    wakes::{Source, Wakes},
};
use crate::log::Lines;
use acm_sansio::{EndpointId, Input, PortId, SaRequestId, Time, api::SendFailure, port::PortAttributes, turns::Turns};
use core::num::NonZeroU32;
use ib_device::{sysfs::Sysfs, uevent::UeventSocket, umad::ReceiveBuffer, verbs::QueueKey};
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad, sa::SaMad};
use std::collections::{BTreeMap, VecDeque};

/// Bytes of a datagram of ours.
const PAYLOAD: usize = size_of::<AcmMad>();

/// How many datagrams may be under way at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depths {
    /// `recv_depth`: received and not looked at.
    pub(crate) receive: NonZeroU32,
    /// `send_depth`: sent and not gone out. ibacm counts responses alone; requests have room of their own here.
    pub(crate) send: NonZeroU32,
}

/// The RDMA devices of this machine, and what is open of them.
#[derive(Debug)]
pub(crate) struct Devices {
    pub(super) sysfs: Sysfs,
    pub(super) depths: Depths,
    /// As of the last `handle_timeout`.
    pub(super) now: Time,
    pub(super) uevents: Option<UeventSocket>,
    pub(super) wakes: Wakes,
    pub(super) turns: Turns<Source>,
    pub(super) retries: Retries<Work>,
    pub(super) counters: Counters,
    pub(super) lines: Lines,
    /// Before the devices, as queue pairs go before theirs.
    pub(super) endpoints: BTreeMap<EndpointId, Endpoint>,
    /// Whose a queue pair is: keys are unique in their device only.
    pub(super) queues: BTreeMap<(DeviceKey, QueueKey), EndpointId>,
    pub(super) devices: BTreeMap<DeviceKey, Device>,
    pub(super) next_device: u32,
    /// Ports keep their ids when their device goes and comes again.
    pub(super) ids: BTreeMap<(String, u8), PortId>,
    /// Requests to subnet administration under way, by the lower half of the transaction id.
    pub(super) requests: BTreeMap<(PortId, u32), SaRequestId>,
    pub(super) facts: VecDeque<Fact>,
    pub(super) new_ports: bool,
    /// The last input borrows from `mad` and `payload`.
    pub(super) mad: SaMad,
    pub(super) payload: [u8; PAYLOAD],
    pub(super) buffer: ReceiveBuffer,
}

/// What is tried again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// Looking for devices.
    Scan,
    /// Reading or opening the device of this name, or one of its ports.
    Device(String),
    /// Bringing a queue pair back to work.
    Endpoint(EndpointId),
    /// Receiving what is sent to a group.
    Attach(EndpointId, Gid, Lid),
    /// Reading a port's MADs.
    Mads(PortId),
}

/// What the core is to be told, without bytes of the fabric.
#[derive(Debug)]
pub(super) enum Fact {
    PortUp(PortId, Box<PortAttributes>),
    PortDown(PortId),
    Reregister(PortId),
    EndpointOpened(EndpointId, Qpn),
    EndpointLost(EndpointId),
    SaFailed(SaRequestId, SendFailure),
}

impl Devices {
    /// Looks at what there is. Finding nothing is no error: devices may come later.
    pub(crate) fn open(depths: Depths, lines: Lines) -> Self {
        let uevents = UeventSocket::open()
            .inspect_err(|error| tracing::warn!(target: "devices", "devices that come later stay unseen: {error}"))
            .ok();
        let mut devices = Self::looking_at(Sysfs::default(), uevents, depths, lines);
        devices.scan();
        devices
    }

    /// Nothing is open yet.
    pub(super) fn looking_at(sysfs: Sysfs, uevents: Option<UeventSocket>, depths: Depths, lines: Lines) -> Self {
        Self {
            sysfs,
            depths,
            now: Time::ZERO,
            uevents,
            wakes: Wakes::new(lines.clone()),
            turns: Turns::default(),
            retries: Retries::default(),
            counters: Counters::default(),
            lines,
            endpoints: BTreeMap::new(),
            queues: BTreeMap::new(),
            devices: BTreeMap::new(),
            next_device: 0,
            ids: BTreeMap::new(),
            requests: BTreeMap::new(),
            facts: VecDeque::new(),
            new_ports: true,
            mad: SaMad::default(),
            payload: [0; PAYLOAD],
            buffer: ReceiveBuffer::default(),
        }
    }

    /// Whether there is no port to serve.
    pub(crate) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// A fact as the core hears it.
    pub(super) fn input(fact: Fact) -> Input<'static> {
        match fact {
            Fact::PortUp(port, attributes) => Input::PortUp { port, attributes: *attributes },
            Fact::PortDown(port) => Input::PortDown(port),
            Fact::Reregister(port) => Input::ClientReregister(port),
            Fact::EndpointOpened(endpoint, qpn) => Input::EndpointOpened { endpoint, qpn },
            Fact::EndpointLost(endpoint) => Input::EndpointLost(endpoint),
            Fact::SaFailed(id, failure) => Input::SaFailed { id, failure },
        }
    }

    /// The open device with this name.
    pub(super) fn key_of(&self, name: &str) -> Option<DeviceKey> {
        self.devices.iter().find(|(_, device)| device.name == name).map(|(key, _)| *key)
    }

    /// The device that a port is of, and its number there.
    pub(super) fn place_of(&self, id: PortId) -> Option<(DeviceKey, u8)> {
        self.devices.iter().find_map(|(key, device)| {
            let port = device.ports.iter().find(|port| port.id == id)?;
            Some((*key, port.number))
        })
    }
}
