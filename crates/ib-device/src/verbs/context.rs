//! An open device.
#![expect(unsafe_code, reason = "libibverbs")]
use super::{Event, QueueKey, check, non_null};
use crate::{Error, LinkLayer, LinkRate, Result};
use core::{
    ffi::{CStr, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};
use ib_mad::{Lid, Mtu, PortState, ServiceLevel, id::Lmc};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
};
use rdma_sys::{
    ibv_ack_async_event, ibv_ack_cq_events, ibv_alloc_pd, ibv_async_event, ibv_close_device, ibv_comp_channel,
    ibv_context, ibv_cq, ibv_create_comp_channel, ibv_dealloc_pd, ibv_destroy_comp_channel, ibv_device_attr,
    ibv_free_device_list, ibv_get_async_event, ibv_get_cq_event, ibv_get_device_list, ibv_get_device_name,
    ibv_open_device, ibv_pd, ibv_port_attr, ibv_query_device, ibv_query_port,
};
use std::{os::fd::BorrowedFd, sync::Arc};

/// An open device. Clones share it; it is closed with the last one and the last queue pair.
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

/// Attributes of a port, from the device's own answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortAttributes {
    /// Logical state; packets pass only in [`PortState::ACTIVE`].
    pub state: PortState,
    /// What is below the packets.
    pub link_layer: LinkLayer,
    /// Largest MTU that the port can have.
    pub max_mtu: Mtu,
    /// MTU that it has.
    pub active_mtu: Mtu,
    /// Base LID, the first one of those that the port answers to.
    pub lid: Lid,
    /// The port answers to 2^LMC LIDs.
    pub lmc: Lmc,
    /// LID of the subnet manager.
    pub sm_lid: Lid,
    /// Service level towards it.
    pub sm_sl: ServiceLevel,
    /// PortInfo.SubnetTimeOut: a packet crosses the subnet in 4.096 us * 2^n.
    pub subnet_timeout: u8,
    /// Rate of the link; `None` where the numbers do not tell (XDR): take that of sysfs.
    pub rate: Option<LinkRate>,
    /// Entries of the P_Key table.
    pub pkey_table_len: u16,
}

/// What a device can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) queue_depth: u32,
    pub(super) completions: u32,
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

// SAFETY: libibverbs is documented to be thread-safe, and nothing here belongs to the thread that made it.
unsafe impl Send for Inner {}
// SAFETY: as above; what changes (`next_key`, `leaked`) is atomic.
unsafe impl Sync for Inner {}

