//! Numbers as OpenMetrics text.
use acm_sansio::{
    Acm, Phase, PortId, Time,
    api::{GaugeScope, Waiting},
    histogram::BOUNDS_US,
};
use core::fmt;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};
use std::collections::BTreeMap;

/// Where numbers are taken from.
pub(crate) struct Source<'a> {
    pub(crate) now: Time,
    pub(crate) acm: &'a Acm,
    /// The core's report, with names.
    pub(crate) report: &'a dyn Fn() -> String,
    /// The fabric's own counters.
    pub(crate) fabric: Vec<(&'static str, u64)>,
    /// Names of ports, as address files have them.
    pub(crate) ports: BTreeMap<PortId, String>,
    /// Lines that the log could not take.
    pub(crate) log_lines_lost: u64,
    /// How often its file could not be opened again.
    pub(crate) log_not_reopened: u64,
    /// How often SIGHUP did not apply a file.
    pub(crate) files_not_applied: u64,
    /// Facts that are in no file of a recording.
    pub(crate) facts_lost: u64,
}

type Labels = Vec<(&'static str, String)>;

/// All numbers of one instant.
#[derive(Debug, Default)]
struct Numbers {
    counters: BTreeMap<String, Vec<(Labels, u64)>>,
    gauges: BTreeMap<String, Vec<(Labels, u64)>>,
    histograms: BTreeMap<&'static str, Vec<(Labels, Times)>>,
}

#[derive(Debug)]
struct Times {
    sum: f64,
    count: u64,
    /// Upper ends in seconds.
    buckets: Vec<(f64, u64)>,
}

/// All numbers, as OpenMetrics text.
pub(crate) fn text(source: &Source<'_>) -> String {
    let mut registry = Registry::with_prefix("acm");
    registry.register_collector(Box::new(numbers(source)));
    let mut text = String::new();
    // A string takes whatever is written.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

fn numbers(source: &Source<'_>) -> Numbers {
    let mut numbers = Numbers::default();
    source.acm.each_counter(|name, value| numbers.counter(name.to_owned(), Labels::new(), value));
    source.acm.each_stat(|name, kind, value| {
        let labels = kind.map(|kind| ("account", kind.name().to_owned()));
        numbers.counter(name.to_owned(), labels.into_iter().collect(), value);
    });
    for (name, value) in &source.fabric {
        numbers.counter(format!("fabric_{name}"), Labels::new(), *value);
    }
    numbers.counter("log_lines_lost".to_owned(), Labels::new(), source.log_lines_lost);
    numbers.counter("log_not_reopened".to_owned(), Labels::new(), source.log_not_reopened);
    numbers.counter("files_not_applied".to_owned(), Labels::new(), source.files_not_applied);
    numbers.counter("record_facts_lost".to_owned(), Labels::new(), source.facts_lost);
    source.acm.each_gauge(&mut |name, of, value| {
        let value = u64::try_from(value).unwrap_or(u64::MAX);
        numbers.gauges.entry(name.to_owned()).or_default().push((labels(of, source), value));
    });
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    numbers.gauges.insert("build".to_owned(), vec![(version, 1)]);
    numbers.gauges.insert("up_seconds".to_owned(), vec![(Labels::new(), source.now.since_start().as_secs())]);
    for phase in Phase::ALL {
        let histogram = source.acm.latencies().of(phase);
        let ends = BOUNDS_US.iter().map(|micros| core::time::Duration::from_micros(*micros).as_secs_f64());
        let counts = histogram.buckets().map(|(_, count)| count);
        let times = Times {
            sum: histogram.sum().as_secs_f64(),
            count: histogram.total(),
            buckets: ends.chain([f64::INFINITY]).zip(counts).collect(),
        };
        let (name, label) = match phase {
            Phase::UserRequest => ("request_seconds", ("account", "user")),
            Phase::PeerRequest => ("request_seconds", ("account", "peer")),
            Phase::KernelRequest => ("request_seconds", ("account", "kernel")),
            Phase::SaTurn => ("phase_seconds", ("phase", "sa_turn")),
            Phase::SaRoundTrip => ("phase_seconds", ("phase", "sa_round_trip")),
            Phase::MulticastRoundTrip => ("phase_seconds", ("phase", "multicast_round_trip")),
        };
        numbers.histograms.entry(name).or_default().push((vec![(label.0, label.1.to_owned())], times));
    }
    numbers
}

fn labels(of: GaugeScope, source: &Source<'_>) -> Labels {
    let port = |port: PortId| {
        let name = source.ports.get(&port).cloned();
        ("port", name.unwrap_or_else(|| port.0.to_string()))
    };
    let who = |waiting| match waiting {
        Waiting::Local => ("who", "local".to_owned()),
        Waiting::Remote => ("who", "strangers".to_owned()),
    };
    match of {
        GaugeScope::Daemon => Labels::new(),
        GaugeScope::Account(kind) => vec![("account", kind.name().to_owned())],
        GaugeScope::Port(id) => vec![port(id)],
        GaugeScope::PortQueue(id, waiting) => vec![port(id), who(waiting)],
        GaugeScope::Endpoint(id, pkey) => vec![port(id), ("pkey", pkey.to_string())],
        GaugeScope::EndpointQueue(id, pkey, waiting) => vec![port(id), ("pkey", pkey.to_string()), who(waiting)],
        GaugeScope::Provider(id) => {
            let name = usize::from(id.0).checked_sub(1).and_then(|place| source.acm.config().providers.get(place));
            vec![("provider", name.cloned().unwrap_or_else(|| id.0.to_string()))]
        }
        GaugeScope::State(state) => vec![("state", state.to_owned())],
    }
}

impl Numbers {
    fn counter(&mut self, name: String, labels: Labels, value: u64) {
        self.counters.entry(name).or_default().push((labels, value));
    }
}

impl Collector for Numbers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, values) in &self.counters {
            let mut family = encoder.encode_descriptor(name, &help(name), None, MetricType::Counter)?;
            for (labels, value) in values {
                let metric = family.encode_family(labels)?;
                prometheus_client::encoding::EncodeMetric::encode(&ConstCounter::new(*value), metric)?;
            }
        }
        for (name, values) in &self.gauges {
            let mut family = encoder.encode_descriptor(name, &help(name), None, MetricType::Gauge)?;
            for (labels, value) in values {
                let metric = family.encode_family(labels)?;
                prometheus_client::encoding::EncodeMetric::encode(&ConstGauge::new(*value), metric)?;
            }
        }
        for (name, values) in &self.histograms {
            let mut family = encoder.encode_descriptor(name, &help(name), None, MetricType::Histogram)?;
            for (labels, times) in values {
                let mut metric = family.encode_family(labels)?;
                metric.encode_histogram::<NoLabelSet>(times.sum, times.count, &times.buckets, None)?;
            }
        }
        Ok(())
    }
}

