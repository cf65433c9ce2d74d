//! InfiniBand devices, read from `/sys/class/infiniband*` without a C library.
//!
//! sysfs does not have the MTU of a port: use `verbs::Context::query_port`, or the port's PortInfo. sysfs returns the
//! state of a port that the kernel has cached. An event (`verbs::Event`) reports a change: read the device again after
//! each event.
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
