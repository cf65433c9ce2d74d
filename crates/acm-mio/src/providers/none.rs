//! Without the feature `plugins`: there are no providers but the built-in one.
use crate::{
    log::{Lines, Log},
    settings::Settings,
};
use acm_sansio::{
    Input,
    api::{CallId, ProviderCall, ProviderId},
};
use acm_wire::files::opts::LogLevel;
use mio::Waker;
use std::{io, path::Path, process::ExitCode, sync::Arc};

/// Stands for the libraries that were loaded: there are none.
#[derive(Debug, Default)]
pub(crate) struct Loaded;

impl Loaded {
    /// Says which lines name others.
    pub(crate) fn open(settings: &mut Settings, start_dir: &Path) -> Self {
        for super::Chosen { name, place } in super::chosen(settings) {
            let (name, folder) = (name.escape_debug(), super::folder(settings, start_dir));
            tracing::warn!(
                target: "config",
                "{place}: provider {name}: built without the feature `plugins`, nothing is loaded from {}: its subnets \
                 are not served",
                folder.display()
            );
        }
        Self
    }

    #[expect(clippy::unused_self, reason = "with the feature there may be some")]
    pub(crate) const fn is_empty(&self) -> bool {
        true
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "with the feature there may be some")]
    pub(crate) fn start(self, _waker: Arc<Waker>, _lines: Lines) -> io::Result<Providers> {
        Ok(Providers {})
    }
}

/// Stands for the libraries that run: there are none.
#[derive(Debug, Default)]
pub(crate) struct Providers {}

/// Nobody says anything.
pub(crate) enum Heard {}

#[expect(clippy::unused_self, reason = "with the feature there may be some")]
impl Providers {
    pub(crate) fn call(&self, _provider: ProviderId, _call: Option<CallId>, _what: ProviderCall) {}

    pub(crate) const fn hear(&self) -> Option<Heard> {
        None
    }

    pub(crate) const fn say(&self, heard: &Heard) {
        match *heard {}
    }

    pub(crate) const fn log_to(&self, _log: &Log, _level: LogLevel) {}

    pub(crate) const fn stop(&mut self) {}
}

impl Heard {
    pub(crate) const fn into_input(self) -> Result<Input<'static>, Self> {
        match self {}
    }
}

/// Ends the program.
pub(crate) fn exit(code: u8) -> ExitCode {
    ExitCode::from(code)
}
