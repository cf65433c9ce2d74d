//! What a queue pair is to be.
use ib_mad::Qkey;

/// What a queue pair is to be. The numbers of buffers are cut to what the device can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdConfig {
    /// Port of the device.
    pub port: u8,
    /// Index of its P_Key in the port's table.
    pub pkey_index: u16,
    /// Key that datagrams must carry to come in.
    pub qkey: Qkey,
    /// Receive buffers: how many datagrams may come in between two polls.
    pub recv_depth: u32,
    /// Sends that may be under way.
    pub send_depth: u32,
    /// Longest payload in bytes that is sent, and that is handed over when it comes in. A longer one, up to the largest
    /// MTU, is only told of ([`Completion::TooLong`](super::Completion::TooLong)): what does not fit goes to memory that all receives share, so that
    /// it harms nothing and a receive buffer costs no more than this.
    pub max_payload: u32,
    /// Address handles that are kept for the next send to the same place.
    pub address_handles: usize,
}

impl UdConfig {
    /// For MADs of general services: 256 bytes, [`Qkey::GSI`], 1024 receive and 64 send buffers, 1024 handles.
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
