//! Groups, and who is in them.
use super::{administration::Administration, error::FabricError, nodes::NodeNames};
use ib_mad::{
    Gid,
    sa::{JoinState, McMemberRecord, Query},
};
use std::collections::BTreeMap;

/// A multicast group of the subnet and its members.
#[derive(Clone, Debug)]
pub struct Group {
    /// The group's parameters. Its port GID and join state are a member's, or nobody's.
    pub record: McMemberRecord,
    /// Its members in the order of their GIDs. Who does not know the `SM_Key` is told of the asking port only.
    pub members: Vec<Member>,
}

/// A port that is in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// GID that the port joined with.
    pub port_gid: Gid,
    /// What kind of member; empty if that is not told.
    pub join_state: JoinState,
    /// What its node is called.
    pub node: Option<String>,
}

/// What is known of the groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// In the order of their GIDs.
    pub groups: Vec<Group>,
    /// Whether all members are named, because subnet administration trusts the asker.
    pub has_all_members: bool,
    /// Whether there were more than arrived.
    pub is_cut: bool,
}

/// The groups that match, with their members: two questions, and one or some for the names of nodes.
///
/// # Errors
/// Subnet administration does not answer, or refuses.
pub fn groups(administration: &mut Administration, query: &Query<McMemberRecord>) -> Result<Groups, FabricError> {
    let mut found: BTreeMap<Gid, Group> = BTreeMap::new();
    let own = administration.port().gid();
    // As one who is not trusted one is told of each group once, with members or without.
    let every = administration.without_key(|administration| administration.table("groups", query))?;
    let mut is_cut = every.is_cut;
    for record in every.records {
        found.entry(record.mgid).or_insert(Group { record, members: Vec::new() });
    }
    let is_trusted = administration.is_trusted();
    let of_members = if is_trusted { *query } else { query.port_gid(own) };
    let members = administration.table("members of groups", &of_members)?;
    is_cut |= members.is_cut;
    let mut records = members.records;
    if members.is_cut {
        // One group after the other may do.
        records.clear();
        is_cut = every.is_cut;
        for mgid in found.keys() {
            let table = administration.table("members of a group", &of_members.mgid(*mgid))?;
            is_cut |= table.is_cut;
            records.extend(table.records);
        }
    }
    for record in &records {
        let group = found.entry(record.mgid).or_insert(Group { record: *record, members: Vec::new() });
        // OpenSM blanks who it is for those it does not trust; they have asked for their own port.
        let port_gid = if record.port_gid.is_zero() { own } else { record.port_gid };
        let join_state = record.scope_state.join_state();
        group.members.push(Member { port_gid, join_state, node: None });
    }
    let mut groups: Vec<Group> = found.into_values().collect();
    let mut names = NodeNames::default();
    let members = groups.iter().flat_map(|group| &group.members);
    names.learn(administration, members.map(|member| member.port_gid.interface_id()))?;
    for group in &mut groups {
        group.members.sort_by_key(|member| member.port_gid);
        for member in &mut group.members {
            member.node = names.get(member.port_gid.interface_id()).map(str::to_owned);
        }
    }
    Ok(Groups { groups, has_all_members: is_trusted, is_cut })
}
