//! Runs all checks.
use super::{
    account, addresses, devices,
    fabric::{self, FabricView},
    host, log, options, outputs,
    paths::Paths,
    preload, queue,
    report::{Report, Verdict},
    units,
};
use crate::{
    cli::{Args, KernelChoice},
    output::{Failure, Outcome, Output, note},
    preload::Files,
    settings::{MissingFile, Settings},
};
use serde_json::json;

/// Runs all checks and prints a line for each finding, or only for those that are not well. The outcome depends on the
/// worst verdict.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn run(args: &Args, quiet: bool, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    let (paths, mut settings) = (Paths::default(), Settings::read(args));
    let mut report = Report::default();
    for missing in MissingFile::all(args) {
        report.fail(missing.to_string(), "the daemon does not start without it");
    }
    let start_dir = std::env::current_dir().unwrap_or_default();
    for unreadable in settings.unreadable(&start_dir) {
        report.fail(unreadable.to_string(), unreadable.advice());
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
    if let Some(FabricView { ports, services, names }) = fabric::open(args, &settings, &mut report) {
        queue::receive_queues(&ports, settings.receive_depth(), &mut report);
        let served = addresses::addresses(&settings, names, &ports, &interfaces, &mut report);
        if let Some(services) = services {
            services.report(&ports, &served, &settings.core(u64::from(u16::MAX)), &mut report);
        }
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
    outputs::outputs(args, &settings, &start_dir, &mut report);
    log::log(args, &settings, &paths, &mut report);
    units::units(&paths, &mut report);
    let findings = report.findings.iter().filter(|finding| !quiet || finding.verdict != Verdict::Ok);
    if output.json {
        output.object(&json!({ "verdict": report.worst(), "findings": findings.collect::<Vec<_>>() }))?;
    } else {
        findings.map(|finding| format!("{finding}\n")).try_for_each(|line| output.write(&line))?;
        note(&report.summary());
    }
    Ok(report.worst().outcome())
}
