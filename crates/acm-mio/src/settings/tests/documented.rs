//! The table of bounds in docs/deadlines.md has the defaults of the code.
use super::*;

/// Returns the number at the start of the third cell of a bound's row in docs/deadlines.md.
fn documented(table: &str, bound: &str) -> usize {
    let start = format!("| {bound} | ");
    let mut rows = table.lines().filter_map(|line| line.strip_prefix(&start)?.split_once(" | "));
    let (_, row) = rows.next().unwrap_or_else(|| panic!("no row {bound:?}"));
    let number: String = row
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || *letter == ',')
        .filter(|letter| *letter != ',')
        .collect();
    number.parse().unwrap_or_else(|_| panic!("{bound}: {row}"))
}

#[test]
fn table_of_bounds_has_the_defaults() {
    let table = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/deadlines.md")).unwrap();
    let settings = settings_of("");
    let config = settings.core(1024);
    let limits = config.limits;
    for (what, limit) in [
        ("requests", limits.requests.total),
        ("requests-per-client", limits.requests_per_client as usize),
        ("lookups", limits.lookups.total),
        ("remote-lookups", limits.remote_lookups),
        ("reports", limits.reports as usize),
        ("destinations", limits.destinations),
        ("unsolicited", limits.unsolicited),
        ("renewals", limits.renewals),
        ("negatives", limits.negatives),
        ("responders", limits.responders),
        ("groups", config.groups.into()),
        ("received", settings.receive_depth().get() as usize),
        ("interfaces", settings.interface_addresses()),
    ] {
        assert_eq!(documented(&table, what), limit, "{what}");
    }
}
