//! Congestion control (IBTA A10): marking by switches and throttling by channel adapters.
//!
//! ```text
//!  0  common header (24 bytes)
//! 24  CC_Key (8)
//! 32  log data (32), or the start of a log (220 bytes)
//! 64  attribute (192 bytes)
//! ```
mod channel_adapter;
mod header;
mod log;
mod switch;

pub use channel_adapter::*;
pub use header::*;
pub(crate) use log::CONGESTION_LOG;
pub use log::*;
pub use switch::*;

use crate::{
    attribute::attributes,
    notice::{ClassPortInfo, Notice},
};

attributes! {
    /// An attribute of congestion control with its data at byte 64. The logs start at byte 32 and are not in this enum.
    pub enum CongestionAttribute in CONGESTION {
        own {
            CongestionInfo = 0x0011,
            CongestionKeyInfo = 0x0012,
            SwitchCongestionSetting = 0x0014,
            SwitchPortCongestionSetting = 0x0015,
            CaCongestionSetting = 0x0016,
            CongestionControlTable = 0x0017,
            TimeStamp = 0x0018,
        }
        shared {
            ClassPortInfo = 0x0001,
            Notice = 0x0002,
        }
    }
}
