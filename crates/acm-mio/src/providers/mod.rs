//! Providers that are not built in: shared libraries, as ibacm loads them.
//!
//! `chosen` says which lines of the options name one; `loaded` opens the libraries before there is a core, and `running`
//! has them while the daemon runs. Without the feature `plugins` there are none (`none`).
mod chosen;
#[cfg(feature = "plugins")]
mod loaded;
#[cfg(not(feature = "plugins"))]
mod none;
#[cfg(feature = "plugins")]
mod running;

pub(crate) use chosen::{Chosen, chosen, folder};
#[cfg(feature = "plugins")]
pub(crate) use loaded::{Loaded, Looked, look};
#[cfg(not(feature = "plugins"))]
pub(crate) use none::{Loaded, Providers, exit};
#[cfg(feature = "plugins")]
pub(crate) use running::{Providers, exit};
