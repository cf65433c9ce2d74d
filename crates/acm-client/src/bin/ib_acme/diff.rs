//! `--diff`: compares the daemon's path with the path of the subnet administrator (SA).
use crate::{
    output::{Mark, fields, strerror},
    path_request,
    ranges::Names,
    run_state::RunState,
    server::Server,
};
use acm_client::{Request, ib_mad::sa::PathRecord};
use std::io;

/// Prints the differences for each source and destination. Returns 0 if there are none, 1 if there are some, -1 without
/// a path.
pub(crate) fn show(state: &mut RunState<'_>, server: &mut Server, dests: &str) -> io::Result<i32> {
    let (Some(dests), Some(sources)) = (Names::parse(dests), state.sources()) else {
        state.out.line(format_args!("Unable to parse destination or source argument"))?;
        return Ok(-1);
    };
    let mut status = 0;
    for dest in dests {
        let (format, dest) = state.classify(dest);
        for source in &sources {
            let what = source.as_ref().map_or_else(|| dest.clone(), |source| format!("{source} to {dest}"));
            let request = path_request::path_request(state.args, format, source.as_deref(), &dest);
            let compared = match request {
                Ok(request) => compare(state, server, &request),
                Err(fault) => Err(fault.into()),
            };
            match compared {
                Ok(lines) if lines.is_empty() => {
                    state.out.marked(Mark::Good, &format!("{what}: as subnet administration has it"))?;
                }
                Ok(lines) => {
                    state.out.marked(Mark::Bad, &format!("{what}: subnet administration has another path"))?;
                    for line in lines {
                        state.out.line(format_args!("     {line}"))?;
                    }
                    status = if status == 0 { 1 } else { status };
                }
                Err(why) => {
                    state.out.marked(Mark::Bad, &format!("{what}: {why}"))?;
                    status = -1;
                }
            }
        }
    }
    Ok(status)
}

fn compare(state: &RunState<'_>, server: &mut Server, request: &Request) -> Result<Vec<String>, String> {
    let found = server.path(request);
    let ours = found.map_err(|errno| format!("no path: {}", strerror(errno)))?.path;
    let theirs = path_request::query_sa(server, state.args, &ours);
    let theirs = theirs.map_err(|errno| format!("subnet administration has none: {}", strerror(errno)))?;
    Ok(differences(&ours, &theirs))
}

/// Returns one line for each field that differs.
pub(crate) fn differences(ours: &PathRecord, theirs: &PathRecord) -> Vec<String> {
    let theirs = fields(theirs);
    fields(ours)
        .iter()
        .filter_map(|(name, value)| {
            let other = theirs.get(name)?;
            (other != value).then(|| format!("{name}: daemon {value}, subnet administration {other}"))
        })
        .collect()
}
