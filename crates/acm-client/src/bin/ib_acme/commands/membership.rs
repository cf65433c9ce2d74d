//! Which membership of which group.
use acm_client::{
    fabric::{GroupName, LINK_SCOPE},
    ib_mad::{Gid, Pkey, sa::JoinState},
};

/// A group by its name, and what kind of member.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Membership {
    /// The group.
    #[arg(value_name = "GROUP")]
    pub(super) name: GroupName,
    /// The partition of a group by name.
    #[arg(long, value_name = "PKEY", default_value_t = Pkey::DEFAULT_FULL)]
    pub(super) pkey: Pkey,
    /// Scope of a group by name.
    #[arg(long, value_name = "SCOPE", default_value_t = LINK_SCOPE, value_parser = clap::value_parser!(u8).range(..16))]
    pub(super) scope: u8,
    /// A member that only sends to the group.
    #[arg(long)]
    send_only: bool,
}

impl Membership {
    /// The group's GID.
    pub(super) const fn mgid(&self) -> Gid {
        self.name.mgid(self.pkey, self.scope)
    }

    /// What kind of member.
    pub(super) const fn kind(&self) -> JoinState {
        if self.send_only { JoinState::SEND_ONLY_NON_MEMBER } else { JoinState::FULL_MEMBER }
    }
}
