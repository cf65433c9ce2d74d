//! Numbers for scrapers and for people.
use super::turn::Daemon;
use crate::metrics::{self, Page, Source};
use acm_sansio::Time;

impl Daemon {
    /// Answers scrapers, if there are any.
    pub(super) fn serve_metrics(&mut self, now: Time) {
        if !self.metrics.is_ready() && self.metrics.due().is_none_or(|at| at > now) {
            return;
        }
        let Self { acm, host, metrics, log, reload, .. } = self;
        let fabric = host.fabric.as_deref();
        metrics.serve(now, host.poll.registry(), |page| {
            let ports = fabric.map(|fabric| fabric.ports()).unwrap_or_default();
            let source = Source {
                now,
                acm,
                report: &|| host.with_names(|names| acm.report().with_names(names).to_string()),
                fabric: fabric.map(|fabric| fabric.counters()).unwrap_or_default(),
                ports: ports.into_iter().map(|port| (port.id, port.to_string())).collect(),
                log_lines_lost: log.lost(),
                log_not_reopened: log.not_reopened(),
                files_not_applied: reload.not_applied,
                facts_lost: acm.facts_lost(),
            };
            match page {
                Page::Metrics => metrics::text(&source),
                Page::Status => metrics::status_text(&source),
            }
        });
    }
}
