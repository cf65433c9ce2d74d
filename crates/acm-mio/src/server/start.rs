//! Start of the daemon: from the command line to the running event loop.
use super::{
    daemon::{Daemon, LoopError, MissingPort, Parts, Reload, Systemd, connections_of},
    listener::{ListenError, Listener},
    run_dir::{self, RunDirError},
};
#[cfg(feature = "verbs")]
use crate::fabric::Devices;
use crate::{
    addresses::Interfaces,
    cli::{Args, FabricChoice, KernelChoice},
    clock::Clock,
    descriptors,
    detach::{self, DetachError},
    fabric::{Fabric, FabricError, Sim, embedded},
    kernel::Kernel,
    lock::{self, LockError},
    log::{Lines, Log, LogError, WithoutFile},
    metrics::Metrics,
    preload::Files,
    providers::LoadedLibraries,
    record::{Core, Mark, RecordError, Recording},
    settings::{MissingFile, Settings, UnreadableFile, applied, does_nothing},
    shared::SharedCache,
};
use acm_sansio::{Acm, Config, Seed, Time};
use acm_trace::Start;
use acm_wire::files::opts::{LogTarget, Opt, Options, ServerMode};
use listenfd::ListenFd;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook_mio::v1_0::Signals;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Reason why the daemon does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// There is no run directory.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// A file named on the command line is missing.
    #[error(transparent)]
    MissingFile(#[from] MissingFile),
    /// A file that exists cannot be read.
    #[error("{0}; {advice}", advice = .0.advice())]
    UnreadableFile(UnreadableFile),
    /// The daemon cannot leave the terminal, or the process that started it has ended.
    #[error(transparent)]
    Detach(#[from] DetachError),
    /// The log file of a daemon cannot be opened.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The lock file cannot be locked: another daemon is running.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The socket for clients cannot be created.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The fabric cannot be opened.
    #[error(transparent)]
    Fabric(FabricError),
    /// The system provides no random seed.
    #[error("no random seed: {0}")]
    Seed(getrandom::Error),
    /// The files of `--record` cannot be opened.
    #[error(transparent)]
    Record(RecordError),
    /// The event loop cannot begin, or failed.
    #[error(transparent)]
    Loop(#[from] LoopError),
}

impl StartError {
    /// Returns the exit code of ibacm for this failure.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            // ibacm logs "shutting down" and exits with 0. This daemon exits with an error, so that a supervisor
            // detects the failure.
            Self::Listen(_) | Self::Loop(_) | Self::Detach(DetachError::StarterGone) => 1,
            // Initialization failures: -1.
            _ => 255,
        }
    }
}

/// Runs the daemon until SIGTERM or SIGINT. An error is logged and returned.
pub(crate) fn run(args: &Args) -> Result<(), StartError> {
    let run_dir = run_dir::make(&args.run_dir)?;
    MissingFile::check(args)?;
    let settings = Settings::read(args);
    let start_dir = std::env::current_dir().unwrap_or_default();
    if let Some(unreadable) = settings.unreadable(&start_dir).next() {
        return Err(StartError::UnreadableFile(unreadable));
    }
    if args.detach {
        detach::leave_directory().map_err(DetachError::Io)?;
    }
    // Signals are handled before the lock file and the sockets exist, because their users may send a signal at once.
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGUSR1]).map_err(LoopError::Poll)?;
    let lock_file = settings.lock_file(&run_dir);
    let _lock = lock::take(&lock_file)?;
    let of_ibacm = settings.lock_of_ibacm(&run_dir, args.is_service());
    let _lock_of_ibacm = of_ibacm.as_deref().map(lock::take_if_permitted).transpose()?;
    let options = settings.options();
    let without_file = if args.detach { WithoutFile::Fails } else { WithoutFile::Stdout };
    let log = Log::start(options.log_file, options.log_level, without_file)?;
    tracing::info!(target: "main", "Assistant to the InfiniBand Communication Manager, acm-mio {}", env!("CARGO_PKG_VERSION"));
    let lock_file = lock_file.to_string_lossy();
    for option in options.iter() {
        // The log shows the actual path: the default is in the run directory.
        let option = applied(option, &lock_file);
        let why = does_nothing(&option, args.systemd).map(|why| format!(" (does nothing: {why})")).unwrap_or_default();
        if Options::default().iter().any(|default| default == option) {
            tracing::debug!(target: "options", "{option}{why}");
        } else {
            tracing::info!(target: "options", "{option}{why}");
        }
    }
    for problem in &settings.problems {
        tracing::warn!(target: "config", "{problem}");
    }
    if !log.is_where_standard_error_is() {
        // For a user at the terminal. A failure is ignored: a daemon may have no standard error.
        for problem in settings.faults() {
            let _ = writeln!(io::stderr(), "acm-mio: {problem}");
        }
    }
    settings.log_remarks(args.systemd);
    let ended = serve(args, settings, signals, log.clone(), &run_dir, start_dir);
    if let Err(error) = &ended
        && !log.is_where_standard_error_is()
    {
        tracing::error!(target: "main", "{error}");
    }
    ended
}

