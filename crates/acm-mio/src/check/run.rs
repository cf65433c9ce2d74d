//! All checks, one after the other.
use super::{
    devices, host, interfaces,
    places::Places,
    report::{Report, Verdict},
};
use crate::{cli::Args, settings::Settings};

/// Checks everything and prints a line each; whether the daemon would run and serve real devices.
pub(crate) fn run(args: &Args) -> bool {
    let (places, settings) = (Places::default(), Settings::read(args));
    let mut report = Report::default();
    devices::modules(&places, &mut report);
    devices::devices(&places, &mut report);
    host::privileges(&places, &mut report);
    host::kernel(&mut report);
    interfaces::interfaces(args, &settings, &mut report);
    host::run_dir(&args.run_dir, &mut report);
    host::files(&settings, &mut report);
    host::other_daemon(&settings.lock_file(&args.run_dir), &mut report);
    for finding in &report.findings {
        println!("{finding}");
    }
    report.worst() < Verdict::Fail
}
