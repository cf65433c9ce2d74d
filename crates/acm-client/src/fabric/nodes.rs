//! Names of nodes.
use super::{
    administration::{Administration, Table},
    error::FabricError,
};
use ib_mad::{
    Gid, Guid,
    sa::{NodeRecord, Query},
    smp::NodeDescription,
    wire::Text,
};
use std::collections::{BTreeMap, btree_map::Entry};

/// Number of unknown ports from which one request for all nodes is sent instead of a request for each port.
const MANY: usize = 16;

/// A cache of node names by port GUID.
#[derive(Clone, Debug, Default)]
pub struct NodeNames {
    names: BTreeMap<Guid, Option<String>>,
    /// The response with all nodes, for [`find`](Self::find).
    all: Option<Table<NodeRecord>>,
    /// True after the first call of [`find`](Self::find).
    has_found: bool,
}

impl NodeNames {
    /// Queries the node names of ports: one request for each port, or one request for all nodes.
    ///
    /// # Errors
    /// The SA does not respond.
    pub fn query(
        &mut self,
        administration: &mut Administration,
        ports: impl Iterator<Item = Guid>,
    ) -> Result<(), FabricError> {
        let mut unknown: Vec<Guid> = ports.filter(|port| !self.names.contains_key(port)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let mut all_received = None;
        if unknown.len() >= MANY {
            let table = administration.table("nodes", &Query::<NodeRecord>::new())?;
            self.names.extend(table.records.iter().map(|node| (node.node_info.port_guid, node_name(node))));
            all_received = Some(!table.is_cut);
        }
        for port in unknown {
            let Entry::Vacant(entry) = self.names.entry(port) else { continue };
            let found = match all_received {
                // The table is complete and does not contain this port.
                Some(true) => None,
                _ => {
                    let query = Query::<NodeRecord>::new().port_guid(port);
                    administration.table("a node", &query)?.records.first().and_then(node_name)
                }
            };
            entry.insert(found);
        }
        Ok(())
    }

    /// Returns the name of a port's node, if it was queried and exists.
    #[must_use]
    pub fn get(&self, port: Guid) -> Option<&str> {
        self.names.get(&port)?.as_deref()
    }

    /// Finds a port by the description of its node, or by the first word of the description: `node7` for `node7
    /// mlx5_0`. Returns the first match. The first call queries the SA for the one node; the second call, or a name
    /// that is a first word, for all nodes, once.
    ///
    /// # Errors
    /// The SA does not respond, or [`FabricError::Cut`] if the response with all nodes was incomplete and does not
    /// contain the node.
    pub fn find(&mut self, administration: &mut Administration, description: &str) -> Result<Option<Gid>, FabricError> {
        let prefix = administration.port().gid().prefix();
        let gid = |node: &NodeRecord| Gid::from_parts(prefix, node.node_info.port_guid);
        let exact = NodeDescription { node_string: Text::new(description.as_bytes()) };
        let one = Query::<NodeRecord>::new().node_description(exact);
        let is_first = !core::mem::replace(&mut self.has_found, true);
        if is_first && let Some(node) = administration.table("a node", &one)?.records.first() {
            return Ok(Some(gid(node)));
        }
        let all = match &mut self.all {
            Some(all) => all,
            none => none.insert(administration.table("nodes", &Query::<NodeRecord>::new())?),
        };
        let is_exact = |node: &&NodeRecord| node_name(node).as_deref() == Some(description);
        let begins =
            |node: &&NodeRecord| node_name(node).is_some_and(|name| name.split(' ').next() == Some(description));
        if let Some(node) = all.records.iter().find(is_exact).or_else(|| all.records.iter().find(begins)) {
            return Ok(Some(gid(node)));
        }
        // The response with all nodes may have been incomplete.
        let one = if is_first { None } else { administration.table("a node", &one)?.records.first().map(gid) };
        match one {
            None if all.is_cut => Err(FabricError::Cut { what: "the nodes' names".to_owned() }),
            one => Ok(one),
        }
    }
}

/// Returns a node's description; `None` if it is empty. Invalid UTF-8 and control characters are replaced.
#[must_use]
pub fn node_name(node: &NodeRecord) -> Option<String> {
    let text = String::from_utf8_lossy(node.node_description.node_string.as_text());
    let text: String = text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_node_has_no_control_characters_and_may_be_missing() {
        let names = [(&b"n1\x1b[2J mlx5"[..], Some("n1?[2J mlx5")), (b" n1 ", Some("n1")), (b" ", None), (b"", None)];
        for (text, expected) in names {
            let node_description = NodeDescription { node_string: Text::new(text) };
            let node = NodeRecord { node_description, ..NodeRecord::default() };
            assert_eq!(node_name(&node).as_deref(), expected);
        }
    }
}
