//! The configuration of a queue pair.
use ib_mad::Qkey;

/// The configuration of a queue pair. The numbers of buffers are reduced to the device's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdConfig {
    /// Port of the device.
    pub port: u8,
    /// Index of the queue pair's P_Key in the port's table.
    pub pkey_index: u16,
    /// Queue key. The queue pair receives only datagrams with this key.
    pub qkey: Qkey,
    /// Number of receive buffers: the maximum number of datagrams received between two polls.
    pub recv_depth: u32,
    /// Number of send buffers: the maximum number of sends without a completion.
    pub send_depth: u32,
    /// Maximum payload of sent and received datagrams in bytes, which determines the size of a receive buffer. For a
    /// longer received datagram, only [`Completion::TooLong`](super::Completion::TooLong) is reported; the device
    /// writes the end of the payload to memory that all receives share.
    pub max_payload: u32,
    /// Number of cached address handles.
    pub address_handles: usize,
}

impl UdConfig {
    /// Returns a configuration for MADs of general services: 256 bytes, [`Qkey::GSI`], 1024 receive and 64 send
    /// buffers, 1024 address handles.
    #[must_use]
    pub const fn new(port: u8, pkey_index: u16) -> Self {
        Self {
            port,
            pkey_index,
            qkey: Qkey::GSI,
            recv_depth: 1024,
            send_depth: 64,
            max_payload: 256,
            address_handles: 1024,
        }
    }
}
