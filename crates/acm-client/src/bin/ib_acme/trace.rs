//! `--trace`: diagnoses a missing path.
use crate::{
    args::{Args, Format},
    diff,
    output::{Mark, Output, strerror},
    path_request,
    ranges::Names,
    run_state::RunState,
    server::Server,
};
use acm_client::{
    Counter, Counters, Endpoint, PerfTarget,
    fabric::{self, Administration, LocalPort},
    ib_mad::{
        id::GroupUse,
        sa::{McMemberRecord, Query},
    },
};
use nix::libc::{EADDRNOTAVAIL, ENODATA, ENOMEM, ETIMEDOUT};
use std::io;

/// Queries step by step until a step fails. Returns 0 if there is a path, and the SA has the same path.
pub(crate) fn trace(args: &Args, out: &mut Output, dest: &str) -> io::Result<i32> {
    let mut state = RunState::new(args, out);
    let mut status = -1;
    for service in Names::parse(&args.services).into_iter().flatten() {
        status = match Server::connect(&service, state.errno, state.out)? {
            Ok(mut server) => steps(&mut state, &mut server, dest)?,
            Err(refused) => {
                let why = strerror(refused.errno);
                state.out.marked(Mark::Bad, &format!("no daemon answers at {service}: {why}"))?;
                state.out.line(format_args!("     does one run: systemctl status acm-mio ibacm"))?;
                1
            }
        };
    }
    Ok(status)
}

fn steps(state: &mut RunState<'_>, server: &mut Server, dest: &str) -> io::Result<i32> {
    state.out.marked(Mark::Good, &format!("a daemon answers at {}", server.name))?;
    let endpoints = server.endpoints();
    let served: Vec<&str> = endpoints.iter().flat_map(|endpoint| &endpoint.addresses).map(String::as_str).collect();
    if served.is_empty() {
        state.out.marked(Mark::Bad, "it serves no address")?;
        state
            .out
            .line(format_args!("     is a port active (ibstat), and has it an address (ibacm_addr.cfg, ip addr)?"))?;
        return Ok(1);
    }
    state.out.marked(Mark::Good, &format!("it serves {}", served.join(" ")))?;

    let (format, dest) = state.classify(dest.to_owned());
    let mut source = state.args.source.clone();
    if source.is_none() && format == Format::Name {
        // A name needs a source.
        source = served.iter().find(|address| address.parse::<core::net::IpAddr>().is_err()).map(ToString::to_string);
    }
    if let Some(source) = &source
        && matches!(format, Format::Ip | Format::Name)
        && !served.iter().any(|address| address.eq_ignore_ascii_case(source))
    {
        state.out.marked(Mark::Bad, &format!("{source} is not among them"))?;
        state.out.line(format_args!("     take one that is (-s), or have it served: ibacm_addr.cfg, ip addr"))?;
        return Ok(1);
    }
    let request = match path_request::path_request(state.args, format, source.as_deref(), &dest) {
        Ok(request) => request,
        Err(fault) => {
            state.out.marked(Mark::Bad, &String::from(fault))?;
            return Ok(1);
        }
    };
    let previous = counters(server);
    let found = server.path(&request);
    let sent = SentRequests::of(&previous, &counters(server));
    match found {
        Ok(found) => {
            let (dlid, pkey) = (found.path.dlid, found.path.pkey);
            state.out.marked(Mark::Good, &format!("{dest} is at LID {dlid} in {pkey}, {}", sent.found()))?;
            match path_request::query_sa(server, state.args, &found.path) {
                Ok(path) => {
                    let lines = diff::differences(&found.path, &path);
                    let mark = if lines.is_empty() { Mark::Good } else { Mark::Note };
                    state.out.marked(mark, "subnet administration has a path there")?;
                    for line in &lines {
                        state.out.line(format_args!("     {line}"))?;
                    }
                    Ok(i32::from(!lines.is_empty()))
                }
                Err(errno) => {
                    state.out.marked(Mark::Bad, &format!("subnet administration: {}", strerror(errno)))?;
                    state.out.line(format_args!("     {}", of_administration(errno)))?;
                    Ok(1)
                }
            }
        }
        Err(errno) => {
            state.out.marked(Mark::Bad, &format!("no path to {dest}: {}; {}", strerror(errno), sent.failed(errno)))?;
            state.out.line(format_args!("     {}", sent.advice(errno, format)))?;
            if sent.multicast && !sent.sa {
                let is_source =
                    |address: &String| source.as_ref().is_some_and(|source| address.eq_ignore_ascii_case(source));
                let endpoint = endpoints.iter().find(|endpoint| endpoint.addresses.iter().any(is_source));
                endpoint.or(endpoints.first()).map_or(Ok(()), |endpoint| group(state.out, endpoint))?;
            }
            Ok(1)
        }
    }
}

