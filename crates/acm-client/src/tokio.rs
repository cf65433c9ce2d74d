//! A client for tokio. Any number of tasks send requests, and each waits for its own response.
//!
//! ```no_run
//! use acm_client::{Address, Service, tokio::Client};
//!
//! # async fn example() -> Result<(), acm_client::ClientError> {
//! let client = Client::connect(Service::find()?).await?;
//! let found = client.resolve(Some(&Address::from_text("node1")), &Address::from_text("node2")).await?;
//! println!("LID {}", found.path.dlid);
//! # Ok(())
//! # }
//! ```
use crate::{
    connection::Connection,
    error::{ClientError, Failure},
    options::Options,
    request::Request,
    response::{Resolved, Response},
    service::Service,
    session::RequestId,
};
use ::tokio::{
    io::{Interest, unix::AsyncFd},
    sync::oneshot,
    task::{AbortHandle, spawn_blocking},
};
use acm_wire::Address;
use core::time::Duration;
use std::{
    collections::BTreeMap,
    io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

/// A connection that survives restarts of the daemon. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    service: Service,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    task: OnceLock<AbortHandle>,
}

#[derive(Debug)]
struct State {
    connection: Connection,
    waiting: BTreeMap<RequestId, oneshot::Sender<Result<Response, ClientError>>>,
}

/// Cancels the request of a future that is dropped.
struct Guard<'a> {
    client: &'a Client,
    id: RequestId,
}

impl Client {
    /// Connects to a daemon with default options. A task of the current runtime reads the responses until the last clone
    /// is dropped.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub async fn connect(service: Service) -> Result<Self, ClientError> {
        Self::with_options(service, Options::default()).await
    }

    /// Connects with options, except [`Options::depth`]: each task may have a request.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn with_options(service: Service, options: Options) -> Result<Self, ClientError> {
        let failed = |errno| Failure::Connect(errno).at(&service);
        let address = service.clone();
        // Resolves the name of a host.
        let opened = spawn_blocking(move || Connection::open(&address, options.with_depth(usize::MAX))).await;
        let mut connection = opened.map_err(|_| failed(nix::libc::ECANCELED))??;
        let fd = connection.fd()?.try_clone_to_owned();
        let fd = fd.and_then(watch);
        let fd = fd.map_err(|error| failed(crate::errno::of_io(&error)))?;
        let state = Mutex::new(State { connection, waiting: BTreeMap::new() });
        let shared = Arc::new(Shared { state, task: OnceLock::new() });
        let task = ::tokio::spawn(drive(fd, Arc::downgrade(&shared))).abort_handle();
        shared.task.get_or_init(|| task);
        Ok(Self { shared, service })
    }

    /// Resolves the path from a local address to another address, as [`Request::resolve`].
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn resolve(&self, source: Option<&Address>, dest: &Address) -> Result<Resolved, ClientError> {
        let response = self.ask(&Request::resolve(source, dest)).await?;
        response.into_path().map_err(|source| ClientError::Protocol { service: self.service.clone(), source })
    }

    /// Sends a request and waits for the response, for at most [`Options::timeout`].
    ///
    /// # Errors
    /// As [`Connection::response_to`].
    pub async fn ask(&self, request: &Request) -> Result<Response, ClientError> {
        let limit = self.with(|state| state.connection.options().timeout);
        self.ask_within(request, limit).await
    }

    /// Sends a request and waits for the response, for at most `limit`.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn ask_within(&self, request: &Request, limit: Option<Duration>) -> Result<Response, ClientError> {
        let (response, received) = oneshot::channel();
        let id = self.with(|state| {
            let id = state.connection.queue(request, limit)?;
            state.waiting.insert(id, response);
            state.connection.flush();
            Ok::<_, ClientError>(id)
        })?;
        let _guard = Guard { client: self, id };
        received.await.unwrap_or_else(|_| Err(Failure::Closed.at(&self.service)))
    }

    /// Reports whether there is a connection to the daemon now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.with(|state| state.connection.is_connected())
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.task.get().into_iter().for_each(AbortHandle::abort);
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.client.with(|state| {
            if state.waiting.remove(&self.id).is_some() {
                state.connection.cancel(self.id);
            }
        });
    }
}

#[expect(
    deprecated,
    reason = "its successor is unsafe: the descriptor must stay the same and open, as an OwnedFd does"
)]
fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, Interest::READABLE)
}

/// Drives the connection as long as there is a client.
async fn drive(fd: AsyncFd<OwnedFd>, shared: Weak<Shared>) {
    while let Ok(mut ready) = fd.readable().await {
        let Some(shared) = shared.upgrade() else { return };
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((id, response)) = state.connection.next_within(Some(Duration::ZERO)) {
            if let Some(waiting) = state.waiting.remove(&id) {
                // The task may be gone.
                let _ = waiting.send(response);
            }
        }
        state.connection.drive();
        ready.clear_ready();
    }
}
