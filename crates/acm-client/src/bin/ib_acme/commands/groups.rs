//! `ib_acme groups`: lists multicast groups, and leaves a group.
use super::{
    arguments::{Local, Membership},
    failure::Failure,
    join, show,
};
use crate::output::Output;
use acm_client::{
    fabric::{self, GroupName, LINK_SCOPE, leave},
    ib_mad::{
        Pkey, SmKey,
        sa::{McMemberRecord, Query},
    },
};
use clap::{Args, Subcommand};
use serde_json::json;

/// Show the multicast groups of the fabric, join a group, or leave a group.
///
/// Queries the subnet administrator through /dev/infiniband/umad, which needs read and write access to that file. A
/// group is named by its MGID, an IPv4 multicast address, ip:ADDRESS (also IPv6), rdmacm:ADDRESS (the group that
/// rdma_join_multicast joins), broadcast (the broadcast group of IP over InfiniBand), or acm (the base group of ibacm).
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Groups {
    #[command(subcommand)]
    action: Option<Action>,
    /// Show only this group.
    #[arg(long, visible_alias = "mgid", value_name = "GROUP")]
    group: Option<GroupName>,
    /// Show only groups of this partition. Also the partition of --group if it is a name.
    #[arg(long, value_name = "PKEY")]
    pkey: Option<Pkey>,
    /// Scope of --group if it is a name.
    #[arg(long, value_name = "SCOPE", default_value_t = LINK_SCOPE, value_parser = clap::value_parser!(u8).range(..16))]
    scope: u8,
    /// Send requests with this SM_Key. Without it, the subnet administrator does not return the members of groups.
    /// OpenSM's default is 1.
    #[arg(long, value_name = "KEY")]
    sm_key: Option<SmKey>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    local: Local,
}

#[derive(Debug, Subcommand)]
enum Action {
    Join(join::JoinGroup),
    Leave(LeaveGroup),
}

/// Delete this port's membership of a group.
///
/// A port has one membership, regardless of the program that created it: a membership of the kernel's IP over
/// InfiniBand or of a daemon is deleted, too.
#[derive(Debug, Args)]
struct LeaveGroup {
    #[command(flatten)]
    membership: Membership,
    #[command(flatten)]
    local: Local,
}

impl Groups {
    pub(crate) fn run(&self, out: &mut Output) -> Result<(), Failure> {
        match &self.action {
            None => self.list(out),
            Some(Action::Join(join)) => join.run(out),
            Some(Action::Leave(group)) => group.run(out),
        }
    }

    fn list(&self, out: &mut Output) -> Result<(), Failure> {
        let mut administration = self.local.administration()?.with_sm_key(self.sm_key.unwrap_or_default());
        let mut query = Query::<McMemberRecord>::new();
        if let Some(name) = self.group {
            query = query.mgid(name.mgid(self.pkey.unwrap_or(Pkey::DEFAULT_FULL), self.scope));
        }
        let mut found = fabric::groups(&mut administration, &query)?;
        found.groups.retain(|group| self.is_listed(&group.record));
        if self.json {
            let groups: Vec<_> = found.groups.iter().map(show::group_json).collect();
            let is_whole = !found.is_cut;
            let document = json!({ "all_members": found.has_all_members, "whole": is_whole, "groups": groups });
            out.line(format_args!("{document:#}"))?;
        } else {
            for group in &found.groups {
                show::group(out, group)?;
            }
            if !found.has_all_members && !found.groups.is_empty() {
                out.line(format_args!("Other members are listed only with the SM_Key: --sm-key KEY"))?;
            }
        }
        if found.is_cut {
            return Err(Failure::Text(
                "there are more: only the first datagram of an answer arrived (ibsim?)".to_owned(),
            ));
        }
        if found.groups.is_empty() && self.group.is_some() {
            return Err(Failure::Text("there is no such group".to_owned()));
        }
        Ok(())
    }
}

impl Groups {
    /// True if `--pkey` does not exclude the group. A query by P_Key would distinguish full and limited members.
    fn is_listed(&self, group: &McMemberRecord) -> bool {
        self.pkey.is_none_or(|pkey| pkey.same_partition(group.pkey))
    }
}

impl LeaveGroup {
    fn run(&self, out: &mut Output) -> Result<(), Failure> {
        let mut administration = self.local.administration()?;
        let (mgid, kind) = (self.membership.mgid(), self.membership.kind());
        let port = self.membership.of(administration.port());
        if leave(&mut administration, mgid, kind, self.membership.member)? {
            out.line(format_args!("{port} left {mgid}"))?;
            return Ok(());
        }
        Err(Failure::Text(format!("{port} is no {kind} of {mgid}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        groups: Groups,
    }

    #[test]
    fn groups_of_another_partition_are_left_out() {
        let listed = |words: &[&str], pkey| {
            let record = McMemberRecord { pkey: Pkey::new(pkey), ..McMemberRecord::default() };
            Line::parse_from([&["groups"], words].concat()).groups.is_listed(&record)
        };
        let of_five = &["--pkey", "0x8005"][..];
        assert_eq!([0x8005, 0x0005, 0x8006].map(|pkey| listed(of_five, pkey)), [true, true, false]);
        assert_eq!([0x8005, 0x8006].map(|pkey| listed(&[], pkey)), [true, true]);
    }
}
