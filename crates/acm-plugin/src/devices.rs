//! Opens devices for libraries. A library gets the `struct ibv_context` of the device.
use acm_provider::abi::VerbsContext;
use core::fmt;
use ib_mad::Guid;
use std::sync::Arc;

/// The owner of an open device. The device is closed on drop.
pub trait DeviceHandle {
    /// Discards the device's events, so that the kernel's list of events does not grow. The daemon reads the events
    /// through another handle.
    fn discard_events(&self) {}
}

impl DeviceHandle for () {}

#[cfg(feature = "verbs")]
impl DeviceHandle for ib_device::verbs::Context {
    fn discard_events(&self) {
        while let Ok(Some(_)) = self.next_event() {}
    }
}

/// An open device, closed on drop.
pub struct OpenedDevice {
    verbs: *mut VerbsContext,
    handle: Box<dyn DeviceHandle>,
}

impl OpenedDevice {
    /// Wraps a context, which must be valid as long as `handle` exists.
    pub fn new(verbs: *mut VerbsContext, handle: impl DeviceHandle + 'static) -> Self {
        Self { verbs, handle: Box::new(handle) }
    }

    pub(crate) fn discard_events(&self) {
        self.handle.discard_events();
    }

    pub(crate) const fn verbs(&self) -> *mut VerbsContext {
        self.verbs
    }
}

impl fmt::Debug for OpenedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedDevice").field("verbs", &self.verbs).finish_non_exhaustive()
    }
}

/// Opens the device with this node GUID, or returns the reason of the failure.
type Open = dyn Fn(Guid) -> Result<OpenedDevice, String> + Send + Sync;

/// A function that opens devices for libraries. The threads of `caller` call it.
#[derive(Clone)]
pub struct OpenDevice(Arc<Open>);

impl OpenDevice {
    /// Wraps a function.
    pub fn new(open: impl Fn(Guid) -> Result<OpenedDevice, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    /// Opens the devices of this machine with libibverbs.
    #[cfg(feature = "verbs")]
    #[must_use]
    pub fn real() -> Self {
        Self::new(open)
    }

    pub(crate) fn open(&self, guid: Guid) -> Result<OpenedDevice, String> {
        (self.0)(guid)
    }
}

impl fmt::Debug for OpenDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenDevice").finish_non_exhaustive()
    }
}

/// Opens the first device with this GUID that libibverbs can open. A virtual function may have the GUID of its physical
/// function.
#[cfg(feature = "verbs")]
fn open(guid: Guid) -> Result<OpenedDevice, String> {
    use ib_device::{sysfs::Sysfs, verbs::Context};
    let found = Sysfs::default().scan().map_err(|error| error.to_string())?;
    let mut reason = format!(
        "no device with node GUID {guid} on this machine; on a simulated fabric, start the daemon with `ib-sim run` \
         (docs/providers.md)"
    );
    for device in found.devices.iter().filter(|device| device.node_guid == guid && device.uverbs.is_some()) {
        match Context::open(&device.name) {
            Ok(context) => return Ok(OpenedDevice::new(context.as_ptr().cast(), context)),
            Err(error) => reason = format!("{}: {error}", device.name),
        }
    }
    Err(reason)
}

#[cfg(all(test, feature = "verbs"))]
mod tests {
    use super::*;

    #[test]
    fn missing_device_is_reported_with_the_way_to_a_simulated_one() {
        let refused = OpenDevice::real().open(Guid::new(0x0002_c903_dead_0001)).unwrap_err();
        assert!(refused.starts_with("no device with node GUID 0x0002c903dead0001 "), "{refused}");
        assert!(refused.contains("`ib-sim run`"), "{refused}");
    }
}