/// Checks in the SA whether the daemon's port is a member of a multicast group of its partition. Only members receive
/// multicast requests.
fn group(out: &mut Output, endpoint: &Endpoint) -> io::Result<()> {
    let listed = LocalPort::of_device(endpoint.device, endpoint.port).and_then(|port| {
        let query = Query::<McMemberRecord>::new().port_gid(port.gid());
        fabric::groups(&mut Administration::open(port)?, &query)
    });
    // Rate and MTU depend on the daemon's options, and are part of the GID.
    let is_of_partition = |group: &fabric::Group| match GroupUse::of(group.record.mgid) {
        Some(GroupUse::Acm { pkey, .. }) => pkey.same_partition(endpoint.pkey) && !group.members.is_empty(),
        _ => false,
    };
    match listed.map(|found| found.groups.into_iter().find(is_of_partition)) {
        Ok(Some(fabric::Group { record, .. })) => {
            let (mgid, mlid) = (record.mgid, record.mlid);
            out.marked(Mark::Good, &format!("this port is in the multicast group {mgid}, LID {mlid}"))
        }
        Ok(None) => {
            let pkey = endpoint.pkey;
            out.marked(Mark::Bad, &format!("this port is in no multicast group of ibacm's of partition {pkey}"))?;
            out.line(format_args!(
                "     the daemon's log has the reason, for instance \"join failed\"; a restarted daemon joins again"
            ))
        }
        Err(error) => out.marked(Mark::Note, &format!("the multicast group was not checked: {error}")),
    }
}

fn counters(server: &mut Server) -> Counters {
    server.counters(PerfTarget::Total).unwrap_or_default()
}

/// Kinds of requests that the daemon sent during the trace, by its counters. Other clients may have caused these
/// requests.
struct SentRequests {
    multicast: bool,
    sa: bool,
}

impl SentRequests {
    fn of(previous: &Counters, current: &Counters) -> Self {
        let grew = |counter| current.get(counter) > previous.get(counter);
        Self { multicast: grew(Counter::AddrQuery), sa: grew(Counter::RouteQuery) }
    }

    const fn found(&self) -> &'static str {
        match (self.multicast, self.sa) {
            (true, true) => "by multicast and subnet administration",
            (true, false) => "by multicast",
            (false, true) => "by subnet administration",
            (false, false) => "as the daemon had cached",
        }
    }

    const fn failed(&self, errno: i32) -> &'static str {
        match (self.multicast, self.sa) {
            (_, true) => "subnet administration was queried for the path",
            (true, false) if errno == ETIMEDOUT => "a multicast request was sent, and no node answered",
            (true, false) => "a multicast request was sent",
            (false, false) => "no request was sent: a lookup failed a moment ago, or the address is invalid",
        }
    }

    const fn advice(&self, errno: i32, format: Format) -> &'static str {
        match errno {
            ETIMEDOUT if self.sa || matches!(format, Format::Lid | Format::Gid) => of_administration(errno),
            ETIMEDOUT => {
                "on that node: does a daemon run, and does it serve the address in the same partition (ib_acme -e)?"
            }
            EADDRNOTAVAIL => "name a source with -s: an address that this daemon serves (ib_acme -e)",
            ENODATA if self.sa || matches!(format, Format::Lid | Format::Gid) => of_administration(errno),
            ENODATA => "has the daemon joined its multicast group? if not, its log has \"join failed\"",
            ENOMEM => "too many requests are pending: acmctl status --all lists them by account",
            _ => "the daemon's log has the reason: docs/troubleshooting.md",
        }
    }
}

const fn of_administration(errno: i32) -> &'static str {
    match errno {
        ETIMEDOUT => "does the subnet manager run and answer (sminfo, saquery)?",
        _ => "it has no such path: is the node there (ibnetdiscover), in the same partition (saquery)?",
    }
}
