//! Each daemon of `-S` in turn.
use crate::{
    args::Args,
    asker::Asker,
    diff, endpoints,
    output::{Output, strerror},
    perf,
    ranges::Names,
    resolve,
    server::Server,
};
use std::io;

/// Asks all daemons; the status is that of the last one.
pub(crate) fn ask_all(args: &Args, out: &mut Output) -> io::Result<i32> {
    let Some(services) = Names::parse(&args.services) else {
        out.line(format_args!("Unable to parse service list argument"))?;
        return Ok(-1);
    };
    let mut asker = Asker::new(args, out);
    let mut status = -1;
    for service in services {
        status = ask(&mut asker, &service)?;
    }
    Ok(status)
}

fn ask(asker: &mut Asker<'_>, service: &str) -> io::Result<i32> {
    let mut server = match Server::connect(service, asker.errno, asker.out)? {
        Ok(server) => server,
        Err(refused) => {
            asker.errno = refused.errno;
            let why = strerror(asker.errno);
            asker.out.line(format_args!("{service},unable to contact service: {why}"))?;
            return Ok(refused.status);
        }
    };
    let mut status = 0;
    if let Some(dest) = &asker.args.dest {
        status = if asker.args.diff {
            diff::show(asker, &mut server, dest)?
        } else {
            resolve::resolve(asker, &mut server, dest)?
        };
    }
    if let Some(perf) = asker.args.perf() {
        perf::show(asker, &mut server, perf)?;
    }
    if let Some(index) = asker.args.endpoint() {
        endpoints::show(asker, &mut server, index)?;
    }
    Ok(status)
}
