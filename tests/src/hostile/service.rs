//! A daemon that is restarted as systemd does it: with the sockets of its unit, and the connections that it leaves.
use super::kernel;
use crate::{UNIX_SOCKET, poll};
use core::mem::MaybeUninit;
use rustix::{
    io::fcntl_dupfd_cloexec,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        recvmsg, sendmsg,
    },
};
use std::{
    fs,
    io::{self, IoSlice, IoSliceMut},
    os::{
        fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd},
        unix::{
            fs::PermissionsExt,
            net::{UnixDatagram, UnixListener, UnixStream},
            process::CommandExt,
        },
    },
    path::Path,
    process::{self, Command},
};

/// Names of the sockets of the unit: for clients, and for the kernel.
const UNIT: [&str; 2] = ["acm-mio.socket"; 2];
/// Maximum number of descriptors in a message (`SCM_MAX_FD`).
const BATCH: usize = 253;
/// A descriptor's number beyond those that a daemon gets.
const BEYOND: i32 = 8192;

/// The sockets that systemd has for a daemon.
#[derive(Debug)]
pub(super) struct Service {
    /// Gives the sockets to [`resume`].
    hand: UnixListener,
    notifications: UnixDatagram,
    /// The sockets of the unit, and connections.
    sockets: Vec<OwnedFd>,
    /// Port id of the netlink socket.
    pub(super) port_id: u32,
}

impl Service {
    /// Listens in the run directory, and for the kernel.
    pub(super) fn listen(dir: &Path) -> Self {
        let socket = dir.join(UNIX_SOCKET);
        let listening = UnixListener::bind(&socket).unwrap();
        fs::set_permissions(socket, fs::Permissions::from_mode(0o777)).unwrap();
        let notifications = UnixDatagram::bind(dir.join("notify")).unwrap();
        notifications.set_nonblocking(true).unwrap();
        let hand = UnixListener::bind(dir.join("hand")).unwrap();
        hand.set_nonblocking(true).unwrap();
        let netlink = kernel::open().unwrap();
        Self { hand, notifications, port_id: kernel::port_id(&netlink), sockets: vec![listening.into(), netlink] }
    }

    /// Returns the end of a shell script that executes a daemon with the sockets. `program` is `acm-hostile`.
    pub(super) fn script(program: &Path) -> String {
        let program = program.display();
        format!("export NOTIFY_SOCKET=DIR/notify && exec {program} resume DIR/hand \"$0\" \"$@\"")
    }

    /// Gives the sockets to a daemon that was started. Keeps those of the unit only.
    pub(super) fn give(&mut self) {
        let (stream, _) = poll::until("a daemon that takes its sockets", || self.hand.accept().ok());
        for batch in self.sockets.chunks(BATCH) {
            let files: Vec<BorrowedFd<'_>> = batch.iter().map(AsFd::as_fd).collect();
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
            sendmsg(&stream, &[IoSlice::new(&[0])], &mut control, SendFlags::empty()).unwrap();
        }
        self.sockets.truncate(UNIT.len());
    }

    /// Receives notifications, with the connections that the daemon leaves.
    pub(super) fn take(&mut self) {
        while let Ok((_, files)) = receive(&self.notifications, RecvFlags::CMSG_CLOEXEC) {
            self.sockets.extend(files);
        }
    }
}

/// Receives a message. Returns the number of its bytes, and its descriptors.
fn receive(socket: &impl AsFd, flags: RecvFlags) -> io::Result<(usize, Vec<OwnedFd>)> {
    let (mut bytes, mut space) = ([0; 4096], [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))]);
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?;
    let files = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => files.collect(),
        _ => Vec::new(),
    });
    Ok((message.bytes, files.collect()))
}

/// Executes a daemon with the sockets that `Service::give` sends, as sd_listen_fds(3) describes.
///
/// # Errors
/// The system's error. Otherwise this function does not return.
pub fn resume(hand: &Path, program: &str, arguments: &[&str]) -> io::Result<()> {
    let stream = fcntl_dupfd_cloexec(UnixStream::connect(hand)?, BEYOND)?;
    let mut count = 0;
    loop {
        // The first one is number 3.
        let (bytes, files) = receive(&stream, RecvFlags::empty())?;
        if bytes == 0 {
            break;
        }
        count += files.into_iter().map(IntoRawFd::into_raw_fd).count();
    }
    let names = vec!["client"; count.saturating_sub(UNIT.len())];
    let names: Vec<&str> = UNIT.into_iter().chain(names).collect();
    let mut command = Command::new(program);
    command.args(arguments).env("LISTEN_FDS", count.to_string()).env("LISTEN_FDNAMES", names.join(":"));
    Err(command.env("LISTEN_PID", process::id().to_string()).exec())
}
