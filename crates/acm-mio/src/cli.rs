//! The command line: ibacm's options, and long ones of ours.
#[cfg(test)]
mod man;

use crate::{addresses::InterfaceChoice, fabric::FabricChoice, kernel::KernelChoice, record::RecordChoice};
use clap::Parser;
use core::time::Duration;
use std::path::PathBuf;

/// Where ibacm has its files. They need not be there.
pub(crate) const ADDR_FILE: &str = "/etc/rdma/ibacm_addr.cfg";
pub(crate) const OPTION_FILE: &str = "/etc/rdma/ibacm_opts.cfg";

/// Assistant to the InfiniBand communication manager: resolves names, IP addresses, LIDs and GIDs to path records, and
/// serves them to librdmacm, the kernel and ib_acme.
#[derive(Debug, Parser)]
#[command(name = "acm-mio", version, about)]
pub(crate) struct Args {
    /// Run as a daemon (the default).
    #[arg(short = 'D', overrides_with = "foreground")]
    pub(crate) daemon: bool,
    /// Run as a process in the foreground.
    #[arg(short = 'P')]
    pub(crate) foreground: bool,
    /// Address configuration file.
    #[arg(short = 'A', value_name = "addr_file", default_value = ADDR_FILE)]
    pub(crate) addr_file: PathBuf,
    /// Option configuration file.
    #[arg(short = 'O', value_name = "option_file", default_value = OPTION_FILE)]
    pub(crate) option_file: PathBuf,
    /// Take the sockets from systemd and tell it when they are served.
    #[arg(long)]
    pub(crate) systemd: bool,
    /// The fabric to serve: `devices` (the default: all InfiniBand ports of this machine), `embedded` (a simulated one in this process, which others may join at
    /// DIR/fabric.sock), or `sim:PATH?node=NAME` (a simulated one that somebody else serves at PATH).
    #[arg(long, value_name = "FABRIC")]
    pub(crate) fabric: Option<FabricChoice>,
    /// Exit with status 255 when there is no InfiniBand device at the start, as ibacm does, and do not wait for one.
    #[arg(long)]
    pub(crate) require_device: bool,
    /// Check what the daemon needs on this machine, with these files and this fabric, say what to do, and exit: 0 if it
    /// would serve, 1 if not.
    #[arg(long)]
    pub(crate) check: bool,
    /// Print what the daemon that runs has and has counted, and exit: 0, or 1 if none answers in the run directory.
    #[arg(long)]
    pub(crate) status: bool,
    /// Whether to answer the kernel's path requests over netlink: `on`, `off`, or `any` (of other privileged programs,
    /// too: for tests). Without this: on, but not with a simulated fabric.
    #[arg(long, value_name = "WHETHER")]
    pub(crate) kernel: Option<KernelChoice>,
    /// Whose IP addresses are this node's: `on` (those of IPoIB interfaces), `off`, or `alias` (of interfaces whose alias
    /// is `infiniband GID [PKEY]`: for simulated fabrics). Without this: on, but off with a simulated fabric.
    #[arg(long, value_name = "WHOSE")]
    pub(crate) interfaces: Option<InterfaceChoice>,
    /// Record what the daemon is told and what it does, for acm-replay and Wireshark: `FILE[,size=64M,files=4][,mask=names]`.
    /// FILE is the newest file, FILE.1 the one before. Whoever may read them can guess transaction ids: they are root's
    /// alone. `mask=names` replaces names and IP addresses.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<RecordChoice>,
    /// Where sockets, port files and the lock file go. It is made if it is missing.
    #[arg(long, value_name = "DIR", default_value = "/run")]
    pub(crate) run_dir: PathBuf,
    /// As a daemon: how long it may take until it serves; then it is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    start_limit: u32,
    /// What `acm-mio` starts and waits for as a daemon.
    #[arg(long, hide = true)]
    pub(crate) detach: bool,
    /// Words that are no options.
    #[arg(hide = true, trailing_var_arg = true)]
    pub(crate) stray: Vec<String>,
}

