//! A core with two fake providers, without a simulated subnet.
use acm_sansio::{
    Account, Acm, ClientId, Config, Event, Input, KernelRequestId, Output, PortId, Time,
    api::{
        CallId, ExternalRequestId, ExternalSaId, Level, ProviderCall, ProviderFunction, ProviderId, ProviderMessage,
        SaSend,
    },
    config::Subnets,
    port::PortAttributes,
};
use acm_trace::{Recorder, Replay, Start};
use acm_wire::{
    Address,
    client::{ClientStatus, Entry, EntryFlags, Header, Opcode, resolve_request},
};
use core::time::Duration;
use ib_mad::{Gid, Lid, Pkey, Qpn, Wire, sa::PathRecord};
use std::collections::BTreeMap;

pub(crate) const ONE: ProviderId = ProviderId(1);
pub(crate) const TWO: ProviderId = ProviderId(2);
/// Subnet prefixes of the built-in provider and of the two fake providers.
pub(crate) const OWN: u64 = 0xfec0_0000_0000_0000;
pub(crate) const OF_ONE: u64 = 0xfec0_0000_0000_0001;
pub(crate) const OF_TWO: u64 = 0xfec0_0000_0000_0002;

/// Responses of a fake provider.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answers {
    Path,
    Status(u8),
    Garbage,
    Nothing,
}

/// A fake provider.
#[derive(Debug)]
pub(crate) struct Fake {
    /// All calls in order.
    pub(crate) calls: Vec<ProviderCall>,
    /// Duration of each call, one after the other. `None` if calls do not return.
    pub(crate) takes: Option<Duration>,
    pub(crate) answers: Answers,
    /// True if the provider responds twice to each request.
    pub(crate) twice: bool,
    /// The function that fails.
    pub(crate) refuses: Option<ProviderFunction>,
    /// Calls that have not returned and do not return by themselves.
    pub(crate) stuck: Vec<CallId>,
    /// End of the last scheduled call.
    busy: Time,
    /// Number of pending calls.
    pub(crate) pending: usize,
    /// Largest number of pending calls so far.
    pub(crate) most: usize,
}

impl Fake {
    fn new() -> Self {
        let (calls, stuck) = (Vec::new(), Vec::new());
        let (takes, answers) = (Some(Duration::ZERO), Answers::Path);
        Self { calls, takes, answers, twice: false, refuses: None, stuck, busy: Time::ZERO, pending: 0, most: 0 }
    }

    /// Returns the names of the functions that were called since the last call of this function.
    pub(crate) fn functions(&mut self) -> Vec<String> {
        core::mem::take(&mut self.calls).iter().map(|call| call.function().to_string()).collect()
    }
}

#[derive(Debug)]
enum Later {
    Returned(CallId, bool),
    Answered(ExternalRequestId, Vec<u8>),
    Counters(ExternalRequestId),
}

/// A core, its fake providers, and its outputs so far.
pub(crate) struct Machine {
    pub(crate) acm: Acm,
    pub(crate) now: Time,
    pub(crate) fakes: BTreeMap<ProviderId, Fake>,
    /// Responses to clients in order.
    pub(crate) replies: Vec<(ClientId, Vec<u8>)>,
    pub(crate) kernel: Vec<Option<PathRecord>>,
    pub(crate) events: Vec<Event>,
    pub(crate) sa: Vec<SaSend>,
    pub(crate) stopped: bool,
    later: BTreeMap<(Time, u64), (ProviderId, Later)>,
    number: u64,
    clients: u32,
    inputs: u64,
    recorder: Option<Recorder<Vec<u8>>>,
}

pub(crate) fn attributes(prefix: u64, lid: u16) -> PortAttributes {
    PortAttributes {
        port_number: 1,
        lid: Lid::new(lid),
        sm_lid: Lid::new(1),
        gids: vec![Gid::new((u128::from(prefix) << 64 | u128::from(lid)).to_be_bytes())],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    }
}

pub(crate) fn name(text: &str) -> Address {
    Address::from_text(text)
}

impl Machine {
    /// Returns a core with three ports, which are down and have a name each: port 0 for the built-in provider, port 1
    /// for `one`, port 2 for `two`.
    pub(crate) fn new(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config {
            log_level: Level::Debug,
            sa_notices: false,
            subnets: Subnets::only([OWN]).with(OF_ONE, ONE).with(OF_TWO, TWO),
            ..Config::default()
        };
        change(&mut config);
        let mut acm = Acm::new(config, 7);
        assert_eq!([acm.add_provider("one"), acm.add_provider("two")], [Some(ONE), Some(TWO)]);
        let recorder = Recorder::new(Vec::new(), &Start::new(acm.config(), 7)).ok();
        let mut machine = Self {
            acm,
            now: Time::ZERO,
            fakes: [(ONE, Fake::new()), (TWO, Fake::new())].into(),
            replies: Vec::new(),
            kernel: Vec::new(),
            events: Vec::new(),
            sa: Vec::new(),
            stopped: false,
            later: BTreeMap::new(),
            number: 0,
            clients: 0,
            inputs: 0,
            recorder,
        };
        for (port, text) in [(0, "own"), (1, "one"), (2, "two")] {
            machine.input(Input::AddressAdded { port: PortId(port), pkey: None, address: name(text) });
        }
        machine
    }

