//! Names of a node's ports if there is no address file: the names that `ib_acme -A` would write. The daemon does not
//! write an address file. A node of a simulated fabric uses its name in the fabric instead of the host's name, because
//! many nodes run on one host.
use crate::{fabric::NamedPort, host_name::host_name};
use acm_sansio::PortId;
use acm_wire::{Address, Name};
use core::cmp::Ordering;

/// The node's name on one active port, and `NAME-1`, `NAME-2` ... on all ports in natural order.
#[derive(Debug)]
pub(crate) struct DefaultNames {
    node: String,
    /// True if this is the name of the host, which may change, and not that of a node of a simulated fabric.
    is_host: bool,
    /// The port with the node's plain name.
    plain: Option<PortId>,
    given: Vec<(PortId, Address)>,
}

/// Names to remove and to add.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) removed: Vec<(PortId, Address)>,
    pub(crate) added: Vec<(PortId, Address)>,
}

impl DefaultNames {
    /// Returns the names for a node of a simulated fabric, or for this host.
    pub(crate) fn of(node: Option<&str>) -> Self {
        node.map_or_else(Self::of_host, Self::called)
    }

    fn of_host() -> Self {
        Self { is_host: true, ..Self::called(&host_name()) }
    }

    /// Returns the names for a node of this name.
    pub(crate) fn called(node: &str) -> Self {
        Self { node: node.to_owned(), is_host: false, plain: None, given: Vec::new() }
    }

    /// Returns the name of the node; `None` if it has none.
    pub(crate) fn node(&self) -> Option<&str> {
        Some(self.node.as_str()).filter(|node| !node.is_empty())
    }

    /// Takes the current name of the host. Returns `true` if it has changed: then the names of ports are to be chosen.
    pub(crate) fn follow_host(&mut self) -> bool {
        self.is_host && self.rename(host_name())
    }

    fn rename(&mut self, node: String) -> bool {
        let before = core::mem::replace(&mut self.node, node);
        self.node != before
    }

    /// Reports whether a port has this name.
    pub(crate) fn has(&self, port: PortId, name: &Address) -> bool {
        self.given.contains(&(port, *name))
    }

    /// Assigns names to ports. The plain name moves to the first active port if its port is no longer active; if no
    /// port is active, it stays. Numbered names are assigned as at the start of a daemon.
    pub(crate) fn choose(&mut self, mut ports: Vec<NamedPort>, is_active: impl Fn(PortId) -> bool) -> Change {
        ports.sort_by(|a, b| natural(&a.device, &b.device).then(a.number.cmp(&b.number)));
        let is_there = |id: PortId| ports.iter().any(|port| port.id == id);
        if !self.plain.is_some_and(|port| is_there(port) && is_active(port)) {
            let first = ports.iter().map(|port| port.id).find(|port| is_active(*port));
            self.plain = first.or(self.plain.filter(|port| is_there(*port)));
        }
        // The plain name is assigned first, because the daemon serves no addresses before a port is active.
        if self.plain.is_none() && self.given.is_empty() {
            return Change::default();
        }
        let name = |text: &str| Address::Name(Name::new(text.as_bytes()));
        let names = self.node().map_or_else(Vec::new, |node| {
            let plain = self.plain.map(|port| (port, name(node)));
            let numbered = (1_u32..).zip(&ports).map(|(number, port)| (port.id, name(&format!("{node}-{number}"))));
            plain.into_iter().chain(numbered).collect()
        });
        let given = core::mem::replace(&mut self.given, names);
        Change {
            removed: given.iter().filter(|name| !self.given.contains(name)).copied().collect(),
            added: self.given.iter().filter(|name| !given.contains(name)).copied().collect(),
        }
    }
}

