//! How a library gets a device's `struct ibv_context`.
use acm_provider::abi::VerbsContext;
use core::fmt;
use ib_mad::Guid;
use std::sync::Arc;

/// What keeps a device open.
pub trait Keep {
    /// Takes the device's events out of the kernel's list, which grows otherwise. Nobody needs them here: the daemon hears
    /// of them by an opening of its own.
    fn forget_events(&self) {}
}

impl Keep for () {}

#[cfg(feature = "verbs")]
impl Keep for ib_device::verbs::Context {
    fn forget_events(&self) {
        while let Ok(Some(_)) = self.next_event() {}
    }
}

/// An open device, closed when this is dropped.
pub struct OpenedDevice {
    verbs: *mut VerbsContext,
    keep: Box<dyn Keep>,
}

impl OpenedDevice {
    /// A context that is valid as long as `keep` lives.
    pub fn new(verbs: *mut VerbsContext, keep: impl Keep + 'static) -> Self {
        Self { verbs, keep: Box::new(keep) }
    }

    pub(crate) fn forget_events(&self) {
        self.keep.forget_events();
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

/// Opens the device with this node GUID, or says why not.
type Open = dyn Fn(Guid) -> Result<OpenedDevice, String> + Send + Sync;

/// Who opens devices for libraries, in the threads that call them.
#[derive(Clone)]
pub struct OpenDevice(Arc<Open>);

impl OpenDevice {
    /// By this function.
    pub fn new(open: impl Fn(Guid) -> Result<OpenedDevice, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    /// The machine's own, by libibverbs.
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

/// The first device with this GUID that libibverbs can open: virtual functions may have that of their physical one.
#[cfg(feature = "verbs")]
fn open(guid: Guid) -> Result<OpenedDevice, String> {
    use ib_device::{sysfs::Sysfs, verbs::Context};
    let found = Sysfs::default().scan().map_err(|error| error.to_string())?;
    let mut why = format!("no device with node GUID {guid}");
    for device in found.devices.iter().filter(|device| device.node_guid == guid && device.uverbs.is_some()) {
        match Context::open(&device.name) {
            Ok(context) => return Ok(OpenedDevice::new(context.as_ptr().cast(), context)),
            Err(error) => why = format!("{}: {error}", device.name),
        }
    }
    Err(why)
}
