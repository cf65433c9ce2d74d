//! An open device.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{Event, QueueKey, check, non_null, queues::RECEIVE_SEGMENTS};
use crate::{Error, LinkLayer, LinkRate, Result};
use core::{
    ffi::{CStr, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};
use ib_mad::{Lid, Mtu, PortState, ServiceLevel, id::Lmc};
use ib_verbs_sys::{
    ibv_ack_async_event, ibv_ack_cq_events, ibv_alloc_pd, ibv_async_event, ibv_close_device, ibv_comp_channel,
    ibv_context, ibv_cq, ibv_create_comp_channel, ibv_dealloc_pd, ibv_destroy_comp_channel, ibv_device_attr,
    ibv_free_device_list, ibv_get_async_event, ibv_get_cq_event, ibv_get_device_list, ibv_get_device_name,
    ibv_open_device, ibv_pd, ibv_port_attr, ibv_query_device, ibv_query_port,
};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
};
use std::{os::fd::BorrowedFd, sync::Arc};

/// Bit of `ibv_port_attr.flags`: `IBV_QPF_GRH_REQUIRED`.
const GRH_REQUIRED: u8 = 1;

/// An open device. Clones share the device. The device is closed when the last clone and the last queue pair are
/// dropped.
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

/// Attributes of a port, queried from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortAttributes {
    /// Logical state; packets pass only in [`PortState::ACTIVE`].
    pub state: PortState,
    /// The layer below the packets.
    pub link_layer: LinkLayer,
    /// Largest MTU that the port supports.
    pub max_mtu: Mtu,
    /// MTU in use.
    pub active_mtu: Mtu,
    /// Base LID, the first of the port's LIDs.
    pub lid: Lid,
    /// LID mask control: the port has 2^LMC LIDs.
    pub lmc: Lmc,
    /// LID of the subnet manager.
    pub sm_lid: Lid,
    /// Service level to the subnet manager.
    pub sm_sl: ServiceLevel,
    /// PortInfo.SubnetTimeOut n: a packet crosses the subnet within 4.096 us * 2^n.
    pub subnet_timeout: u8,
    /// Rate of the link; `None` if the codes are undefined, as for XDR. Then use the rate in sysfs.
    pub rate: Option<LinkRate>,
    /// Number of entries of the P_Key table.
    pub pkey_table_len: u16,
    /// True if the kernel refuses every address without a global route (`IBV_QPF_GRH_REQUIRED`), as at virtual
    /// functions whose LID is that of several ports.
    pub grh_required: bool,
}

/// Limits of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) queue_depth: u32,
    pub(super) completions: u32,
}

impl Limits {
    /// Returns the limits that a device reports (`ibv_device_attr`).
    ///
    /// # Errors
    /// [`Error::Segments`] if receives need more segments.
    fn new(max_qp_wr: i32, max_cqe: i32, max_sge: i32) -> Result<Self> {
        if max_sge < i32::from(RECEIVE_SEGMENTS) {
            return Err(Error::Segments { max_sge, needed: RECEIVE_SEGMENTS });
        }
        let positive = |number: i32| u32::try_from(number).unwrap_or(0).max(1);
        Ok(Self { queue_depth: positive(max_qp_wr), completions: positive(max_cqe) })
    }
}

#[derive(Debug)]
struct Inner {
    context: NonNull<ibv_context>,
    pd: NonNull<ibv_pd>,
    channel: NonNull<ibv_comp_channel>,
    name: String,
    next_key: AtomicUsize,
    leaked: AtomicU64,
}

// SAFETY: libibverbs is documented to be thread-safe, and no object here belongs to the thread that created it.
unsafe impl Send for Inner {}
// SAFETY: libibverbs is documented to be thread-safe; the fields that change (`next_key`, `leaked`) are atomic.
unsafe impl Sync for Inner {}

