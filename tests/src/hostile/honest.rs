//! The honest user beside the hostile ones: none of its requests may fail.
use super::kernel::Kernel;
use crate::{Connection, Entry, Received, request};
use acm_wire::client::ClientStatus;
use core::time::Duration;
use nix::unistd::{Uid, seteuid};
use std::{io, path::Path, thread, time::Instant};

/// Time between two pairs of requests.
const PACE: Duration = Duration::from_millis(20);
/// Number of pairs after which the times are printed.
const LINE: u32 = 50;
/// Number of pairs after which a user without a connection resolves the cached name, a new one each time.
const NEW_USER: u32 = 5;
/// The uid of the first of these users.
const FIRST_NEW: u32 = 100_000;
/// Bytes of a header and an entry, and where the path is in an entry.
const PATH: core::ops::Range<usize> = 8..72;

/// A path record.
pub(super) type Path64 = [u8; 64];

/// Resolves the name of a peer on this connection, and returns the path record.
///
/// # Errors
/// There is no response in time, or no path. `ConnectionAborted`: the daemon has closed the connection.
pub(super) fn resolve(connection: &mut Connection, name: &str) -> io::Result<Path64> {
    connection.try_send(&request(1, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, name)]))?;
    match connection.try_receive()? {
        Received::Response { status: ClientStatus::SUCCESS, body, .. } => Ok(body[PATH].try_into().unwrap()),
        Received::Closed => Err(io::ErrorKind::ConnectionAborted.into()),
        other => Err(io::Error::other(format!("{other:?}"))),
    }
}

/// Resolves a name on a new connection of a user. A request is repeated once if the connection ends: the daemon may be
/// restarted. Prints a line for it. The process has root as its saved user.
fn resolve_as(user: u32, socket: &Path, name: &str) -> io::Result<Path64> {
    let resolve = || {
        seteuid(Uid::from_raw(0))?;
        seteuid(Uid::from_raw(user))?;
        resolve(&mut Connection::try_open(socket)?, name)
    };
    match resolve() {
        Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {
            println!("repeated");
            resolve()
        }
        result => result,
    }
}

/// Resolves a cached name on a connection that stays open, and other names `liveN`, with N below `names`, as the next
/// user on new connections, without end. All are names of one port, so that all have the same path. Prints a line for
/// each second: microseconds of the 50 pairs. Beside it, users who had no connection before resolve the cached name, and
/// the kernel the path to the peer: at the daemon's netlink socket with the port id `netlink`. Root calls it.
///
/// # Errors
/// The first request that failed, or that had another path.
pub fn honest_user(socket: &Path, netlink: u32, user: u32, names: u32) -> io::Result<()> {
    let failed = |what: &str, error: io::Error| io::Error::other(format!("{what}: {error}"));
    // Only root may join the group.
    let kernel = Kernel::of(netlink)?;
    seteuid(Uid::from_raw(user))?;
    let mut kept = Connection::try_open(socket)?;
    let path = resolve(&mut kept, "live0").map_err(|error| failed("first", error))?;
    let path_of_kernel = kernel.resolve(0, &path).map_err(|error| failed("first of the kernel", error))?;
    println!("serving");
    let start = now();
    let mut times = [Vec::new(), Vec::new()];
    for number in 1_u32.. {
        let name = format!("live{}", number % names);
        let [of_kept, of_new] = &mut times;
        let cached = timed(of_kept, || resolve(&mut kept, "live0")).map_err(|error| failed("cached", error))?;
        let found = timed(of_new, || resolve_as(user + 1, socket, &name)).map_err(|error| failed(&name, error))?;
        let of_kernel = kernel.resolve(number, &path).map_err(|error| failed("kernel", error))?;
        if of_kernel != path_of_kernel {
            return Err(io::Error::other(format!("kernel: {of_kernel:?} instead of {path_of_kernel:?} at first")));
        }
        let mut all = vec![("live0", cached), (&*name, found)];
        if number.is_multiple_of(NEW_USER) {
            let found = resolve_as(FIRST_NEW + number, socket, "live0");
            all.push(("new user", found.map_err(|error| failed("new user", error))?));
        }
        for (what, found) in all {
            if found != path {
                return Err(io::Error::other(format!("{what}: path {found:?} instead of {path:?} at first")));
            }
        }
        if number.is_multiple_of(LINE) {
            for (what, times) in ["cached", "new"].into_iter().zip(&mut times) {
                let text: Vec<String> = times.drain(..).map(|micros: u128| micros.to_string()).collect();
                println!("{what} {}", text.join(" "));
            }
        }
        thread::sleep((start + PACE * number).saturating_duration_since(now()));
    }
    Ok(())
}

fn timed<T>(times: &mut Vec<u128>, act: impl FnOnce() -> T) -> T {
    let start = now();
    let result = act();
    times.push(start.elapsed().as_micros());
    result
}

#[expect(clippy::disallowed_methods, reason = "the user of a real process measures")]
fn now() -> Instant {
    Instant::now()
}
