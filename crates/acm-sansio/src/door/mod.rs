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
mod stats;

pub use deadline::{Deadline, Reason};
pub use event::Event;
pub use external::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderFunction, ProviderId, ProviderSaid};
pub use failed::{FailedRequest, RequestedBy, Served};
pub use gauge::{Of, Tell, Waiting};
pub use input::{DatagramSource, Input, SendFailure};
pub use level::Level;
pub use names::{Ids, Named, Names, Worded};
pub use output::{Output, SaAddress, SaSend, SendTo};
pub use provider_event::ProviderEvent;
pub(crate) use stats::stats;
pub use stats::{ByKind, Count, Stats};
