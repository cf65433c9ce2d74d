//! The page of `acmctl status --all`, for administrators.
use super::snapshot::Snapshot;
use acm_sansio::Phase;
use core::fmt::Write;

/// Explains why the counters of endpoints and those of the daemon differ.
const COUNTERS_NOTE: &str = "note: counters of endpoints and of the daemon need not add up, as in ibacm: a failed query of \
                             subnet administration (ib_acme -v) counts as an error of its endpoint only, a request that \
                             fits no endpoint counts for the daemon only, and an endpoint's counters end with it";

/// Returns the page: times, the core's report, and all numbers, a line for each.
pub(crate) fn text(snapshot: &Snapshot<'_>) -> String {
    let mut text = String::new();
    let up = snapshot.now.since_start().as_secs();
    let (days, hours, minutes) = (up / 86_400, up / 3600 % 24, up / 60 % 60);
    // Writing into a string does not fail.
    let _ = writeln!(text, "acm-mio {}, up {days} d {hours} h {minutes} min", env!("CARGO_PKG_VERSION"));
    for phase in Phase::ALL {
        let histogram = snapshot.acm.latencies().of(phase);
        let within = |hundredths| match histogram.percentile_us(hundredths) {
            Some(micros) if micros < 1000 => format!("{micros} us"),
            Some(micros) => format!("{} ms", micros / 1000),
            None => "more than a minute".to_owned(),
        };
        let title = title(phase);
        match histogram.total() {
            0 => writeln!(text, "{title}: 0"),
            total => writeln!(text, "{title}: {total}, half within {}, 99 of 100 within {}", within(50), within(99)),
        }
        .unwrap_or_default();
    }
    let (turns, longest) = (snapshot.turns.total(), snapshot.turns.longest());
    let _ = writeln!(text, "iterations of the event loop: {turns}, the longest {} us", longest.as_micros());
    text += &(snapshot.report)();
    for number in &snapshot.numbers {
        let _ = writeln!(text, "{number}");
    }
    let _ = writeln!(text, "{COUNTERS_NOTE}");
    text
}

const fn title(phase: Phase) -> &'static str {
    match phase {
        Phase::UserRequest => "users' requests that waited",
        Phase::PeerRequest => "TCP peers' requests that waited",
        Phase::KernelRequest => "the kernel's requests that waited",
        Phase::SaTurn => "waits for a turn at subnet administration",
        Phase::SaRoundTrip => "answers of subnet administration",
        Phase::MulticastRoundTrip => "responses from the group",
    }
}

#[cfg(test)]
mod tests {
    use super::{super::snapshot::Number, *};
    use crate::loop_times::LoopTimes;
    use acm_sansio::{Acm, Config, Time};
    use core::time::Duration;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn each_phase_has_a_title_of_its_own() {
        let titles: BTreeSet<&str> = Phase::ALL.into_iter().map(title).collect();
        assert_eq!(titles.len(), Phase::ALL.len());
        assert!(titles.iter().all(|title| title.contains(' ')), "{titles:?}");
    }

    #[test]
    fn page_has_the_time_since_the_start_the_report_and_all_numbers() {
        let acm = Acm::new(Config::default(), 1);
        let page = |seconds| {
            text(&Snapshot {
                now: Time::ZERO + Duration::from_secs(seconds),
                acm: &acm,
                report: &|| "report\n".to_owned(),
                ports: BTreeMap::new(),
                configured: BTreeSet::new(),
                turns: &LoopTimes::default(),
                numbers: vec![
                    Number::of_fabric("scans", 7),
                    Number::gauge("interfaces", 2),
                    Number::counter("log_lines_lost", 3),
                ],
            })
        };
        let up = |seconds| page(seconds).lines().next().unwrap().rsplit("up ").next().unwrap().to_owned();
        assert_eq!([up(59), up(3599)], ["0 d 0 h 0 min", "0 d 0 h 59 min"]);
        assert_eq!(up(86_400 + 23 * 3600 + 5 * 60 + 7), "1 d 23 h 5 min");
        let end = format!("report\nscans: 7\ninterfaces: 2\nlog_lines_lost: 3\n{COUNTERS_NOTE}\n");
        assert!(page(0).ends_with(&end), "{}", page(0));
    }
}
