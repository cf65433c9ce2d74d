//! `--diff`: the daemon's path beside subnet administration's.
use crate::{
    asker::Asker,
    fields::fields,
    output::{Mark, strerror},
    question,
    ranges::Names,
    server::Server,
};
use acm_client::{Request, ib_mad::sa::PathRecord};
use std::io;

/// Shows what differs, for each source and destination: 0 if nothing does, 1 if something does, 255 without a path.
pub(crate) fn show(asker: &mut Asker<'_>, server: &mut Server, dests: &str) -> io::Result<i32> {
    let (Some(dests), Some(sources)) = (Names::parse(dests), asker.sources()) else {
        asker.out.line(format_args!("Unable to parse destination or source argument"))?;
        return Ok(-1);
    };
    let mut status = 0;
    for dest in dests {
        let (format, dest) = asker.classify(dest);
        for source in &sources {
            let what = source.as_ref().map_or_else(|| dest.clone(), |source| format!("{source} to {dest}"));
            let question = question::question(asker.args, format, source.as_deref(), &dest);
            let compared = match question {
                Ok(request) => compare(asker, server, &request),
                Err(fault) => Err(fault.into()),
            };
            match compared {
                Ok(lines) if lines.is_empty() => {
                    asker.out.marked(Mark::Good, &format!("{what}: as subnet administration has it"))?;
                }
                Ok(lines) => {
                    asker.out.marked(Mark::Bad, &format!("{what}: subnet administration has another path"))?;
                    for line in lines {
                        asker.out.line(format_args!("     {line}"))?;
                    }
                    status = if status == 0 { 1 } else { status };
                }
                Err(why) => {
                    asker.out.marked(Mark::Bad, &format!("{what}: {why}"))?;
                    status = -1;
                }
            }
        }
    }
    Ok(status)
}

fn compare(asker: &Asker<'_>, server: &mut Server, request: &Request) -> Result<Vec<String>, String> {
    let found = question::ask(server, asker.args, request);
    let ours = found.map_err(|errno| format!("no path: {}", strerror(errno)))?.path;
    let theirs = question::ask_sa(server, asker.args, &ours);
    let theirs = theirs.map_err(|errno| format!("subnet administration has none: {}", strerror(errno)))?;
    Ok(differences(&ours, &theirs))
}

/// A line for each field that differs.
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