/// Opens all files, sockets and devices of the daemon, and runs the event loop.
fn serve(
    args: &Args,
    mut settings: Settings,
    signals: Signals,
    log: Log,
    run_dir: &Path,
    start_dir: PathBuf,
) -> Result<(), StartError> {
    let libraries = LoadedLibraries::open(&mut settings, &start_dir);
    let options = settings.options();
    let descriptors = descriptors::raise();
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(StartError::Seed)?;
    let fabric_seed = getrandom::u64().map_err(StartError::Seed)?;
    let lines = Lines::default();
    let fabric = open_fabric(args, &settings, run_dir, &start_dir, fabric_seed, &lines)?;
    let mut passed = if args.systemd { ListenFd::from_env() } else { ListenFd::empty() };
    let connections = connections_of(&mut passed);
    let listener = match Listener::from_systemd(&mut passed)? {
        Some(listener) => listener,
        // As C ibacm, which takes no other mode from the file then.
        None if args.systemd => Listener::bind(
            &Options { server_mode: ServerMode::Unix, acme_plus_kernel_only: false, ..options },
            run_dir,
        )?,
        None => Listener::bind(&options, run_dir)?,
    };
    let kernel = match args.kernel() {
        KernelChoice::Off => None,
        choice => Kernel::open(&mut passed, choice),
    };
    let interfaces = Interfaces::open(args.interfaces(), settings.interface_addresses());
    let mut core = settings.core(descriptors);
    let shared = listener.shares(options.shared_cache).then(|| SharedCache::open(&options)).flatten();
    core.shared_cache = shared.is_some();
    tracing::info!(target: "main", "at most {} clients, {descriptors} file descriptors", core.limits.connections.total);
    let acm = record(args, core, Seed::new(seed), &start_dir)?;
    let files = Files::new(&options, &start_dir);
    let reload = Reload::new(settings.clone(), start_dir, descriptors);
    let systemd = Systemd::new(args.systemd);
    let parts = Parts { acm, fabric, listener, kernel, interfaces, shared, signals, log, lines, systemd, reload };
    let mut daemon = Daemon::new(parts).map_err(LoopError::Poll)?;
    let registry = daemon.host.poll.registry();
    daemon.metrics = Metrics::open(run_dir, registry);
    daemon.metrics.close_in(daemon.host.closing.clone());
    daemon.metrics.set_owners(daemon.reload.owners().clone());
    daemon.metrics.configure(options.metrics_listen, registry);
    start_providers(libraries, &mut daemon).map_err(LoopError::Poll)?;
    daemon.host.providers.log_to(&daemon.log, options.log_level);
    if let Some(fabric) = &mut daemon.host.fabric {
        // The addresses of these ports are added below; later calls return new ports only.
        fabric.has_new_ports();
    }
    daemon.report_host_name();
    daemon.add_addresses(Time::ZERO, MissingPort::Warn);
    daemon.read_interfaces(Time::ZERO);
    daemon.start_preload(files).map_err(LoopError::Poll)?;
    daemon.fabric_events(Time::ZERO)?;
    daemon.update_preload_ports();
    if args.detach {
        leave_terminal(&daemon.log, &options)?;
        daemon.host.providers.log_to(&daemon.log, options.log_level);
    }
    daemon.take_over(Time::ZERO, connections);
    daemon.begin_first_load(Time::ZERO);
    let ended = daemon.run();
    daemon.host.providers.stop();
    Ok(ended?)
}

