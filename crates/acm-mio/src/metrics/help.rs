//! HELP texts of metrics.
use crate::fabric;
use std::{collections::BTreeMap, sync::LazyLock};

/// The metrics of the daemon, beside those of the core and of devices, whose texts are at their counters.
const OWN: &[(&str, &str)] = &[
    ("kernel_requests_lost", "Times that the kernel's socket overflowed"),
    ("interface_addresses_refused", "Interfaces and addresses beyond `interface_addresses`"),
    ("interface_dumps", "Times that the daemon read all interfaces and addresses from the kernel"),
    ("interface_messages_lost", "Times that rtnetlink's socket overflowed"),
    ("interface_messages_bad", "Malformed rtnetlink messages"),
    ("connections_not_left", "Idle connections beyond the 1,000 that systemd keeps at a restart"),
    ("log_not_reopened", "Times that a reload could not open the log; the old file stays"),
    ("preload_not_read", "Times that a preload file could not be read; the previous table stays"),
    ("files_not_applied", "Option and address files that a reload did not apply"),
    ("record_facts_lost", "Inputs and outputs that are missing in a recording (`--record`)"),
    ("shared_cache_clients", "Times that a client got the memory of the shared cache"),
    ("shared_cache_lookups", "Paths that clients read from the shared cache, by their own reports"),
    ("shared_cache_not_stored", "Paths that did not fit into the shared cache; clients request them"),
    ("shared_cache_refused", "Clients that got no memory, because too many others have not read their response"),
    ("clients_stalled", "Clients that were closed because they read no response for `client_timeout`"),
    ("clients_sent_descriptors", "Clients that were closed because they sent file descriptors"),
    ("connections_paced", "Connections closed because their account opened too many at a time"),
    ("scrapers_refused", "Connections of scrapers and administrators that were refused"),
    ("log_lines_lost", "Lines that the log could not take"),
    ("fabric_datagrams_lost", "Datagrams lost between a simulated fabric and the core"),
    ("build", "1, with the version"),
    ("config_problems", "Problems of the option and address files at their last reading"),
    (
        "addresses_not_served",
        "Lines of the address file that no port serves, although their port is active or does not exist",
    ),
    ("devices_not_responding", "Devices that do not respond to commands; their ports are down"),
    ("preload_problems", "Preload files that could not be read, or of which lines were skipped"),
    ("process_cpu_seconds", "Processor time of the daemon in whole seconds"),
    ("process_memory_peak_bytes", "The largest memory of the daemon since its start"),
    ("recording", "1 while a recording is in progress"),
    ("up_seconds", "Seconds since the start"),
    ("interfaces", "Network interfaces that are or may be on an InfiniBand port"),
    ("interface_addresses", "IP addresses of network interfaces on InfiniBand ports"),
    ("connections_ending", "Of `clients`, those that are over and not read"),
    ("connections_closing", "Connections that threads close, because their clients sent file descriptors"),
    ("scrapers_ending", "Connections of scrapers that are over and not read"),
    ("port_wanted", "1 if the address file names the port, or the port was active since the start"),
    ("shared_cache_entries", "Paths and local addresses that clients read without a request"),
    ("shared_cache_room", "Paths for which the shared cache has room now"),
    ("request_seconds", "The time of a request that was not answered at once, by `account`"),
    ("turn_seconds", "The time of an iteration of the event loop, without the wait for events"),
    (
        "phase_seconds",
        "By `phase`: `sa_turn`, the wait for a turn at the SA; `sa_round_trip`, the SA's response time; \
         `multicast_round_trip`, the group's response time",
    ),
];

/// Each metric with its text.
static ALL: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let own = [OWN, fabric::DEVICE_COUNTERS].into_iter().flatten();
    own.map(|(name, text)| (*name, text.trim_start().trim_end_matches('.'))).chain(acm_sansio::metric_help()).collect()
});

/// Returns the HELP text of a metric. Each metric has one.
pub(super) fn help(name: &str) -> &'static str {
    ALL.get(name).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    /// Returns the names and descriptions in the tables of counters, gauges and histograms.
    fn rows(manual: &str) -> impl Iterator<Item = (&str, String)> {
        let mut is_inside = false;
        manual.lines().filter_map(move |line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            let (name, text) = (cells.next()?, cells.next()?);
            if let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
                return is_inside.then(|| (name, text.trim_end_matches([' ', '|']).replace('\\', "")));
            }
            is_inside = ["counter", "gauge", "histogram"].contains(&name);
            None
        })
    }

    #[cfg(feature = "verbs")]
    #[test]
    fn manual_has_the_help_text_of_each_metric() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/metrics.md");
        let manual = fs::read_to_string(page).unwrap();
        let rows: BTreeMap<&str, String> = rows(&manual).collect();
        let unknown: Vec<_> = rows.keys().filter(|name| !ALL.contains_key(**name)).collect();
        assert!(unknown.is_empty(), "rows without a metric: {unknown:?}");
        for (name, text) in ALL.iter() {
            let row = rows.get(name).map_or("no row", String::as_str);
            assert!(row.eq_ignore_ascii_case(text), "{name}: {row:?} in docs/metrics.md, {text:?} in the code");
        }
    }

    #[test]
    fn rows_are_those_of_tables_of_metrics() {
        let manual = "| option | default |\n|---|---|\n| `a` | 1 |\n\n| counter | what |\n|---|---|\n\
                      | `a` | x of a \\| b | do |\n| `b` | of b | |\n\nText.\n| step | what |\n| `c` | d |\n";
        let rows: Vec<(&str, String)> = rows(manual).collect();
        assert_eq!(rows, [("a", "x of a | b".to_owned()), ("b", "of b".to_owned())]);
    }
}
