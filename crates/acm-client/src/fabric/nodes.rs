//! What nodes are called.
use super::{administration::Administration, error::FabricError};
use ib_mad::{
    Gid, Guid,
    sa::{NodeRecord, Query},
    smp::NodeDescription,
    wire::Text,
};
use std::collections::{BTreeMap, btree_map::Entry};

/// From so many unknown ports on, all nodes are asked for at once.
const MANY: usize = 16;

/// Names of nodes by the GUIDs of their ports, as far as they were asked for.
#[derive(Clone, Debug, Default)]
pub struct NodeNames {
    known: BTreeMap<Guid, Option<String>>,
}

impl NodeNames {
    /// Asks for the names of these ports' nodes: one question each, or for many one for all of the fabric.
    ///
    /// # Errors
    /// Subnet administration does not answer.
    pub fn learn(
        &mut self,
        administration: &mut Administration,
        ports: impl Iterator<Item = Guid>,
    ) -> Result<(), FabricError> {
        let mut unknown: Vec<Guid> = ports.filter(|port| !self.known.contains_key(port)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let mut every = None;
        if unknown.len() >= MANY {
            let table = administration.table("nodes", &Query::<NodeRecord>::new())?;
            self.known.extend(table.records.iter().map(|node| (node.node_info.port_guid, name(node))));
            every = Some(!table.is_cut);
        }
        for port in unknown {
            let Entry::Vacant(place) = self.known.entry(port) else { continue };
            let found = match every {
                // It is nobody's.
                Some(true) => None,
                _ => {
                    let query = Query::<NodeRecord>::new().port_guid(port);
                    administration.table("a node", &query)?.records.first().and_then(name)
                }
            };
            place.insert(found);
        }
        Ok(())
    }

    /// The name of a port's node, if it was asked for and has one.
    #[must_use]
    pub fn get(&self, port: Guid) -> Option<&str> {
        self.known.get(&port)?.as_deref()
    }

    /// The port of the node with this description, or whose description begins with this word: `node7` for
    /// `node7 mlx5_0`. Among several it is the first.
    ///
    /// # Errors
    /// Subnet administration does not answer, or [`FabricError::Cut`]: it may be among those that did not arrive.
    pub fn find(administration: &mut Administration, wanted: &str) -> Result<Option<Gid>, FabricError> {
        let prefix = administration.port().gid().prefix();
        let gid = |node: &NodeRecord| Gid::from_parts(prefix, node.node_info.port_guid);
        let exact = NodeDescription { node_string: Text::new(wanted.as_bytes()) };
        let query = Query::<NodeRecord>::new().node_description(exact);
        if let Some(node) = administration.table("a node", &query)?.records.first() {
            return Ok(Some(gid(node)));
        }
        let nodes = administration.table("nodes", &Query::<NodeRecord>::new())?;
        let is_meant = |node: &&NodeRecord| name(node).is_some_and(|name| name.split(' ').next() == Some(wanted));
        match nodes.records.iter().find(is_meant).map(gid) {
            None if nodes.is_cut => Err(FabricError::Cut { what: "the nodes' names".to_owned() }),
            found => Ok(found),
        }
    }
}

/// A node's description; bytes that are no text are replaced.
fn name(node: &NodeRecord) -> Option<String> {
    let text = String::from_utf8_lossy(node.node_description.node_string.as_text());
    let text: String = text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
