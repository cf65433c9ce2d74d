//! The protocol between the daemon and its clients on a stream socket (rdma-core's `infiniband/acm.h`).
//!
//! A message consists of a 16-byte [`Header`] and a body. There are three opcodes: RESOLVE (path to a destination),
//! PERF (counters), EP (local endpoint). In RESOLVE, header and entries are in host byte order. In PERF and EP, length
//! and body are in network byte order. The module [`header`] converts the length.
//!
//! - Daemon: [`next_frame`] splits a stream into requests, [`ClientRequest::parse`] reads a request, [`Reply`] and
//!   [`ep_reply`] build responses.
//! - Client: [`resolve_request`], [`path_request`], [`perf_request`] and [`ep_request`] build requests;
//!   [`next_response`], [`ResolveResponse`], [`Counters`] and [`EpResponse`] read the responses.
pub mod build;
pub mod entry;
pub mod frame;
pub mod header;
pub mod reply;
pub mod request;
pub mod response;

pub use build::{
    MAX_REQUEST, RequestBuffer, conditional_request, ep_request, path_request, perf_address_request, perf_request,
    resolve_request,
};
pub use entry::{Entry, EntryFlags, EntryKind};
pub use frame::{Frame, FrameError, next_frame, next_response};
pub use header::{ClientStatus, Header, Opcode, Operation, SHARED_CACHE, SHARED_CACHE_USE};
pub use reply::{Counter, Counters, EpHead, MAX_EP_ADDRESSES, Reply, ep_reply, mark_shared};
pub use request::{ClientRequest, PerfTarget, Resolve, Route};
pub use response::{EpResponse, ResolveResponse};
