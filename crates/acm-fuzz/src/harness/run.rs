//! Operations of clients, and a run from its first operation to the last answer.
use super::{
    state::{CLIENTS, Harness, PORTS},
    values::{address, take, wanted},
};
use crate::operation::{Link, Operation, Resolve, SaAnswer};
use acm_sansio::{Account, ClientId, Input, KernelRequestId, PortId};
use acm_wire::client::{EntryFlags, ep_request, next_frame, path_request, perf_request, resolve_request};
use core::{net::Ipv4Addr, time::Duration};
use std::collections::BTreeMap;

/// Runs a core through all operations; what it counted.
///
/// # Panics
/// If something does not hold: a request without its answer or with two, an answer to nobody, a deadline in the past, a
/// charge without a need, a bound that is passed, a core that spins.
pub fn core(operations: &[Operation]) -> BTreeMap<&'static str, u64> {
    let mut harness = Harness::new(operations.len());
    for operation in operations {
        harness.operate(operation);
        harness.check();
    }
    harness.finish();
    let mut stats = BTreeMap::new();
    harness.acm.each_stat(|name, _, value| *stats.entry(name).or_default() += value);
    stats
}

impl Harness {
    fn new(number: usize) -> Self {
        let mut harness = Self::silent(number);
        for number in 0..3 {
            harness.operate(&Operation::AddressAdded(number, number, false));
        }
        // Most sequences begin with a port that works.
        if !number.is_multiple_of(4) {
            let link = Link { lid: 0, sm_lid: 0, slow: false, partitions: 0, gid: 0 };
            harness.operate(&Operation::PortUp(0, link));
            harness.operate(&Operation::Open(0, Some(0)));
            harness.operate(&Operation::Sa(0, SaAnswer::Good));
            harness.operate(&Operation::Sa(0, SaAnswer::Good));
            (0..3).for_each(|client| harness.operate(&Operation::Connect(client, client)));
        }
        harness
    }

    /// A client sends a message that is to be answered, unless its connection is not read now.
    fn ask(&mut self, number: u8, message: impl FnOnce([u8; 8]) -> Vec<u8>) {
        let Some(client) = self.client(number).filter(|client| self.acm.takes_requests(*client)) else { return };
        let tid = self.tid();
        let message = message(tid);
        self.open.entry(client).or_default().push(tid);
        self.tell(Input::ClientMessage { client, message: &message });
    }

    fn operate(&mut self, operation: &Operation) {
        match operation {
            Operation::Connect(number, account) => self.connect(*number, *account),
            Operation::Leave(number) => {
                if let Some(client) = self.client(*number) {
                    self.disconnected(client);
                    self.tell(Input::ClientGone(client));
                }
            }
            Operation::Bytes(number, bytes) => self.bytes(*number, bytes),
            Operation::Resolve(number, resolve) => self.resolve(*number, resolve),
            Operation::Route(number, port, no_delay) => {
                let flags = if *no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
                self.ask(*number, |tid| path_request(&wanted(port), flags, tid).to_vec());
            }
            Operation::QuerySa(number, port) => {
                self.ask(*number, |tid| path_request(&wanted(port), EntryFlags::QUERY_SA, tid).to_vec());
            }
            Operation::Perf(number, index) => self.ask(*number, |tid| perf_request(*index, tid).to_vec()),
            Operation::Endpoint(number, index, port) => {
                self.ask(*number, |tid| ep_request(*index, *port, tid).to_vec());
            }
            Operation::Kernel(on, port) => {
                self.next_request += 1;
                let id = KernelRequestId(self.next_request);
                self.kernel.push(id);
                let on = on.map(|on| PortId(u32::from(on) % (PORTS + 1)));
                self.tell(Input::KernelRequest { id, port: on, wanted: &wanted(port) });
            }
            Operation::KernelAddress(source, dest) => {
                let addresses = address(*source).ip().zip(address(*dest).ip());
                if let Some((source, dest)) = addresses {
                    self.next_request += 1;
                    let id = KernelRequestId(self.next_request);
                    self.kernel.push(id);
                    self.tell(Input::KernelAddressRequest { id, source, dest });
                }
            }
            Operation::KernelTimeout(ms) => {
                self.tell(Input::KernelTimeout(Duration::from_millis(u64::from(*ms) * 20)));
            }
            Operation::Source(which, source) => {
                if let Some(request) = take(&mut self.sources, *which) {
                    let source = source.and_then(|number| address(number).ip());
                    self.tell(Input::SourceSelected { request, source });
                }
            }
            Operation::Provider(which, says) => self.provider_says(*which, says),
            _ => self.operate_fabric(operation),
        }
    }

    fn connect(&mut self, number: u8, account: u8) {
        let index = u32::from(number) % CLIENTS;
        let Some((generation, connected)) = self.clients.get_mut(index as usize) else { return };
        if *connected {
            return;
        }
        *generation += 1;
        *connected = true;
        let client = ClientId::new(index, *generation);
        self.open.insert(client, Vec::new());
        let account = match account % 4 {
            0 => Account::Peer(Ipv4Addr::LOCALHOST.into()),
            number => Account::User(number.into()),
        };
        self.tell(Input::ClientOpened { client, account });
    }

    fn bytes(&mut self, number: u8, bytes: &[u8]) {
        let Some(client) = self.client(number).filter(|client| self.acm.takes_requests(*client)) else { return };
        // What its owner would cut out of the stream; an id of its own, so that the answer is known.
        let mut bytes = bytes.to_vec();
        if let Ok(Some(frame)) = next_frame(&bytes) {
            let length = frame.length();
            let tid = self.tid();
            bytes.truncate(length);
            if let Some(place) = bytes.get_mut(8..16) {
                place.copy_from_slice(&tid);
            }
            self.open.entry(client).or_default().push(tid);
        }
        self.tell(Input::ClientMessage { client, message: &bytes });
    }

    fn resolve(&mut self, number: u8, resolve: &Resolve) {
        let flags = if resolve.no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
        let source = resolve.source.map(address);
        let dest = address(resolve.dest);
        self.ask(number, |tid| resolve_request(source.as_ref(), &dest, flags, tid).to_vec());
    }

    /// However silent the world is from now on, everybody is answered.
    fn finish(&mut self) {
        while let Some(request) = self.sources.pop() {
            self.tell(Input::SourceSelected { request, source: None });
        }
        self.wait(Duration::from_secs(600));
        for (client, open) in &self.open {
            assert!(open.is_empty(), "{client} waits for {open:?}\n{}", self.acm.report());
        }
        assert!(self.kernel.is_empty(), "the kernel waits for {:?}", self.kernel);
        assert!(!self.shut_down || self.stopped, "groups are being left for ever");
        self.providers.finish();
    }
}
