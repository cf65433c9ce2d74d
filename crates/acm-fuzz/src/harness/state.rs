//! What is around the core: what it is told, and what it wants.
use super::{
    providers::Providers,
    values::{config, pick},
};
use acm_sansio::{
    Acm, ClientId, EndpointId, Event, Input, KernelRequestId, Output, RequestId, Time,
    door::{ProviderSaid, SaSend},
};
use core::time::Duration;
use ib_mad::{Lid, Method, Qpn, acm::AcmMad};
use std::collections::BTreeMap;

pub(super) const CLIENTS: u32 = 6;
pub(super) const PORTS: u32 = 2;

/// What is around the core.
pub(super) struct Harness {
    pub(super) acm: Acm,
    now: Time,
    /// Generation of each client's number, and whether it is connected.
    pub(super) clients: [(u32, bool); CLIENTS as usize],
    /// Requests of connected clients that are not answered yet.
    pub(super) open: BTreeMap<ClientId, Vec<[u8; 8]>>,
    pub(super) kernel: Vec<KernelRequestId>,
    pub(super) next_request: u32,
    pub(super) sources: Vec<RequestId>,
    pub(super) sent: Vec<SaSend>,
    pub(super) asked: Vec<(EndpointId, AcmMad)>,
    pub(super) opening: Vec<EndpointId>,
    endpoints: Vec<EndpointId>,
    pub(super) shut_down: bool,
    pub(super) stopped: bool,
    /// Where the subnet manager of each port is.
    pub(super) sm_lids: [Lid; PORTS as usize],
    pub(super) providers: Providers,
}

impl Harness {
    /// A core that has heard nothing yet.
    pub(super) fn silent(number: usize) -> Self {
        Self {
            acm: Acm::new(config(number), 7),
            now: Time::ZERO,
            clients: [(0, false); CLIENTS as usize],
            open: BTreeMap::new(),
            kernel: Vec::new(),
            next_request: 0,
            sources: Vec::new(),
            sent: Vec::new(),
            asked: Vec::new(),
            opening: Vec::new(),
            endpoints: Vec::new(),
            shut_down: false,
            stopped: false,
            sm_lids: [Lid::NONE; PORTS as usize],
            providers: Providers::default(),
        }
    }

    pub(super) fn tell(&mut self, input: Input<'_>) {
        self.acm.handle_input(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.acm.poll_output() {
            self.carry_out(output);
        }
        if let Some((provider, call)) = self.providers.next_return() {
            self.tell(Input::Provider { provider, said: ProviderSaid::Returned { call, is_ok: true } });
        }
    }

    fn carry_out(&mut self, output: Output) {
        let on_fabric = matches!(
            output,
            Output::Provider { call: Some(_), .. }
                | Output::OpenEndpoint { .. }
                | Output::Attach { .. }
                | Output::Send { .. }
                | Output::SaSend(_)
        );
        assert!(!(self.stopped && on_fabric), "after the end: {output:?}");
        match output {
            Output::Reply { client, reply } => self.answered(client, &reply),
            Output::LongReply { client, bytes } => self.answered(client, &bytes),
            Output::KernelReply { id, .. } => {
                let place = self.kernel.iter().position(|other| *other == id);
                let Some(place) = place else { panic!("the kernel's request {} is answered twice", id.0) };
                self.kernel.remove(place);
            }
            Output::CloseClient(client) => self.disconnected(client),
            Output::SelectSource { request, .. } => self.sources.push(request),
            Output::SaSend(send) => self.sent.push(send),
            Output::OpenEndpoint { endpoint, .. } => {
                assert!(!self.opening.contains(&endpoint), "{endpoint} is opened twice");
                self.opening.push(endpoint);
                self.know(endpoint);
            }
            Output::CloseEndpoint(endpoint) => {
                self.opening.retain(|other| *other != endpoint);
                self.endpoints.retain(|other| *other != endpoint);
            }
            Output::Send { endpoint, to, mad } => {
                // Nobody answers what the core tells of its own addresses.
                if to.qpn == Qpn::MULTICAST && mad.src.0 != mad.dest.0 {
                    self.asked.push((endpoint, mad));
                }
            }
            Output::ShutdownDone => self.stopped = true,
            Output::Log(event) => {
                if let Event::EndpointAdded(endpoint, ..) = event {
                    self.know(endpoint);
                }
                let _ = (event.to_string(), event.dest(), event.endpoint(), event.port(), event.client());
            }
            Output::SaReply { mad, .. } => assert_eq!(mad.header.method, Method::REPORT_RESP),
            Output::Provider { provider, call, what } => self.providers.called(provider, call, what),
            Output::Attach { .. } | Output::Detach { .. } => {}
        }
    }

    fn know(&mut self, endpoint: EndpointId) {
        if !self.endpoints.contains(&endpoint) {
            self.endpoints.push(endpoint);
        }
    }

    fn answered(&mut self, client: ClientId, reply: &[u8]) {
        let Some(tid) = reply.get(8..16) else { panic!("a reply of {} bytes", reply.len()) };
        let Some(open) = self.open.get_mut(&client) else { panic!("{client} is gone and is answered") };
        let place = open.iter().position(|other| other == tid);
        let Some(place) = place else { panic!("{client} did not ask for {tid:?}, or was answered before") };
        open.remove(place);
    }

    pub(super) fn disconnected(&mut self, client: ClientId) {
        self.open.remove(&client);
        if let Some((generation, connected)) = self.clients.get_mut(client.index() as usize)
            && *generation == client.generation()
        {
            *connected = false;
        }
    }

    pub(super) fn client(&self, number: u8) -> Option<ClientId> {
        let index = u32::from(number) % CLIENTS;
        let (generation, connected) = *self.clients.get(index as usize)?;
        connected.then(|| ClientId::new(index, generation))
    }

    pub(super) fn tid(&mut self) -> [u8; 8] {
        self.next_request += 1;
        u64::from(self.next_request).to_be_bytes()
    }

    pub(super) fn endpoint(&self, number: u8) -> EndpointId {
        // One that there is, most of the time.
        let made_up = EndpointId::new(u32::from(number % 4), u32::from(number / 64));
        if number % 8 == 7 { made_up } else { pick(&self.endpoints, number).copied().unwrap_or(made_up) }
    }

    /// Time passes, and the core is woken when it wants to be.
    pub(super) fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        let mut wakeups = 0;
        while let Some(at) = self.acm.poll_timeout().filter(|at| *at <= until) {
            assert!(at >= self.now, "a deadline in the past: {at}, now {}", self.now);
            assert_eq!(self.acm.poll_deadline().map(|deadline| deadline.at), Some(at));
            self.now = at;
            self.acm.handle_timeout(at);
            self.drain();
            self.check();
            wakeups += 1;
            assert!(wakeups < 200_000, "the core spins at {}", self.now);
        }
        self.now = until;
    }

    pub(super) fn check(&self) {
        if let Err(what) = self.acm.check() {
            panic!("at {}: {what}\n{}", self.now, self.acm.report());
        }
    }
}
