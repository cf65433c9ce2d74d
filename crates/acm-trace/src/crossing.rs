//! What crosses a fabric, as the fabric itself sees it: a trace of no core, which is printed and counted and not replayed.
use crate::{
    Kind, Way,
    words::{Reading, WordError},
};

/// A packet between a port and its fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Whether the port received it; else the port sent it. What is lost on its way was sent only.
    pub delivered: bool,
    /// The node's number.
    pub node: u32,
    /// The port's number at its node.
    pub port: u8,
    /// What stands in the packet's headers.
    pub way: Way,
    /// What stands behind them.
    pub payload: Vec<u8>,
}

impl Crossing {
    /// Which of the two kinds it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        if self.delivered { Kind::FabricDelivered } else { Kind::FabricSent }
    }

    /// `None` if it is of another kind.
    pub(crate) fn read(kind: Kind, words: &Reading<'_>, way: &Way, payload: &[u8]) -> Result<Option<Self>, WordError> {
        let delivered = match kind {
            Kind::FabricSent => false,
            Kind::FabricDelivered => true,
            _ => return Ok(None),
        };
        let (node, port) = (words.get("node")?, words.get("port")?);
        Ok(Some(Self { delivered, node, port, way: *way, payload: payload.to_vec() }))
    }
}
