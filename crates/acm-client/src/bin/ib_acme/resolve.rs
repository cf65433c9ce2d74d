//! `-d`: prints paths.
use crate::{
    args::Format,
    output::{Output, note, strerror},
    path_request::{self, AddressError},
    ranges::Names,
    run_state::RunState,
    server::Server,
};
use acm_client::{Request, ib_mad::sa::PathRecord};
use nix::libc::EINVAL;
use std::io;

/// Requests the paths from each source to each destination. Returns the status of the last path.
pub(crate) fn resolve(state: &mut RunState<'_>, server: &mut Server, dests: &str) -> io::Result<i32> {
    let Some(dests) = Names::parse(dests) else {
        state.out.line(format_args!("Unable to parse destination argument"))?;
        return Ok(-1);
    };
    let Some(sources) = state.sources() else {
        state.out.line(format_args!("Unable to parse source argument"))?;
        return Ok(-1);
    };
    state.out.line(format_args!("Service: {}", server.name))?;
    let mut status = -1;
    for dest in dests {
        let (format, dest) = state.classify(dest);
        for source in &sources {
            status = one(state, server, format, source.as_deref(), &dest, status)?;
        }
    }
    Ok(status)
}

/// Requests one path as often as configured, and prints it. `status` is the status of the previous path.
fn one(
    state: &mut RunState<'_>,
    server: &mut Server,
    format: Format,
    source: Option<&str>,
    dest: &str,
    mut status: i32,
) -> io::Result<i32> {
    state.out.line(format_args!("Destination: {dest}"))?;
    if let Some(source) = source {
        state.out.line(format_args!("Source: {source}"))?;
    }
    let repetitions = state.args.repetitions();
    let (request, mut path) = (path_request::path_request(state.args, format, source, dest), PathRecord::default());
    for _ in 0..repetitions {
        match &request {
            Ok(request) => match path_request::path(server, state.args, request) {
                Ok(found) => {
                    (status, path) = (0, found.path);
                    if let (Some(source), 1) = (found.source, repetitions) {
                        state.out.line(format_args!("Source: {source}"))?;
                    }
                }
                Err(errno) => {
                    (state.errno, status) = (errno, -1);
                    failed(state, format)?;
                    if errno == EINVAL && source.is_none() && format == Format::Name {
                        note(format_args!("a name has no route that selects a port: give a name of this node with -s"));
                    }
                }
            },
            Err(fault) => {
                status = -1;
                match fault {
                    AddressError::Text(text) => state.out.line(format_args!("{text}"))?,
                    AddressError::NameTooLong => failed(state, format)?,
                }
            }
        }
    }
    if status == 0 {
        show(state.out, "Path information", &path)?;
        if let Some(most) = state.args.alternates {
            status = show_alternates(state, server, &path, most)?;
        }
        if state.args.verify {
            status = status.min(verify(state, server, &path)?);
        }
    }
    state.out.line(format_args!(""))?;
    Ok(status)
}

fn failed(state: &mut RunState<'_>, format: Format) -> io::Result<()> {
    let function = match format {
        Format::Ip => "ip",
        Format::Name => "name",
        Format::Lid | Format::Gid => "path",
    };
    state.out.line(format_args!("ib_acm_resolve_{function} failed: {}", strerror(state.errno)))
}

/// Requests and prints the alternate paths of a path.
fn show_alternates(state: &mut RunState<'_>, server: &mut Server, path: &PathRecord, most: usize) -> io::Result<i32> {
    let conditions = state.args.requirements.apply_to(PathRecord::default());
    match server.alternates(path, &conditions, most) {
        Ok(found) => {
            for path in &found {
                show(state.out, "Alternate path information", path)?;
            }
            Ok(0)
        }
        Err(errno) => {
            state.errno = errno;
            state.out.line(format_args!("Alternate paths: failed {}", strerror(errno)))?;
            Ok(-1)
        }
    }
}

/// Queries the SA for the same path.
fn verify(state: &mut RunState<'_>, server: &mut Server, path: &PathRecord) -> io::Result<i32> {
    match server.ask(&Request::QuerySa { path: *path }) {
        Ok(_) => {
            state.out.line(format_args!("SA verification: success"))?;
            Ok(0)
        }
        Err(errno) => {
            state.errno = errno;
            state.out.line(format_args!("SA verification: failed {}", strerror(errno)))?;
            Ok(-1)
        }
    }
}

/// Prints the fields of a path. Codes are printed as numbers, without their upper three bits.
fn show(out: &mut Output, title: &str, path: &PathRecord) -> io::Result<()> {
    let code = |code: u8| code & 0x1f;
    out.line(format_args!("{title}"))?;
    out.line(format_args!("  dgid: {}", path.dgid))?;
    out.line(format_args!("  sgid: {}", path.sgid))?;
    out.line(format_args!("  dlid: {}", path.dlid.get()))?;
    out.line(format_args!("  slid: {}", path.slid.get()))?;
    out.line(format_args!("  flow label: 0x{:x}", path.flow_hop.flow_label().get()))?;
    out.line(format_args!("  hop limit: {}", path.flow_hop.hop_limit()))?;
    out.line(format_args!("  tclass: {}", path.traffic_class))?;
    out.line(format_args!("  reversible: {}", u8::from(path.reversible_paths.reversible())))?;
    out.line(format_args!("  pkey: 0x{:x}", path.pkey.get()))?;
    out.line(format_args!("  sl: {}", path.qos_sl.sl().get()))?;
    out.line(format_args!("  mtu: {}", code(path.mtu.value().get())))?;
    out.line(format_args!("  rate: {}", code(path.rate.value().get())))?;
    out.line(format_args!("  packet lifetime: {}", code(path.packet_life_time.value().get())))
}

#[cfg(test)]
mod tests {
    use crate::{
        args::Args,
        output::Output,
        services::ask_all,
        testing::{LOST, with_daemon},
    };
    use clap::Parser;

    #[test]
    fn verification_queries_the_sa_for_the_path_and_sets_the_exit_status() {
        let cases = [
            (&["-v"][..], "node2", 0, Some("SA verification: success")),
            (&["-v"], LOST, -1, Some("SA verification: failed No data available")),
            (&[], LOST, 0, None),
        ];
        for (words, dest, status, expected) in cases {
            let mut out = Output::in_memory();
            let (result, queried) = with_daemon(|socket| {
                let args = ["ib_acme", "-S", socket, "-f", "n", "-s", "node1", "-d", dest];
                let args = Args::parse_from([&args[..], words].concat());
                ask_all(&args, &mut out)
            });
            let text = String::from_utf8(out.into_bytes()).unwrap();
            let verified = text.lines().find(|line| line.starts_with("SA verification"));
            assert_eq!((result.unwrap(), verified, queried.len()), (status, expected, words.len()), "{text}");
        }
    }
}
