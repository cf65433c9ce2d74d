//! `--trace`: why a path is not found.
use crate::{
    args::{Args, Format},
    asker::Asker,
    diff,
    output::{Mark, Output, strerror},
    question,
    ranges::Names,
    server::Server,
};
use acm_client::{
    Counter, Counters, Endpoint, PerfTarget,
    fabric::{self, Administration, LocalPort},
    ib_mad::{id::GroupUse, sa::Query},
};
use nix::libc::{EADDRNOTAVAIL, ENODATA, ENOMEM, ETIMEDOUT};
use std::io;

/// Asks step by step, up to the one that fails; 0 if there is a path, and subnet administration has the same.
pub(crate) fn trace(args: &Args, out: &mut Output, dest: &str) -> io::Result<i32> {
    let mut asker = Asker::new(args, out);
    let mut status = -1;
    for service in Names::parse(&args.services).into_iter().flatten() {
        status = match Server::connect(&service, asker.errno, asker.out)? {
            Ok(mut server) => steps(&mut asker, &mut server, dest)?,
            Err(refused) => {
                let why = strerror(refused.errno);
                asker.out.marked(Mark::Bad, &format!("no daemon answers at {service}: {why}"))?;
                asker.out.line(format_args!("     does one run: systemctl status acm-mio ibacm"))?;
                1
            }
        };
    }
    Ok(status)
}

fn steps(asker: &mut Asker<'_>, server: &mut Server, dest: &str) -> io::Result<i32> {
    asker.out.marked(Mark::Good, &format!("a daemon answers at {}", server.name))?;
    let endpoints = server.endpoints();
    let served: Vec<&str> = endpoints.iter().flat_map(|endpoint| &endpoint.addresses).map(String::as_str).collect();
    if served.is_empty() {
        asker.out.marked(Mark::Bad, "it serves no address")?;
        asker
            .out
            .line(format_args!("     is a port active (ibstat), and has it an address (ibacm_addr.cfg, ip addr)?"))?;
        return Ok(1);
    }
    asker.out.marked(Mark::Good, &format!("it serves {}", served.join(" ")))?;

    let (format, dest) = asker.classify(dest.to_owned());
    let mut source = asker.args.source.clone();
    if source.is_none() && format == Format::Name {
        // A name has to be asked for from somewhere.
        source = served.iter().find(|address| address.parse::<core::net::IpAddr>().is_err()).map(ToString::to_string);
    }
    if let Some(source) = &source
        && matches!(format, Format::Ip | Format::Name)
        && !served.iter().any(|address| address.eq_ignore_ascii_case(source))
    {
        asker.out.marked(Mark::Bad, &format!("{source} is not among them"))?;
        asker.out.line(format_args!("     take one that is (-s), or have it served: ibacm_addr.cfg, ip addr"))?;
        return Ok(1);
    }
    let request = match question::question(asker.args, format, source.as_deref(), &dest) {
        Ok(request) => request,
        Err(fault) => {
            asker.out.marked(Mark::Bad, &String::from(fault))?;
            return Ok(1);
        }
    };
    let before = counters(server);
    let found = question::ask(server, asker.args, &request);
    let story = Story::of(&before, &counters(server));
    match found {
        Ok(found) => {
            let (dlid, pkey) = (found.path.dlid, found.path.pkey);
            asker.out.marked(Mark::Good, &format!("{dest} is at LID {dlid} in {pkey}, {}", story.found()))?;
            match question::ask_sa(server, asker.args, &found.path) {
                Ok(path) => {
                    let lines = diff::differences(&found.path, &path);
                    let mark = if lines.is_empty() { Mark::Good } else { Mark::Note };
                    asker.out.marked(mark, "subnet administration has a path there")?;
                    for line in &lines {
                        asker.out.line(format_args!("     {line}"))?;
                    }
                    Ok(i32::from(!lines.is_empty()))
                }
                Err(errno) => {
                    asker.out.marked(Mark::Bad, &format!("subnet administration: {}", strerror(errno)))?;
                    asker.out.line(format_args!("     {}", of_administration(errno)))?;
                    Ok(1)
                }
            }
        }
        Err(errno) => {
            asker.out.marked(Mark::Bad, &format!("no path to {dest}: {}; {}", strerror(errno), story.failed(errno)))?;
            asker.out.line(format_args!("     {}", story.advice(errno, format)))?;
            if story.asked_group && !story.asked_administration {
                let is_source = |address: &String| source.as_ref().is_some_and(|own| address.eq_ignore_ascii_case(own));
                let own = endpoints.iter().find(|endpoint| endpoint.addresses.iter().any(is_source));
                own.or(endpoints.first()).map_or(Ok(()), |endpoint| group(asker.out, endpoint))?;
            }
            Ok(1)
        }
    }
}

