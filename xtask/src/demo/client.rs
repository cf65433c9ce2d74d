//! A client of one daemon.
use super::{
    DemoError,
    interrupt::{Interrupt, LOOK},
};
use crate::stopwatch::Stopwatch;
use acm_wire::{
    Address,
    client::{Counters, EntryFlags, Frame, ResolveAnswer, next_answer, path_request, perf_request, resolve_request},
};
use ib_mad::sa::PathRecord;
use std::{
    io::{ErrorKind, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
};

/// How long an answer may take.
const PATIENCE_S: u64 = 8;

/// A connection to a daemon.
pub(super) struct Client {
    stream: UnixStream,
    received: Vec<u8>,
    last_tid: u64,
    interrupt: Interrupt,
}

impl Client {
    /// Connects to the daemon's socket.
    pub(super) fn connect(socket: &Path, interrupt: &Interrupt) -> Result<Self, DemoError> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(LOOK))?;
        Ok(Self { stream, received: Vec::new(), last_tid: 0, interrupt: interrupt.clone() })
    }

    /// The path from a local address to another node's address. A LID or a GID travels alone in a path record, as
    /// `ib_acme -f l` and `-f g` send it.
    pub(super) fn resolve(&mut self, source: &Address, dest: &Address) -> Result<PathRecord, DemoError> {
        let tid = self.next_tid();
        let none = EntryFlags::empty();
        let request = match *dest {
            Address::Lid(dlid) => path_request(&PathRecord { dlid, ..PathRecord::default() }, none, tid),
            Address::Gid(dgid) => path_request(&PathRecord { dgid, ..PathRecord::default() }, none, tid),
            _ => resolve_request(Some(source), dest, none, tid),
        };
        let answer = self.ask(&request, tid, ResolveAnswer::parse)?;
        answer.map(|answer| answer.path).map_err(DemoError::Refused)
    }

    /// The whole daemon's counters.
    pub(super) fn counters(&mut self) -> Result<Counters, DemoError> {
        let tid = self.next_tid();
        self.ask(&perf_request(0, tid), tid, Counters::parse)?.map_err(DemoError::Refused)
    }

    fn next_tid(&mut self) -> [u8; 8] {
        self.last_tid += 1;
        self.last_tid.to_be_bytes()
    }

    fn ask<T>(&mut self, request: &[u8], tid: [u8; 8], read: impl Fn(&Frame<'_>) -> T) -> Result<T, DemoError> {
        self.stream.write_all(request)?;
        let watch = Stopwatch::start();
        loop {
            if let Some(frame) = next_answer(&self.received)? {
                if frame.header.tid.0 != tid {
                    return Err(DemoError::OtherAnswer);
                }
                let (answer, length) = (read(&frame), frame.length());
                self.received.drain(..length);
                return Ok(answer);
            }
            self.interrupt.check()?;
            if watch.elapsed().as_secs() >= PATIENCE_S {
                return Err(DemoError::NoAnswer(PATIENCE_S));
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(DemoError::Closed),
                Ok(count) => self.received.extend(bytes.iter().take(count)),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::client::{ClientStatus, Reply, next_frame};
    use ib_mad::Lid;
    use std::{os::unix::net::UnixListener, thread};

    /// A client of a server that answers each request with what `answer` makes of its tid, byte by byte.
    fn client(answer: fn([u8; 8]) -> Vec<u8>) -> Client {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let client = Client::connect(&folder.path().join("s"), &Interrupt::never()).unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 1000];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                let tid = next_frame(&bytes[..count]).unwrap().unwrap().header.tid;
                answer(tid.0).iter().for_each(|byte| stream.write_all(&[*byte]).unwrap());
            }
        });
        client
    }

    #[test]
    fn answers_in_pieces() {
        let mut client = client(|tid| {
            Reply::resolved(tid, &PathRecord { dlid: Lid::new(9), ..PathRecord::default() }, None).to_vec()
        });
        for dest in [Address::from_text("a"), Address::Lid(Lid::new(9))] {
            assert_eq!(client.resolve(&dest, &dest).unwrap().dlid, Lid::new(9));
        }
    }

    #[test]
    fn refusal_and_wrong_answers_are_errors() {
        let dest = Address::from_text("a");
        let mut refusing = client(|tid| Reply::unresolved(tid, ClientStatus::ENODATA).to_vec());
        assert!(matches!(refusing.resolve(&dest, &dest), Err(DemoError::Refused(ClientStatus::ENODATA))));
        let mut confused = client(|_| Reply::unresolved([0; 8], ClientStatus::SUCCESS).to_vec());
        assert!(matches!(confused.resolve(&dest, &dest), Err(DemoError::OtherAnswer)));
        let mut garbling = client(|_| vec![7]);
        assert!(matches!(garbling.resolve(&dest, &dest), Err(DemoError::Frame(_))));
    }
}
