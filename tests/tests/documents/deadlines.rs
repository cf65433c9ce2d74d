//! The tables of times in docs/deadlines.md, beside the policies of `acm_sansio::retry`.
use acm_sansio::retry;
use core::time::Duration;
use std::{fs, path::Path};

/// Writes a time as the tables in docs/deadlines.md do.
fn written(time: Duration) -> String {
    match time.as_millis() {
        millis if millis % 60_000 == 0 && millis > 60_000 => format!("{} min", millis / 60_000),
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}

/// Checks the times of `retry` that an administrator can see against docs/deadlines.md, and the policies against the
/// table in `retry.rs`.
#[test]
fn tables_of_times_have_the_policies_of_retries() {
    macro_rules! named {
        ($($name:ident $row:literal),*) => { [$((stringify!($name), retry::$name, $row)),*] };
    }
    let policies = named! {
        JOIN "pause after a failed join", OPEN_ENDPOINT "pause after a device failed", SA_BUSY "pause after BUSY",
        NOTICES "renewal of subscriptions", DEVICE "pause after a device failed", RENEW "refresh of entries in use after",
        ASK_HOST "check of a claim", PREFETCH ""
    };
    let spreads = named! {
        JOIN_SPREAD "", NOTICES_SPREAD "", SA_TURN "", RENEW_SPREAD "refresh of entries in use after",
        RENEW_INTERVAL "refresh of entries in use after", CONFIRM_INTERVAL "confirmation of paths",
        ANNOUNCE_SPREAD "announcement of", CLAIM_SPREAD "check of a claim", WITNESS "witness",
        COMPARE_SPREAD "comparison of a path"
    };
    let times = named! {
        CLAIM_DEFENCE "check of a claim", CLAIM_PAUSE "check of a claim", DEFENCE_PAUSE "defence of a local address",
        DEFENCE_AGAIN "defence of a local address", ANNOUNCE_PAUSE "announcement of",
        NOTICES_RENEWED "renewal of subscriptions", REJOIN "time between two joins", COMPARE "comparison of a path"
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let source = fs::read_to_string(root.join("crates/acm-sansio/src/retry.rs")).unwrap();
    let declared = source.matches(": RetryPolicy =").count() + source.matches(": Spread =").count();
    assert_eq!(declared, policies.len() + spreads.len(), "a policy or a spread is not listed here");
    let table = fs::read_to_string(root.join("docs/deadlines.md")).unwrap();
    // A time without a row is on another page, or has no option and no counter.
    let check = |name: &str, row: &str, words: String| {
        let rows: Vec<&str> = table.lines().filter(|line| line.starts_with(&format!("| {row}"))).collect();
        assert!(row.is_empty() || rows.iter().any(|row| row.contains(&words)), "{name}, {words}: {rows:?}");
    };
    for (name, policy, row) in policies {
        let (first, longest) = (written(policy.first), written(policy.longest));
        check(name, row, format!("{first}, doubling to {longest}"));
        // The table in retry.rs has all times in seconds.
        let seconds = policy.longest.as_secs();
        let longest = if seconds == 0 { longest } else { format!("{seconds} s") };
        let row = format!("//! | [`{name}`] | {first} | {longest} |");
        assert!(source.contains(&row), "retry.rs has no {row}");
    }
    for (name, spread, row) in spreads {
        let per_port = spread.per_port.as_micros();
        let least = if spread.least.is_zero() { "0".to_owned() } else { written(spread.least) };
        check(name, row, format!(" {least}, or {per_port} us for each port"));
        let row = format!("//! | [`{name}`] | {per_port} us | {least} |");
        assert!(source.contains(&row), "retry.rs has no {row}");
    }
    for (name, time, row) in times {
        check(name, row, format!(" {}", written(time)));
    }
}