/// Whether the daemon's port is in a group of its partition, as subnet administration has it: what is sent to a group
/// reaches its members only.
fn group(out: &mut Output, endpoint: &Endpoint) -> io::Result<()> {
    let looked = LocalPort::of_device(endpoint.device, endpoint.port).and_then(|port| {
        let own = Query::new().port_gid(port.gid());
        fabric::groups(&mut Administration::open(port)?, &own)
    });
    // Its rate and MTU are the daemon's options, and in the GID.
    let is_its = |group: &fabric::Group| match GroupUse::of(group.record.mgid) {
        Some(GroupUse::Acm { pkey, .. }) => pkey.same_partition(endpoint.pkey) && !group.members.is_empty(),
        _ => false,
    };
    match looked.map(|found| found.groups.into_iter().find(is_its)) {
        Ok(Some(fabric::Group { record, .. })) => {
            let (mgid, mlid) = (record.mgid, record.mlid);
            out.marked(Mark::Good, &format!("this port is in the multicast group {mgid}, LID {mlid}"))
        }
        Ok(None) => {
            let pkey = endpoint.pkey;
            out.marked(Mark::Bad, &format!("this port is in no multicast group of ibacm's of partition {pkey}"))?;
            out.line(format_args!(
                "     the daemon's log says \"join failed\" or why else; a restart of it joins again"
            ))
        }
        Err(error) => out.marked(Mark::Note, &format!("the multicast group was not looked at: {error}")),
    }
}

fn counters(server: &mut Server) -> Counters {
    server.counters(PerfTarget::Total).unwrap_or_default()
}

/// What the daemon's counters say of what it did meanwhile. Others may have asked it, too.
struct Story {
    asked_group: bool,
    asked_administration: bool,
}

impl Story {
    fn of(before: &Counters, after: &Counters) -> Self {
        let grew = |counter| after.get(counter) > before.get(counter);
        Self { asked_group: grew(Counter::AddrQuery), asked_administration: grew(Counter::RouteQuery) }
    }

    const fn found(&self) -> &'static str {
        match (self.asked_group, self.asked_administration) {
            (true, true) => "by multicast and subnet administration",
            (true, false) => "by multicast",
            (false, true) => "by subnet administration",
            (false, false) => "as the daemon knew already",
        }
    }

    const fn failed(&self, errno: i32) -> &'static str {
        match (self.asked_group, self.asked_administration) {
            (_, true) => "subnet administration was asked for the path",
            (true, false) if errno == ETIMEDOUT => "the multicast group was asked, and nobody answered",
            (true, false) => "the multicast group was asked",
            (false, false) => "nobody was asked: it failed a moment ago, or cannot be asked for",
        }
    }

    const fn advice(&self, errno: i32, format: Format) -> &'static str {
        match errno {
            ETIMEDOUT if self.asked_administration || matches!(format, Format::Lid | Format::Gid) => {
                of_administration(errno)
            }
            ETIMEDOUT => "there: does a daemon run, and does it serve that address in the same partition (ib_acme -e)?",
            EADDRNOTAVAIL => "from where? say -s with an address that is served",
            ENODATA if self.asked_administration || matches!(format, Format::Lid | Format::Gid) => {
                of_administration(errno)
            }
            ENODATA => "has the daemon joined its multicast group? its log says \"join failed\" if not",
            ENOMEM => "too much is asked for at a time: acm-mio --status says by whom",
            _ => "the daemon's log says more: docs/troubleshooting.md",
        }
    }
}

const fn of_administration(errno: i32) -> &'static str {
    match errno {
        ETIMEDOUT => "does the subnet manager run and answer (sminfo, saquery)?",
        _ => "it has no such path: is the node there (ibnetdiscover), in the same partition (saquery)?",
    }
}
