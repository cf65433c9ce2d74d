//! The protocol between the daemon and its clients on a stream socket (rdma-core's `infiniband/acm.h`).
//!
//! A message is a 16-byte [`Header`] and a body. Three opcodes: RESOLVE (a path to a destination), PERF (counters),
//! EP (a local endpoint). RESOLVE's header and entries are in the machine's byte order, PERF's and EP's lengths and
//! bodies in network order; that choice is made once, in [`header`].
//!
//! - the daemon: [`next_frame`] cuts requests out of a stream, [`ClientRequest::parse`] says what is asked, [`Reply`] and
//!   [`ep_reply`] are the answers;
//! - a client: [`resolve_request`], [`path_request`], [`perf_request`], [`ep_request`] ask; [`next_answer`],
//!   [`ResolveAnswer`], [`Counters`], [`EpAnswer`] read what comes back.
pub mod answer;
pub mod build;
pub mod entry;
pub mod frame;
pub mod header;
pub mod reply;
pub mod request;
mod status;

pub use answer::{EpAnswer, ResolveAnswer};
pub use build::{
    MAX_REQUEST, RequestBuffer, ep_request, path_request, perf_address_request, perf_request, resolve_request,
};
pub use entry::{Entry, EntryFlags, EntryKind};
pub use frame::{Frame, FrameError, next_answer, next_frame};
pub use header::{Header, Opcode, Operation};
pub use reply::{Counter, Counters, EpHead, MAX_EP_ADDRESSES, Reply, ep_reply};
pub use request::{ClientRequest, PerfTarget, Resolve, Route};
pub use status::ClientStatus;
