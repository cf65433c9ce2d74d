//! From the command line to a running loop.
use super::{
    FABRIC, LISTENER, SIGNALS,
    daemon::{Daemon, State},
    listener::{ListenError, Listener},
};
use crate::{
    cli::Args,
    clock::Clock,
    fabric::{Embedded, Fabric, FabricChoice, FabricError, NamedPort, Sim},
    lock::{self, LockError},
    log::Log,
    settings::{ConfiguredAddress, Settings},
};
use acm_sansio::{Acm, Input, Time};
use acm_wire::Address;
use mio::Poll;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why the daemon does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The run directory does not exist.
    #[error("run directory {0}: {1}; make it first")]
    RunDir(PathBuf, io::Error),
    /// It cannot leave the terminal.
    #[error("cannot become a daemon: {0}; try -P")]
    Daemonize(io::Error),
    /// Another one runs.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Nobody could connect.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// There is no fabric.
    #[error(transparent)]
    Fabric(FabricError),
    /// The fabric went away.
    #[error("{0}; start the fabric, then this daemon again")]
    FabricLost(FabricError),
    /// The system gives no randomness.
    #[error("no random seed: {0}")]
    Seed(getrandom::Error),
    /// The loop cannot wait for events.
    #[error("event loop: {0}")]
    Loop(io::Error),
}

/// Runs the daemon until it is told to stop.
pub(crate) fn run(args: &Args) -> Result<(), StartError> {
    let run_dir =
        std::path::absolute(&args.run_dir).map_err(|error| StartError::RunDir(args.run_dir.clone(), error))?;
    std::fs::metadata(&run_dir).map_err(|error| StartError::RunDir(run_dir.clone(), error))?;
    let settings = Settings::read(args);
    if args.daemonize() {
        nix::unistd::daemon(false, false).map_err(|error| StartError::Daemonize(error.into()))?;
    }
    let _lock = lock::take(&settings.lock_file(&run_dir))?;
    let log = Log::start(settings.options.log_file, settings.options.log_level);
    tracing::info!(target: "main", "Assistant to the InfiniBand Communication Manager, acm-mio {}", env!("CARGO_PKG_VERSION"));
    for option in settings.options.iter() {
        tracing::info!(target: "options", "{option}");
    }
    for problem in &settings.problems {
        tracing::warn!(target: "config", "{problem}");
    }
    let seed = getrandom::u64().map_err(StartError::Seed)?;
    let fabric = open_fabric(args.fabric.as_ref(), &run_dir, seed)?;
    let listener = match args.systemd.then(Listener::from_systemd).transpose()?.flatten() {
        Some(listener) => listener,
        None => Listener::bind(&settings.options, &run_dir)?,
    };
    let mut daemon = assemble(Acm::new(settings.core(), seed), fabric, listener, log).map_err(StartError::Loop)?;
    add_addresses(&mut daemon, settings.addresses);
    daemon.fabric_events(Time::ZERO)?;
    if args.systemd
        && let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Ready])
    {
        tracing::warn!(target: "systemd", "READY=1 not sent: {error}");
    }
    daemon.run()
}

fn open_fabric(
    choice: Option<&FabricChoice>,
    run_dir: &Path,
    seed: u64,
) -> Result<Option<Box<dyn Fabric>>, StartError> {
    Ok(match choice {
        None => {
            tracing::warn!(target: "fabric", "no fabric: real devices are not supported yet; see --fabric in --help");
            None
        }
        Some(FabricChoice::Embedded) => {
            let path = run_dir.join("fabric.sock");
            let fabric = Embedded::start(&path, seed).map_err(StartError::Fabric)?;
            tracing::info!(target: "fabric", "embedded fabric at {}, this is node1", path.display());
            Some(Box::new(fabric))
        }
        Some(FabricChoice::Sim { path, node }) => {
            let fabric = Sim::attach(path, node.as_deref()).map_err(StartError::Fabric)?;
            tracing::info!(target: "fabric", "fabric at {}, this is {}", path.display(), fabric.node_name());
            Some(Box::new(fabric))
        }
    })
}

fn assemble(acm: Acm, mut fabric: Option<Box<dyn Fabric>>, mut listener: Listener, log: Log) -> io::Result<Daemon> {
    let poll = Poll::new()?;
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    poll.registry().register(&mut signals, SIGNALS, mio::Interest::READABLE)?;
    listener.register(poll.registry(), LISTENER)?;
    if let Some(fabric) = &mut fabric {
        fabric.register(poll.registry(), FABRIC)?;
    }
    Ok(Daemon { acm, fabric, listener, poll, signals, clock: Clock::start(), log, state: State::default() })
}

/// Gives the core its addresses: those of the file, or without one the host's name on every port.
fn add_addresses(daemon: &mut Daemon, configured: Option<Vec<ConfiguredAddress>>) {
    let ports = daemon.fabric.as_ref().map(|fabric| fabric.ports()).unwrap_or_default();
    for entry in configured.unwrap_or_else(|| default_addresses(&ports)) {
        let named = |port: &&NamedPort| port.device == entry.device && port.number == entry.port;
        let Some(port) = ports.iter().find(named) else {
            tracing::warn!(
                target: "config",
                "{}: no port {} of a device {:?}; {} is not served",
                entry.place, entry.port, entry.device, entry.address
            );
            continue;
        };
        let input = Input::AddressAdded { port: port.id, pkey: entry.pkey, address: entry.address };
        daemon.input(Time::ZERO, input);
    }
}

/// What `ib_acme -A` writes when there is no address file: the host's name on the first port, and name-1, name-2 ...
/// on each. Kept in memory: a daemon does not write its own configuration.
fn default_addresses(ports: &[NamedPort]) -> Vec<ConfiguredAddress> {
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default();
    let host = host.split('.').next().unwrap_or_default().to_owned();
    let entry = |name: &str, port: &NamedPort| ConfiguredAddress {
        address: Address::Name(acm_wire::Name::new(name.as_bytes())),
        device: port.device.clone(),
        port: port.number,
        pkey: None,
        place: "default".into(),
    };
    let first = ports.first().map(|port| entry(&host, port));
    let each = (1..).zip(ports).map(|(number, port): (u32, _)| entry(&format!("{host}-{number}"), port));
    first.into_iter().chain(each).collect()
}