impl Context {
    /// Opens the device of this name, the name of a [`crate::sysfs::Device`].
    ///
    /// # Errors
    /// [`Error::NoDevice`] if libibverbs has no such device, for example because the provider library is missing.
    /// [`Error::Call`] with `EACCES` or `EPERM` without access to the device file, `ENOSYS` without the module
    /// ib_uverbs.
    pub fn open(name: &str) -> Result<Self> {
        let context = open_device(name)?;
        let close = || {
            // SAFETY: opened above, not closed before, and no object of it is in use.
            unsafe { ibv_close_device(context.as_ptr()) };
        };
        // SAFETY: the context is open.
        let pd = non_null("ibv_alloc_pd", unsafe { ibv_alloc_pd(context.as_ptr()) }).inspect_err(|_| close())?;
        // SAFETY: the context is open.
        let channel = non_null("ibv_create_comp_channel", unsafe { ibv_create_comp_channel(context.as_ptr()) });
        let channel = channel.inspect_err(|_| {
            // SAFETY: allocated above; it has no objects.
            unsafe { ibv_dealloc_pd(pd.as_ptr()) };
            close();
        })?;
        let inner =
            Inner { context, pd, channel, name: name.into(), next_key: AtomicUsize::new(0), leaked: AtomicU64::new(0) };
        let context = Self { inner: Arc::new(inner) };
        for fd in [context.async_fd(), context.completion_fd()] {
            let flags = fcntl(fd, FcntlArg::F_GETFL).map_err(Error::call("fcntl"))?;
            let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
            fcntl(fd, FcntlArg::F_SETFL(flags)).map_err(Error::call("fcntl"))?;
        }
        Ok(context)
    }

