//! `-d`: paths.
use crate::{
    args::Format,
    number::atoi,
    output::{Output, strerror},
    ranges::Names,
    server::Server,
    services::Asker,
};
use acm_client::{
    Address, Answer, Name, Request, Resolved,
    ib_mad::{Gid, Lid, sa::PathRecord},
};
use core::net::{IpAddr, Ipv6Addr};
use std::io;

/// Bytes that a name may have in a request, which keeps one for its end.
const LONGEST_NAME: usize = 63;

/// What is asked, or what is wrong with it.
type Question = Result<Request, Fault>;

/// Why nothing is asked.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    /// A line that says it.
    Text(String),
    /// The name is too long.
    Name,
}

/// Asks for the paths from each source to each destination; the status of the last one.
pub(crate) fn resolve(asker: &mut Asker<'_>, server: &mut Server, dests: &str) -> io::Result<i32> {
    let Some(dests) = Names::parse(dests) else {
        asker.out.line(format_args!("Unable to parse destination argument"))?;
        return Ok(-1);
    };
    let sources: Vec<Option<String>> = match asker.args.source.as_deref().map(Names::parse) {
        None => vec![None],
        Some(Some(names)) => names.map(Some).collect(),
        Some(None) => {
            asker.out.line(format_args!("Unable to parse source argument"))?;
            return Ok(-1);
        }
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
    let (question, mut path) = (question(format, source, dest, asker.args.cached), PathRecord::default());
    for _ in 0..repetitions {
        match &question {
            Ok(request) => match server.ask(request) {
                Ok(answer) => {
                    status = 0;
                    if let Answer::Path(Resolved { path: found, source }) = answer {
                        path = found;
                        if let (Some(source), 1) = (source, repetitions) {
                            asker.out.line(format_args!("Source: {source}"))?;
                        }
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

fn question(format: Format, source: Option<&str>, dest: &str, no_delay: bool) -> Question {
    match format {
        Format::Ip => {
            let read = |which: &str, text: &str| {
                text.parse::<IpAddr>()
                    .map_err(|_| Fault::Text(format!("inet_pton error on {which} address ({text}): 0x0")))
            };
            let source = source.map(|source| read("source", source)).transpose()?;
            let dest = read("destination", dest)?;
            if source.is_some_and(|source| source.is_ipv4() != dest.is_ipv4()) {
                return Err(Fault::Text("source and destination address families don't match".to_owned()));
            }
            Ok(Request::Resolve { source: source.map(Address::from), dest: dest.into(), no_delay })
        }
        Format::Name => {
            if dest.len().max(source.map_or(0, str::len)) > LONGEST_NAME {
                return Err(Fault::Name);
            }
            let name = |text: &str| Address::Name(Name::new(text.as_bytes()));
            Ok(Request::Resolve { source: source.map(name), dest: name(dest), no_delay })
        }
        Format::Lid => {
            // Cut to 16 bits.
            let lid = |text: &str| {
                let [low, high, ..] = atoi(text).to_le_bytes();
                Lid::new(u16::from_le_bytes([low, high]))
            };
            let path = PathRecord { slid: source.map_or(Lid::NONE, lid), dlid: lid(dest), ..one_reversible() };
            Ok(Request::Route { path, no_delay })
        }
        Format::Gid => {
            let read = |which: &str, text: &str| {
                let ip: Result<Ipv6Addr, _> = text.parse();
                ip.map(|ip| Gid::new(ip.octets()))
                    .map_err(|_| Fault::Text(format!("inet_pton error on {which} address ({text}): 0x0")))
            };
            let sgid = source.map(|source| read("source", source)).transpose()?.unwrap_or_default();
            let path = PathRecord { sgid, dgid: read("dest", dest)?, ..one_reversible() };
            Ok(Request::Route { path, no_delay })
        }
    }
}

/// What every path has to be.
fn one_reversible() -> PathRecord {
    let record = PathRecord::default();
    let reversible_paths = record.reversible_paths.with_reversible(true).with_num_path(1);
    PathRecord { reversible_paths, ..record }
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

/// The fields of a path, codes as they are.
fn show(out: &mut Output, path: &PathRecord) -> io::Result<()> {
    let gid = |gid: Gid| Ipv6Addr::from(gid.get());
    let code = |code: u8| code & 0x1f;
    out.line(format_args!("Path information"))?;
    out.line(format_args!("  dgid: {}", gid(path.dgid)))?;
    out.line(format_args!("  sgid: {}", gid(path.sgid)))?;
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
