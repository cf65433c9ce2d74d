//! The description of a node.
use crate::{wire, wire::Text};

wire! {
    /// Description of a node, set by an administrator (IBTA 14.2.5.2), 64 bytes.
    pub struct NodeDescription [64] {
        /// Description, UTF-8.
        pub node_string: Text<64>,
    }
}