    /// Returns a core with all ports active.
    pub(crate) fn started() -> Self {
        let mut machine = Self::new(|_| {});
        machine.start();
        machine
    }

    /// Brings the three ports up.
    pub(crate) fn start(&mut self) {
        for (port, prefix) in [(0, OWN), (1, OF_ONE), (2, OF_TWO)] {
            self.up(port, &attributes(prefix, 4 + 4 * u16::try_from(port).unwrap()));
        }
        self.run(Duration::from_millis(1));
    }

    pub(crate) fn fake(&mut self, provider: ProviderId) -> &mut Fake {
        self.fakes.get_mut(&provider).unwrap()
    }

    pub(crate) fn up(&mut self, port: u32, attributes: &PortAttributes) {
        self.input(Input::PortUp { port: PortId(port), attributes: attributes.clone() });
    }

    pub(crate) fn provider_input(&mut self, provider: ProviderId, message: ProviderMessage) {
        self.input(Input::Provider { provider, message });
    }

    pub(crate) fn input(&mut self, input: Input<'_>) {
        let mut recorder = self.recorder.take().unwrap();
        let (mut outputs, now) = (Vec::new(), self.now);
        recorder.drive(&mut self.acm, now, input, |output| {
            let opened = match &output {
                Output::OpenEndpoint { endpoint, .. } => {
                    Some(Input::EndpointOpened { endpoint: *endpoint, qpn: Qpn::of::<2>() })
                }
                _ => None,
            };
            outputs.push(output);
            opened
        });
        self.recorder = Some(recorder);
        outputs.into_iter().for_each(|output| self.carry_out(output));
        self.check();
    }

    /// Checks the core's consistency. With 200 clients or more, only after every 50th input.
    fn check(&mut self) {
        self.inputs += 1;
        if self.clients < 200 || self.inputs.is_multiple_of(50) {
            assert_eq!(self.acm.check(), Ok(()), "{}", self.acm.report());
        }
    }

