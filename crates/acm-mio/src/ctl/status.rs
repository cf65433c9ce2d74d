//! `status` and `wait-ready`: whether the daemon serves.
use super::{
    age::Age,
    ask::{Ask, lines_of},
    verdict::{Numbers, Port},
};
use crate::{
    clock::Clock,
    output::{Failure, Outcome, Output, note},
};
use acm_sansio::Time;
use core::time::Duration;
use serde_json::{Value, json};
use std::thread;

/// Time between two questions of `wait-ready`.
const PAUSE: Duration = Duration::from_millis(100);

/// The status of the daemon at one time.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) outcome: Outcome,
    pub(super) object: Value,
    pub(super) text: String,
    /// The text without the time since the start.
    pub(super) changing: String,
    pub(super) numbers: Numbers,
}

/// Returns the verdict, the ports, and what was done; with `all`, all states and counters.
///
/// # Errors
/// No daemon answers.
pub(super) fn look(ask: Ask<'_>, all: bool) -> Result<Shown, Failure> {
    let json = ask("GET", "/status.json")?;
    let numbers = Numbers::parse(&json)?;
    let problems = numbers.problems();
    let outcome = if problems.is_empty() { Outcome::Good } else { Outcome::Degraded };
    let object = object(&numbers, &problems, all.then_some(json.as_str()))?;
    let mut text = summary(&numbers, &problems);
    if all {
        text += &without_zeros(&ask("GET", "/status")?);
    }
    let changing = text.lines().filter(|line| !line.starts_with("daemon: ")).collect();
    Ok(Shown { outcome, object, text, changing, numbers })
}

/// Waits until the daemon serves, at most `timeout`.
///
/// # Errors
/// No daemon answers, or writing failed.
pub(super) fn wait_ready(ask: Ask<'_>, timeout: Duration, output: &mut Output<'_>) -> Result<Outcome, Failure> {
    wait(ask, timeout, output, &mut || thread::sleep(PAUSE))
}

fn wait(ask: Ask<'_>, timeout: Duration, output: &mut Output<'_>, pause: &mut dyn FnMut()) -> Result<Outcome, Failure> {
    let clock = Clock::start();
    loop {
        let answer = ask("GET", "/status.json");
        let reason = match &answer {
            Ok(text) => Numbers::parse(text)?.not_ready(),
            Err(Failure::NoDaemon(_)) => Some(""),
            Err(failure) => return Err(failure.clone()),
        };
        if reason.is_some() && clock.now() < Time::ZERO + timeout {
            pause();
            continue;
        }
        answer?;
        if output.json {
            output.object(&json!({ "ready": reason.is_none(), "reason": reason }))?;
        } else if let Some(reason) = reason {
            note(&format!("not ready: {reason}"));
        }
        return Ok(if reason.is_none() { Outcome::Good } else { Outcome::Degraded });
    }
}

fn object(numbers: &Numbers, problems: &[String], all: Option<&str>) -> Result<Value, Failure> {
    let mut object = json!({
        "verdict": if problems.is_empty() { "ok" } else { "degraded" },
        "problems": problems,
        "version": numbers.version(),
        "up_seconds": numbers.sum("up_seconds", &[]),
        "ports": numbers.ports(),
    });
    if let (Some(text), Some(members)) = (all, object.as_object_mut()) {
        members.insert("metrics".to_owned(), lines_of::<Value>(text)?.into());
    }
    Ok(object)
}

/// Returns the verdict, then a line for each port and for each of a few subjects.
fn summary(numbers: &Numbers, problems: &[String]) -> String {
    let mut text = match problems {
        [] => "OK".to_owned(),
        problems => format!("DEGRADED: {}", problems.join("; ")),
    };
    let up = Age(Duration::from_secs(numbers.sum("up_seconds", &[])));
    text += &format!("\ndaemon: acm-mio {}, up {up}\n", numbers.version());
    for Port { port, active, partitions, .. } in numbers.ports() {
        text += &format!("port {port}: {}", if active { "active" } else { "not active" });
        for partition in partitions {
            let (joined, wanted) = (partition.groups_joined, partition.groups_wanted);
            text += &format!(", partition {} with {joined} of {wanted} groups", partition.pkey);
        }
        text.push('\n');
    }
    let state = |state| numbers.sum("destinations", &[("state", state)]);
    text += &format!("cache: {} ready, {} failed\n", state("ready"), state("failed"));
    let of = |account| numbers.sum("request_seconds", &[("account", account)]);
    let connected = numbers.sum("clients", &[]);
    text += &format!(
        "clients: {connected} connected; requests that waited: {} of users, {} of TCP peers, {} of the kernel\n",
        of("user"),
        of("peer"),
        of("kernel")
    );
    let phase = |phase| numbers.sum("phase_seconds", &[("phase", phase)]);
    let lost = numbers.sum("sa_timed_out", &[]);
    text + &format!(
        "fabric: {} answers of subnet administration and {} of hosts, {lost} queries without one, {} lookups failed\n",
        phase("sa_round_trip"),
        phase("multicast_round_trip"),
        numbers.sum("lookups_failed", &[])
    )
}

