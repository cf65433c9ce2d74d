//! `ib_acme groups join`: joins a multicast group.
use super::{
    arguments::{Local, Membership},
    failure::Failure,
    show,
};
use crate::output::Output;
use acm_client::{
    fabric::{Join, leave},
    ib_mad::{Mtu, Qkey, Rate, ServiceLevel},
};
use nix::sys::signal::{SigSet, Signal};

/// Make this port a member of a group until SIGINT, SIGTERM or SIGHUP.
///
/// The subnet administrator keeps one membership for a port. The kernel does not delete it when the program exits, and
/// a restarted subnet manager may lose it. A port that is a member already stays a member.
#[derive(Debug, clap::Args)]
pub(crate) struct JoinGroup {
    #[command(flatten)]
    membership: Membership,
    /// Create the group if it does not exist. The defaults are the parameters of the partition's broadcast group.
    #[arg(long, conflicts_with = "send_only")]
    create: bool,
    /// Q_Key of the new group.
    #[arg(long, value_name = "QKEY", requires = "create")]
    qkey: Option<Qkey>,
    /// MTU of the new group in bytes.
    #[arg(long, value_name = "BYTES", requires = "create", value_parser = mtu)]
    mtu: Option<Mtu>,
    /// Rate of the new group in Gb/s.
    #[arg(long, value_name = "GBPS", requires = "create", value_parser = rate)]
    rate: Option<Rate>,
    /// Service level of the new group.
    #[arg(long, value_name = "SL", requires = "create")]
    sl: Option<ServiceLevel>,
    /// Exit at once and keep the membership. `ib_acme groups leave` deletes it.
    #[arg(long)]
    stay: bool,
    #[command(flatten)]
    local: Local,
}

fn mtu(text: &str) -> Result<Mtu, String> {
    text.parse().ok().and_then(Mtu::from_bytes).ok_or_else(|| "one of 256, 512, 1024, 2048, 4096".to_owned())
}

fn rate(text: &str) -> Result<Rate, String> {
    text.parse().ok().and_then(Rate::from_gbps).ok_or_else(|| "a rate of InfiniBand, in whole Gb/s".to_owned())
}

impl JoinGroup {
    pub(crate) fn run(&self, out: &mut Output) -> Result<(), Failure> {
        // Signals are blocked until `wait`, so that none is lost between joining and waiting.
        let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
        signals.thread_block().map_err(|errno| Failure::Text(format!("signals: {errno}")))?;
        let mut administration = self.local.administration()?;
        let kind = self.membership.kind();
        let join = Join {
            pkey: self.membership.pkey,
            scope: self.membership.scope,
            join_state: kind,
            create: self.create,
            qkey: self.qkey,
            mtu: self.mtu,
            rate: self.rate,
            sl: self.sl,
            member: self.membership.member,
            ..Join::new(self.membership.name)
        };
        let joined = join.join(&mut administration)?;
        let (port, mgid) = (administration.port(), joined.record.mgid);
        let name = self.membership.of(port);
        let text = format!("{name} joined {mgid} as {kind}\n  {}", show::parameters(&joined.record));
        if joined.before.is_some_and(|before| before.is_empty() || before.contains(kind)) {
            out.line(format_args!("{text}\nIt was one already, and stays one"))?;
            return Ok(());
        }
        if self.stay {
            let member = self.membership.member.map(|gid| format!(" --for {gid}")).unwrap_or_default();
            out.line(format_args!("{text}\nIt stays one until: ib_acme groups leave {mgid}{member}"))?;
            return Ok(());
        }
        let waited = until_signal(out, &signals, &text);
        // Leave after any result of waiting. The subnet manager may have moved, so the port is read again.
        let local = Local { device: Some(port.device.clone()), port: Some(port.port.number), ..self.local.clone() };
        leave(&mut local.administration()?, mgid, kind, self.membership.member)?;
        waited?;
        out.line(format_args!("{name} left {mgid}"))?;
        Ok(())
    }
}

fn until_signal(out: &mut Output, signals: &SigSet, text: &str) -> Result<(), Failure> {
    out.line(format_args!("{text}\nUntil SIGINT (Ctrl-C), SIGTERM or SIGHUP"))?;
    out.flush()?;
    signals.wait().map_err(|errno| Failure::Text(format!("signals: {errno}")))?;
    Ok(())
}
