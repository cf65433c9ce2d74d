//! `-d`: paths.
use crate::{
    args::Format,
    asker::Asker,
    output::{Output, strerror},
    question::{self, Fault},
    ranges::Names,
    server::Server,
};
use acm_client::{Request, ib_mad::sa::PathRecord};
use std::io;

/// Asks for the paths from each source to each destination; the status of the last one.
pub(crate) fn resolve(asker: &mut Asker<'_>, server: &mut Server, dests: &str) -> io::Result<i32> {
    let Some(dests) = Names::parse(dests) else {
        asker.out.line(format_args!("Unable to parse destination argument"))?;
        return Ok(-1);
    };
    let Some(sources) = asker.sources() else {
        asker.out.line(format_args!("Unable to parse source argument"))?;
        return Ok(-1);
    };
    asker.out.line(format_args!("Service: {}", server.name))?;
    let mut status = -1;
    for dest in dests {
        let (format, dest) = asker.classify(dest);
        for source in &sources {
            status = one(asker, server, format, source.as_deref(), &dest, status)?;
        }
    }
    Ok(status)
}

/// Asks for one path, as often as is wanted, and shows it; `status` is that of the path before.
fn one(
    asker: &mut Asker<'_>,
    server: &mut Server,
    format: Format,
    source: Option<&str>,
    dest: &str,
    mut status: i32,
) -> io::Result<i32> {
    asker.out.line(format_args!("Destination: {dest}"))?;
    if let Some(source) = source {
        asker.out.line(format_args!("Source: {source}"))?;
    }
    let repetitions = asker.args.repetitions();
    let (question, mut path) = (question::question(asker.args, format, source, dest), PathRecord::default());
    for _ in 0..repetitions {
        match &question {
            Ok(request) => match question::ask(server, asker.args, request) {
                Ok(found) => {
                    (status, path) = (0, found.path);
                    if let (Some(source), 1) = (found.source, repetitions) {
                        asker.out.line(format_args!("Source: {source}"))?;
                    }
                }
                Err(errno) => {
                    (asker.errno, status) = (errno, -1);
                    failed(asker, format)?;
                }
            },
            Err(fault) => {
                status = -1;
                match fault {
                    Fault::Text(text) => asker.out.line(format_args!("{text}"))?,
                    Fault::Name => failed(asker, format)?,
                }
            }
        }
    }
    if status == 0 {
        show(asker.out, &path)?;
        if asker.args.verify {
            status = verify(asker, server, &path)?;
        }
    }
    asker.out.line(format_args!(""))?;
    Ok(status)
}

fn failed(asker: &mut Asker<'_>, format: Format) -> io::Result<()> {
    let function = match format {
        Format::Ip => "ip",
        Format::Name => "name",
        Format::Lid | Format::Gid => "path",
    };
    asker.out.line(format_args!("ib_acm_resolve_{function} failed: {}", strerror(asker.errno)))
}

/// Has subnet administration look up the same path.
fn verify(asker: &mut Asker<'_>, server: &mut Server, path: &PathRecord) -> io::Result<i32> {
    match server.ask(&Request::QuerySa { path: *path }) {
        Ok(_) => {
            asker.out.line(format_args!("SA verification: success"))?;
            Ok(0)
        }
        Err(errno) => {
            asker.errno = errno;
            asker.out.line(format_args!("SA verification: failed {}", strerror(errno)))?;
            Ok(-1)
        }
    }
}

/// The fields of a path; of codes the lowest five bits, as they are.
fn show(out: &mut Output, path: &PathRecord) -> io::Result<()> {
    let code = |code: u8| code & 0x1f;
    out.line(format_args!("Path information"))?;
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
