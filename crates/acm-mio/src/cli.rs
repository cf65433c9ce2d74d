//! The command line: ibacm's options, and long options of acm-mio.
mod choices;
#[cfg(test)]
mod man;

pub(crate) use choices::{FabricChoice, InterfaceChoice, KernelChoice, RecordChoice};

use clap::Parser;
use core::time::Duration;
use std::path::PathBuf;

/// Paths of ibacm's files. The files need not exist.
pub(crate) const ADDR_FILE: &str = "/etc/rdma/ibacm_addr.cfg";
pub(crate) const OPTION_FILE: &str = "/etc/rdma/ibacm_opts.cfg";

/// Assistant to the InfiniBand communication manager: resolves names, IP addresses, LIDs and GIDs to path records, and
/// serves them to librdmacm, the kernel and ib_acme.
#[derive(Debug, Parser)]
#[command(name = "acm-mio", version, about)]
#[group(skip)]
pub(crate) struct Args {
    /// Run as a daemon (the default). `-P` has precedence, as in ibacm.
    #[arg(short = 'D')]
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
    /// Take the sockets from systemd, and notify it when they are served.
    #[arg(long)]
    pub(crate) systemd: bool,
    /// The fabric to serve: `devices` (the default: all InfiniBand ports of this machine), `embedded` (a simulated one
    /// in this process, which others may join at DIR/fabric.sock), or `sim:PATH?node=NAME` (a simulated one that
    /// another process serves at PATH).
    #[arg(long, value_name = "FABRIC")]
    pub(crate) fabric: Option<FabricChoice>,
    /// Exit with status 255 when there is no InfiniBand device at the start, as ibacm does, and do not wait for one.
    #[arg(long)]
    pub(crate) require_device: bool,
    /// Respond to the kernel's path requests over netlink: `on`, `off`, or `any` (to those of other privileged programs
    /// as well: for tests). The default is on, and off with a simulated fabric.
    #[arg(long, value_name = "MODE", value_enum, hide_possible_values = true)]
    pub(crate) kernel: Option<KernelChoice>,
    /// Interfaces whose IP addresses this node serves: `on` (IPoIB interfaces), `off`, or `alias` (interfaces whose
    /// alias is `infiniband GID [PKEY]`: for simulated fabrics). The default is on, and off with a simulated fabric.
    #[arg(long, value_name = "MODE", value_enum, hide_possible_values = true)]
    pub(crate) interfaces: Option<InterfaceChoice>,
    /// Record the inputs and outputs of the daemon's core, for acm-replay and Wireshark:
    /// `FILE[,size=64M,files=4][,mask=names][,time=SECONDS]`. FILE is the newest file, FILE.1 the one before it. A
    /// reader of the files can guess transaction ids, so that only the daemon's user may read them. `mask=names`
    /// replaces names and IP addresses. After `time` seconds the recording ends.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<RecordChoice>,
    /// Directory of the sockets, port files and the lock file. It is created if it is missing.
    #[arg(long, value_name = "DIR", default_value = "/run")]
    pub(crate) run_dir: PathBuf,
    /// Seconds that a daemon may take until it serves; after that it is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    start_limit: u32,
    /// Internal: remove port files in the run directory on whose port nothing listens, and exit. For the socket unit.
    #[arg(long, hide = true)]
    pub(crate) remove_port_files: bool,
    /// Internal: the process that becomes the daemon.
    #[arg(long, hide = true)]
    pub(crate) detach: bool,
    /// Words that are not options.
    #[arg(hide = true, trailing_var_arg = true)]
    pub(crate) stray: Vec<String>,
}

impl Args {
    /// Reports whether to start another process that leaves the terminal.
    pub(crate) fn leaves_terminal(&self) -> bool {
        !self.foreground && !self.systemd && !self.detach
    }

    /// Reports whether this is the service of this machine, which no other daemon may accompany.
    pub(crate) const fn is_service(&self) -> bool {
        self.systemd && !self.is_simulated()
    }

    /// Returns the time that a daemon may take until it serves.
    pub(crate) fn start_limit(&self) -> Duration {
        Duration::from_secs(self.start_limit.into())
    }

    /// Reports whether standard output is the default of the option `log_file`: for systemd, whose service has the
    /// journal there and whose user cannot write to `/var/log`, and for a simulated fabric, because its nodes on one
    /// machine cannot share `/var/log/ibacm.log`.
    pub(crate) const fn log_to_stdout(&self) -> bool {
        self.systemd || self.foreground && self.is_simulated()
    }

    /// Returns the mode of the kernel's requests. The default for a simulated node is off, because it does not serve
    /// this machine.
    pub(crate) fn kernel(&self) -> KernelChoice {
        self.kernel.unwrap_or(if self.is_simulated() { KernelChoice::Off } else { KernelChoice::On })
    }

    /// Returns the mode of interfaces. The default for a simulated node is off, because it does not have the addresses
    /// of this machine.
    pub(crate) fn interfaces(&self) -> InterfaceChoice {
        self.interfaces.unwrap_or(if self.is_simulated() { InterfaceChoice::Off } else { InterfaceChoice::On })
    }

    /// Reports whether the fabric is simulated.
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
    fn simulated_node_does_not_serve_the_kernel_or_interfaces() {
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
    fn simulated_node_in_the_foreground_logs_to_standard_output() {
        assert!(parse(&["--systemd"]).log_to_stdout(), "the journal");
        assert!(parse(&["-P", "--fabric", "embedded"]).log_to_stdout());
        assert!(parse(&["-P", "--fabric", "sim:/x"]).log_to_stdout());
        for words in
            [&["-P"][..], &["-P", "--fabric", "devices"], &["--fabric", "embedded"], &["-D", "--fabric=embedded"]]
        {
            assert!(!parse(words).log_to_stdout(), "{words:?}");
        }
    }

    #[test]
    fn start_limit_is_in_seconds() {
        assert_eq!(parse(&["--start-limit", "7"]).start_limit(), Duration::from_secs(7));
    }

    #[test]
    fn help_is_no_error() {
        assert!(["-h", "--help"].iter().all(|word| !Args::try_parse_from(["acm-mio", word]).unwrap_err().use_stderr()));
    }

    #[test]
    fn command_lines_of_ibacm_are_accepted() {
        assert!(parse(&[]).leaves_terminal());
        assert!(parse(&["-D"]).leaves_terminal());
        assert!(!parse(&["-P"]).leaves_terminal());
        assert!(!parse(&["-P", "-D"]).leaves_terminal() && !parse(&["-D", "-P"]).leaves_terminal(), "in any order");
        assert!(!parse(&["--systemd"]).leaves_terminal());
        assert!(!parse(&[SERVE, "-D"]).leaves_terminal());
        assert_eq!(parse(&["-P", "-A", "a", "-O", "o", "extra", "words"]).stray, ["extra", "words"]);
        assert!(Args::try_parse_from(["acm-mio", "-x"]).unwrap_err().use_stderr());
    }
}