    fn handle_timeout(&mut self) {
        let mut recorder = self.recorder.take().unwrap();
        let mut outputs = Vec::new();
        recorder.handle_timeout(&mut self.acm, self.now, |output| {
            outputs.push(output);
            None
        });
        self.recorder = Some(recorder);
        outputs.into_iter().for_each(|output| self.carry_out(output));
        self.check();
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Provider { provider, call, what } => self.called(provider, call, what),
            Output::Reply { client, reply } => self.replies.push((client, reply.to_vec())),
            Output::LongReply { client, bytes } => self.replies.push((client, bytes)),
            Output::KernelReply { path, .. } => self.kernel.push(path.ok()),
            Output::Log(event) => self.events.push(event),
            Output::SaSend(send) => self.sa.push(send),
            Output::ShutdownDone => self.stopped = true,
            _ => {}
        }
    }

    fn called(&mut self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        let now = self.now;
        let fake = self.fake(provider);
        let mut later = Vec::new();
        if let Some(call) = call {
            fake.pending += 1;
            fake.most = fake.most.max(fake.pending);
            match fake.takes {
                None => fake.stuck.push(call),
                Some(takes) => {
                    fake.busy = fake.busy.max(now) + takes;
                    later.push((fake.busy, Later::Returned(call, fake.refuses != Some(what.function()))));
                }
            }
        }
        let at = fake.busy.max(now);
        match &what {
            ProviderCall::Resolve { request, .. } | ProviderCall::Query { request, .. } if fake.takes.is_some() => {
                let path = PathRecord { dlid: Lid::new(0x77), ..PathRecord::default() };
                let answer = match fake.answers {
                    Answers::Path => Some(message(0, Some(&path))),
                    Answers::Status(status) => Some(message(status, None)),
                    Answers::Garbage => Some(vec![0xff; 40]),
                    Answers::Nothing => None,
                };
                let times = if fake.twice { 2 } else { 1 };
                let answers = answer.into_iter().flat_map(|answer| core::iter::repeat_n(answer, times));
                later.extend(answers.map(|answer| (at, Later::Answered(*request, answer))));
            }
            ProviderCall::QueryCounters { request, .. } if fake.takes.is_some() => {
                later.push((at, Later::Counters(*request)));
            }
            _ => {}
        }
        fake.calls.push(what);
        for (at, what) in later {
            self.number += 1;
            self.later.insert((at, self.number), (provider, what));
        }
    }

    /// Advances the clock by `time` and handles all that is due.
    pub(crate) fn run(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let scheduled = self.later.keys().next().copied().filter(|(at, _)| *at <= until);
            let due = self.acm.poll_timeout().filter(|at| *at <= until);
            match (scheduled, due) {
                (Some(key), due) if due.is_none_or(|due| key.0 <= due) => {
                    self.now = self.now.max(key.0);
                    let (provider, what) = self.later.remove(&key).unwrap();
                    self.deliver(provider, what);
                }
                (_, Some(due)) => {
                    self.now = self.now.max(due);
                    self.handle_timeout();
                }
                _ => break,
            }
        }
        self.now = until;
    }

    fn deliver(&mut self, provider: ProviderId, what: Later) {
        match what {
            Later::Returned(call, is_ok) => {
                self.fake(provider).pending -= 1;
                self.provider_input(provider, ProviderMessage::Returned { call, is_ok });
            }
            Later::Answered(request, message) => {
                self.provider_input(provider, ProviderMessage::ResolveResponse { request, message });
            }
            Later::Counters(request) => {
                self.provider_input(
                    provider,
                    ProviderMessage::Counters { request, values: vec![1, 2, 3, 4, 5, 6, 7, 8] },
                );
            }
        }
    }

    /// Returns from all calls that hang.
    pub(crate) fn wake_up(&mut self, provider: ProviderId) {
        for call in core::mem::take(&mut self.fake(provider).stuck) {
            self.fake(provider).pending -= 1;
            self.provider_input(provider, ProviderMessage::Returned { call, is_ok: true });
        }
        self.run(Duration::from_millis(1));
    }

    /// Connects a client of a user and sends a message.
    pub(crate) fn request(&mut self, user: u32, message: &[u8]) -> ClientId {
        let client = ClientId::new(self.clients, 0);
        self.clients += 1;
        self.input(Input::ClientOpened { client, account: Account::User(user) });
        self.input(Input::ClientMessage { client, message });
        client
    }

    /// A client of a user requests the path from a local name to `there`.
    pub(crate) fn resolve(&mut self, user: u32, source: &str) -> ClientId {
        self.request(user, &resolve_request(Some(&name(source)), &name("there"), EntryFlags::empty(), [1; 8]))
    }

    pub(crate) fn status(&self, client: ClientId) -> Option<u8> {
        let mut replies = self.replies.iter().filter(|(other, _)| *other == client);
        let reply = replies.next().map(|(_, reply)| Header::parse_prefix(reply).unwrap().0.status.get());
        assert_eq!(replies.count(), 0, "{client} has two responses");
        reply
    }

    pub(crate) fn kernel(&mut self, record: &PathRecord) {
        self.input(Input::KernelRequest { id: KernelRequestId(1), port: None, path: *record });
    }

    pub(crate) fn stat(&self, name: &str) -> u64 {
        self.acm.stat(name).unwrap()
    }

    pub(crate) fn gauge(&self, name: &str) -> usize {
        let mut sum = 0;
        self.acm.each_gauge(&mut |other, _, value| sum += if other == name { value } else { 0 });
        sum
    }

    pub(crate) fn logged(&self, text: &str) -> usize {
        self.events.iter().filter(|event| event.to_string().contains(text)).count()
    }

    /// Checks that another core gives the same outputs for the recorded inputs.
    pub(crate) fn replay(self) {
        let trace = self.recorder.unwrap().finish().unwrap();
        let replayed = Replay::default().run(trace.as_slice()).unwrap_or_else(|error| panic!("{error}"));
        assert!(replayed.notes.is_empty() && replayed.inputs > 3, "{replayed:?}");
    }
}

/// Returns a provider's response.
pub(crate) fn message(status: u8, path: Option<&PathRecord>) -> Vec<u8> {
    let length = if path.is_some() { 88 } else { 16 };
    let header = Header::new(Opcode::RESOLVE, ClientStatus::new(status), length, [0; 8]);
    let mut message = ib_mad::as_bytes(&header).to_vec();
    if let Some(path) = path {
        message.extend_from_slice(ib_mad::as_bytes(&Entry::path(0, path)));
    }
    message
}

/// Returns the id of a request to subnet administration.
pub(crate) const fn sa_id(number: u64) -> ExternalSaId {
    ExternalSaId(number)
}