/// Starts the providers in shared libraries, if there are any.
fn start_providers(libraries: LoadedLibraries, daemon: &mut Daemon) -> io::Result<()> {
    if !libraries.is_empty() {
        daemon.host.providers = libraries.start(daemon.waker()?, daemon.host.lines.clone())?;
    }
    Ok(())
}

/// Returns the core, recorded from its first input if `--record` is given.
fn record(args: &Args, config: Config, seed: Seed, start_dir: &Path) -> Result<Core, StartError> {
    let recording = args.record.as_ref().map(|choice| {
        let mut mask = [0; 16];
        getrandom::fill(&mut mask).map_err(StartError::Seed)?;
        let start = Start::new(&config, seed).with_epoch(Clock::start().epoch());
        Recording::start(choice, start_dir, start, Mark::default(), mask).map_err(StartError::Record)
    });
    let recording = recording.transpose()?;
    Ok(Core::new(Acm::new(config, seed), recording))
}

/// Leaves the terminal and notifies the process that started the daemon.
fn leave_terminal(log: &Log, options: &Options<'_>) -> Result<(), DetachError> {
    let to_file = matches!(options.log_file, LogTarget::File(_));
    if !to_file {
        tracing::warn!(target: "log", "{} (the log ends here: a daemon has no standard streams; name a file, or use -P)", Opt::LogFile(options.log_file));
    }
    let starter = detach::leave_terminal()?;
    if !to_file {
        log.reopen(options.log_file, options.log_level);
    }
    starter.notify()
}

fn open_fabric(
    args: &Args,
    settings: &Settings,
    run_dir: &Path,
    start_dir: &Path,
    seed: u64,
    lines: &Lines,
) -> Result<Option<Box<dyn Fabric>>, StartError> {
    Ok(match &args.fabric {
        None | Some(FabricChoice::Devices) => open_devices(args, settings, lines).map_err(StartError::Fabric)?,
        Some(FabricChoice::Embedded) => {
            let path = run_dir.join("fabric.sock");
            let fabric = embedded(&path, seed, settings.receive_depth(), lines.clone()).map_err(StartError::Fabric)?;
            tracing::info!(target: "fabric", "embedded fabric at {}, this is node1", path.display());
            Some(Box::new(fabric))
        }
        Some(FabricChoice::Sim { path, node }) => {
            let fabric = Sim::attach(&start_dir.join(path), node.as_deref(), settings.receive_depth(), lines.clone())
                .map_err(StartError::Fabric)?;
            tracing::info!(target: "fabric", "fabric at {}, this is {}", path.display(), fabric.node_name().unwrap_or_default());
            if fabric.is_shared() {
                tracing::warn!(
                    target: "fabric",
                    "another program is at {} already; if it is a daemon, both answer for the same addresses: give \
                     another ?node=NAME",
                    fabric.node_name().unwrap_or_default()
                );
            }
            Some(Box::new(fabric))
        }
    })
}

/// Opens the devices of this machine. Without a device, the daemon waits for a device, unless `--require-device` is
/// given.
#[cfg(feature = "verbs")]
fn open_devices(args: &Args, settings: &Settings, lines: &Lines) -> Result<Option<Box<dyn Fabric>>, FabricError> {
    let devices = Devices::open(settings.depths(), lines.clone())?;
    if devices.is_empty() {
        if args.require_device {
            return Err(FabricError::NoDevice);
        }
        tracing::warn!(target: "devices", "no InfiniBand device yet; waiting for one");
    }
    Ok(Some(Box::new(devices)))
}

#[cfg(not(feature = "verbs"))]
fn open_devices(args: &Args, _settings: &Settings, _lines: &Lines) -> Result<Option<Box<dyn Fabric>>, FabricError> {
    if args.fabric.is_some() {
        return Err(FabricError::NoVerbs);
    }
    if args.require_device {
        return Err(FabricError::NoDevice);
    }
    tracing::warn!(target: "fabric", "{}", FabricError::NoVerbs);
    Ok(None)
}