/// Removes the lines of counters that are zero.
fn without_zeros(text: &str) -> String {
    let is_zero = |line: &str| line.split_once(": ").is_some_and(|(name, value)| !name.contains(' ') && value == "0");
    text.lines().filter(|line| !is_zero(line)).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    fn lines(joined: u64) -> String {
        let line = |name: &str, labels: Value, value: u64| {
            format!("{}\n", json!({ "name": name, "kind": "gauge", "labels": labels, "value": value }))
        };
        let partition = json!({ "port": "sim0/1", "pkey": "0xffff" });
        line("port_active", json!({ "port": "sim0/1" }), 1)
            + &line("groups_joined", partition.clone(), joined)
            + &line("groups_wanted", partition, 1)
            + &line("build", json!({ "version": "1.2.3" }), 1)
            + &line("up_seconds", json!({}), 3700)
            + &line("destinations", json!({ "state": "ready" }), 5)
            + &line("phase_seconds", json!({ "phase": "sa_round_trip" }), 3)
            + &line("phase_seconds", json!({ "phase": "multicast_round_trip" }), 4)
    }

    fn printed(joined: u64, all: bool, as_json: bool) -> (Outcome, String) {
        let ask = |_: &str, target: &str| {
            Ok(if target == "/status" { "scans: 0\njoins: 1\nnote: x: 0\n".to_owned() } else { lines(joined) })
        };
        let Shown { outcome, object, text, .. } = look(&ask, all).unwrap();
        (outcome, if as_json { object.to_string() } else { text })
    }

    #[test]
    fn verdict_stands_first_and_decides_the_outcome() {
        let (outcome, text) = printed(1, false, false);
        assert_eq!(outcome, Outcome::Good);
        let start = "OK\ndaemon: acm-mio 1.2.3, up 1h1m\nport sim0/1: active, partition 0xffff with 1 of 1 groups\n";
        assert!(text.starts_with(start) && text.contains("\ncache: 5 ready, 0 failed\n"), "{text}");
        assert!(text.contains("\nfabric: 3 answers of subnet administration and 4 of hosts, "), "{text}");
        assert!(text.lines().count() <= 10, "{text}");
        let (outcome, text) = printed(0, true, false);
        assert_eq!(outcome, Outcome::Degraded);
        assert!(text.starts_with("DEGRADED: port sim0/1 partition 0xffff: 0 of 1 groups joined\n"), "{text}");
        assert!(text.ends_with("lookups failed\njoins: 1\nnote: x: 0\n"), "without zeros: {text}");
    }

    #[test]
    fn json_has_the_verdict_and_on_request_all_numbers() {
        let object = |joined, all| -> Value { serde_json::from_str(&printed(joined, all, true).1).unwrap() };
        let (short, long) = (object(0, false), object(1, true));
        assert_eq!((&short["verdict"], &short["up_seconds"]), (&json!("degraded"), &json!(3700)));
        assert_eq!(short["problems"].as_array().unwrap().len(), 1);
        assert_eq!(short["ports"][0]["partitions"][0]["groups_wanted"], 1);
        assert!(short.get("metrics").is_none() && long["metrics"].as_array().unwrap().len() == 8);
    }

    #[test]
    fn waiting_ends_with_the_groups_or_with_the_time() {
        let waited = |ready_after: u64, limit: Duration| {
            let asked = Cell::new(0);
            let ask = |_: &str, _: &str| match asked.replace(asked.get() + 1) {
                0 => Err(Failure::NoDaemon("starts".to_owned())),
                number => Ok(lines(u64::from(number >= ready_after))),
            };
            let mut text = Vec::new();
            let outcome = wait(&ask, limit, &mut Output::new(&mut text, true), &mut || ());
            (outcome, asked.get())
        };
        let long = Duration::from_secs(3600);
        assert_eq!(waited(3, long), (Ok(Outcome::Good), 4));
        assert_eq!(waited(3, Duration::ZERO), (Err(Failure::NoDaemon("starts".to_owned())), 1));
        let refused = |_: &str, _: &str| Err(Failure::Failed("no".to_owned()));
        let mut text = Vec::new();
        let outcome = wait(&refused, long, &mut Output::new(&mut text, true), &mut || ());
        assert_eq!(outcome, Err(Failure::Failed("no".to_owned())));
        let never = |_: &str, _: &str| Ok(lines(0));
        let outcome = wait(&never, Duration::ZERO, &mut Output::new(&mut text, true), &mut || ());
        assert_eq!(outcome, Ok(Outcome::Degraded));
        assert!(String::from_utf8(text).unwrap().contains("\"ready\":false"));
    }
}