/// Compares names with their digits as numbers: `mlx5_2` is before `mlx5_10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else { return a.len().cmp(&b.len()) };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (x, y) = (number(&mut a), number(&mut b));
            // Of two numbers without leading zeros, the longer one is greater.
            x.len().cmp(&y.len()).then(x.cmp(y))
        } else {
            a = a.get(x.len_utf8()..).unwrap_or_default();
            b = b.get(y.len_utf8()..).unwrap_or_default();
            x.cmp(&y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Removes a number from the start of the text, and returns it without leading zeros.
fn number<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    *text = rest;
    number.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(devices: &[&str]) -> Vec<NamedPort> {
        let port = |(id, device): (u32, &&str)| NamedPort { id: PortId(id), device: (*device).to_owned(), number: 1 };
        (0..).zip(devices).map(port).collect()
    }

    fn texts(names: &[(PortId, Address)]) -> Vec<(u32, String)> {
        names.iter().map(|(port, address)| (port.0, address.to_string())).collect()
    }

    fn owned(names: &[(u32, &str)]) -> Vec<(u32, String)> {
        names.iter().map(|(port, name)| (*port, (*name).to_owned())).collect()
    }

    // docs/deviations.md: no-address-file
    #[test]
    fn plain_name_stays_on_the_first_active_port() {
        let mut names = DefaultNames::called("vm");
        let all = || ports(&["mlx5_10", "mlx5_2"]);
        assert_eq!(names.choose(all(), |_| false), Change::default(), "no port is active");
        let change = names.choose(all(), |port| port == PortId(0));
        assert_eq!(texts(&change.added), owned(&[(0, "vm"), (1, "vm-1"), (0, "vm-2")]));
        assert_eq!(names.choose(all(), |_| true), Change::default(), "the other port becomes active");
        let change = names.choose(all(), |port| port == PortId(1));
        assert_eq!((texts(&change.removed), texts(&change.added)), (owned(&[(0, "vm")]), owned(&[(1, "vm")])));
        assert_eq!(names.choose(all(), |_| false), Change::default(), "it stays when no port is active");
        assert_eq!(names.choose(all(), |_| true), Change::default(), "its port is active again");
    }

    // docs/deviations.md: no-address-file
    #[test]
    fn ports_that_come_and_go_have_the_numbers_of_a_new_start() {
        let mut names = DefaultNames::called("vm");
        names.choose(ports(&["b"]), |_| true);
        let change = names.choose(ports(&["b", "a"]), |_| true);
        assert_eq!(
            (texts(&change.removed), texts(&change.added)),
            (owned(&[(0, "vm-1")]), owned(&[(1, "vm-1"), (0, "vm-2")]))
        );
        let mut without = ports(&["b", "a"]);
        without.remove(0);
        let change = names.choose(without, |_| true);
        assert_eq!(
            (texts(&change.removed), texts(&change.added)),
            (owned(&[(0, "vm"), (0, "vm-2")]), owned(&[(1, "vm")]))
        );
        let change = names.choose(Vec::new(), |_| true);
        assert_eq!(texts(&change.removed), owned(&[(1, "vm"), (1, "vm-1")]));
    }

    #[test]
    fn simulated_node_has_its_name_in_the_fabric() {
        let mut names = DefaultNames::of(Some("rack1.node2"));
        let change = names.choose(ports(&["sim0"]), |_| true);
        assert_eq!(texts(&change.added), owned(&[(0, "rack1.node2"), (0, "rack1.node2-1")]));
        for (port, address) in &change.added {
            assert!(names.has(*port, address) && !names.has(PortId(1), address), "{address}");
        }
    }

    #[test]
    fn host_without_a_name_has_no_default_names() {
        assert_eq!(DefaultNames::called("").choose(ports(&["a"]), |_| true), Change::default());
    }

    #[test]
    fn names_follow_that_of_the_host() {
        let mut names = DefaultNames::called("");
        assert_eq!(names.choose(ports(&["a"]), |_| true), Change::default());
        assert!(names.rename("vm".to_owned()) && !names.rename("vm".to_owned()));
        assert_eq!(texts(&names.choose(ports(&["a"]), |_| true).added), owned(&[(0, "vm"), (0, "vm-1")]));
        for (name, added) in [("x", vec![(0, "x"), (0, "x-1")]), ("", vec![])] {
            let before = texts(&names.given);
            names.rename(name.to_owned());
            let change = names.choose(ports(&["a"]), |_| true);
            assert_eq!((texts(&change.removed), texts(&change.added)), (before, owned(&added)));
        }
        assert!(!names.follow_host(), "the name of a simulated node stays");
    }

    #[test]
    fn devices_are_in_natural_order() {
        let mut devices = ["mlx5_10", "mlx5_2", "mlx4_11", "mlx5_02", "hfi1_0", "mlx5", "mlx5_", "mlx5_2a"];
        devices.sort_by(|a, b| natural(a, b));
        assert_eq!(devices, ["hfi1_0", "mlx4_11", "mlx5", "mlx5_", "mlx5_2", "mlx5_02", "mlx5_2a", "mlx5_10"]);
    }
}
