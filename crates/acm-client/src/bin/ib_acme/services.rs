//! Runs the options for each daemon of `-S`.
use crate::{
    args::Args,
    diff, endpoints,
    output::{Output, strerror},
    perf,
    ranges::Names,
    resolve,
    run_state::RunState,
    server::Server,
};
use std::io;

/// Queries all daemons. Returns the status of the last daemon.
pub(crate) fn ask_all(args: &Args, out: &mut Output) -> io::Result<i32> {
    let Some(services) = Names::parse(&args.services) else {
        out.line(format_args!("Unable to parse service list argument"))?;
        return Ok(-1);
    };
    let mut state = RunState::new(args, out);
    let mut status = -1;
    for service in services {
        status = ask(&mut state, &service)?;
    }
    Ok(status)
}

fn ask(state: &mut RunState<'_>, service: &str) -> io::Result<i32> {
    let mut server = match Server::connect(service, state.errno, state.out)? {
        Ok(server) => server,
        Err(refused) => {
            state.errno = refused.errno;
            let why = strerror(state.errno);
            state.out.line(format_args!("{service},unable to contact service: {why}"))?;
            return Ok(refused.status);
        }
    };
    let mut status = 0;
    if let Some(dest) = &state.args.dest {
        status = if state.args.diff {
            diff::show(state, &mut server, dest)?
        } else {
            resolve::resolve(state, &mut server, dest)?
        };
    }
    if let Some(perf) = state.args.perf() {
        perf::show(state, &mut server, perf)?;
    }
    if let Some(index) = state.args.endpoint() {
        endpoints::show(state, &mut server, index)?;
    }
    Ok(status)
}