impl Context {
    /// Opens the device of this name (that of [`crate::sysfs::Device`]).
    ///
    /// # Errors
    /// [`Error::NoDevice`] if libibverbs knows none (its provider library may be missing); [`Error::Call`] with
    /// `EACCES` or `EPERM` without access to the device file, `ENOSYS` without the module ib_uverbs.
    pub fn open(name: &str) -> Result<Self> {
        let context = open_device(name)?;
        let close = || {
            // SAFETY: opened above, not closed before, and nothing of it is in use.
            unsafe { ibv_close_device(context.as_ptr()) };
        };
        // SAFETY: the context is open.
        let pd = non_null("ibv_alloc_pd", unsafe { ibv_alloc_pd(context.as_ptr()) }).inspect_err(|_| close())?;
        // SAFETY: the context is open.
        let channel = non_null("ibv_create_comp_channel", unsafe { ibv_create_comp_channel(context.as_ptr()) });
        let channel = channel.inspect_err(|_| {
            // SAFETY: made above; nothing was made in it.
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

    /// The device's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// libibverbs' own `struct ibv_context`, for a library that takes one. It is open as long as a clone of this lives;
    /// async events and the flags of its files are ours.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.context().cast()
    }

    /// Attributes of a port, among them what sysfs does not have: MTU and subnet timeout.
    ///
    /// # Errors
    /// [`Error::Call`] with `EINVAL` if there is no such port; [`Error::Gone`].
    pub fn query_port(&self, port: u8) -> Result<PortAttributes> {
        let mut attributes = MaybeUninit::<ibv_port_attr>::zeroed();
        // SAFETY: the context is open. The library fills the structure that ibv_port_attr began as; what was added
        // to it since stays zero. Zero is a value of each of its fields, all of them numbers.
        let attributes = unsafe {
            check("ibv_query_port", ibv_query_port(self.context(), port, attributes.as_mut_ptr().cast()))?;
            attributes.assume_init()
        };
        let small = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        Ok(PortAttributes {
            state: PortState::new(small(attributes.state)),
            link_layer: match attributes.link_layer {
                // 0: a driver from before there was another one.
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
        })
    }

    /// The file that is readable when there are async events.
    #[must_use]
    pub fn async_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the file is open as long as the context, which is borrowed.
        unsafe { BorrowedFd::borrow_raw((*self.context()).async_fd) }
    }

    /// The file that is readable when a queue pair has completions.
    #[must_use]
    pub fn completion_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the file is open as long as the channel, that is, as the context, which is borrowed.
        unsafe { BorrowedFd::borrow_raw((*self.inner.channel.as_ptr()).fd) }
    }

    /// The next async event; `None` when there is none for now.
    ///
    /// # Errors
    /// [`Error::Gone`] after the device was taken away.
    pub fn next_event(&self) -> Result<Option<Event>> {
        let mut event = MaybeUninit::<ibv_async_event>::zeroed();
        let event = event.as_mut_ptr();
        loop {
            // SAFETY: the context is open, the event is ours to write.
            match check("ibv_get_async_event", unsafe { ibv_get_async_event(self.context(), event) }) {
                Ok(()) => break,
                Err(error) => match error.errno() {
                    Some(Errno::EAGAIN) => return Ok(None),
                    Some(Errno::EINTR) => {}
                    _ => return Err(error),
                },
            }
        }
        // SAFETY: the call filled the event. Its type is read as the number that it is: the kernel knows types that
        // the bindings' enumeration does not. The element is that which libibverbs has for this type, and whatever
        // it points to lives until the event is acknowledged.
        unsafe {
            let number = (&raw const (*event).event_type).cast::<u32>().read();
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

    /// The next queue pair that may have completions; `None` when there is none for now. It is told of again after
    /// [`super::UdQueuePair::poll`] gave `None`.
    ///
    /// # Errors
    /// [`Error::Gone`] after the device was taken away.
    pub fn next_completion(&self) -> Result<Option<QueueKey>> {
        let mut cq: *mut ibv_cq = ptr::null_mut();
        let mut key: *mut c_void = ptr::null_mut();
        loop {
            // SAFETY: the channel is open, both pointers are ours to write.
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

    /// Objects that the device did not let go when they were dropped: queue pairs, completion queues, memory, address
    /// handles. They stay until the process ends.
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
        // SAFETY: the context is open; zero is a value of each field, all of them numbers, and the call fills them.
        let attributes = unsafe {
            check("ibv_query_device", ibv_query_device(self.context(), attributes.as_mut_ptr()))?;
            attributes.assume_init()
        };
        let positive = |number: i32| u32::try_from(number).unwrap_or(0).max(1);
        Ok(Limits { queue_depth: positive(attributes.max_qp_wr), completions: positive(attributes.max_cqe) })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: made in `open`, destroyed only here. Whatever was made in them holds a `Context`, so nothing is left.
        unsafe {
            ibv_destroy_comp_channel(self.channel.as_ptr());
            ibv_dealloc_pd(self.pd.as_ptr());
            ibv_close_device(self.context.as_ptr());
        }
    }
}

fn open_device(name: &str) -> Result<NonNull<ibv_context>> {
    let mut count = 0;
    // SAFETY: the call writes the count and gives a list of as many devices, then null.
    let list = non_null("ibv_get_device_list", unsafe { ibv_get_device_list(&raw mut count) })?;
    let mut found = Err(Error::NoDevice(name.into()));
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: below the count; devices and their names live until the list is freed, and longer while open.
        unsafe {
            let device = list.add(index).read();
            if CStr::from_ptr(ibv_get_device_name(device)).to_bytes() == name.as_bytes() {
                found = non_null("ibv_open_device", ibv_open_device(device));
                break;
            }
        }
    }
    // SAFETY: the list of above. An open device keeps itself.
    unsafe { ibv_free_device_list(list.as_ptr()) };
    found
}
