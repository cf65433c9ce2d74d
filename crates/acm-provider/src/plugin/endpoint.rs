//! An endpoint, as a provider sees it.
#![allow(unsafe_code, reason = "structures of the daemon")]
use super::{
    Port, SaAnswer,
    sa::{self, SaRefused},
};
use crate::abi;
use core::ptr::NonNull;
use ib_mad::{Pkey, sa::SaMad};
use std::sync::{Arc, Mutex, PoisonError};

/// A partition of a port, with at least one address. Clones are the same endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    port: Port,
    pkey: Pkey,
    open: Arc<Mutex<Option<Raw>>>,
}

/// The daemon's own structure, for as long as the endpoint is open.
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

    /// The port that it is on.
    #[must_use]
    pub const fn port(&self) -> &Port {
        &self.port
    }

    /// The partition, as it stands in the port's table.
    #[must_use]
    pub const fn pkey(&self) -> Pkey {
        self.pkey
    }

    /// Sends a question to subnet administration, as often and for as long as the daemon's options say (`retries`,
    /// `timeout`). Its transaction id is the daemon's business; the answer has that of the question. `then` is called once,
    /// by a thread of the daemon, which it must not keep.
    ///
    /// # Errors
    /// The question was not sent, and `then` is not called.
    pub fn ask_sa(&self, question: &SaMad, then: impl FnOnce(SaAnswer) + Send + 'static) -> Result<(), SaRefused> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let raw = (*open).ok_or(SaRefused::Closed)?;
        // SAFETY: the endpoint is open, and is not closed before the lock is let go.
        unsafe { sa::send(raw.0.as_ptr(), question, Box::new(then)) }
    }

    pub(super) fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
