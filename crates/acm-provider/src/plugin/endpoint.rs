//! An endpoint of a provider.
#![allow(unsafe_code, reason = "structures of the daemon")]
use super::{
    Port, SaResponse,
    sa::{self, SaRefused},
};
use crate::abi;
use core::ptr::NonNull;
use ib_mad::{Pkey, sa::SaMad};
use std::sync::{Arc, Mutex, PoisonError};

/// A partition of a port with at least one address. Clones refer to the same endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    port: Port,
    pkey: Pkey,
    open: Arc<Mutex<Option<Raw>>>,
}

/// The daemon's structure, valid while the endpoint is open.
#[derive(Clone, Copy, Debug)]
struct Raw(NonNull<abi::Endpoint>);
// SAFETY: the daemon's functions that take it may be called by any thread while the endpoint is open.
unsafe impl Send for Raw {}

impl Endpoint {
    /// # Safety
    /// `raw` is an endpoint of the daemon that is valid until [`Endpoint::close`].
    pub(super) unsafe fn new(raw: NonNull<abi::Endpoint>, port: Port) -> Self {
        // SAFETY: the endpoint is valid.
        let pkey = Pkey::new(unsafe { raw.as_ref().pkey });
        Self { port, pkey, open: Arc::new(Mutex::new(Some(Raw(raw)))) }
    }

    /// Returns the endpoint's port.
    #[must_use]
    pub const fn port(&self) -> &Port {
        &self.port
    }

    /// Returns the P_Key, as in the port's table.
    #[must_use]
    pub const fn pkey(&self) -> Pkey {
        self.pkey
    }

    /// Sends a request to the subnet administrator (SA). The daemon's options `retries` and `timeout` apply. The daemon
    /// chooses the transaction id on the wire; the response has the transaction id of `request`. A thread of the daemon
    /// calls `then` once. `then` must not block.
    ///
    /// # Errors
    /// [`SaRefused`] if the request was not sent. `then` is then not called.
    pub fn ask_sa(&self, request: &SaMad, then: impl FnOnce(SaResponse) + Send + 'static) -> Result<(), SaRefused> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let raw = (*open).ok_or(SaRefused::Closed)?;
        // SAFETY: the endpoint is open, and cannot be closed before the lock is released.
        unsafe { sa::send(raw.0.as_ptr(), request, Box::new(then)) }
    }

    pub(super) fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
