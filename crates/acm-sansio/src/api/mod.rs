//! The core's API: inputs, outputs, events and counters.
pub mod account;
pub mod config;
mod deadline;
mod event;
mod external;
mod failed_request;
pub mod failure;
#[cfg(feature = "serde")]
pub(crate) mod hex;
pub mod histogram;
pub mod id;
mod input;
mod names;
mod output;
pub mod port;
pub mod preload;
mod provider_event;
mod resolver_event;
mod sa_error;
mod stats;
mod time;

pub use deadline::{Deadline, Reason};
pub use event::Event;
pub use external::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderFunction, ProviderMessage};
pub use failed_request::{FailedRequest, RequestedBy, ServedAddresses};
pub use id::ProviderId;
pub use input::{DatagramSource, Input, SendFailure};
pub use names::{DisplayWith, Ids, Level, Named, Names};
pub use output::{Output, SaSend, SendTo};
pub use port::SaAddress;
pub use provider_event::ProviderEvent;
pub use resolver_event::{IdFinding, ResolverEvent};
pub use sa_error::SaError;
pub(crate) use stats::stats;
pub use stats::{ByKind, Count, GaugeScope, GaugeSink, Stats, Waiting};
pub use time::Time;
