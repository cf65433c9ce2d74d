//! Runs unmodified InfiniBand programs on a simulated subnet.
//!
//! With `LD_PRELOAD=libib_sim_preload.so` a program finds the devices of one host of a subnet that `ib-sim serve
//! --tree` serves: `/sys/class/infiniband*`, `/dev/infiniband/umadN`, and libibverbs with unreliable datagrams. `ib-sim
//! run` sets the environment:
//!
//! | variable | value |
//! |---|---|
//! | `IB_SIM_SOCKET` | the server's socket |
//! | `IB_SIM_NODE` | a node; the program finds all devices of its host: those of the nodes `NODE`, `NODE:1`, `NODE:2` |
//! | `IB_SIM_TREE` | the folder with the host's files: `sys/class/infiniband` and others |
//!
//! Without these variables the only change is that there are no libibverbs devices.
//!
//! With `IB_SIM_SEGMENTS=1` and without the other variables, a long response of subnet administration that the program
//! writes to a descriptor is written as RMPP segments. This is for OpenSM on ibsim, with ibsim's `libumad2sim.so` after
//! this library in `LD_PRELOAD`: ibsim passes on the first 256 bytes of what is written.
//!
//! While a file `no_room_for_groups` exists in `IB_SIM_TREE`, attaching a queue pair to a group fails with ENOMEM, as
//! on a device whose table is full.
//!
//! A program that opens `libibverbs.so.1` by `dlopen` gets this library, too, if a link of that name to this library is
//! first on its `LD_LIBRARY_PATH` (`ib-sim run --stand-in`). The loader has loaded that file before and uses it again.
//! The symbols have no versions; the loader accepts such symbols for any version.
//!
//! | limit | effect |
//! |---|---|
//! | static programs, raw system calls | they use the machine's own devices |
//! | a umad file copied by `dup` or inherited by `exec` | `read` and `write` work, `ioctl` does not |
//! | the kernel's messages about devices, read by `recvmsg` | not in the kernel's format: read them by `recvfrom` |
//! | unsolicited management datagrams | not received |
//! | sends with RMPP | not sent |
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
    expect(dead_code, reason = "tests do not export the C names, which would replace those of the test program")
)]
mod environment;
mod errno;
mod files;
mod next;
mod path;
mod segments;
mod uevent;
mod umad;
mod verbs;
