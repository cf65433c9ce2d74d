//! Draws the spans of a trace over time, as SVG.
use crate::{
    Entry, Kind, Phase, Span, Spans,
    fact::{Dated, Fact},
    line,
};
use acm_sansio::Time;
use core::{
    fmt::{self, Write as _},
    time::Duration,
};
use std::collections::BTreeMap;

/// Maximum number of bars. A picture of more bars is not readable.
const MOST: usize = 5000;
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 140.0;
const ROW: f64 = 9.0;
const TOP: f64 = 24.0;
/// Minimum width of a bar: narrower bars are invisible.
const THIN: f64 = 1.5;

/// A timeline of requests: a bar for each [`Span`], and a vertical line for each change of a port or a device.
///
/// [`Display`](fmt::Display) writes SVG for a browser. The tooltip of a bar or line shows its text.
#[derive(Debug, Default)]
pub struct Timeline {
    spans: Spans,
    bars: Vec<Span>,
    not_drawn: usize,
    marks: Vec<(Time, String)>,
    end: Time,
}

impl Timeline {
    /// Adds an entry.
    pub fn add(&mut self, entry: &Entry) {
        if let Some(span) = self.spans.add(entry) {
            if self.bars.len() < MOST {
                self.bars.push(span);
            } else {
                self.not_drawn += 1;
            }
        }
        if let Entry::Fact(dated) = entry {
            self.end = self.end.max(dated.time);
            if is_mark(dated) && self.marks.len() < MOST {
                self.marks.push((dated.time, line::of_fact(&dated.fact)));
            }
        }
    }

    /// Returns the first and the last time that are drawn.
    fn range(&self) -> (Time, Time) {
        let bars = self.bars.iter().map(|bar| bar.since);
        let first = bars.chain(self.marks.iter().map(|(at, _)| *at)).min().unwrap_or(Time::ZERO);
        let last = self.bars.iter().map(|bar| bar.until).chain(self.marks.iter().map(|(at, _)| *at)).max();
        (first, last.unwrap_or(self.end))
    }

    /// Distributes the bars of each phase over rows. Each bar is in the first row that is free.
    fn rows(&self, thin: Duration) -> BTreeMap<Phase, Vec<(usize, &Span)>> {
        let mut sorted: Vec<&Span> = self.bars.iter().collect();
        sorted.sort_by_key(|bar| (bar.phase, bar.since, bar.until));
        let mut free: BTreeMap<Phase, Vec<Time>> = BTreeMap::new();
        let mut rows: BTreeMap<Phase, Vec<(usize, &Span)>> = BTreeMap::new();
        for bar in sorted {
            let free = free.entry(bar.phase).or_default();
            let end = bar.until.max(bar.since + thin);
            let row = free.iter().position(|until| *until <= bar.since).unwrap_or(free.len());
            match free.get_mut(row) {
                Some(until) => *until = end,
                None => free.push(end),
            }
            rows.entry(bar.phase).or_default().push((row, bar));
        }
        rows
    }
}

fn is_mark(dated: &Dated) -> bool {
    let Fact::Input(input) = &dated.fact else { return false };
    matches!(
        input.kind(),
        Kind::PortUp | Kind::PortDown | Kind::ClientReregister | Kind::EndpointLost | Kind::Preloaded | Kind::Shutdown
    )
}

const fn color(phase: Phase) -> &'static str {
    match phase {
        Phase::Client => "#1f6feb",
        Phase::Kernel => "#8250df",
        Phase::Group => "#bf8700",
        Phase::Peer => "#57606a",
        Phase::Sa => "#1a7f37",
    }
}

const FAILED: &str = "#cf222e";

/// Escapes text between tags.
struct Escaped<'a>(&'a str);
impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '<' => f.write_str("&lt;"),
            '&' => f.write_str("&amp;"),
            other => f.write_char(other),
        })
    }
}