fn help(name: &str) -> String {
    format!("{}, see docs/operations.md", name.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_sansio::{Acm, Config, Time};
    use ib_mad::Pkey;

    #[test]
    fn numbers_have_their_help_their_type_and_their_labels() {
        let mut acm = Acm::new(Config::default(), 1);
        acm.add_provider("dsap");
        let source = Source {
            now: Time::ZERO,
            acm: &acm,
            report: &String::new,
            fabric: vec![("scans", 7)],
            ports: [(PortId(1), "mlx5_0/1".to_owned())].into(),
            log_lines_lost: 3,
            log_not_reopened: 4,
            files_not_applied: 5,
            facts_lost: 6,
        };
        let text = text(&source);
        for line in [
            "# HELP acm_fabric_scans fabric scans, see docs/operations.md",
            "# TYPE acm_fabric_scans counter",
            "acm_fabric_scans_total{} 7",
            "acm_log_lines_lost_total{} 3",
            "acm_log_not_reopened_total{} 4",
            "acm_files_not_applied_total{} 5",
            "acm_record_facts_lost_total{} 6",
            "acm_requests_refused_total{account=\"user\"} 0",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
        assert!(text.contains(" histogram\n") && text.contains(" gauge\n") && text.ends_with("# EOF\n"), "{text}");
        let labels = |of| labels(of, &source);
        let (known, unknown) = (("port", "mlx5_0/1".to_owned()), ("port", "9".to_owned()));
        let who = ("who", "strangers".to_owned());
        assert_eq!(labels(GaugeScope::Daemon), []);
        let provider = |number| labels(GaugeScope::Provider(acm_sansio::api::ProviderId(number)));
        assert_eq!([provider(1), provider(2)], [[("provider", "dsap".to_owned())], [("provider", "2".to_owned())]]);
        assert_eq!(labels(GaugeScope::Port(PortId(9))), [unknown]);
        assert_eq!(labels(GaugeScope::PortQueue(PortId(1), Waiting::Remote)), [known.clone(), who]);
        let pkey = ("pkey", Pkey::DEFAULT_FULL.to_string());
        assert_eq!(labels(GaugeScope::Endpoint(PortId(1), Pkey::DEFAULT_FULL)), [known, pkey]);
    }
}
