//! Asynchronous events of a device, and the keys of queue pairs in events.
use core::{ffi::c_void, ptr};

/// Identifies a queue pair of a context in completions and events. No key is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueKey(usize);

impl QueueKey {
    pub(super) const fn new(key: usize) -> Self {
        Self(key)
    }
    /// Returns the key as a context pointer of libibverbs.
    pub(super) const fn as_ptr(self) -> *mut c_void {
        ptr::without_provenance_mut(self.0)
    }
    /// Returns the key in a context pointer of libibverbs.
    pub(super) fn from_ptr(pointer: *mut c_void) -> Self {
        Self(pointer.addr())
    }
}

/// An asynchronous event of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A port changed.
    Port {
        /// The port's number in the device, from 1.
        port: u8,
        /// The change.
        event: PortEvent,
    },
    /// The queue pair is in error. Call [`super::UdQueuePair::recover`].
    QueuePairError(QueueKey),
    /// The queue pair's completions are lost. Drop the queue pair and create another queue pair.
    CompletionQueueError(QueueKey),
    /// The device failed or is being removed. Close everything that belongs to the device.
    DeviceFatal,
    /// An event that does not concern UD queue pairs, with its number in `enum ibv_event_type`.
    Other(u32),
}

/// A change of a port. Events need not arrive in the order of the changes: for example, a client reregistration may
/// arrive before the port is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortEvent {
    /// The port became active. May be reported more than once.
    Active,
    /// The port is no longer active.
    Error,
    /// The LID of the port changed.
    LidChange,
    /// The P_Key table changed. The key at an index may be another key.
    PkeyChange,
    /// The LID or the service level of the subnet manager changed.
    SmChange,
    /// The subnet manager lost the registrations of its clients. Join all groups again.
    ClientReregister,
    /// The GID table changed.
    GidChange,
}

impl Event {
    /// True if the element of an event with this number is a port.
    pub(super) const fn names_port(number: u32) -> bool {
        matches!(number, 9..=13 | 17 | 18)
    }
    /// True if the element of an event with this number is a queue pair.
    pub(super) const fn names_queue_pair(number: u32) -> bool {
        matches!(number, 1..=7 | 16)
    }
    /// True if the element of an event with this number is a completion queue.
    pub(super) const fn names_completion_queue(number: u32) -> bool {
        number == 0
    }

    /// Creates an event from its number in `enum ibv_event_type` and its element.
    pub(super) fn new(number: u32, port: Option<i32>, queue: Option<QueueKey>) -> Self {
        let port_event = match number {
            9 => PortEvent::Active,
            10 => PortEvent::Error,
            11 => PortEvent::LidChange,
            12 => PortEvent::PkeyChange,
            13 => PortEvent::SmChange,
            17 => PortEvent::ClientReregister,
            18 => PortEvent::GidChange,
            _ => {
                return match (number, queue) {
                    (0, Some(key)) => Self::CompletionQueueError(key),
                    (1..=3, Some(key)) => Self::QueuePairError(key),
                    (8, _) => Self::DeviceFatal,
                    _ => Self::Other(number),
                };
            }
        };
        match port.map(u8::try_from) {
            Some(Ok(port)) => Self::Port { port, event: port_event },
            _ => Self::Other(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_verbs_sys::ibv_event_type as raw;

    #[test]
    fn numbers_are_those_of_libibverbs() {
        for (number, event) in [
            (raw::IBV_EVENT_PORT_ACTIVE, PortEvent::Active),
            (raw::IBV_EVENT_PORT_ERR, PortEvent::Error),
            (raw::IBV_EVENT_LID_CHANGE, PortEvent::LidChange),
            (raw::IBV_EVENT_PKEY_CHANGE, PortEvent::PkeyChange),
            (raw::IBV_EVENT_SM_CHANGE, PortEvent::SmChange),
            (raw::IBV_EVENT_CLIENT_REREGISTER, PortEvent::ClientReregister),
            (raw::IBV_EVENT_GID_CHANGE, PortEvent::GidChange),
        ] {
            assert_eq!(Event::new(number, Some(2), None), Event::Port { port: 2, event });
            assert!(Event::names_port(number) && !Event::names_queue_pair(number));
        }
        let key = QueueKey::new(7);
        for number in [raw::IBV_EVENT_QP_FATAL, raw::IBV_EVENT_QP_REQ_ERR, raw::IBV_EVENT_QP_ACCESS_ERR] {
            assert_eq!(Event::new(number, None, Some(key)), Event::QueuePairError(key));
            assert!(Event::names_queue_pair(number));
        }
        let error = raw::IBV_EVENT_CQ_ERR;
        assert_eq!(Event::new(error, None, Some(key)), Event::CompletionQueueError(key));
        assert!(Event::names_completion_queue(error));
        assert_eq!(Event::new(raw::IBV_EVENT_DEVICE_FATAL, None, None), Event::DeviceFatal);
        assert!(Event::names_queue_pair(raw::IBV_EVENT_QP_LAST_WQE_REACHED));
    }

    #[test]
    fn unknown_event_keeps_its_number() {
        assert_eq!(Event::new(99, None, None), Event::Other(99));
        assert_eq!(Event::new(9, Some(-1), None), Event::Other(9));
        assert_eq!(Event::new(0, None, None), Event::Other(0));
    }
}
