//! A client of one daemon, which looks for the user's Ctrl-C while it waits.
use super::{
    DemoError,
    interrupt::{Interrupt, LOOK},
};
use crate::stopwatch::Stopwatch;
use acm_client::{
    Address, AskError, ClientError, Connection, Counters, Options, PerfTarget, Request, Response, Service,
    ib_mad::sa::PathRecord,
};
use core::time::Duration;
use std::path::Path;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// A connection to a daemon.
pub(super) struct Client {
    connection: Connection,
    interrupt: Interrupt,
}

impl Client {
    /// Connects to the daemon's socket.
    pub(super) fn connect(socket: &Path, interrupt: &Interrupt) -> Result<Self, DemoError> {
        let mut options = Options::default();
        options.timeout = Some(PATIENCE);
        let connection = Connection::open(&Service::Unix(socket.to_owned()), options)?;
        Ok(Self { connection, interrupt: interrupt.clone() })
    }

    /// The path from a local address to another node's address.
    pub(super) fn resolve(&mut self, source: &Address, dest: &Address) -> Result<PathRecord, DemoError> {
        let route = |path| Request::Route { path, no_delay: false };
        let request = match *dest {
            Address::Lid(dlid) => route(PathRecord { dlid, ..PathRecord::default() }),
            Address::Gid(dgid) => route(PathRecord { dgid, ..PathRecord::default() }),
            dest => Request::Resolve { source: Some(*source), dest, no_delay: false },
        };
        match self.ask(&request)? {
            Response::Path(found) => Ok(found.path),
            _ => Err(DemoError::OtherAnswer),
        }
    }

    /// The whole daemon's counters.
    pub(super) fn counters(&mut self) -> Result<Counters, DemoError> {
        match self.ask(&Request::Counters(PerfTarget::Total))? {
            Response::Counters(counters) => Ok(counters),
            _ => Err(DemoError::OtherAnswer),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Response, DemoError> {
        let asked = match self.connection.ask(request) {
            Ok(asked) => asked,
            Err(AskError::Connection(error)) => return Err(error.into()),
            Err(AskError::Full(_)) => return Err(DemoError::OtherAnswer),
        };
        let watch = Stopwatch::start();
        while watch.elapsed() < PATIENCE {
            match self.connection.next_within(Some(LOOK)) {
                Ok((_, Response::Refused(status))) => return Err(DemoError::Refused(status)),
                Ok((answered, answer)) if answered == asked => return Ok(answer),
                Ok(_) => {}
                Err(ClientError::TimedOut { .. }) => self.interrupt.check()?,
                Err(error) => return Err(error.into()),
            }
        }
        self.connection.cancel(asked);
        Err(DemoError::NoAnswer(PATIENCE.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_client::{ClientStatus, ProtocolError, ib_mad::Lid};
    use acm_wire::client::{Reply, next_frame};
    use std::{
        io::{Read, Write},
        os::unix::net::UnixListener,
        thread,
    };

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
        let wrong = |error| match error {
            Err(DemoError::Client(ClientError::Protocol { source, .. })) => source,
            other => panic!("{other:?}"),
        };
        assert!(matches!(wrong(confused.resolve(&dest, &dest)), ProtocolError::UnknownRequest(_)));
        let mut garbling = client(|_| vec![7]);
        assert!(matches!(wrong(garbling.resolve(&dest, &dest)), ProtocolError::Frame(_)));
    }
}
