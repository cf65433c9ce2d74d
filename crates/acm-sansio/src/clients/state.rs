//! The state of the component: connections, open requests, failures, and the kernel's time-out.
use super::{conditions::Conditions, connections::Connections, requests::Requests};
use crate::api::failure::FailureSummary;
use core::time::Duration;

/// The clients of the core: connections of programs, and the kernel. It stores requests and sends responses.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) connections: Connections,
    pub(crate) requests: Requests,
    pub(crate) conditions: Conditions,
    /// Failed requests since the last summary for the administrator.
    pub(super) failed: FailureSummary,
    /// The kernel's time-out, if it is not the default.
    pub(super) kernel_timeout: Option<Duration>,
}

impl Clients {
    pub(crate) fn new() -> Self {
        Self {
            connections: Connections::default(),
            requests: Requests::new(),
            conditions: Conditions::default(),
            failed: FailureSummary::default(),
            kernel_timeout: None,
        }
    }
}
