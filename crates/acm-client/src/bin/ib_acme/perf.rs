//! `-P`: prints counters.
use crate::{
    args::{Format, Perf},
    output::strerror,
    path_request::LONGEST_NAME,
    run_state::RunState,
    server::Server,
};
use acm_client::{Address, Counters, Name, PerfTarget};
use core::net::IpAddr;
use nix::libc::EADDRNOTAVAIL;
use std::io;

/// Prints counters. The exit status does not depend on the result.
pub(crate) fn show(state: &mut RunState<'_>, server: &mut Server, which: Perf) -> io::Result<()> {
    let found = match which {
        Perf::Row | Perf::Column => ask(state, server, PerfTarget::Total),
        Perf::Endpoint(index) => endpoint(state, server, index),
        Perf::All => return all(state, server),
        Perf::Source => of_source(state, server)?,
    };
    let name = &server.name;
    match found {
        Some(counters) if which == Perf::Column => column(state, name, &counters),
        Some(counters) => row(state, name, &counters),
        None => state.out.line(format_args!("{name}: Failed to query perf data: {}", strerror(state.errno))),
    }
}

/// Prints the counters of each endpoint.
fn all(state: &mut RunState<'_>, server: &mut Server) -> io::Result<()> {
    for index in 1.. {
        let Some(counters) = endpoint(state, server, index) else { break };
        row(state, &server.name, &counters)?;
    }
    Ok(())
}

fn endpoint(state: &mut RunState<'_>, server: &mut Server, index: i32) -> Option<Counters> {
    match u8::try_from(index) {
        Ok(index) => ask(state, server, PerfTarget::Endpoint(index)),
        // The protocol's index has 8 bits.
        Err(_) => {
            state.errno = EADDRNOTAVAIL;
            None
        }
    }
}

/// Returns the counters of the endpoint with the address of `-s`.
fn of_source(state: &mut RunState<'_>, server: &mut Server) -> io::Result<Option<Counters>> {
    let (format, source) = state.classify(state.args.source.clone().unwrap_or_default());
    match format {
        Format::Ip => {
            state.verbose(format_args!("query_perf_ip: src_addr {source}"))?;
            if address(format, &source).is_none() {
                state.out.line(format_args!("inet_pton error on src address ({source}): 0x0"))?;
                return Ok(None);
            }
        }
        Format::Name => {
            state.verbose(format_args!("query_perf_name: src_addr {source}"))?;
        }
        Format::Lid | Format::Gid => {
            // rdma-core's ib_acme prints the letter of the format as a number.
            let letter = if format == Format::Lid { b'l' } else { b'g' };
            state.out.line(format_args!("Unsupported src_type {letter}"))?;
            return Ok(None);
        }
    }
    let address = address(format, &source);
    let counters = address.and_then(|address| ask(state, server, PerfTarget::Address(Some(address))));
    if counters.is_none() {
        state.out.line(format_args!("ib_acm_query_perf failed: {}", strerror(state.errno)))?;
    }
    Ok(counters)
}

/// Parses the address of an endpoint. Returns `None` if the protocol has no counters by this type of address.
pub(crate) fn address(format: Format, text: &str) -> Option<Address> {
    match format {
        Format::Ip => text.parse::<IpAddr>().ok().map(Address::from),
        Format::Name => (text.len() <= LONGEST_NAME).then(|| Address::Name(Name::new(text.as_bytes()))),
        Format::Lid | Format::Gid => None,
    }
}

fn ask(state: &mut RunState<'_>, server: &mut Server, target: PerfTarget) -> Option<Counters> {
    server.counters(target).map_err(|errno| state.errno = errno).ok()
}

fn row(state: &mut RunState<'_>, service: &str, counters: &Counters) -> io::Result<()> {
    if !core::mem::replace(&mut state.perf_head, true) {
        state.out.line(format_args!("svc,{}", Counters::NAMES.join(",")))?;
    }
    state.out.line(format_args!("{service},{}", counters.0.map(|value| value.to_string()).join(",")))
}

fn column(state: &mut RunState<'_>, service: &str, counters: &Counters) -> io::Result<()> {
    state.out.line(format_args!("{service}"))?;
    for (name, value) in Counters::NAMES.iter().zip(counters.0) {
        state.out.line(format_args!("{name} : {value}"))?;
    }
    Ok(())
}
