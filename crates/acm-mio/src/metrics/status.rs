//! Numbers for people.
use super::families::Source;
use acm_sansio::Phase;
use core::fmt::Write;

/// What is there and was counted, a line for each thing.
pub(crate) fn text(source: &Source<'_>) -> String {
    let mut text = String::new();
    let up = source.now.since_start().as_secs();
    let (days, hours, minutes) = (up / 86_400, up / 3600 % 24, up / 60 % 60);
    // A string takes whatever is written.
    let _ = writeln!(text, "acm-mio {}, up {days} d {hours} h {minutes} min", env!("CARGO_PKG_VERSION"));
    for phase in Phase::ALL {
        let histogram = source.acm.latencies().of(phase);
        let within = |hundredths| match histogram.percentile_us(hundredths) {
            Some(micros) if micros < 1000 => format!("{micros} us"),
            Some(micros) => format!("{} ms", micros / 1000),
            None => "more than a minute".to_owned(),
        };
        let what = what(phase);
        match histogram.total() {
            0 => writeln!(text, "{what}: 0"),
            total => writeln!(text, "{what}: {total}, half within {}, 99 of 100 within {}", within(50), within(99)),
        }
        .unwrap_or_default();
    }
    text += &(source.report)();
    for (name, value) in &source.fabric {
        let _ = writeln!(text, "{name}: {value}");
    }
    let _ = writeln!(text, "log_lines_lost: {}", source.log_lines_lost);
    let _ = writeln!(text, "log_not_reopened: {}", source.log_not_reopened);
    let _ = writeln!(text, "files_not_applied: {}", source.files_not_applied);
    let _ = writeln!(text, "record_facts_lost: {}", source.facts_lost);
    text
}

const fn what(phase: Phase) -> &'static str {
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
    use super::*;
    use acm_sansio::{Acm, Config, Time};
    use core::time::Duration;
    use std::collections::BTreeMap;

    #[test]
    fn each_phase_has_its_words() {
        let words: std::collections::BTreeSet<&str> = Phase::ALL.into_iter().map(what).collect();
        assert_eq!(words.len(), Phase::ALL.len());
        assert!(words.iter().all(|words| words.contains(' ')), "{words:?}");
    }

    #[test]
    fn how_long_it_is_up_and_what_the_fabric_counted() {
        let acm = Acm::new(Config::default(), 1);
        let of = |seconds| {
            let (now, fabric) = (Time::ZERO + Duration::from_secs(seconds), vec![("scans", 7)]);
            let (report, ports) = (&|| "report\n".to_owned(), BTreeMap::new());
            let (log_lines_lost, log_not_reopened, files_not_applied, facts_lost) = (3, 4, 5, 6);
            let acm = &acm;
            text(&Source {
                now,
                acm,
                report,
                fabric,
                ports,
                log_lines_lost,
                log_not_reopened,
                files_not_applied,
                facts_lost,
            })
        };
        let up = |seconds| of(seconds).lines().next().unwrap().rsplit("up ").next().unwrap().to_owned();
        assert_eq!([up(59), up(3599)], ["0 d 0 h 0 min", "0 d 0 h 59 min"]);
        assert_eq!(up(86_400 + 23 * 3600 + 5 * 60 + 7), "1 d 23 h 5 min");
        let end =
            "report\nscans: 7\nlog_lines_lost: 3\nlog_not_reopened: 4\nfiles_not_applied: 5\nrecord_facts_lost: 6\n";
        assert!(of(0).ends_with(end), "{}", of(0));
    }
}
