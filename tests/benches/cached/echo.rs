//! An echo server: receives 160 bytes and sends 88 bytes.
use crate::load::{REQUEST, RESPONSE};
use acm_tests::{Process, until};
use mio::{
    Events, Interest, Poll, Token,
    net::{UnixListener, UnixStream},
};
use nix::unistd::Pid;
use slab::Slab;
use std::{
    env,
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::Command,
};

/// An echo server in a separate process.
pub(crate) struct Echo {
    process: Process,
    folder: tempfile::TempDir,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("echo.sock");
        let process = Process::start(Command::new(env::current_exe().unwrap()).arg("--echo").arg(&path));
        until("the echo server", || UnixStream::connect(&path).ok());
        Self { process, folder }
    }

    pub(crate) fn id(&self) -> Pid {
        self.process.id()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("echo.sock")
    }
}

const LISTENER: Token = Token(usize::MAX);

/// Serves with one thread and one mio loop.
pub(crate) fn serve(path: &Path) {
    let mut poll = Poll::new().unwrap();
    let mut listener = UnixListener::bind(path).unwrap();
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).unwrap();
    let mut streams: Slab<(UnixStream, usize)> = Slab::new();
    let mut events = Events::with_capacity(1024);
    loop {
        poll.poll(&mut events, None).unwrap();
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    let token = Token(streams.vacant_key());
                    poll.registry().register(&mut stream, token, Interest::READABLE).unwrap();
                    streams.insert((stream, 0));
                }
                continue;
            }
            let index = event.token().0;
            let Some((stream, received)) = streams.get_mut(index) else { continue };
            if respond(stream, received) {
                streams.remove(index);
            }
        }
    }
}

/// Responds to all complete requests. Returns true if the client has disconnected.
fn respond(stream: &mut UnixStream, received: &mut usize) -> bool {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(count) => *received += count,
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
        while *received >= REQUEST {
            *received -= REQUEST;
            if stream.write_all(&buffer[..RESPONSE]).is_err() {
                return true;
            }
        }
    }
}
