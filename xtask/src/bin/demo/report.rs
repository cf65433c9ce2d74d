//! Tables of the demonstration.
use super::{
    DemoError, SHOWN,
    daemon::Daemon,
    resolve::{self, Way},
};
use acm_client::{Address, Counters, ib_mad::sa::PathRecord};
use core::time::Duration;

/// The five ways, one per row.
pub(crate) fn ways(ways: &[Way]) -> String {
    let head = ["by", "address", "path to", "LID", "first", "again"].map(str::to_owned);
    let row = |way: &Way| {
        let [first, again] = [way.first, way.again].map(|took| format!("{} us", took.as_micros()));
        let dest = match way.dest {
            Address::Lid(lid) => lid.to_string(),
            Address::Gid(gid) => gid.to_string(),
            other => other.to_string(),
        };
        [way.by.to_owned(), dest, way.path.dgid.to_string(), way.path.dlid.to_string(), first, again]
    };
    let rows = [head].into_iter().chain(ways.iter().map(row));
    table(&rows.map(Vec::from).collect::<Vec<_>>())
}

/// A path in one line.
pub(crate) fn path(path: &PathRecord) -> String {
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

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// The counters of the first daemons, and the sum over all daemons.
pub(crate) fn counters(daemons: &mut [Daemon]) -> Result<String, DemoError> {
    let counters = daemons.iter_mut().map(resolve::counters).collect::<Result<Vec<Counters>, _>>()?;
    let names = daemons.iter().take(SHOWN).map(|daemon| daemon.node.name.clone());
    let mut rows = vec![[String::new()].into_iter().chain(names).chain(["all".to_owned()]).collect()];
    for (number, name) in Counters::NAMES.iter().enumerate() {
        let values = counters.iter().filter_map(|counters| counters.0.get(number));
        let all: u64 = values.clone().sum();
        let shown = values.take(SHOWN).copied().chain([all]).map(|value| value.to_string());
        rows.push([(*name).to_owned()].into_iter().chain(shown).collect());
    }
    Ok(table(&rows))
}

/// Aligned columns; the first row is the head.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |cells: Vec<String>| format!("{}\n", cells.concat().trim_end());
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        text += &line(row.iter().zip(&widths).map(|(cell, width)| format!("  {cell:width$}")).collect());
        if number == 0 {
            text += &line(widths.iter().map(|width| format!("  {}", "-".repeat(*width))).collect());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_table_are_aligned() {
        let rows = [["by", "LID"], ["name", "17"], ["IPv6", "1"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "  by    LID\n  ----  ---\n  name  17\n  IPv6  1\n");
    }
}
