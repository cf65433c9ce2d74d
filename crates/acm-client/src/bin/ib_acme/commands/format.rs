//! Formats parameters of services as a table, as shell variables or as JSON.
use super::{library::Library, service_paths::ServicePaths, show::lifetime};
use crate::output::{Output, fields, nanoseconds};
use acm_client::{
    fabric::{LocalPort, Parameters},
    ib_mad::{Gid, sa::PathRecord},
};
use serde_json::{Value, json};
use std::io;

/// Prints one line for each path, and a line for all peers of a service.
pub(super) fn table(out: &mut Output, rows: &[ServicePaths], source: &str) -> io::Result<()> {
    let mut cells = vec![["SERVICE", "TO", "P_KEY", "SL", "MTU", "RATE", "LIFETIME"].map(str::to_owned)];
    let mut errors = Vec::new();
    for row in rows {
        let mut add = |to: &str, of: Result<Parameters, &String>| match of {
            Ok(of) => {
                let life = lifetime(of.packet_life_time);
                let mtu = of.mtu_bytes().map_or_else(|| of.mtu.to_string(), |bytes| bytes.to_string());
                let values = [of.pkey.to_string(), of.sl.to_string(), mtu, of.rate.to_string(), life];
                let [pkey, sl, mtu, rate, life] = values;
                cells.push([row.service(), to.to_owned(), pkey, sl, mtu, rate, life]);
            }
            Err(why) => errors.push(format!("{} to {to}: {why}", row.service())),
        };
        for (to, path) in &row.paths {
            add(to, path.as_ref().map(Parameters::from));
        }
        if row.paths.len() > 1 && row.paths.iter().all(|(_, path)| path.is_ok()) {
            add("all", row.common.as_ref().copied());
        }
    }
    let widths: Vec<usize> = (0..7).map(|column| widest(&cells, column)).collect();
    for line in cells.iter().filter(|_| cells.len() > 1) {
        let padded = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = padded.collect::<Vec<_>>().join("  ");
        out.line(format_args!("{}", line.trim_end()))?;
    }
    for line in errors {
        out.line(format_args!("{line}"))?;
    }
    out.line(format_args!("Source: {source}."))
}

fn widest(cells: &[[String; 7]], column: usize) -> usize {
    cells.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or(0)
}

/// Returns device, port number and P_Key index of the local port for these parameters.
fn local_port(local_gid: Gid, common: &Parameters) -> Option<(String, u8, Option<u16>)> {
    let (device, port) = LocalPort::with_gid(local_gid)?;
    let index = LocalPort::index_for(&port, common.pkey);
    Some((device, port.number, index))
}

/// Prints shell variables for `eval`: of this command, or of a library. The semicolons allow `eval` of unquoted output,
/// which is one line.
pub(super) fn shell(
    out: &mut Output,
    row: &ServicePaths,
    common: &Parameters,
    local_gid: Gid,
    library: Option<Library>,
) -> io::Result<()> {
    let local = local_port(local_gid, common);
    if let Some(library) = library {
        for (name, value) in library.variables(common, local.as_ref()) {
            out.line(format_args!("export {name}={value};"))?;
        }
        return Ok(());
    }
    let Parameters { pkey, sl, rate, packet_life_time, .. } = *common;
    let mut variables = vec![
        ("SERVICE_ID", row.service.unwrap_or_default().to_string()),
        ("PKEY", pkey.to_string()),
        ("PARTITION", format!("{:#06x}", pkey.partition())),
        ("SL", sl.get().to_string()),
    ];
    // A code without a meaning has no variable: 0 would be taken for a value.
    variables.extend(common.mtu_bytes().map(|bytes| ("MTU", bytes.to_string())));
    variables.extend(rate.mbps().map(|mbps| ("RATE_MBPS", mbps.to_string())));
    variables.push(("PACKET_LIFE_TIME", packet_life_time.get().to_string()));
    if let Some((device, port, index)) = local {
        variables.extend([("DEVICE", quoted(&device)), ("PORT", port.to_string())]);
        variables.extend(index.map(|index| ("PKEY_INDEX", index.to_string())));
    }
    for (name, value) in variables {
        out.line(format_args!("export VF_{name}={value};"))?;
    }
    Ok(())
}

/// Quotes a word for a shell.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Prints one JSON document.
pub(super) fn json(out: &mut Output, rows: &[ServicePaths], source: &str, local_gid: Gid) -> io::Result<()> {
    let path = |(to, path): &(String, Result<PathRecord, String>)| match path {
        Ok(path) => json!({ "to": to, "path": fields(path) }),
        Err(why) => json!({ "to": to, "error": why }),
    };
    let row = |row: &ServicePaths| {
        let common = match &row.common {
            Ok(common) => parameters(common, local_gid),
            Err(why) => json!({ "error": why }),
        };
        json!({
            "service": row.service(),
            "service_id": row.service.map(|id| id.to_string()),
            "paths": row.paths.iter().map(path).collect::<Vec<_>>(),
            "common": common,
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    out.line(format_args!("{:#}", json!({ "asked": source, "services": rows })))
}

fn parameters(common: &Parameters, local_gid: Gid) -> Value {
    let port = local_port(local_gid, common);
    json!({
        "pkey": common.pkey.to_string(),
        "pkey_index": port.as_ref().and_then(|(.., index)| *index),
        "device": port.as_ref().map(|(device, ..)| device),
        "port": port.as_ref().map(|(_, port, _)| port),
        "sl": common.sl.get(),
        "mtu_bytes": common.mtu_bytes(),
        "rate_mbps": common.rate.mbps(),
        "packet_life_time_ns": nanoseconds(common.packet_life_time),
    })
}
