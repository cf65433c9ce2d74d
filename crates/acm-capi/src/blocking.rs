//! The process's connection, which the blocking functions share, with one request in flight.
use crate::{
    address::{self, ConnectFailure},
    errno::{self, Result},
};
use acm_client::{Client, ClientError, Request, Response, Service};
use ib_mad::sa::PathRecord;
use nix::errno::Errno;
use std::sync::{Mutex, MutexGuard};

static CLIENT: Mutex<Option<Client>> = Mutex::new(None);

fn client() -> Result<MutexGuard<'static, Option<Client>>> {
    CLIENT.lock().map_err(|_| Errno::ENOTRECOVERABLE)
}

/// Connects to a socket if `dest` has a `/`, otherwise to a host, and without `dest` to the daemon that librdmacm
/// uses. The previous connection is closed even if connecting fails.
pub(crate) fn connect(dest: Option<&[u8]>) -> core::result::Result<(), ConnectFailure> {
    let failed = |errno| ConnectFailure { code: -1, errno };
    let mut client = client().map_err(failed)?;
    *client = None;
    let connected = match dest {
        // The return code for a socket is the error number, as in rdma-core.
        Some(path) if path.contains(&b'/') => {
            address::socket(path).and_then(open).map_err(|errno| ConnectFailure { code: errno as i32, errno })?
        }
        Some(name) => {
            let name = core::str::from_utf8(name).map_err(|_| failed(Errno::EINVAL))?;
            first_connected(address::host(name, address::port())?, open).map_err(failed)?
        }
        None => address::service(None).and_then(open).map_err(failed)?,
    };
    *client = Some(connected);
    Ok(())
}

/// Returns the first connection to one of the addresses of a host. If there is none, returns the first error.
fn first_connected<T>(services: Vec<Service>, mut open: impl FnMut(Service) -> Result<T>) -> Result<T> {
    let mut first_error = None;
    let connected = services.into_iter().find_map(|service| match open(service) {
        Ok(client) => Some(client),
        Err(errno) => {
            first_error = first_error.or(Some(errno));
            None
        }
    });
    connected.ok_or(first_error.unwrap_or(Errno::ENOENT))
}

fn open(service: Service) -> Result<Client> {
    Client::connect(service).map_err(|error| errno::of_client(&error))
}

/// Closes the connection after the request in flight has its response.
pub(crate) fn disconnect() {
    if let Ok(mut client) = client() {
        *client = None;
    }
}

/// Sends a request and waits for the response.
///
/// # Errors
/// EBADF without a connection. An error status of the daemon is an error, too.
pub(crate) fn ask(request: &Request) -> Result<Response> {
    with_client(|client| client.ask(request))
}

/// Resolves the alternate paths of a path.
///
/// # Errors
/// As [`ask`].
pub(crate) fn alternates(path: &PathRecord) -> Result<Vec<PathRecord>> {
    with_client(|client| client.alternates(path, &PathRecord::default(), usize::MAX))
}

/// Returns the number of requests on this connection whose response was read from the memory of the daemon.
///
/// # Errors
/// EBADF without a connection.
pub(crate) fn shared_cache_hits() -> Result<u64> {
    Ok(client()?.as_ref().ok_or(Errno::EBADF)?.shared_cache_hits())
}

fn with_client<T>(call: impl FnOnce(&mut Client) -> core::result::Result<T, ClientError>) -> Result<T> {
    call(client()?.as_mut().ok_or(Errno::EBADF)?).map_err(|error| errno::of_client(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn addresses_of_a_host_are_tried_in_order_and_the_first_error_is_returned() {
        let hosts = |ports: &[u16]| ports.iter().map(|port| Service::Tcp { host: "h".into(), port: *port }).collect();
        let open = |service: Service| match service {
            Service::Tcp { port: 1, .. } => Err(Errno::ECONNREFUSED),
            Service::Tcp { port: 2, .. } => Err(Errno::ETIMEDOUT),
            other => Ok(other.to_string()),
        };
        assert_eq!(first_connected(hosts(&[1, 2]), open), Err(Errno::ECONNREFUSED));
        assert_eq!(first_connected(hosts(&[2, 1]), open), Err(Errno::ETIMEDOUT));
        assert_eq!(first_connected(hosts(&[1, 2, 3, 4]), open), Ok("h:3".to_owned()));
        assert_eq!(first_connected(hosts(&[]), open), Err(Errno::ENOENT));
    }

    /// All in one test, because a process has one connection.
    // docs/deviations.md: c-path
    #[test]
    fn path_with_a_slash_is_a_socket_and_each_attempt_closes_the_previous_connection() {
        let (folder, here) = (tempfile::tempdir().unwrap(), std::env::current_dir().unwrap());
        let root = "../".repeat(here.components().count() - 1);
        let socket = format!("{root}{}/s", folder.path().strip_prefix("/").unwrap().display());
        let path = socket.as_bytes();
        assert_eq!(ask(&Request::Endpoint { index: 1, port: 0 }), Err(Errno::EBADF));
        let none = connect(Some(path)).unwrap_err();
        assert_eq!((none.code, none.errno), (Errno::ENOENT as i32, Errno::ENOENT));
        let listener = UnixListener::bind(&socket).unwrap();
        connect(Some(path)).unwrap();
        drop(listener);
        let refused = connect(Some(path)).unwrap_err();
        assert_eq!((refused.code, refused.errno), (Errno::ECONNREFUSED as i32, Errno::ECONNREFUSED));
        assert_eq!(ask(&Request::Endpoint { index: 1, port: 0 }), Err(Errno::EBADF), "the connection is closed");
    }
}
