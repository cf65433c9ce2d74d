//! What the demonstration shows.
use super::{node::Node, resolve::Way, table::Table};
use acm_client::{Address, Counters};
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// Nodes that have a column of their own.
const COLUMNS: usize = 6;

/// The five ways, a row each.
pub(super) fn ways(ways: &[Way]) -> Table {
    let mut table = Table::new(["by", "asked for", "leads to", "LID", "first", "again"]);
    for way in ways {
        let asked = match way.dest {
            Address::Lid(lid) => lid.to_string(),
            Address::Gid(gid) => gid.to_string(),
            other => other.to_string(),
        };
        let path = &way.first.path;
        let [first, again] = [way.first.took, way.again].map(|took| format!("{} us", took.as_micros()));
        table.row([way.by.to_owned(), asked, path.dgid.to_string(), path.dlid.to_string(), first, again]);
    }
    table
}

/// A path in a line.
pub(super) fn path(path: &PathRecord) -> String {
    format!(
        "from LID {} to LID {}, MTU {}, {}, SL {}, pkey {}, lifetime {}",
        path.slid,
        path.dlid,
        path.mtu.value(),
        path.rate.value(),
        path.qos_sl.sl(),
        path.pkey,
        path.packet_life_time.value()
    )
}

/// The daemons' counters: the first ones, and the sum.
pub(super) fn counters(nodes: &[Node], counters: &[Counters]) -> Table {
    let shown = nodes.iter().take(COLUMNS).map(|node| node.name.as_str());
    let mut table = Table::new([""].into_iter().chain(shown).chain(["all"]));
    for (number, name) in Counters::NAMES.iter().enumerate() {
        let values: Vec<u64> =
            counters.iter().map(|of_one| of_one.0.get(number).copied().unwrap_or_default()).collect();
        let shown = values.iter().take(COLUMNS).map(u64::to_string);
        let all = values.iter().sum::<u64>().to_string();
        table.row([(*name).to_owned()].into_iter().chain(shown).chain([all]));
    }
    table
}

/// Milliseconds, with microseconds.
pub(super) fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::{super::resolve::Found, *};
    use ib_mad::{Lid, Mtu, Rate, Selected, Selector};

    #[test]
    fn a_way_as_a_row_and_a_path_as_a_line() {
        let record = PathRecord {
            dgid: "fe80::2".parse().unwrap(),
            dlid: Lid::new(2),
            slid: Lid::new(1),
            mtu: Selected::new(Selector::Exactly, Mtu::B2048),
            rate: Selected::new(Selector::Exactly, Rate::GBPS_100),
            ..PathRecord::default()
        };
        let first = Found { path: record, took: Duration::from_millis(3) };
        let way = Way { by: "LID", dest: Address::Lid(Lid::new(2)), first, again: Duration::from_nanos(92_900) };
        let text = ways(&[way]).to_string();
        let row: Vec<_> = text.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(row, ["LID", "2", "fe80::2", "2", "3000", "us", "92", "us"]);
        assert!(path(&record).starts_with("from LID 1 to LID 2, MTU 2048, 100 Gb/s, SL 0, pkey 0x0000"), "{record:?}");
        assert_eq!(ms(Duration::from_micros(1500)), "1.500 ms");
    }

    #[test]
    fn counters_by_daemon_and_of_all() {
        let nodes: Vec<Node> = (1..=8).map(Node::new).collect();
        let text = counters(&nodes, &[1, 20, 3, 4, 5, 6, 7, 1000].map(|each| Counters([each; 7]))).to_string();
        let rows: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["node1", "node2", "node3", "node4", "node5", "node6", "all"]);
        assert_eq!(rows[2], ["Error", "Count", "1", "20", "3", "4", "5", "6", "1046"]);
        assert_eq!(rows.len(), 2 + 7);
        assert!(text.lines().all(|line| line.len() <= 100));
    }
}
