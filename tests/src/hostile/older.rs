//! Descriptors that arrive at a daemon, as with kernels that cannot refuse them.
use nix::{libc, setsockopt_impl, sockopt_impl, sys::socket::SetSockOpt, unistd::Pid};
use rustix::{
    net::sockopt::socket_acceptconn,
    process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};
use std::{fs, io};

/// `SO_PASSRIGHTS` (asm-generic/socket.h, Linux 6.16).
const SO_PASSRIGHTS: i32 = 83;

sockopt_impl!(
    /// True if the other end may send descriptors. Connections inherit the value of their listening socket.
    PassRights,
    SetOnly,
    libc::SOL_SOCKET,
    SO_PASSRIGHTS,
    bool
);

/// Lets future clients of a process send it descriptors, or lets the kernel refuse them. An older kernel never does.
pub(super) fn let_descriptors_arrive(process: Pid, arrive: bool) -> io::Result<()> {
    let id = rustix::process::Pid::from_raw(process.as_raw()).ok_or(io::ErrorKind::InvalidInput)?;
    let descriptor = pidfd_open(id, PidfdFlags::empty())?;
    for file in fs::read_dir(format!("/proc/{process}/fd"))? {
        let Some(number) = file?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A connection may have ended since.
        let Ok(file) = pidfd_getfd(&descriptor, number, PidfdGetfdFlags::empty()) else { continue };
        if socket_acceptconn(&file).unwrap_or(false) {
            let _ = PassRights.set(&file, &arrive);
        }
    }
    Ok(())
}
