//! Run unmodified InfiniBand programs on a simulated subnet.
//!
//! With `LD_PRELOAD=libib_sim_preload.so` a program finds the devices of one host of a subnet that `ib-sim serve --tree`
//! serves: `/sys/class/infiniband*`, `/dev/infiniband/umadN`, and libibverbs with unreliable datagrams. `ib-sim run`
//! sets the environment:
//!
//! | variable | what |
//! |---|---|
//! | `IB_SIM_SOCKET` | the server's socket |
//! | `IB_SIM_NODE` | name of the node; the devices of its host are there, those of the nodes `NODE`, `NODE:1`, `NODE:2` |
//! | `IB_SIM_TREE` | the host's files: `sys/class/infiniband` and so on below it |
//!
//! Without these the library changes nothing but that there are no libibverbs devices.
//!
//! While there is a file `no_room_for_groups` in `IB_SIM_TREE`, a queue pair is attached to no group: ENOMEM, as of a
//! device whose table is full.
//!
//! A program that opens `libibverbs.so.1` itself (`dlopen`) gets this library too if a link of that name to it is first
//! on its `LD_LIBRARY_PATH` (`ib-sim run --stand-in`): the loader knows that it has that file already. The symbols have
//! no versions, which the loader takes for any version.
//!
//! | limit | what happens |
//! |---|---|
//! | static programs, raw system calls | see the machine's own devices |
//! | a umad file copied by `dup` or handed over by `exec` | its frames go, its `ioctl` does not |
//! | messages of the kernel about devices, by `recvmsg` | are not as the kernel's: read them by `recvfrom` |
//! | unsolicited management datagrams, RMPP sends | never come, are not sent |
//! | queue pairs other than UD, immediate data, extended verbs | refused |
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
#![cfg_attr(
    test,
    expect(dead_code, reason = "the C names are left out of tests: they would stand in for those of the test itself")
)]
mod environment;
mod files;
mod next;
mod path;
mod uevent;
mod umad;
mod verbs;
