//! What ids are called in words that an administrator reads.
use crate::id::{ClientId, EndpointId, PortId, ProviderId};
use core::fmt;

/// What ids are called. Whoever knows names says them; where it does not, the id stands.
pub trait Names {
    /// A port: `mlx5_0 port 1`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn port(&self, port: PortId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {}", port.0)
    }

    /// An endpoint: `mlx5_0/1 pkey 0xffff`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn endpoint(&self, endpoint: EndpointId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{endpoint}")
    }

    /// A provider: `provider dsap`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn provider(&self, provider: ProviderId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "provider {}", provider.0)
    }

    /// A client: `ib_acme[4711]`.
    ///
    /// # Errors
    /// Those of the formatter.
    fn client(&self, client: ClientId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{client}")
    }
}

/// Ids as they are.
#[derive(Clone, Copy, Debug)]
pub struct Ids;

impl Names for Ids {}

/// Something in words, with the names of what it is about.
pub trait Worded {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the formatter.
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// The same as something that can be displayed.
    fn named<'a>(&'a self, names: &'a dyn Names) -> Named<'a, Self> {
        Named { of: self, names }
    }
}

/// Something and the names of what it is about.
#[derive(Clone, Copy)]
pub struct Named<'a, T: ?Sized> {
    of: &'a T,
    names: &'a dyn Names,
}

impl<T: Worded + ?Sized> fmt::Display for Named<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.write(self.names, f)
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Named<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(f)
    }
}

impl Worded for PortId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.port(*self, f)
    }
}

impl Worded for ProviderId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.provider(*self, f)
    }
}

impl Worded for EndpointId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.endpoint(*self, f)
    }
}

impl Worded for ClientId {
    fn write(&self, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names.client(*self, f)
    }
}
