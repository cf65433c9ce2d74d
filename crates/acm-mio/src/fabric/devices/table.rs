//! Open devices, ports and queue pairs, and the inputs for the core.
use super::{
    counters::Counters,
    device::{Device, DeviceKey},
    endpoint::Endpoint,
    requests::{OpenRequest, RequestKey},
    retry::Retries,
    sources::{Source, SourceRegistry},
};
use crate::log::Lines;
use acm_sansio::{EndpointId, Input, PortId, SaRequestId, Time, api::SendFailure, port::PortAttributes, turns::Turns};
use core::num::NonZeroU32;
use ib_device::{sysfs::Sysfs, uevent::UeventSocket, umad::ReceiveBuffer, verbs::QueueKey};
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad};
use std::collections::{BTreeMap, VecDeque};

/// Length of an ACM datagram in bytes.
const PAYLOAD: usize = size_of::<AcmMad>();

/// Depths of the queues of each endpoint's queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depths {
    /// `recv_depth`: maximum number of received datagrams that are not handled.
    pub(crate) receive: NonZeroU32,
    /// `send_depth`: maximum number of responses that are not sent, as in ibacm. Requests have separate entries in the
    /// send queue.
    pub(crate) send: NonZeroU32,
}

/// The RDMA devices of this machine, and their open parts.
#[derive(Debug)]
pub(crate) struct Devices {
    pub(super) sysfs: Sysfs,
    pub(super) depths: Depths,
    /// Time of the last `handle_timeout`.
    pub(super) now: Time,
    pub(super) uevents: Option<UeventSocket>,
    pub(super) sources: SourceRegistry,
    pub(super) turns: Turns<Source>,
    pub(super) retries: Retries<Work>,
    pub(super) counters: Counters,
    pub(super) lines: Lines,
    /// Declared before the devices, so that queue pairs are dropped before their device.
    pub(super) endpoints: BTreeMap<EndpointId, Endpoint>,
    /// Endpoints by queue pair. The keys of queue pairs are unique only within a device.
    pub(super) queues: BTreeMap<(DeviceKey, QueueKey), EndpointId>,
    pub(super) devices: BTreeMap<DeviceKey, Device>,
    pub(super) next_device: u32,
    /// Ids of ports. If a device is removed and added again, its ports keep their ids.
    pub(super) ids: BTreeMap<(String, u8), PortId>,
    /// Open requests to subnet administration.
    pub(super) requests: BTreeMap<RequestKey, OpenRequest>,
    pub(super) inputs: VecDeque<QueuedInput>,
    pub(super) new_ports: bool,
    /// The last input borrows from `mad` and `payload`.
    pub(super) mad: Vec<u8>,
    pub(super) payload: [u8; PAYLOAD],
    pub(super) buffer: ReceiveBuffer,
}

/// Work that is retried after a failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// Scan for devices.
    Scan,
    /// Read or open the device of this name, or one of its ports.
    Device(String),
    /// Recover a queue pair.
    Endpoint(EndpointId),
    /// Attach to a multicast group.
    Attach(EndpointId, Gid, Lid),
    /// Receive a port's MADs.
    Mads(PortId),
}

/// An input for the core that does not borrow.
#[derive(Debug)]
pub(super) enum QueuedInput {
    PortUp(PortId, Box<PortAttributes>),
    PortDown(PortId),
    Reregister(PortId),
    EndpointOpened(EndpointId, Qpn),
    EndpointLost(EndpointId),
    Attached(EndpointId, Gid, Lid),
    SaFailed(SaRequestId, SendFailure),
}

impl From<QueuedInput> for Input<'static> {
    fn from(queued: QueuedInput) -> Self {
        match queued {
            QueuedInput::PortUp(port, attributes) => Self::PortUp { port, attributes: *attributes },
            QueuedInput::PortDown(port) => Self::PortDown(port),
            QueuedInput::Reregister(port) => Self::ClientReregister(port),
            QueuedInput::EndpointOpened(endpoint, qpn) => Self::EndpointOpened { endpoint, qpn },
            QueuedInput::EndpointLost(endpoint) => Self::EndpointLost(endpoint),
            QueuedInput::Attached(endpoint, mgid, mlid) => Self::Attached { endpoint, mgid, mlid },
            QueuedInput::SaFailed(id, failure) => Self::SaFailed { id, failure },
        }
    }
}

impl Devices {
    /// Opens the existing devices. A machine without a device is not an error, because a device may be added later.
    pub(crate) fn open(depths: Depths, lines: Lines) -> Self {
        let uevents = UeventSocket::open()
            .inspect_err(|error| tracing::warn!(target: "devices", "devices that come later stay unseen: {error}"))
            .ok();
        let mut devices = Self::looking_at(Sysfs::default(), uevents, depths, lines);
        devices.scan();
        devices
    }

    /// Returns a table without any open device.
    pub(super) fn looking_at(sysfs: Sysfs, uevents: Option<UeventSocket>, depths: Depths, lines: Lines) -> Self {
        Self {
            sysfs,
            depths,
            now: Time::ZERO,
            uevents,
            sources: SourceRegistry::new(lines.clone()),
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
            inputs: VecDeque::new(),
            new_ports: true,
            mad: Vec::new(),
            payload: [0; PAYLOAD],
            buffer: ReceiveBuffer::default(),
        }
    }

    /// Reports whether no device is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Returns the key of the open device with this name.
    pub(super) fn key_of(&self, name: &str) -> Option<DeviceKey> {
        self.devices.iter().find(|(_, device)| device.name == name).map(|(key, _)| *key)
    }

    /// Returns the device of a port, and the port's number.
    pub(super) fn location_of(&self, id: PortId) -> Option<(DeviceKey, u8)> {
        self.devices.iter().find_map(|(key, device)| {
            let port = device.ports.iter().find(|port| port.id == id)?;
            Some((*key, port.number))
        })
    }
}
