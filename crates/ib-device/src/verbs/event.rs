//! Async events of a device.
use super::QueueKey;

/// What a device tells without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// About a port.
    Port {
        /// The port's number in the device, from 1.
        port: u8,
        /// What happened to the port.
        event: PortEvent,
    },
    /// The queue pair cannot go on: call [`super::UdQueuePair::recover`].
    QueuePairError(QueueKey),
    /// The queue pair's completions are lost: drop it and make a new one.
    CompletionQueueError(QueueKey),
    /// The device cannot go on, or is being taken away: close everything that belongs to it.
    DeviceFatal,
    /// Something that UD queue pairs do not need; the number of `enum ibv_event_type`.
    Other(u32),
}

/// What happened at a port. The order of events is not that of the causes: a client reregistration may come before
/// the port is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortEvent {
    /// The port is active now. May come more than once.
    Active,
    /// The port is not active any more.
    Error,
    /// It has another LID.
    LidChange,
    /// Its P_Key table changed: indexes may mean other keys.
    PkeyChange,
    /// The subnet manager has another LID or service level.
    SmChange,
    /// The subnet manager forgot what clients registered: join groups again.
    ClientReregister,
    /// Its GID table changed.
    GidChange,
}

impl Event {
    /// Whether the kernel names a port with an event of this number.
    pub(super) const fn names_port(number: u32) -> bool {
        matches!(number, 9..=13 | 17 | 18)
    }
    /// Whether the kernel names a queue pair with an event of this number.
    pub(super) const fn names_queue_pair(number: u32) -> bool {
        matches!(number, 1..=7 | 16)
    }
    /// Whether the kernel names a completion queue with an event of this number.
    pub(super) const fn names_completion_queue(number: u32) -> bool {
        number == 0
    }

    /// From `enum ibv_event_type` and what the event names.
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
    use rdma_sys::ibv_event_type as raw;

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
            let number = number as u32;
            assert_eq!(Event::new(number, Some(2), None), Event::Port { port: 2, event });
            assert!(Event::names_port(number) && !Event::names_queue_pair(number));
        }
        let key = QueueKey::new(7);
        for number in [raw::IBV_EVENT_QP_FATAL, raw::IBV_EVENT_QP_REQ_ERR, raw::IBV_EVENT_QP_ACCESS_ERR] {
            let number = number as u32;
            assert_eq!(Event::new(number, None, Some(key)), Event::QueuePairError(key));
            assert!(Event::names_queue_pair(number));
        }
        let error = raw::IBV_EVENT_CQ_ERR as u32;
        assert_eq!(Event::new(error, None, Some(key)), Event::CompletionQueueError(key));
        assert!(Event::names_completion_queue(error));
        assert_eq!(Event::new(raw::IBV_EVENT_DEVICE_FATAL as u32, None, None), Event::DeviceFatal);
        assert!(Event::names_queue_pair(raw::IBV_EVENT_QP_LAST_WQE_REACHED as u32));
    }

    #[test]
    fn unknown_numbers_are_kept() {
        assert_eq!(Event::new(99, None, None), Event::Other(99));
        assert_eq!(Event::new(9, Some(-1), None), Event::Other(9));
        assert_eq!(Event::new(0, None, None), Event::Other(0));
    }
}
