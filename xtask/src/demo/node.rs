//! The nodes of the demonstration.

/// A node and its addresses (documentation ranges: nobody's).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) ipv4: String,
    pub(super) ipv6: String,
}

impl Node {
    /// The node with this number, from 1, as the fabric counts them.
    pub(super) fn new(number: u8) -> Self {
        Self { name: format!("node{number}"), ipv4: format!("192.0.2.{number}"), ipv6: format!("2001:db8::{number:x}") }
    }

    /// Its address file.
    pub(super) fn addresses(&self) -> String {
        let Self { name, ipv4, ipv6 } = self;
        format!("{name} sim0 1 default\n{ipv4} sim0 1 default\n{ipv6} sim0 1 default\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_the_documentation() {
        let node = Node::new(16);
        assert_eq!([&node.name, &node.ipv4, &node.ipv6], ["node16", "192.0.2.16", "2001:db8::10"]);
        assert_eq!(node.addresses().lines().count(), 3);
    }
}
