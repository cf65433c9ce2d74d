//! What Linux's `/dev/infiniband/umadN` reads and writes, and the structures of its `ioctl`s (`rdma/ib_user_mad.h`).
//!
//! A file reads and writes frames: a [`UmadHeader`] of 64 bytes and the datagram. A program that did not call
//! [`ENABLE_PKEY`] or [`REGISTER_AGENT2`] has frames with a [`UmadHeaderOld`] of 56 bytes.
mod frame;
mod header;
mod register;

pub use frame::{Frame, Layout};
pub use header::{UmadHeader, UmadHeaderOld};
pub use register::{
    ABI_VERSION, ENABLE_PKEY, MethodMask, REGISTER_AGENT, REGISTER_AGENT2, RegisterRequest, RegisterRequest2,
    UNREGISTER_AGENT, USER_RMPP,
};
