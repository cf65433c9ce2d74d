//! The door: what the core is told, what it wants, what it says, what it counts.
mod deadline;
mod event;
mod external;
mod failed;
mod gauge;
mod input;
mod level;
mod names;
mod output;
mod provider_event;
mod sa_address;
mod stats;

pub use crate::id::ProviderId;
pub use deadline::{Deadline, Reason};
pub use event::Event;
pub use external::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderFunction, ProviderSaid};
pub use failed::{FailedRequest, RequestedBy, Served};
pub use gauge::{Of, Tell, Waiting};
pub use input::{DatagramSource, Input, SendFailure};
pub use level::Level;
pub use names::{Ids, Named, Names, Worded};
pub use output::{Output, SaSend, SendTo};
pub use provider_event::ProviderEvent;
pub use sa_address::SaAddress;
pub(crate) use stats::stats;
pub use stats::{ByKind, Count, Stats};
