//! The one connection of the process, which the functions of 2009 share. One request is under way at a time.
use crate::{
    errno::{self, Result},
    place::{self, NotFound},
};
use acm_client::{Client, Request, Response, Service};
use nix::errno::Errno;
use std::sync::{Mutex, MutexGuard};

static CLIENT: Mutex<Option<Client>> = Mutex::new(None);

fn client() -> Result<MutexGuard<'static, Option<Client>>> {
    CLIENT.lock().map_err(|_| Errno::ENOTRECOVERABLE)
}

/// Connects to a socket, if the name begins with `/`, to a host, or to where librdmacm looks. The connection that there
/// was is closed, whether there is a new one or not.
pub(crate) fn connect(dest: Option<&[u8]>) -> core::result::Result<(), NotFound> {
    let failed = |errno| NotFound { code: -1, errno };
    let mut client = client().map_err(failed)?;
    *client = None;
    let connected = match dest {
        // A socket's error is the number itself, a host's is not.
        Some(path) if path.starts_with(b"/") => {
            place::socket(path).and_then(open).map_err(|errno| NotFound { code: errno as i32, errno })?
        }
        Some(name) => {
            let name = core::str::from_utf8(name).map_err(|_| failed(Errno::EINVAL))?;
            let mut first = None;
            let found = place::host(name, place::port())?.into_iter().find_map(|service| match open(service) {
                Ok(client) => Some(client),
                Err(errno) => {
                    first = first.or(Some(errno));
                    None
                }
            });
            found.ok_or_else(|| failed(first.unwrap_or(Errno::ENOENT)))?
        }
        None => place::service(None).and_then(open).map_err(failed)?,
    };
    *client = Some(connected);
    Ok(())
}

fn open(service: Service) -> Result<Client> {
    Client::connect(service).map_err(|error| errno::of_client(&error))
}

/// Closes the connection, when the request that is under way has its answer.
pub(crate) fn disconnect() {
    if let Ok(mut client) = client() {
        *client = None;
    }
}

/// Asks, and waits for the answer.
///
/// # Errors
/// EBADF without a connection, as a socket that is none; the daemon's no is an error, too.
pub(crate) fn ask(request: &Request) -> Result<Response> {
    match client()?.as_mut().ok_or(Errno::EBADF)?.ask(request) {
        Ok(Response::Refused(status)) => Err(errno::of_status(status)),
        Ok(answer) => Ok(answer),
        Err(error) => Err(errno::of_client(&error)),
    }
}
