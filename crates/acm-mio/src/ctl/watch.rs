//! `status --watch` and `status --delta`: the status again and again, and what counters have gained.
use super::{
    age::Age,
    ask::Ask,
    status::{self, Shown},
    verdict::Numbers,
};
use crate::output::{Failure, Outcome, Output, note};
use core::time::Duration;
use serde::Serialize;
use serde_json::{Value, json};

/// Time between two questions of `--watch`.
const PERIOD: Duration = Duration::from_secs(1);

/// The gain of a counter in a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Gain {
    name: String,
    /// `port=mlx5_0/1,pkey=0x8001`, or nothing.
    labels: String,
    gained: u64,
    per_second: f64,
}

/// Returns what each counter has gained. A daemon that has started again in between begins with 0.
fn gains(before: &Numbers, after: &Numbers, time: Duration) -> Vec<Gain> {
    let is_same_daemon = before.sum("up_seconds", &[]) <= after.sum("up_seconds", &[]);
    let old = if is_same_daemon { before.counters() } else { Default::default() };
    let gained = after.counters().into_iter().filter_map(|(key, value)| {
        let gained = value.saturating_sub(old.get(&key).copied().unwrap_or_default());
        let (name, labels) = key;
        let per_second = (gained as f64 / time.as_secs_f64().max(1.0) * 10.0).round() / 10.0;
        (gained > 0).then_some(Gain { name, labels, gained, per_second })
    });
    gained.collect()
}

fn table(gains: &[Gain], time: Duration) -> String {
    let row = |gain: &Gain| {
        let labels = if gain.labels.is_empty() { "-" } else { &gain.labels };
        [gain.name.clone(), labels.to_owned(), gain.gained.to_string(), format!("{:.1}", gain.per_second)]
    };
    let titles = ["COUNTER", "LABELS", "GAINED", "PER_SECOND"];
    format!("in {}:\n{}", Age(time), super::columns::table(titles, gains.iter().map(row)))
}

/// Times of the command `status`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) delta: Option<Age>,
    pub(super) watch: bool,
}

/// Prints the status, with what counters have gained in the time of `--delta`, once or until standard output is closed.
/// `--watch` prints it whenever it has changed, and notes if no daemon answers.
///
/// # Errors
/// No daemon answers, or writing failed.
pub(super) fn run(
    ask: Ask<'_>,
    times: Times,
    all: bool,
    output: &mut Output<'_>,
    sleep: &mut dyn FnMut(Duration),
) -> Result<Outcome, Failure> {
    let (mut last, mut last_failure) = (None, None);
    loop {
        let shown = look(ask, times.delta, all, sleep);
        match shown {
            Err(failure) if !times.watch => return Err(failure),
            Err(failure) => {
                if last_failure.as_ref() != Some(&failure) {
                    note(&failure.to_string());
                }
                (last, last_failure) = (None, Some(failure));
            }
            Ok((shown, gains)) => {
                last_failure = None;
                if last.as_ref() != Some(&shown.changing) || gains.is_some() {
                    print(&shown, gains.as_ref().zip(times.delta), output)?;
                }
                if !times.watch || output.is_closed {
                    return Ok(shown.outcome);
                }
                last = Some(shown.changing);
            }
        }
        if times.delta.is_none() || last_failure.is_some() {
            sleep(PERIOD);
        }
    }
}

fn look(
    ask: Ask<'_>,
    delta: Option<Age>,
    all: bool,
    sleep: &mut dyn FnMut(Duration),
) -> Result<(Shown, Option<Vec<Gain>>), Failure> {
    let Some(Age(time)) = delta else { return Ok((status::look(ask, all)?, None)) };
    let before = Numbers::parse(&ask("GET", "/status.json")?)?;
    sleep(time.max(PERIOD));
    let shown = status::look(ask, all)?;
    let gains = gains(&before, &shown.numbers, time);
    Ok((shown, Some(gains)))
}

