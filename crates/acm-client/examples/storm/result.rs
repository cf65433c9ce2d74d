//! The result of a load test.
use core::{fmt, time::Duration};
use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// The number of responses, and their latencies in microseconds.
pub(crate) struct Outcome {
    pub(crate) found: u64,
    pub(crate) refused: u64,
    pub(crate) took: Duration,
    pub(crate) latency: Histogram<u64>,
}

impl Outcome {
    pub(crate) const fn responses(&self) -> u64 {
        self.found + self.refused
    }

    /// Returns the number of responses per second.
    fn rate(&self) -> u128 {
        u128::from(self.responses()) * 1_000_000 / self.took.as_micros().max(1)
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "found": self.found,
            "refused": self.refused,
            "seconds": self.took.as_secs_f64(),
            "per_second": u64::try_from(self.rate()).ok(),
            "latency_us": {
                "p50": self.latency.value_at_quantile(0.5),
                "p90": self.latency.value_at_quantile(0.9),
                "p99": self.latency.value_at_quantile(0.99),
                "p999": self.latency.value_at_quantile(0.999),
                "max": self.latency.max(),
            },
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |quantile| self.latency.value_at_quantile(quantile);
        writeln!(
            f,
            "{} paths, {} refused, {:.3} s, {}/s",
            self.found,
            self.refused,
            self.took.as_secs_f64(),
            self.rate()
        )?;
        write!(f, "p50 {} us, p90 {} us, p99 {} us, p99.9 {} us, ", at(0.5), at(0.9), at(0.99), at(0.999))?;
        write!(f, "most {} us", self.latency.max())
    }
}
