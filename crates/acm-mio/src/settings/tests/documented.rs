//! The tables of docs/deadlines.md have the defaults of the code.
use super::*;
use acm_sansio::retry;

/// Returns the number at the start of the second cell of a row in the tables of docs/deadlines.md.
fn documented(table: &str, what: &str) -> usize {
    let start = format!("| {what} | ");
    let mut rows = table.lines().filter_map(|line| line.strip_prefix(&start));
    let row = rows.next().unwrap_or_else(|| panic!("no row {what:?}"));
    let number: String = row
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || *letter == ',')
        .filter(|letter| *letter != ',')
        .collect();
    number.parse().unwrap_or_else(|_| panic!("{what}: {row}"))
}

#[test]
fn table_of_bounds_has_the_defaults() {
    let table = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deadlines.md")).unwrap();
    let settings = settings_of("");
    let config = settings.core(1024);
    let limits = config.limits;
    for (what, limit) in [
        ("pending requests", limits.requests.total),
        ("pending requests of a client", limits.requests_per_client as usize),
        ("lookups, each with one position in one queue", limits.lookups.total),
        ("lookups for remote hosts", limits.remote_lookups),
        ("reports of the SA to a port", limits.reports as usize),
        ("destinations that were found", limits.destinations),
        ("destinations that no local user has requested", limits.unsolicited),
        ("destinations in the refresh queues of each port", limits.renewals),
        ("entries of the negative cache", limits.negatives),
        ("peers that wait for the route of one response", limits.responders),
        ("groups of an endpoint", config.groups.into()),
        ("received datagrams of an endpoint that are not yet handled", settings.receive_depth().get() as usize),
        ("interfaces on InfiniBand ports, and their addresses", settings.interface_addresses()),
    ] {
        assert_eq!(documented(&table, what), limit, "{what}");
    }
}

/// Writes a time as the tables in docs/deadlines.md do.
fn written(time: Duration) -> String {
    match time.as_millis() {
        millis if millis % 60_000 == 0 && millis > 60_000 => format!("{} min", millis / 60_000),
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}

/// Checks every policy and every time of `retry` against docs/deadlines.md, and the policies against the table in
/// `retry.rs`.
#[test]
fn tables_of_times_have_the_policies_of_retries() {
    macro_rules! named {
        ($($name:ident)*) => { [$((stringify!($name), retry::$name)),*] };
    }
    let policies = named! { JOIN OPEN_ENDPOINT SA_BUSY NOTICES DEVICE RENEW ASK_HOST PREFETCH };
    let spreads = named! { JOIN_SPREAD NOTICES_SPREAD RENEW_SPREAD RENEW_INTERVAL CONFIRM_INTERVAL ANNOUNCE_SPREAD CLAIM_SPREAD SA_TURN };
    let times = named! {
        CLAIM_DEFENCE CLAIM_PAUSE DEFENCE_PAUSE DEFENCE_AGAIN MOVE_SLOT ANNOUNCE_PAUSE NOTICES_RENEWED SENDER_MARGIN FAILURE_REPORT PROVIDER_CALL
        SHUTDOWN PREFETCH_SOON PREFETCH_LATER
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = fs::read_to_string(root.join("crates/acm-sansio/src/retry.rs")).unwrap();
    assert_eq!(
        source.matches("\npub const ").count(),
        policies.len() + spreads.len() + times.len() + 2, // ASK_HOST_RETRIES, AT_ONCE
        "a constant is not listed here"
    );
    let table = fs::read_to_string(root.join("docs/deadlines.md")).unwrap();
    let check = |name: &str, words: String| {
        let constant = format!("`retry::{name}`");
        let rows: Vec<&str> = table.lines().filter(|line| line.contains(&constant)).collect();
        assert!(!rows.is_empty() && rows.iter().all(|row| row.contains(&words)), "{name}, {words}: {rows:?}");
    };
    for (name, policy) in policies {
        let (first, longest) = (written(policy.first), written(policy.longest));
        check(name, format!(" {first}, doubling to {longest}"));
        // The table in retry.rs has all times in seconds.
        let seconds = policy.longest.as_secs();
        let longest = if seconds == 0 { longest } else { format!("{seconds} s") };
        let row = format!("//! | [`{name}`] | {first} | {longest} |");
        assert!(source.contains(&row), "retry.rs has no {row}");
    }
    for (name, spread) in spreads {
        let per_port = spread.per_port.as_micros();
        let (least, words) = if spread.least.is_zero() {
            ("0".to_owned(), format!(" {per_port} us for each port"))
        } else {
            let least = written(spread.least);
            (least.clone(), format!(" {least}, or {per_port} us for each port"))
        };
        check(name, words);
        let row = format!("//! | [`{name}`] | {per_port} us | {least} |");
        assert!(source.contains(&row), "retry.rs has no {row}");
    }
    for (name, time) in times {
        check(name, format!(" {}", written(time)));
    }
}
