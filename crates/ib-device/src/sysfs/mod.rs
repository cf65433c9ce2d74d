//! What InfiniBand devices there are, read from `/sys/class/infiniband*` without a C library.
//!
//! The MTU of a port is not in sysfs: ask `verbs::Context::query_port`, or the port's PortInfo. The kernel's own view
//! of a port is cached by it and changes with the events of `verbs::Event`; read again after each.
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
