//! `-P`: counters.
use crate::{
    args::{Format, Perf},
    asker::Asker,
    output::strerror,
    question::LONGEST_NAME,
    server::Server,
};
use acm_client::{Address, Counters, Name, PerfTarget};
use core::net::IpAddr;
use nix::libc::EADDRNOTAVAIL;
use std::io;

/// Shows counters. Whether there are any does not change the status.
pub(crate) fn show(asker: &mut Asker<'_>, server: &mut Server, which: Perf) -> io::Result<()> {
    let found = match which {
        Perf::Row | Perf::Column => ask(asker, server, PerfTarget::Total),
        Perf::Endpoint(index) => endpoint(asker, server, index),
        Perf::All => return all(asker, server),
        Perf::Source => of_source(asker, server)?,
    };
    let name = &server.name;
    match found {
        Some(counters) if which == Perf::Column => column(asker, name, &counters),
        Some(counters) => row(asker, name, &counters),
        None => asker.out.line(format_args!("{name}: Failed to query perf data: {}", strerror(asker.errno))),
    }
}

/// Of each endpoint, until there is no more.
fn all(asker: &mut Asker<'_>, server: &mut Server) -> io::Result<()> {
    for index in 1.. {
        let Some(counters) = endpoint(asker, server, index) else { break };
        row(asker, &server.name, &counters)?;
    }
    Ok(())
}

fn endpoint(asker: &mut Asker<'_>, server: &mut Server, index: i32) -> Option<Counters> {
    match u8::try_from(index) {
        Ok(index) => ask(asker, server, PerfTarget::Endpoint(index)),
        // The protocol has no room for it.
        Err(_) => {
            asker.errno = EADDRNOTAVAIL;
            None
        }
    }
}

/// Of the endpoint with the address of `-s`.
fn of_source(asker: &mut Asker<'_>, server: &mut Server) -> io::Result<Option<Counters>> {
    let (format, source) = asker.classify(asker.args.source.clone().unwrap_or_default());
    match format {
        Format::Ip => {
            asker.tell(format_args!("query_perf_ip: src_addr {source}"))?;
            if address(format, &source).is_none() {
                asker.out.line(format_args!("inet_pton error on src address ({source}): 0x0"))?;
                return Ok(None);
            }
        }
        Format::Name => {
            asker.tell(format_args!("query_perf_name: src_addr {source}"))?;
        }
        Format::Lid | Format::Gid => {
            // The letter of the format, as a number.
            let letter = if format == Format::Lid { b'l' } else { b'g' };
            asker.out.line(format_args!("Unsupported src_type {letter}"))?;
            return Ok(None);
        }
    }
    let address = address(format, &source);
    let counters = address.and_then(|address| ask(asker, server, PerfTarget::Address(Some(address))));
    if counters.is_none() {
        asker.out.line(format_args!("ib_acm_query_perf failed: {}", strerror(asker.errno)))?;
    }
    Ok(counters)
}

/// The address of an endpoint whose counters can be asked for, if the text is one.
pub(crate) fn address(format: Format, text: &str) -> Option<Address> {
    match format {
        Format::Ip => text.parse::<IpAddr>().ok().map(Address::from),
        Format::Name => (text.len() <= LONGEST_NAME).then(|| Address::Name(Name::new(text.as_bytes()))),
        Format::Lid | Format::Gid => None,
    }
}

fn ask(asker: &mut Asker<'_>, server: &mut Server, target: PerfTarget) -> Option<Counters> {
    server.counters(target).map_err(|errno| asker.errno = errno).ok()
}

fn row(asker: &mut Asker<'_>, service: &str, counters: &Counters) -> io::Result<()> {
    if !core::mem::replace(&mut asker.perf_head, true) {
        asker.out.line(format_args!("svc,{}", Counters::NAMES.join(",")))?;
    }
    asker.out.line(format_args!("{service},{}", counters.0.map(|value| value.to_string()).join(",")))
}

fn column(asker: &mut Asker<'_>, service: &str, counters: &Counters) -> io::Result<()> {
    asker.out.line(format_args!("{service}"))?;
    for (name, value) in Counters::NAMES.iter().zip(counters.0) {
        asker.out.line(format_args!("{name} : {value}"))?;
    }
    Ok(())
}
