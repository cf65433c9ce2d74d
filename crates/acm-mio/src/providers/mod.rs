//! Providers in shared libraries, as ibacm loads them.
//!
//! `configured` returns the providers that the option file names; `loaded` opens the libraries before the core exists,
//! and `running` passes calls and messages while the daemon runs. `none` replaces both without the feature `plugins`.
mod configured;
#[cfg(feature = "plugins")]
mod loaded;
#[cfg(not(feature = "plugins"))]
mod none;
#[cfg(feature = "plugins")]
mod running;

pub(crate) use configured::{ConfiguredProvider, configured, folder};
#[cfg(feature = "plugins")]
pub(crate) use loaded::{LoadedLibraries, SearchResult, search};
#[cfg(not(feature = "plugins"))]
pub(crate) use none::{LoadedLibraries, Providers, exit};
#[cfg(feature = "plugins")]
pub(crate) use running::{Providers, exit};
