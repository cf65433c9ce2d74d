//! Without the feature `plugins`: the built-in provider is the only one.
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

/// Stands for the loaded libraries; always empty.
#[derive(Debug, Default)]
pub(crate) struct LoadedLibraries;

impl LoadedLibraries {
    /// Logs the lines that name other providers.
    pub(crate) fn open(settings: &mut Settings, start_dir: &Path) -> Self {
        for super::ConfiguredProvider { name, place } in super::configured(settings) {
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

/// Stands for the running libraries; always empty.
#[derive(Debug, Default)]
pub(crate) struct Providers {}

/// A message of a provider, which does not exist without the feature.
pub(crate) enum ProviderEvent {}

#[expect(clippy::unused_self, reason = "with the feature there may be some")]
impl Providers {
    pub(crate) fn call(&self, _provider: ProviderId, _call: Option<CallId>, _what: ProviderCall) {}

    pub(crate) const fn next_event(&self) -> Option<ProviderEvent> {
        None
    }

    pub(crate) const fn log(&self, event: &ProviderEvent) {
        match *event {}
    }

    pub(crate) const fn log_to(&self, _log: &Log, _level: LogLevel) {}

    pub(crate) const fn stop(&mut self) {}
}

impl ProviderEvent {
    pub(crate) const fn into_input(self) -> Result<Input<'static>, Self> {
        match self {}
    }
}

/// Ends the program.
pub(crate) fn exit(code: u8) -> ExitCode {
    ExitCode::from(code)
}