impl Args {
    /// Whether to start another process that leaves the terminal.
    pub(crate) fn leaves_terminal(&self) -> bool {
        !self.foreground && !self.systemd && !self.detach
    }

    /// How long a daemon may take until it serves.
    pub(crate) fn start_limit(&self) -> Duration {
        Duration::from_secs(self.start_limit.into())
    }

    /// Whether the log is for whoever looks at the terminal, unless the option file says where it goes: many nodes of a
    /// simulated fabric run on one machine, and none of them is the one that `/var/log/ibacm.log` is for.
    pub(crate) fn log_to_stdout(&self) -> bool {
        self.foreground && self.is_simulated()
    }

    /// Whom to answer over netlink. Nodes of a simulated fabric have no business with this machine's kernel.
    pub(crate) fn kernel(&self) -> KernelChoice {
        self.kernel.unwrap_or(if self.is_simulated() { KernelChoice::Off } else { KernelChoice::On })
    }

    /// Whose addresses to take. Those of this machine are not those of a simulated node.
    pub(crate) fn interfaces(&self) -> InterfaceChoice {
        self.interfaces.unwrap_or(if self.is_simulated() { InterfaceChoice::Off } else { InterfaceChoice::On })
    }

    /// Whether its fabric is no hardware.
    pub(crate) const fn is_simulated(&self) -> bool {
        matches!(self.fabric, Some(FabricChoice::Embedded | FabricChoice::Sim { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starter::SERVE;

    fn parse(words: &[&str]) -> Args {
        Args::try_parse_from([&["acm-mio"], words].concat()).unwrap()
    }

    #[test]
    fn a_simulated_node_leaves_this_machines_kernel_alone() {
        for simulated in ["embedded", "sim:/x?node=node2"] {
            assert_eq!(parse(&["--fabric", simulated]).kernel(), KernelChoice::Off);
            assert_eq!(parse(&["--fabric", simulated, "--kernel", "on"]).kernel(), KernelChoice::On);
            assert_eq!(parse(&["--fabric", simulated]).interfaces(), InterfaceChoice::Off);
            let alias = parse(&["--fabric", simulated, "--interfaces", "alias"]);
            assert_eq!(alias.interfaces(), InterfaceChoice::Alias);
        }
        assert_eq!(parse(&[]).interfaces(), InterfaceChoice::On);
        assert_eq!(parse(&["--fabric", "devices", "--interfaces", "off"]).interfaces(), InterfaceChoice::Off);
        assert_eq!(parse(&[]).kernel(), KernelChoice::On);
        assert_eq!(parse(&["--kernel", "off"]).kernel(), KernelChoice::Off);
    }

    #[test]
    fn a_simulated_node_in_the_foreground_logs_to_the_terminal() {
        assert!(parse(&["-P", "--fabric", "embedded"]).log_to_stdout());
        assert!(parse(&["-P", "--fabric", "sim:/x"]).log_to_stdout());
        for words in
            [&["-P"][..], &["-P", "--fabric", "devices"], &["--fabric", "embedded"], &["-P", "-D", "--fabric=embedded"]]
        {
            assert!(!parse(words).log_to_stdout(), "{words:?}");
        }
    }

    #[test]
    fn a_start_has_its_time() {
        assert_eq!(parse(&["--start-limit", "7"]).start_limit(), Duration::from_secs(7));
    }

    #[test]
    fn ibacm_command_lines() {
        assert!(parse(&[]).leaves_terminal());
        assert!(parse(&["-D"]).leaves_terminal());
        assert!(!parse(&["-P"]).leaves_terminal());
        assert!(parse(&["-P", "-D"]).leaves_terminal(), "the last one counts");
        assert!(!parse(&["--systemd"]).leaves_terminal());
        assert!(!parse(&[SERVE, "-D"]).leaves_terminal());
        assert_eq!(parse(&["-P", "-A", "a", "-O", "o", "extra", "words"]).stray, ["extra", "words"]);
        assert!(Args::try_parse_from(["acm-mio", "-x"]).unwrap_err().use_stderr());
    }
}
