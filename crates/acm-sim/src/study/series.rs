//! Counts over time.
use core::{fmt, time::Duration};

/// The width of a bin.
pub(super) const BIN: Duration = Duration::from_millis(10);
const BINS_PER_SECOND: usize = 100;

/// Counts per 10 ms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series(Vec<u64>);

impl Series {
    fn bin(&mut self, at: Duration) -> &mut u64 {
        let index = usize::try_from(at.as_nanos() / BIN.as_nanos()).unwrap_or(usize::MAX);
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        &mut self.0[index]
    }

    pub(super) fn add(&mut self, at: Duration, count: u64) {
        *self.bin(at) += count;
    }

    pub(super) fn raise(&mut self, at: Duration, to: u64) {
        let bin = self.bin(at);
        *bin = to.max(*bin);
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the greatest count of a bin.
    pub(super) fn most(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }

    /// Returns the greatest count of a second.
    pub(super) fn most_in_a_second(&self) -> u64 {
        self.0.chunks(BINS_PER_SECOND).map(|second| second.iter().sum()).max().unwrap_or(0)
    }

    pub(super) fn in_first_second(&self) -> u64 {
        self.0.iter().take(BINS_PER_SECOND).sum()
    }

    /// Returns the end of the last bin with a count.
    pub(super) fn end(&self) -> Duration {
        let bins = self.0.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        BIN * u32::try_from(bins).unwrap_or(u32::MAX)
    }

    /// Returns the total length of the bins with more than `capacity`.
    pub(super) fn above(&self, capacity: u64) -> Duration {
        BIN * u32::try_from(self.0.iter().filter(|count| **count > capacity).count()).unwrap_or(u32::MAX)
    }
}

/// Height and width of the picture of one series, and its margin on the left.
const HEIGHT: f64 = 90.0;
const WIDTH: f64 = 800.0;
const LEFT: f64 = 60.0;
/// Bars of a picture at most: each shows the greatest of its bins.
const BARS: usize = 400;

/// An SVG of several series with one axis of time.
pub(super) struct Picture<'a> {
    pub(super) title: &'a str,
    pub(super) series: &'a [(String, Series)],
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bins = self.series.iter().map(|(_, series)| series.0.len()).max().unwrap_or(0).max(1);
        let per_bar = bins.div_ceil(BARS);
        let bars = bins.div_ceil(per_bar);
        let height = 60.0 + (HEIGHT + 30.0) * self.series.len() as f64;
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" \
             font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"10\" y=\"18\" \
             font-size=\"13\">{}</text>",
            LEFT + WIDTH + 20.0,
            self.title
        )?;
        let width = WIDTH / bars as f64;
        for (row, (name, series)) in self.series.iter().enumerate() {
            let base = 50.0 + (HEIGHT + 30.0) * row as f64 + HEIGHT;
            let most = series.most().max(1);
            writeln!(
                f,
                "<text x=\"{LEFT}\" y=\"{}\">{name} per 10 ms</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{most}</text>\
                 <line x1=\"{LEFT}\" y1=\"{base}\" x2=\"{}\" y2=\"{base}\" stroke=\"black\"/>\n<path fill=\"#4477aa\" d=\"",
                base - HEIGHT - 4.0,
                LEFT - 6.0,
                base - HEIGHT + 8.0,
                LEFT + WIDTH
            )?;
            for (bar, bins) in series.0.chunks(per_bar).enumerate() {
                let count = bins.iter().copied().max().unwrap_or(0);
                if count > 0 {
                    let height = (count as f64 / most as f64 * HEIGHT).max(1.0);
                    let left = LEFT + bar as f64 * width;
                    writeln!(f, "M{left:.1} {base}v-{height:.1}h{:.1}v{height:.1}z", width.max(0.8))?;
                }
            }
            writeln!(f, "\"/>")?;
        }
        let seconds = (BIN * u32::try_from(bins).unwrap_or(u32::MAX)).as_secs_f64();
        let below = height - 6.0;
        for part in 0..=4 {
            let x = LEFT + WIDTH * f64::from(part) / 4.0;
            let time = seconds * f64::from(part) / 4.0;
            writeln!(f, "<text x=\"{x}\" y=\"{below}\" text-anchor=\"middle\">{time:.2} s</text>")?;
        }
        writeln!(f, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed_by_bin_and_second() {
        let mut series = Series::default();
        let ms = Duration::from_millis;
        for (at, count) in [(ms(0), 2), (ms(9), 3), (ms(10), 1), (ms(1005), 4)] {
            series.add(at, count);
        }
        assert_eq!((series.total(), series.most(), series.in_first_second()), (10, 5, 6));
        assert_eq!((series.most_in_a_second(), series.end(), series.above(4)), (6, ms(1010), ms(10)));
        series.raise(ms(3), 4);
        series.raise(ms(3), 7);
        assert_eq!(series.most(), 7);
    }
}
