//! All checks, one after the other.
use super::{
    addresses, devices,
    fabric::{self, Looked},
    host, interfaces, log, options,
    places::Places,
    preload, providers,
    report::Report,
    units,
};
use crate::{
    cli::Args,
    kernel::KernelChoice,
    preload::Files,
    settings::{MissingFile, Settings},
};
use std::io::{self, Write};

/// Checks everything and prints a line each; the exit code is by the worst of them.
pub(crate) fn run(args: &Args) -> u8 {
    let (places, settings) = (Places::default(), Settings::read(args));
    let mut report = Report::default();
    for missing in MissingFile::all(args) {
        report.fail(missing.to_string(), "the daemon does not start without it");
    }
    options::files(&settings, &mut report);
    options::idle(args, &settings, &mut report);
    providers::look(&settings, &mut report);
    if !args.is_simulated() {
        devices::modules(&places, &mut report);
        devices::devices(&places, &mut report);
        host::privileges(&places, &mut report);
    }
    if args.kernel() != KernelChoice::Off {
        host::kernel(&mut report);
    }
    let interfaces = interfaces::interfaces(args, &settings, &mut report);
    let ips: Vec<_> = interfaces.iter().map(|interface| interface.address).collect();
    options::skipped(&settings, &ips, &mut report);
    if let Some(Looked { ports, names }) = fabric::look(args, &settings, &mut report) {
        addresses::addresses(&settings, names, &ports, &interfaces, &mut report);
        let start_dir = std::env::current_dir().unwrap_or_default();
        let active: Vec<_> = ports.active.values().map(|port| (port.gid().interface_id(), port.lid)).collect();
        preload::preload(&Files::new(&settings.options(), &start_dir), &active, &mut report);
    }
    host::run_dir(&args.run_dir, &mut report);
    host::other_daemon(&settings.lock_file(&args.run_dir), &mut report);
    log::log(args, &settings, &places, &mut report);
    units::units(&places, &mut report);
    let mut out = io::stdout().lock();
    for finding in &report.findings {
        // Whoever reads them may have enough.
        let _ = writeln!(out, "{finding}");
    }
    report.worst().exit_code()
}
