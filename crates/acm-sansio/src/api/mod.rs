//! The core's API: inputs, outputs, events and counters.
mod deadline;
mod event;
mod external;
mod failed_request;
mod input;
mod names;
mod output;
mod provider_event;
mod stats;

pub use crate::{id::ProviderId, port::SaAddress};
pub use deadline::{Deadline, Reason};
pub use event::Event;
pub use external::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderFunction, ProviderMessage};
pub use failed_request::{FailedRequest, RequestedBy, ServedAddresses};
pub use input::{DatagramSource, Input, SendFailure};
pub use names::{DisplayWith, Ids, Level, Named, Names};
pub use output::{Output, SaSend, SendTo};
pub use provider_event::ProviderEvent;
pub(crate) use stats::stats;
pub use stats::{ByKind, Count, GaugeScope, GaugeSink, Stats, Waiting};