/// Returns a round number of seconds: about a tenth of `seconds`.
fn step(seconds: f64) -> f64 {
    let power = 10_f64.powf((seconds / 10.0).max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| seconds / step <= 10.0).unwrap_or(power)
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.range();
        let whole = last.since(first).as_secs_f64().max(1e-6);
        let x = |at: Time| LEFT + at.since(first).as_secs_f64() / whole * (WIDTH - LEFT - 10.0);
        let rows = self.rows(Duration::from_secs_f64(whole * THIN / (WIDTH - LEFT - 10.0)));
        let count = |bars: &Vec<(usize, &Span)>| bars.iter().map(|(row, _)| row + 1).max().unwrap_or_default();
        let height = TOP + rows.values().map(|bars| count(bars) as f64 * ROW + 16.0).sum::<f64>() + 8.0;
        writeln!(
            f,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">
<rect width="{WIDTH}" height="{height}" fill="#fff"/>"##
        )?;
        let step = step(whole);
        let digits = (0..9_u8).find(|digits| step * 10_f64.powi((*digits).into()) >= 0.999).unwrap_or(9);
        let mut at = 0.0;
        while at <= whole {
            let x = LEFT + at / whole * (WIDTH - LEFT - 10.0);
            let label = first.since_start().as_secs_f64() + at;
            let digits = usize::from(digits);
            writeln!(
                f,
                r##"<path d="M{x:.1} {TOP}V{height}" stroke="#e5e5e5"/><text x="{x:.1}" y="14">{label:.digits$} s</text>"##
            )?;
            at += step;
        }
        for (at, what) in &self.marks {
            let x = x(*at);
            let what = Escaped(what);
            writeln!(
                f,
                r##"<path d="M{x:.1} {TOP}V{height}" stroke="#999" stroke-dasharray="3"><title>{at} {what}</title></path>"##
            )?;
        }
        let mut y = TOP + 4.0;
        for (phase, bars) in &rows {
            writeln!(f, r##"<text x="4" y="{:.1}">{phase}: {}</text>"##, y + ROW, bars.len())?;
            for (row, bar) in bars {
                let (x, width) = (x(bar.since), (x(bar.until) - x(bar.since)).max(THIN));
                let fill = if bar.success { color(*phase) } else { FAILED };
                let (top, what) = (y + *row as f64 * ROW, Escaped(&bar.what));
                let failed = if bar.success { "" } else { ", failed" };
                writeln!(
                    f,
                    r##"<rect x="{x:.1}" y="{top:.1}" width="{width:.1}" height="{:.1}" fill="{fill}"><title>{} {what}: {:?}{failed}</title></rect>"##,
                    ROW - 2.0,
                    bar.since,
                    bar.took()
                )?;
            }
            y += count(bars) as f64 * ROW + 16.0;
        }
        if self.not_drawn > 0 {
            writeln!(f, r##"<text x="4" y="14">{} more are not drawn</text>"##, self.not_drawn)?;
        }
        writeln!(f, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(phase: Phase, since: u64, until: u64) -> Span {
        let at = Time::from_nanos;
        Span { phase, since: at(since), until: at(until), what: "a<b & c".to_owned(), success: until.is_multiple_of(2) }
    }

    #[test]
    fn overlapping_bars_are_drawn_in_separate_rows() {
        let bars = vec![
            bar(Phase::Client, 0, 10),
            bar(Phase::Client, 5, 21),
            bar(Phase::Client, 10, 20),
            bar(Phase::Sa, 0, 4),
        ];
        let timeline = Timeline { bars, ..Timeline::default() };
        let rows = timeline.rows(Duration::ZERO);
        let of = |phase| rows[&phase].iter().map(|(row, bar)| (*row, bar.since.as_nanos())).collect::<Vec<_>>();
        assert_eq!((of(Phase::Client), of(Phase::Sa)), (vec![(0, 0), (1, 5), (0, 10)], vec![(0, 0)]));
        let text = timeline.to_string();
        assert_eq!(text.matches("<rect x=").count(), 4, "{text}");
        assert_eq!(text.matches(FAILED).count(), 1);
        assert!(text.contains("a&lt;b &amp; c: 10ns</title>") && !text.contains("a<b"), "{text}");
    }

    #[test]
    fn empty_timeline_is_a_valid_svg() {
        let text = Timeline::default().to_string();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
    }

    #[test]
    fn axis_steps_are_round_numbers() {
        for (seconds, expected) in [(1.0, 0.1), (1.5, 0.2), (60.0, 10.0), (0.03, 0.005)] {
            assert!((step(seconds) - expected).abs() < 1e-9, "{seconds}: {}", step(seconds));
        }
    }
}
