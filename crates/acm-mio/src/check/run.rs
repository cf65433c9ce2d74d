//! Runs all checks.
use super::{
    account, addresses, devices,
    fabric::{self, FabricView},
    host, log, options,
    paths::Paths,
    preload,
    report::Report,
    units,
};
use crate::{
    cli::{Args, KernelChoice},
    preload::Files,
    settings::{MissingFile, Settings, UnreadableFile},
};
use std::io::{self, Write};

/// Runs all checks and prints a line for each finding. Returns the exit code, which depends on the worst verdict.
pub(crate) fn run(args: &Args) -> u8 {
    let (paths, mut settings) = (Paths::default(), Settings::read(args));
    let mut report = Report::default();
    for missing in MissingFile::all(args) {
        report.fail(missing.to_string(), "the daemon does not start without it");
    }
    let start_dir = std::env::current_dir().unwrap_or_default();
    for unreadable in settings.unreadable(&start_dir) {
        report.fail(unreadable.to_string(), UnreadableFile::ADVICE);
    }
    options::files(&settings, &mut report);
    options::remarks(args, &settings, &mut report);
    options::idle(args, &settings, &mut report);
    options::libraries(&mut settings, &mut report);
    options::reload(&settings, &mut report);
    if !args.is_simulated() {
        devices::modules(&paths, &mut report);
        devices::devices(&paths, &mut report);
        host::privileges(&paths, &mut report);
        account::account(&paths, &mut report);
    }
    if args.kernel() != KernelChoice::Off {
        host::kernel(args, &mut report);
    }
    let interfaces = addresses::interfaces(args, &settings, &mut report);
    let ips: Vec<_> = interfaces.iter().map(|interface| interface.address).collect();
    options::skipped(&settings, &ips, &mut report);
    if let Some(FabricView { ports, names }) = fabric::open(args, &settings, &mut report) {
        addresses::addresses(&settings, names, &ports, &interfaces, &mut report);
        let active: Vec<_> = ports.active.values().map(|port| (port.gid().interface_id(), port.lid)).collect();
        preload::preload(&Files::new(&settings.options(), &start_dir), &active, &mut report);
    }
    host::run_dir(&args.run_dir, &mut report);
    host::socket(args, &settings, &mut report);
    host::other_daemon(&settings.lock_file(&args.run_dir), &args.run_dir, &mut report);
    if let Some(of_ibacm) = settings.lock_of_ibacm(&args.run_dir, args.is_service()) {
        host::holder(&of_ibacm, &mut report);
    }
    host::port_files(args, &settings, &mut report);
    host::tcp_port(args, &settings, &mut report);
    log::log(args, &settings, &paths, &mut report);
    units::units(&paths, &mut report);
    let mut out = io::stdout().lock();
    for finding in &report.findings {
        // The reader of a pipe may have closed it.
        let _ = match serde_json::to_string(finding) {
            Ok(json) if args.json => writeln!(out, "{json}"),
            _ => writeln!(out, "{finding}"),
        };
    }
    report.worst().exit_code()
}
