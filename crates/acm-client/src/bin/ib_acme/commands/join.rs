//! `ib_acme groups join`.
use super::{failure::Failure, local::Local, membership::Membership, show};
use crate::output::Output;
use acm_client::{
    fabric::{Join, leave},
    ib_mad::{Mtu, Qkey, Rate, ServiceLevel},
};
use nix::sys::signal::{SigSet, Signal};

/// Make this port a member of a group until SIGINT, SIGTERM or SIGHUP.
///
/// A membership is subnet administration's, and one for the port: the kernel does not end it with the program that asked
/// for it, and a subnet manager that starts anew may not know it. If the port is a member already, it stays one.
#[derive(Debug, clap::Args)]
pub(crate) struct JoinGroup {
    #[command(flatten)]
    membership: Membership,
    /// Make the group if it is not there. What is not given is as in the broadcast group of the partition.
    #[arg(long, conflicts_with = "send_only")]
    create: bool,
    /// Its Q_Key.
    #[arg(long, value_name = "QKEY", requires = "create")]
    qkey: Option<Qkey>,
    /// Its MTU in bytes.
    #[arg(long, value_name = "BYTES", requires = "create", value_parser = mtu)]
    mtu: Option<Mtu>,
    /// Its rate in Gb/s.
    #[arg(long, value_name = "GBPS", requires = "create", value_parser = rate)]
    rate: Option<Rate>,
    /// Its service level.
    #[arg(long, value_name = "SL", requires = "create")]
    sl: Option<ServiceLevel>,
    /// Do not wait, and stay a member: `ib_acme groups leave` ends it.
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
        // From here on a signal waits until it is asked for, so that none comes between joining and waiting.
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
            ..Join::new(self.membership.name)
        };
        let joined = join.join(&mut administration)?;
        let (port, mgid) = (administration.port(), joined.record.mgid);
        let said = format!("{} joined {mgid} as {kind}\n  {}", port.name(), show::parameters(&joined.record));
        if joined.before.is_some_and(|before| before.is_empty() || before.contains(kind)) {
            out.line(format_args!("{said}\nIt was one already, and stays one"))?;
            return Ok(());
        }
        if self.stay {
            out.line(format_args!("{said}\nIt stays one until: ib_acme groups leave {mgid}"))?;
            return Ok(());
        }
        let waited = until_signal(out, &signals, &said);
        // Whatever ended the waiting. The subnet manager may be elsewhere by now, so the port is looked at anew.
        let local = Local { device: Some(port.device.clone()), port: Some(port.port.number), ..self.local.clone() };
        leave(&mut local.administration()?, mgid, kind)?;
        waited?;
        out.line(format_args!("{} left {mgid}", port.name()))?;
        Ok(())
    }
}

fn until_signal(out: &mut Output, signals: &SigSet, said: &str) -> Result<(), Failure> {
    out.line(format_args!("{said}\nUntil SIGINT (Ctrl-C), SIGTERM or SIGHUP"))?;
    out.flush()?;
    signals.wait().map_err(|errno| Failure::Text(format!("signals: {errno}")))?;
    Ok(())
}
