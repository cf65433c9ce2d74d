//! Frames of Linux's `/dev/infiniband/umadN`, and the structures of its `ioctl`s (`rdma/ib_user_mad.h`).
//!
//! A frame is a [`UmadHeader`] of 64 bytes and the datagram. Until a program calls [`ENABLE_PKEY`] or
//! [`REGISTER_AGENT2`], its frames have a [`UmadHeaderOld`] of 56 bytes instead.
mod frame;
mod header;
mod register;

pub use frame::{Frame, Layout};
pub use header::{UmadHeader, UmadHeaderOld};
pub use register::{
    ABI_VERSION, ENABLE_PKEY, MethodMask, REGISTER_AGENT, REGISTER_AGENT2, RegisterRequest, RegisterRequest2,
    UNREGISTER_AGENT, USER_RMPP,
};
