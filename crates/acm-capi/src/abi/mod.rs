//! The C functions. They convert pointers to values, results to pointers, and errors to `errno`.
//!
//! All `unsafe` code of this crate is in this module. A function reads from the caller's pointers at the beginning of a
//! call, and writes to them at the end. `ib_acm_submit` and `ib_acm_poll` process the caller's array element by
//! element, and hold the connection's lock. No code between the allocation of memory and the return of its pointer can
//! panic.
mod asynchronous;
mod blocking;
mod fabric;
mod guard;
mod read;
mod types;
mod write;

pub use asynchronous::{
    ib_acm_cancel, ib_acm_close, ib_acm_fd, ib_acm_open, ib_acm_poll, ib_acm_shared_cache_hits, ib_acm_submit,
};
pub use blocking::{
    ib_acm_cntr_name, ib_acm_connect, ib_acm_disconnect, ib_acm_enum_ep, ib_acm_free_ep_data, ib_acm_free_paths,
    ib_acm_free_perf, ib_acm_query_perf, ib_acm_query_perf_ep_addr, ib_acm_resolve_ip, ib_acm_resolve_name,
    ib_acm_resolve_path,
};
pub use fabric::{
    ib_acm_free_groups, ib_acm_join_group, ib_acm_leave_group, ib_acm_list_groups, ib_acm_path_to_ah,
    ib_acm_query_path, ib_acm_service_id,
};
pub use types::{
    AhAttr, Completion, Conn, EpConfigData, EpInfo, Gid, Group, IB_ACM_ALL, IB_ACM_ENUM_EP, IB_ACM_QUERY_PERF,
    IB_ACM_RESOLVE_IP, IB_ACM_RESOLVE_NAME, IB_ACM_RESOLVE_PATH, Join, LocalPort, PathData, PathRecord,
    SubmittedRequest,
};
