//! Lists multicast groups and their members.
use super::{administration::Administration, error::FabricError, nodes::NodeNames};
use ib_mad::{
    Gid,
    sa::{JoinState, McMemberRecord, Query},
};
use std::collections::BTreeMap;

/// A multicast group of the subnet and its members.
#[derive(Clone, Debug)]
pub struct Group {
    /// The group's parameters. `port_gid` and `join_state` are those of one member, or zero.
    pub record: McMemberRecord,
    /// The members in the order of their GIDs. Without the `SM_Key`, only the local port is listed.
    pub members: Vec<Member>,
}

/// A port that is a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// GID of the port.
    pub port_gid: Gid,
    /// The kind of membership; empty if the SA does not report it.
    pub join_state: JoinState,
    /// Name of the node.
    pub node: Option<String>,
}

/// A list of groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The groups in the order of their GIDs.
    pub groups: Vec<Group>,
    /// True if all members are listed, because requests have the `SM_Key`.
    pub has_all_members: bool,
    /// True if the list is incomplete.
    pub is_cut: bool,
}

/// Lists the matching groups with their members. Sends two requests, and further requests for the names of nodes.
///
/// # Errors
/// The SA does not respond, or responds with an error.
pub fn groups(administration: &mut Administration, query: &Query<McMemberRecord>) -> Result<Groups, FabricError> {
    let mut found: BTreeMap<Gid, Group> = BTreeMap::new();
    let local_gid = administration.port().gid();
    // Without the `SM_Key`, the SA returns each group once, with or without members.
    let all = administration.without_key(|administration| administration.table("groups", query))?;
    let mut is_cut = all.is_cut;
    for record in all.records {
        found.entry(record.mgid).or_insert(Group { record, members: Vec::new() });
    }
    let is_trusted = administration.is_trusted();
    let of_members = if is_trusted { *query } else { query.port_gid(local_gid) };
    let members = administration.table("members of groups", &of_members)?;
    is_cut |= members.is_cut;
    let mut records = members.records;
    if members.is_cut {
        // The list was incomplete. Query the groups one by one.
        records.clear();
        is_cut = all.is_cut;
        for mgid in found.keys() {
            let table = administration.table("members of a group", &of_members.mgid(*mgid))?;
            is_cut |= table.is_cut;
            records.extend(table.records);
        }
    }
    for record in &records {
        let group = found.entry(record.mgid).or_insert(Group { record: *record, members: Vec::new() });
        // OpenSM returns a zero port GID without the `SM_Key`. The request was for the local port then.
        let port_gid = if record.port_gid.is_zero() { local_gid } else { record.port_gid };
        let join_state = record.scope_state.join_state();
        group.members.push(Member { port_gid, join_state, node: None });
    }
    let mut groups: Vec<Group> = found.into_values().collect();
    let mut names = NodeNames::default();
    let members = groups.iter().flat_map(|group| &group.members);
    names.query(administration, members.map(|member| member.port_gid.interface_id()))?;
    for group in &mut groups {
        group.members.sort_by_key(|member| member.port_gid);
        for member in &mut group.members {
            member.node = names.get(member.port_gid.interface_id()).map(str::to_owned);
        }
    }
    Ok(Groups { groups, has_all_members: is_trusted, is_cut })
}
