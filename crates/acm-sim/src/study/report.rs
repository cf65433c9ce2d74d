//! The result of a study.
use super::series::{Picture, Series};
use core::{fmt::Write as _, time::Duration};

/// The result of a study: numbers by name, and counts over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    rows: Vec<(String, f64)>,
    series: Vec<(String, Series)>,
}

impl Report {
    /// Adds a number.
    pub fn add(&mut self, name: impl Into<String>, value: f64) {
        self.rows.push((name.into(), value));
    }

    pub(super) fn count(&mut self, name: impl Into<String>, value: u64) {
        self.add(name, value as f64);
    }

    pub(super) fn seconds(&mut self, name: &str, value: Duration) {
        self.add(format!("{name} (s)"), value.as_secs_f64());
    }

    pub(super) fn milliseconds(&mut self, name: &str, value: Duration) {
        self.add(format!("{name} (ms)"), value.as_secs_f64() * 1000.0);
    }

    pub(super) fn series(&mut self, name: impl Into<String>, series: Series) {
        self.series.push((name.into(), series));
    }

    /// Returns a number by its name; `None` for a kind of datagram that was not sent.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|(row, _)| row == name).map(|(_, value)| *value)
    }

    /// Returns the counts over time as SVG.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        Picture { title, series: &self.series }.to_string()
    }
}

/// Returns a table of several runs in Markdown: a column for each number of nodes. The last column is the exponent e
/// of the growth with N^e, fitted to the numbers that are not zero.
#[must_use]
pub fn table(runs: &[(u32, Report)]) -> String {
    let mut text = "| nodes |".to_owned();
    for (nodes, _) in runs {
        let _ = write!(text, " {nodes} |");
    }
    text += " growth |\n|---|";
    text += &"---|".repeat(runs.len() + 1);
    // The largest run has the most rows.
    let rows = runs.last().map(|(_, report)| report.rows.as_slice()).unwrap_or_default();
    for (name, _) in rows {
        let values: Vec<f64> = runs.iter().map(|(_, report)| report.value(name).unwrap_or(0.0)).collect();
        let _ = write!(text, "\n| {name} |");
        for value in &values {
            let _ = write!(text, " {} |", number(*value));
        }
        let points = runs.iter().zip(&values).filter(|(_, value)| **value > 0.0);
        let exponent = slope(points.map(|((nodes, _), value)| (f64::from(*nodes).ln(), value.ln())));
        let _ = write!(text, " {} |", exponent.map(|exponent| format!("{exponent:.1}")).unwrap_or_default());
    }
    text + "\n"
}

/// Returns a number with at least three digits, and none after the point if it is whole or large.
fn number(value: f64) -> String {
    let whole = value.fract() == 0.0 || value >= 100.0;
    if !whole {
        return if value < 1.0 { format!("{value:.3}") } else { format!("{value:.2}") };
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the slope of the line through points by least squares, if there are several.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<_> = points.collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let width: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    (width > 0.0).then(|| points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_a_column_for_each_run_and_the_exponent_of_growth() {
        let run = |nodes: u32| {
            let mut report = Report::default();
            report.count("datagrams", u64::from(nodes) * u64::from(nodes));
            report.milliseconds("p50", Duration::from_micros(1500));
            (nodes, report)
        };
        assert_eq!(
            table(&[run(300), run(3000)]),
            "| nodes | 300 | 3000 | growth |\n|---|---|---|---|\n| datagrams | 90,000 | 9,000,000 | 2.0 |\n\
             | p50 (ms) | 1.50 | 1.50 | 0.0 |\n"
        );
    }
}
