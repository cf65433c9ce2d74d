//! The tables of docs/options.md and docs/deadlines.md have the options and the defaults of the code.
use super::*;
use acm_wire::files::opts::{DECLARATIONS, Effect, Opt, Provider, ProviderSubnets};

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

const MANUAL: &str = include_str!("../../../docs/options.md");
const DEADLINES: &str = include_str!("../../../docs/deadlines.md");

/// Returns the five cells of an option's only row. Rows of metrics have three cells.
fn row(name: &str) -> [&'static str; 5] {
    let start = format!("| `{name}` | ");
    let lines = MANUAL.lines().filter(|line| line.starts_with(&start));
    let rows: Vec<_> = lines.filter_map(|line| Vec::from_iter(line.split(" | ")).try_into().ok()).collect();
    let [row] = *rows else { panic!("rows of {name}: {rows:?}") };
    row
}

/// Returns a cell without the targets of its links.
fn without_links(cell: &str) -> String {
    let mut parts = cell.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |text, part| text + part.split_once(')').unwrap_or_default().1);
    text.replace('[', "")
}

/// A cell may end with a sentence that says where to read more.
#[test]
fn manual_has_each_option_as_it_is_declared() {
    let provider = Opt::Provider(Provider { name: "ibacmp", subnets: ProviderSubnets::Default });
    let options: Vec<Opt<'_>> = Options::default().iter().chain([provider]).collect();
    assert_eq!(options.len(), DECLARATIONS.len());
    for (option, declared) in options.into_iter().zip(DECLARATIONS) {
        let text = option.to_string();
        let (name, default) = text.split_once(' ').unwrap();
        assert_eq!(name, declared.name);
        // The default is in the run directory.
        let default = if name == "lock_file" { "RUN_DIR/ibacm.pid" } else { default };
        let effect = match option.effect() {
            Effect::Reload => "yes",
            Effect::Restart => "restart",
            Effect::Nothing(_) => "does nothing",
        };
        let help: String = declared.help.iter().take_while(|line| !line.is_empty()).copied().collect();
        let expected = format!("| `{name}` | {default} | {} | {effect} |{help}", declared.values);
        let row = without_links(&row(name).join(" | "));
        let more = row.strip_prefix(&expected).and_then(|rest| rest.strip_suffix(" |"));
        assert!(more.is_some_and(|more| more.is_empty() || more.starts_with(" See ")), "{row}\n{expected} |");
    }
}

/// A numeric option is a time or a limit, unless it is in the list below.
#[test]
fn times_and_bounds_are_in_the_tables_of_deadlines() {
    let other_numbers = ["log_level", "umad_debug_level", "server_port", "min_mtu", "min_rate", "group_sl"];
    for option in Options::default().iter() {
        let text = option.to_string();
        let (name, default) = text.split_once(' ').unwrap();
        let number = default == "auto" || default.parse::<i64>().is_ok();
        if number && !other_numbers.contains(&name) {
            assert!(DEADLINES.contains(&format!("`{name}`")), "docs/deadlines.md has no option {name}");
        }
    }
}
