//! Reports: the core's report and the daemon's own numbers, for the log, `acmctl status` and metrics.
use super::{super::pace::Pace, event_loop::Daemon, host::Host, ports::not_served, reload::Reload};
use crate::{
    addresses::Interfaces,
    fabric::NamedPort,
    kernel::Kernel,
    log::Log,
    metrics::{self, Metrics, Number, Page, Snapshot},
    preload::Loader,
    record::Core,
    shared::SharedCache,
};
use acm_sansio::Time;

/// Returns all numbers of the daemon, in addition to those of the core. The log, `acmctl status` and metrics show this list.
fn numbers(
    acm: &Core,
    host: &Host,
    log: &Log,
    reload: &Reload,
    preload: Option<&Loader>,
    others: impl IntoIterator<Item = Number>,
) -> Vec<Number> {
    let problems = |name, count: usize| Number::gauge(name, count as u64);
    let mut numbers = vec![
        problems("config_problems", reload.current.faults().count()),
        problems("addresses_not_served", not_served(acm, host.fabric.as_deref(), reload).count()),
        problems("devices_not_responding", host.fabric.as_ref().map_or(0, |fabric| fabric.stalled_devices())),
        problems("preload_problems", preload.into_iter().flat_map(Loader::problems).count()),
    ];
    let counters = host.fabric.as_ref().map(|fabric| fabric.counters()).unwrap_or_default();
    numbers.extend(counters.into_iter().map(|(name, value)| Number::of_fabric(name, value)));
    numbers.extend(host.interfaces.iter().flat_map(Interfaces::numbers));
    if let Some(kernel) = &host.kernel {
        numbers.push(Number::counter("kernel_requests_lost", Kernel::lost(kernel)));
    }
    numbers.extend(host.shared.iter().flat_map(SharedCache::numbers));
    numbers.extend(others);
    numbers.extend(metrics::process_numbers());
    numbers.extend([
        Number::counter("connections_not_left", host.clients.not_left),
        Number::gauge("connections_ending", host.clients.ending() as u64),
        Number::gauge("connections_closing", host.closing.count() as u64),
        Number::counter("clients_stalled", host.clients.stalled),
        Number::counter("clients_sent_descriptors", host.clients.sent_descriptors),
        Number::counter("log_lines_lost", log.lost()),
        Number::counter("log_not_reopened", log.not_reopened()),
        Number::counter("files_not_applied", reload.not_applied),
        Number::counter("preload_not_read", reload.preload_not_read),
        Number::counter("record_facts_lost", acm.facts_lost()),
        Number::gauge("recording", acm.recorded().is_some().into()),
    ]);
    numbers
}

/// Returns the numbers of the parts that the pages themselves change.
fn others(metrics: &Metrics, pace: &Pace) -> [Number; 3] {
    let [ending, refused] = metrics.numbers();
    [ending, refused, Number::counter("connections_paced", pace.refused)]
}

impl Daemon {
    /// Writes the report and all numbers into the log, one line each; at `log_level 0` only if somebody asks for them.
    pub(super) fn log_report(&self, is_asked: bool) {
        let Self { acm, host, log, reload, preload, metrics, pace, .. } = self;
        let report = host.with_names(|names| acm.report().with_names(names).to_string());
        let numbers = numbers(acm, host, log, reload, preload.as_ref(), others(metrics, pace));
        for line in report.lines().map(str::to_owned).chain(numbers.iter().map(Number::to_string)) {
            if is_asked {
                tracing::info!(target: "stats", "{line}");
            } else {
                tracing::debug!(target: "stats", "{line}");
            }
        }
    }

    /// Accepts scrapers and administrators and responds to them, if there are any.
    pub(super) fn serve_metrics(&mut self, now: Time) {
        if !self.metrics.is_ready() && self.metrics.due().is_none_or(|at| at > now) {
            return;
        }
        let Self { acm, host, metrics, log, reload, preload, pace, turns, .. } = self;
        let fabric = host.fabric.as_deref();
        let others = others(metrics, pace);
        let asked = metrics.serve(now, host.poll.registry(), |page| {
            let ports = fabric.map(|fabric| fabric.known_ports()).unwrap_or_default();
            let lines = reload.addresses().unwrap_or_default();
            let is_named =
                |port: &NamedPort| lines.iter().any(|line| line.device == port.device && line.port == port.number);
            let snapshot = Snapshot {
                now,
                acm,
                report: &|| host.with_names(|names| acm.report().with_names(names).to_string()),
                configured: ports.iter().filter(|port| is_named(port)).map(|port| port.id).collect(),
                ports: ports.into_iter().map(|port| (port.id, port.to_string())).collect(),
                turns,
                numbers: numbers(acm, host, log, reload, preload.as_ref(), others),
            };
            match page {
                Page::Metrics => metrics::text(&snapshot),
                Page::Status => metrics::status_text(&snapshot),
                Page::Numbers => metrics::json(&snapshot),
            }
        });
        if let Some(asked) = asked {
            let response = self.command(now, &asked);
            self.metrics.respond(now, &asked, &response, self.host.poll.registry());
        }
    }
}
