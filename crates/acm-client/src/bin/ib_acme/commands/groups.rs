//! `ib_acme groups`.
use super::{failure::Failure, join, local::Local, membership::Membership, show};
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

/// Show the multicast groups of the fabric, join one, or leave one.
///
/// Subnet administration is asked through /dev/infiniband/umad: by root, or by who may read and write that file. A group
/// is named by its MGID, or by what it is for: an IPv4 multicast address, ip:ADDRESS (IPv6, too), rdmacm:ADDRESS for what
/// rdma_join_multicast joins, broadcast for the broadcasts of IP over InfiniBand, acm for the base group of ibacm.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Groups {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only this group.
    #[arg(long, value_name = "GROUP")]
    group: Option<GroupName>,
    /// Only groups of this partition; the one in which a group by name is looked for.
    #[arg(long, value_name = "PKEY")]
    pkey: Option<Pkey>,
    /// Scope of a group by name.
    #[arg(long, value_name = "SCOPE", default_value_t = LINK_SCOPE, value_parser = clap::value_parser!(u8).range(..16))]
    scope: u8,
    /// Ask as one who knows the SM_Key: only such a one is told who is in the groups. OpenSM's is 1 if nobody chose
    /// another.
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

/// End this port's membership of a group.
///
/// There is one membership for the port, whoever asked for it: what the kernel's IP over InfiniBand or a daemon joined is
/// ended, too.
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
        // Here, and not in the question: a partition's groups are the same for full and limited members.
        found.groups.retain(|group| self.pkey.is_none_or(|pkey| pkey.same_partition(group.record.pkey)));
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
                out.line(format_args!("Other members are told to who knows the SM_Key: --sm-key KEY"))?;
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

impl LeaveGroup {
    fn run(&self, out: &mut Output) -> Result<(), Failure> {
        let mut administration = self.local.administration()?;
        let (mgid, kind) = (self.membership.mgid(), self.membership.kind());
        let port = administration.port().name();
        if leave(&mut administration, mgid, kind)? {
            out.line(format_args!("{port} left {mgid}"))?;
            return Ok(());
        }
        Err(Failure::Text(format!("{port} is no {kind} of {mgid}")))
    }
}
