//! Operations of clients, and a run from the first operation to the last response.
use super::{
    state::{CLIENTS, Harness, PORTS},
    values::{address, path_record, take},
};
use crate::operation::{Link, Operation, Resolve, SaOutcome};
use acm_sansio::{Account, ClientId, Input, KernelRequestId, PortId};
use acm_wire::client::{EntryFlags, ep_request, next_frame, path_request, perf_request, resolve_request};
use core::{net::Ipv4Addr, time::Duration};
use std::collections::BTreeMap;

/// Runs a core through all operations and returns its counters, summed over all labels.
///
/// # Panics
/// If an invariant fails: a request has no response or two, a response has no request, a deadline is in the past, an
/// account is charged for a lookup that it does not need, a bound is exceeded, or the core keeps waking up.
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
        let mut harness = Self::without_inputs(number);
        for number in 0..3 {
            harness.operate(&Operation::AddressAdded(number, number, false));
        }
        // Most sequences begin with an active port.
        if !number.is_multiple_of(4) {
            let link = Link { lid: 0, sm_lid: 0, slow: false, partitions: 0, gid: 0 };
            harness.operate(&Operation::PortUp(0, link));
            harness.operate(&Operation::Open(0, Some(0)));
            harness.operate(&Operation::Sa(0, SaOutcome::Good));
            harness.operate(&Operation::Sa(0, SaOutcome::Good));
            (0..3).for_each(|client| harness.operate(&Operation::Connect(client, client)));
        }
        harness
    }

    /// Sends a client's message that needs a response, unless the core does not accept requests of the client now.
    fn request(&mut self, number: u8, message: impl FnOnce([u8; 8]) -> Vec<u8>) {
        let Some(client) = self.client(number).filter(|client| self.acm.takes_requests(*client)) else { return };
        let tid = self.tid();
        let message = message(tid);
        self.open.entry(client).or_default().push(tid);
        self.input(Input::ClientMessage { client, message: &message });
    }

    fn operate(&mut self, operation: &Operation) {
        match operation {
            Operation::Connect(number, account) => self.connect(*number, *account),
            Operation::Disconnect(number) => {
                if let Some(client) = self.client(*number) {
                    self.disconnected(client);
                    self.input(Input::ClientClosed(client));
                }
            }
            Operation::Bytes(number, bytes) => self.bytes(*number, bytes),
            Operation::Resolve(number, resolve) => self.resolve(*number, resolve),
            Operation::Route(number, port, no_delay) => {
                let flags = if *no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
                self.request(*number, |tid| path_request(&path_record(port), flags, tid).to_vec());
            }
            Operation::QuerySa(number, port) => {
                self.request(*number, |tid| path_request(&path_record(port), EntryFlags::QUERY_SA, tid).to_vec());
            }
            Operation::Perf(number, index) => self.request(*number, |tid| perf_request(*index, tid).to_vec()),
            Operation::Endpoint(number, index, port) => {
                self.request(*number, |tid| ep_request(*index, *port, tid).to_vec());
            }
            Operation::Kernel(on, port) => {
                self.next_request += 1;
                let id = KernelRequestId(self.next_request);
                self.kernel.push(id);
                let on = on.map(|on| PortId(u32::from(on) % (PORTS + 1)));
                self.input(Input::KernelRequest { id, port: on, path: path_record(port) });
            }
            Operation::KernelAddress(source, dest) => {
                let addresses = address(*source).ip().zip(address(*dest).ip());
                if let Some((source, dest)) = addresses {
                    self.next_request += 1;
                    let id = KernelRequestId(self.next_request);
                    self.kernel.push(id);
                    self.input(Input::KernelAddressRequest { id, source, dest });
                }
            }
            Operation::KernelTimeout(ms) => {
                self.input(Input::KernelTimeout(Duration::from_millis(u64::from(*ms) * 20)));
            }
            Operation::Source(which, source) => {
                if let Some(request) = take(&mut self.sources, *which) {
                    let source = source.and_then(|number| address(number).ip());
                    self.input(Input::SourceSelected { request, source });
                }
            }
            Operation::Provider(which, action) => self.provider_action(*which, action),
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
        self.input(Input::ClientOpened { client, account });
    }

    fn bytes(&mut self, number: u8, bytes: &[u8]) {
        let Some(client) = self.client(number).filter(|client| self.acm.takes_requests(*client)) else { return };
        // The owner of a connection passes one frame at a time. A unique transaction id identifies the response.
        let mut bytes = bytes.to_vec();
        if let Ok(Some(frame)) = next_frame(&bytes) {
            let length = frame.length();
            let tid = self.tid();
            bytes.truncate(length);
            if let Some(transaction_id) = bytes.get_mut(8..16) {
                transaction_id.copy_from_slice(&tid);
            }
            self.open.entry(client).or_default().push(tid);
        }
        self.input(Input::ClientMessage { client, message: &bytes });
    }

    fn resolve(&mut self, number: u8, resolve: &Resolve) {
        let flags = if resolve.no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
        let source = resolve.source.map(address);
        let dest = address(resolve.dest);
        self.request(number, |tid| resolve_request(source.as_ref(), &dest, flags, tid).to_vec());
    }

    /// Checks that each pending request gets a response, even if no further input arrives.
    ///
    /// # Panics
    /// If a request has no response within 600 s, or if a shutdown does not end.
    fn finish(&mut self) {
        while let Some(request) = self.sources.pop() {
            self.input(Input::SourceSelected { request, source: None });
        }
        self.wait(Duration::from_secs(600));
        for (client, open) in &self.open {
            assert!(open.is_empty(), "{client} still waits for {open:?}\n{}", self.acm.report());
        }
        assert!(self.kernel.is_empty(), "the kernel still waits for {:?}", self.kernel);
        assert!(!self.shut_down || self.stopped, "the shutdown does not end");
        if !self.shut_down {
            self.settle();
        }
        self.providers.finish();
    }

    /// Checks that the core joins its groups if all its requests succeed.
    ///
    /// # Panics
    /// If a group is not joined although all ports are active.
    fn settle(&mut self) {
        // The longest pause after a failure is 75 s.
        const REST: Duration = Duration::from_secs(150);
        self.all_succeeds = true;
        self.succeed();
        self.wait(REST);
        let mut gauges = BTreeMap::<_, Vec<usize>>::new();
        self.acm.each_gauge(&mut |name, _, value| gauges.entry(name).or_default().push(value));
        let of = |name| gauges.get(name).into_iter().flatten();
        // A port that is down has groups that it cannot join.
        let are_active = of("port_active").all(|active| *active == 1);
        assert!(!are_active || of("groups_joined").eq(of("groups_wanted")), "not joined\n{}", self.acm.report());
    }
}
