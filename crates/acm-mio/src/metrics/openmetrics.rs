//! The page of scrapers: OpenMetrics text.
use super::{
    help::help,
    snapshot::{Number, NumberKind, Snapshot},
};
use acm_sansio::{
    Phase, PortId,
    api::{GaugeScope, Waiting},
    histogram::BOUNDS_US,
};
use core::{fmt, time::Duration};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

type Labels = Vec<(&'static str, String)>;

/// All metrics at one time: counters, gauges and histograms, each by name.
#[derive(Debug, Default)]
struct Families(BTreeMap<(Kind, String), Vec<(Labels, Value)>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

#[derive(Debug)]
enum Value {
    Number(u64),
    Times {
        sum: f64,
        count: u64,
        /// Upper bounds in seconds, with the count of each bucket.
        buckets: Vec<(f64, u64)>,
    },
}

/// Returns all metrics as OpenMetrics text.
pub(crate) fn text(snapshot: &Snapshot<'_>) -> String {
    let mut registry = Registry::with_prefix("acm");
    registry.register_collector(Box::new(families(snapshot)));
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

/// Returns all metrics as JSON, an object in each line. A histogram has the number of its values and their sum.
pub(crate) fn json(snapshot: &Snapshot<'_>) -> String {
    let line = |kind: &Kind, name: &String, (labels, value): &(Labels, Value)| {
        let labels: BTreeMap<_, _> = labels.iter().map(|(name, value)| (*name, value)).collect();
        match value {
            Value::Number(value) => json!({ "name": name, "kind": kind, "labels": labels, "value": value }),
            Value::Times { sum, count, .. } => {
                json!({ "name": name, "kind": kind, "labels": labels, "count": count, "sum": sum })
            }
        }
    };
    let Families(all) = families(snapshot);
    let lines = all.iter().flat_map(|((kind, name), values)| values.iter().map(move |value| line(kind, name, value)));
    lines.map(|line| format!("{line}\n")).collect()
}

fn families(snapshot: &Snapshot<'_>) -> Families {
    let acm = snapshot.acm;
    let mut families = Families::default();
    acm.each_counter(|name, value| families.number(Kind::Counter, name, Labels::new(), value));
    acm.each_stat(|name, kind, value| {
        let labels = kind.map(|kind| ("account", kind.name().to_owned()));
        families.number(Kind::Counter, name, labels.into_iter().collect(), value);
    });
    for Number { name, kind, value } in &snapshot.numbers {
        let (kind, prefix) = match kind {
            NumberKind::Counter => (Kind::Counter, ""),
            NumberKind::FabricCounter => (Kind::Counter, "fabric_"),
            NumberKind::Gauge => (Kind::Gauge, ""),
        };
        families.number(kind, &format!("{prefix}{name}"), Labels::new(), *value);
    }
    acm.each_gauge(&mut |name, of, value| {
        let value = u64::try_from(value).unwrap_or(u64::MAX);
        families.number(Kind::Gauge, name, labels(of, snapshot), value);
    });
    for port in snapshot.ports.keys() {
        let is_wanted = snapshot.configured.contains(port) || acm.was_active(*port);
        families.number(Kind::Gauge, "port_wanted", labels(GaugeScope::Port(*port), snapshot), is_wanted.into());
    }
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    families.number(Kind::Gauge, "build", version, 1);
    families.number(Kind::Gauge, "up_seconds", Labels::new(), snapshot.now.since_start().as_secs());
    for phase in Phase::ALL {
        let histogram = acm.latencies().of(phase);
        let ends = BOUNDS_US.iter().map(|micros| Duration::from_micros(*micros).as_secs_f64());
        let counts = histogram.buckets().map(|(_, count)| count);
        let times = Value::Times {
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
        families.add(Kind::Histogram, name, vec![(label.0, label.1.to_owned())], times);
    }
    let turns = snapshot.turns;
    let times = Value::Times {
        sum: turns.sum().as_secs_f64(),
        count: turns.total(),
        buckets: turns
            .buckets()
            .map(|(bound, count)| (if bound == Duration::MAX { f64::INFINITY } else { bound.as_secs_f64() }, count))
            .collect(),
    };
    families.add(Kind::Histogram, "turn_seconds", Labels::new(), times);
    families
}

fn labels(of: GaugeScope, snapshot: &Snapshot<'_>) -> Labels {
    let port = |port: PortId| {
        let name = snapshot.ports.get(&port).cloned();
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
            let name = usize::from(id.0).checked_sub(1).and_then(|index| snapshot.acm.config().providers.get(index));
            vec![("provider", name.cloned().unwrap_or_else(|| id.0.to_string()))]
        }
        GaugeScope::State(state) => vec![("state", state.to_owned())],
    }
}

impl Families {
    fn add(&mut self, kind: Kind, name: &str, labels: Labels, value: Value) {
        self.0.entry((kind, name.to_owned())).or_default().push((labels, value));
    }

    fn number(&mut self, kind: Kind, name: &str, labels: Labels, value: u64) {
        self.add(kind, name, labels, Value::Number(value));
    }
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for ((kind, name), values) in &self.0 {
            let metric_type = match kind {
                Kind::Counter => MetricType::Counter,
                Kind::Gauge => MetricType::Gauge,
                Kind::Histogram => MetricType::Histogram,
            };
            let mut family = encoder.encode_descriptor(name, help(name), None, metric_type)?;
            for (labels, value) in values {
                let mut metric = family.encode_family(labels)?;
                match value {
                    Value::Number(value) if *kind == Kind::Counter => ConstCounter::new(*value).encode(metric)?,
                    Value::Number(value) => ConstGauge::new(*value).encode(metric)?,
                    Value::Times { sum, count, buckets } => {
                        metric.encode_histogram::<NoLabelSet>(*sum, *count, buckets, None)?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_times::LoopTimes;
    use acm_sansio::{Acm, Config, Time, api::ProviderId};
    use ib_mad::Pkey;

    #[test]
    fn metrics_have_help_type_and_labels() {
        let mut acm = Acm::new(Config::default(), 1);
        acm.add_provider("dsap");
        let snapshot = Snapshot {
            now: Time::ZERO,
            acm: &acm,
            report: &String::new,
            ports: [(PortId(1), "mlx5_0/1".to_owned()), (PortId(2), "mlx5_0/2".to_owned())].into(),
            configured: [PortId(1)].into(),
            turns: &LoopTimes::default(),
            numbers: vec![
                Number::of_fabric("scans", 7),
                Number::counter("log_lines_lost", 3),
                Number::gauge("interfaces", 4),
            ],
        };
        let text = text(&snapshot);
        for line in [
            "# HELP acm_fabric_scans Reads of all devices",
            "# TYPE acm_fabric_scans counter",
            "acm_fabric_scans_total{} 7",
            "acm_log_lines_lost_total{} 3",
            "# TYPE acm_interfaces gauge",
            "acm_interfaces{} 4",
            "acm_port_wanted{port=\"mlx5_0/1\"} 1",
            "acm_port_wanted{port=\"mlx5_0/2\"} 0",
            "acm_requests_refused_total{account=\"user\"} 0",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
        assert!(text.contains(" histogram\n") && text.contains(" gauge\n") && text.ends_with("# EOF\n"), "{text}");
        let lines = json(&snapshot);
        for line in [
            r#"{"kind":"counter","labels":{},"name":"fabric_scans","value":7}"#,
            r#"{"kind":"gauge","labels":{},"name":"interfaces","value":4}"#,
            r#"{"kind":"counter","labels":{"account":"user"},"name":"requests_refused","value":0}"#,
            r#"{"count":0,"kind":"histogram","labels":{"account":"user"},"name":"request_seconds","sum":0.0}"#,
        ] {
            assert!(lines.lines().any(|other| other == line), "{line}: {lines}");
        }
        let labels = |of| labels(of, &snapshot);
        let (known, unknown) = (("port", "mlx5_0/1".to_owned()), ("port", "9".to_owned()));
        let who = ("who", "strangers".to_owned());
        assert_eq!(labels(GaugeScope::Daemon), []);
        let provider = |number| labels(GaugeScope::Provider(ProviderId(number)));
        assert_eq!([provider(1), provider(2)], [[("provider", "dsap".to_owned())], [("provider", "2".to_owned())]]);
        assert_eq!(labels(GaugeScope::Port(PortId(9))), [unknown]);
        assert_eq!(labels(GaugeScope::PortQueue(PortId(1), Waiting::Remote)), [known.clone(), who]);
        let pkey = ("pkey", Pkey::DEFAULT_FULL.to_string());
        assert_eq!(labels(GaugeScope::Endpoint(PortId(1), Pkey::DEFAULT_FULL)), [known, pkey]);
    }
}
