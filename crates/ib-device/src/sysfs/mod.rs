//! InfiniBand devices, read from `/sys/class/infiniband*` without a C library.
//!
//! sysfs does not have the MTU of a port: use `verbs::Context::query_port`, or the port's PortInfo. Read the device
//! again after each event (`verbs::Event`). Reading more often returns the state that the kernel has cached since the
//! last event.
mod change;
mod device;
mod files;
mod port;
mod scan;
#[cfg(test)]
mod tests;

pub use change::{Change, PortChange, changes};
pub use device::Device;
pub use port::{GidEntry, PkeyEntry, Port, UmadFile};
pub use scan::{Scan, Sysfs};
