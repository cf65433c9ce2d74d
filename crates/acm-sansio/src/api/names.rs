//! Levels of events, and names of ids for the log.
use crate::api::id::{ClientId, EndpointId, PortId, ProviderId};
use acm_wire::files::opts::LogLevel;
use core::fmt;

/// The importance of an event: ibacm's `log_level` 0, 1, 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Level {
    /// Problems, and changes of the service.
    Always,
    /// Intermediate steps, and each failure.
    Verbose,
    /// Every step of every request.
    Debug,
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Basic => Self::Always,
            LogLevel::Verbose => Self::Verbose,
            LogLevel::Operation => Self::Debug,
        }
    }
}

/// Names of ids for the log. The default is the id itself.
pub trait Names {
    /// Writes the name of a port: `mlx5_0 port 1`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn port(&self, port: PortId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {}", port.0)
    }

    /// Writes the name of an endpoint: `mlx5_0/1 pkey 0xffff`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn endpoint(&self, endpoint: EndpointId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{endpoint}")
    }

    /// Writes the name of a provider: `provider dsap`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn provider(&self, provider: ProviderId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "provider {}", provider.0)
    }

    /// Writes the name of a client: `ib_acme[4711]`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn client(&self, client: ClientId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{client}")
    }
}

/// Names every object by its id.
#[derive(Clone, Copy, Debug)]
pub struct Ids;

impl Names for Ids {}

/// A value whose text contains names of ids.
pub trait DisplayWith {
    /// Writes the value with these names.
    ///
    /// # Errors
    /// Those of the formatter.
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns a wrapper that implements `Display` with these names.
    fn named<'a>(&'a self, names: &'a dyn Names) -> Named<'a, Self> {
        Named { of: self, names }
    }
}

/// A value and the names to display it with.
#[derive(Clone, Copy)]
pub struct Named<'a, T: ?Sized> {
    of: &'a T,
    names: &'a dyn Names,
}

impl<T: DisplayWith + ?Sized> fmt::Display for Named<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.write(self.names, f)
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Named<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(f)
    }
}

impl DisplayWith for PortId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.port(*self, f)
    }
}

impl DisplayWith for ProviderId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.provider(*self, f)
    }
}

impl DisplayWith for EndpointId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.endpoint(*self, f)
    }
}

impl DisplayWith for ClientId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.client(*self, f)
    }
}
