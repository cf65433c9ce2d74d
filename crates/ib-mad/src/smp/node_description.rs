//! What a person calls the node.
use crate::{wire, wire::Text};

wire! {
    /// What a person calls the node (IBTA 14.2.5.2), 64 bytes.
    pub struct NodeDescription [64] {
        /// The name, UTF-8.
        pub node_string: Text<64>,
    }
}
