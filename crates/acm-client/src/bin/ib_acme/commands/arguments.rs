//! Options of several commands: the local port, and the group.
use acm_client::{
    fabric::{Administration, FabricError, GroupName, LINK_SCOPE, LocalPort},
    ib_mad::{Gid, Pkey, sa::JoinState},
};
use core::time::Duration;

/// Options that select the local port.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Local {
    /// Device that sends requests to the subnet administrator. The default is the first device with an active port.
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// Number of the port. The default is the first active port.
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u8>,
    /// Time-out of each of the four sends of a request to the subnet administrator.
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) timeout: u16,
}

impl Local {
    pub(crate) fn administration(&self) -> Result<Administration, FabricError> {
        let port = LocalPort::find(self.device.as_deref(), self.port)?;
        Ok(Administration::open(port)?.with_timeout(Duration::from_millis(self.timeout.into())))
    }
}

/// A group and the kind of membership.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Membership {
    /// The group.
    #[arg(value_name = "GROUP")]
    pub(super) name: GroupName,
    /// Partition of the group if it is a name.
    #[arg(long, value_name = "PKEY", default_value_t = Pkey::DEFAULT_FULL)]
    pub(super) pkey: Pkey,
    /// Scope of the group if it is a name.
    #[arg(long, value_name = "SCOPE", default_value_t = LINK_SCOPE, value_parser = clap::value_parser!(u8).range(..16))]
    pub(super) scope: u8,
    /// Send-only membership.
    #[arg(long)]
    send_only: bool,
    /// GID of another port that is the member. The subnet administrator may refuse this.
    #[arg(long = "for", value_name = "PORT_GID")]
    pub(super) member: Option<Gid>,
}

impl Membership {
    /// Returns the group's GID.
    pub(super) const fn mgid(&self) -> Gid {
        self.name.mgid(self.pkey, self.scope)
    }

    /// Returns the name of the member: the local port, or the port of `--for`.
    pub(super) fn of(&self, local: &LocalPort) -> String {
        self.member.map_or_else(|| local.name(), |gid| format!("port {gid}"))
    }

    /// Returns the kind of membership.
    pub(super) const fn kind(&self) -> JoinState {
        if self.send_only { JoinState::SEND_ONLY_NON_MEMBER } else { JoinState::FULL_MEMBER }
    }
}