fn print(shown: &Shown, gains: Option<(&Vec<Gain>, Age)>, output: &mut Output<'_>) -> Result<(), Failure> {
    let mut object = shown.object.clone();
    let mut text = shown.text.clone();
    if let (Some((gains, Age(time))), Some(members)) = (gains, object.as_object_mut()) {
        let delta: Value = json!({ "seconds": time.as_secs(), "counters": gains });
        members.insert("delta".to_owned(), delta);
        text += &table(gains, time);
    }
    output.result(&object, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    /// A daemon that is up for so many seconds, and whose counter has this value, one after the other; `None` while it
    /// does not answer. Returns the outcome, the output, and the times of sleep.
    fn watched(
        values: &[Option<(u64, u64)>],
        times: Times,
        json: bool,
    ) -> (Result<Outcome, Failure>, String, Vec<u64>) {
        let (next, mut slept) = (RefCell::new(values.iter()), Vec::new());
        let ask = |_: &str, _: &str| {
            let found = next.borrow_mut().next().copied().flatten();
            let (up, value) = found.ok_or(Failure::NoDaemon("none".to_owned()))?;
            let number = |kind: &str, name: &str, value: u64| {
                format!("{}\n", json!({ "name": name, "kind": kind, "labels": { "port": "a/1" }, "value": value }))
            };
            let counters = number("gauge", "g", value) + &number("counter", "joins", value);
            Ok(number("gauge", "port_active", 1) + &number("gauge", "up_seconds", up) + &counters)
        };
        let mut out = Closed { room: values.len(), text: Vec::new() };
        let result = run(&ask, times, false, &mut Output::new(&mut out, json), &mut |time| slept.push(time.as_secs()));
        (result, String::from_utf8(out.text).unwrap(), slept)
    }

    /// Standard output that is closed after a number of writes.
    struct Closed {
        room: usize,
        text: Vec<u8>,
    }

    impl std::io::Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.room = self.room.checked_sub(1).ok_or(std::io::ErrorKind::BrokenPipe)?;
            self.text.extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn ten() -> Times {
        Times { delta: Some("10s".parse().unwrap()), watch: false }
    }

    #[test]
    fn counters_that_have_gained_are_shown_with_their_rate() {
        let (outcome, text, slept) = watched(&[Some((1, 7)), Some((11, 107))], ten(), false);
        let end = "in 10s:\nCOUNTER  LABELS    GAINED  PER_SECOND\njoins    port=a/1  100     10.0\n";
        assert!(text.ends_with(end), "{text}");
        assert_eq!((outcome, slept), (Ok(Outcome::Degraded), vec![10]), "no partition");
        let (_, text, _) = watched(&[Some((900, 107)), Some((3, 7))], ten(), false);
        assert!(text.ends_with("\njoins    port=a/1  7       0.7\n"), "it has started again: {text}");
        let (_, text, _) = watched(&[Some((1, 7)), Some((11, 7))], ten(), false);
        assert!(text.ends_with("PER_SECOND\n"), "{text}");
        let (_, text, _) = watched(&[Some((1, 7)), Some((11, 8))], ten(), true);
        let delta = "\"counters\":[{\"gained\":1,\"labels\":\"port=a/1\",\"name\":\"joins\",\"per_second\":0.1}]";
        assert!(text.starts_with("{\"schema\":1,") && text.contains(delta), "{text}");
    }

    #[test]
    fn status_is_shown_again_when_it_has_changed() {
        let watch = Times { delta: None, watch: true };
        assert_eq!(watched(&[None], Times::default(), false).0, Err(Failure::NoDaemon("none".to_owned())));
        let values = [Some(1), Some(1), None, None, Some(1)];
        let asked = RefCell::new(0);
        let ask = |_: &str, _: &str| {
            *asked.borrow_mut() += 1;
            let value = values.get(*asked.borrow() - 1).copied().unwrap_or(Some(*asked.borrow() as u64)).ok_or(());
            let value = value.map_err(|()| Failure::NoDaemon("none".to_owned()))?;
            let up = json!({ "name": "up_seconds", "kind": "gauge", "labels": {}, "value": *asked.borrow() });
            Ok(format!("{}\n{up}\n", json!({ "name": "clients", "kind": "gauge", "labels": {}, "value": value })))
        };
        let mut out = Closed { room: 3, text: Vec::new() };
        let outcome = run(&ask, watch, false, &mut Output::new(&mut out, false), &mut |_| {});
        let text = String::from_utf8(out.text).unwrap();
        let shown: Vec<&str> = text.lines().filter(|line| line.starts_with("clients: ")).collect();
        let counts: Vec<&str> = shown.iter().filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!((outcome, counts), (Ok(Outcome::Degraded), vec!["1", "1", "6"]), "{text}");
    }
}