    /// Returns the device's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Returns libibverbs' `struct ibv_context` for another library. The context is open as long as a clone of this
    /// value exists. The other library must not read asynchronous events, and must not change the flags of the files.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.context().cast()
    }

    /// Queries the attributes of a port, including MTU and subnet time-out, which sysfs does not have.
    ///
    /// # Errors
    /// [`Error::Call`] with `EINVAL` if there is no such port; [`Error::Gone`].
    pub fn query_port(&self, port: u8) -> Result<PortAttributes> {
        let mut attributes = MaybeUninit::<ibv_port_attr>::zeroed();
        // SAFETY: the context is open. The library fills the first version of ibv_port_attr, up to `flags`; fields that
        // were added later stay zero. All fields are numbers, so that zero is a valid value.
        let attributes = unsafe {
            check("ibv_query_port", ibv_query_port(self.context(), port, attributes.as_mut_ptr()))?;
            attributes.assume_init()
        };
        let small = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        Ok(PortAttributes {
            state: PortState::new(small(attributes.state)),
            link_layer: match attributes.link_layer {
                // 0: a driver from before link layers were introduced.
                0 | 1 => LinkLayer::InfiniBand,
                2 => LinkLayer::Ethernet,
                _ => LinkLayer::Other,
            },
            max_mtu: Mtu::new(small(attributes.max_mtu)),
            active_mtu: Mtu::new(small(attributes.active_mtu)),
            lid: Lid::new(attributes.lid),
            lmc: Lmc::masked(attributes.lmc),
            sm_lid: Lid::new(attributes.sm_lid),
            sm_sl: ServiceLevel::masked(attributes.sm_sl),
            subnet_timeout: attributes.subnet_timeout & 31,
            rate: LinkRate::from_codes(attributes.active_width, attributes.active_speed.into()),
            pkey_table_len: attributes.pkey_tbl_len,
            grh_required: attributes.flags & GRH_REQUIRED != 0,
        })
    }

    /// Returns a file that is readable while there are asynchronous events.
    #[must_use]
    pub fn async_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the file is open as long as the context, which is borrowed.
        unsafe { BorrowedFd::borrow_raw((*self.context()).async_fd) }
    }

    /// Returns a file that is readable when a queue pair has completions.
    #[must_use]
    pub fn completion_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the file is open as long as the channel, which lives as long as the context, which is borrowed.
        unsafe { BorrowedFd::borrow_raw((*self.inner.channel.as_ptr()).fd) }
    }

    /// Returns the next asynchronous event; `None` if no event has arrived.
    ///
    /// # Errors
    /// [`Error::Gone`] after the device was removed.
    pub fn next_event(&self) -> Result<Option<Event>> {
        let mut event = MaybeUninit::<ibv_async_event>::zeroed();
        let event = event.as_mut_ptr();
        loop {
            // SAFETY: the context is open, and `event` may be written.
            match check("ibv_get_async_event", unsafe { ibv_get_async_event(self.context(), event) }) {
                Ok(()) => break,
                Err(error) => match error.errno() {
                    Some(Errno::EAGAIN) => return Ok(None),
                    Some(Errno::EINTR) => {}
                    _ => return Err(error),
                },
            }
        }
        // SAFETY: the call filled the event. libibverbs has one kind of element for each type, and the element lives until
        // the event is acknowledged.
        unsafe {
            let number = (*event).event_type;
            let element = &raw const (*event).element;
            let port = Event::names_port(number).then(|| (*element).port_num);
            let queue = if Event::names_queue_pair(number) {
                Some(QueueKey::from_ptr((*(*element).qp).qp_context))
            } else if Event::names_completion_queue(number) {
                Some(QueueKey::from_ptr((*(*element).cq).cq_context))
            } else {
                None
            };
            ibv_ack_async_event(event);
            Ok(Some(Event::new(number, port, queue)))
        }
    }

    /// Returns the next queue pair that may have completions; `None` if no queue pair has been reported. A queue pair
    /// is reported again only after its [`super::UdQueuePair::poll`] returned `None`.
    ///
    /// # Errors
    /// [`Error::Gone`] after the device was removed.
    pub fn next_completion(&self) -> Result<Option<QueueKey>> {
        let mut cq: *mut ibv_cq = ptr::null_mut();
        let mut key: *mut c_void = ptr::null_mut();
        loop {
            // SAFETY: the channel is open, and both pointers may be written.
            let result = unsafe { ibv_get_cq_event(self.inner.channel.as_ptr(), &raw mut cq, &raw mut key) };
            match check("ibv_get_cq_event", result) {
                Ok(()) => break,
                Err(error) => match error.errno() {
                    Some(Errno::EAGAIN) => return Ok(None),
                    Some(Errno::EINTR) => {}
                    _ => return Err(error),
                },
            }
        }
        // SAFETY: a completion queue is not destroyed before its events are acknowledged.
        unsafe { ibv_ack_cq_events(cq, 1) };
        Ok(Some(QueueKey::from_ptr(key)))
    }

    /// Returns the number of leaked objects: queue pairs, completion queues, memory and address handles that the device
    /// did not free when they were dropped. Leaked objects stay until the process ends.
    #[must_use]
    pub fn leaked(&self) -> u64 {
        self.inner.leaked.load(Ordering::Relaxed)
    }

    pub(super) fn count_leak(&self) {
        self.inner.leaked.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn context(&self) -> *mut ibv_context {
        self.inner.context.as_ptr()
    }

    pub(super) fn pd(&self) -> *mut ibv_pd {
        self.inner.pd.as_ptr()
    }

    pub(super) fn channel(&self) -> *mut ibv_comp_channel {
        self.inner.channel.as_ptr()
    }

    pub(super) fn new_key(&self) -> QueueKey {
        QueueKey::new(self.inner.next_key.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn limits(&self) -> Result<Limits> {
        let mut attributes = MaybeUninit::<ibv_device_attr>::zeroed();
        // SAFETY: the context is open. The call fills the structure; all fields are numbers, so that zero is a valid
        // value.
        let attributes = unsafe {
            check("ibv_query_device", ibv_query_device(self.context(), attributes.as_mut_ptr()))?;
            attributes.assume_init()
        };
        Limits::new(attributes.max_qp_wr, attributes.max_cqe, attributes.max_sge)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: created in `open`, destroyed only here. Every object of the device holds a `Context`, so none is
        // left.
        unsafe {
            ibv_destroy_comp_channel(self.channel.as_ptr());
            ibv_dealloc_pd(self.pd.as_ptr());
            ibv_close_device(self.context.as_ptr());
        }
    }
}

fn open_device(name: &str) -> Result<NonNull<ibv_context>> {
    let mut count = 0;
    // SAFETY: the call writes the count and returns a list of that many devices.
    let list = non_null("ibv_get_device_list", unsafe { ibv_get_device_list(&raw mut count) })?;
    let mut found = Err(Error::NoDevice(name.into()));
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: `index` is below the count. Devices and their names live until the list is freed, and longer while
        // open.
        unsafe {
            let device = list.add(index).read();
            if CStr::from_ptr(ibv_get_device_name(device)).to_bytes() == name.as_bytes() {
                found = non_null("ibv_open_device", ibv_open_device(device));
                break;
            }
        }
    }
    // SAFETY: the list is from `ibv_get_device_list`. An open device stays valid.
    unsafe { ibv_free_device_list(list.as_ptr()) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_with_one_segment_is_reported() {
        let text = Limits::new(64, 64, 1).unwrap_err().to_string();
        assert_eq!(text, "the device takes 1 segments for each receive: 2 are needed");
        let limits = Limits::new(0, 7, 2).unwrap();
        assert_eq!((limits.queue_depth, limits.completions), (1, 7));
    }
}
