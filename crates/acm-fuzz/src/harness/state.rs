//! The harness: the core, and the state of the environment that its outputs need.
use super::{
    providers::Providers,
    values::{config, good_response, good_table, pick},
};
use acm_sansio::{
    Acm, ClientId, EndpointId, Event, Input, KernelRequestId, Output, RequestId, Time,
    api::{ProviderMessage, Publication, SaSend},
};
use acm_sim::Published;
use core::time::Duration;
use ib_mad::{Gid, Lid, Method, Qpn, acm::AcmMad};
use std::collections::BTreeMap;

pub(super) const CLIENTS: u32 = 6;
pub(super) const PORTS: u32 = 2;

/// A core with the state of its environment.
pub(super) struct Harness {
    pub(super) acm: Acm,
    now: Time,
    /// Generation of each client's number, and true if the client is connected.
    pub(super) clients: [(u32, bool); CLIENTS as usize],
    /// Transaction ids of pending requests of connected clients.
    pub(super) open: BTreeMap<ClientId, Vec<[u8; 8]>>,
    /// Pending requests of the kernel.
    pub(super) kernel: Vec<KernelRequestId>,
    pub(super) next_request: u32,
    /// Pending queries for a source address.
    pub(super) sources: Vec<RequestId>,
    /// Pending requests to subnet administration.
    pub(super) sent: Vec<SaSend>,
    /// Multicast requests that the core has sent.
    pub(super) multicast_requests: Vec<(EndpointId, AcmMad)>,
    /// Clients that the core has closed, and whose end it must be notified of.
    closed: Vec<ClientId>,
    /// Endpoints whose queue pair is being opened.
    pub(super) opening: Vec<EndpointId>,
    /// Groups to which queue pairs are being attached.
    pub(super) attaching: Vec<(EndpointId, Gid, Lid)>,
    endpoints: Vec<EndpointId>,
    pub(super) shut_down: bool,
    pub(super) stopped: bool,
    /// LID of each port's subnet manager.
    pub(super) sm_lids: [Lid; PORTS as usize],
    pub(super) providers: Providers,
    /// True if all requests to subnet administration succeed, and all queue pairs can be opened.
    pub(super) all_succeeds: bool,
    /// Paths that clients read without a request.
    published: Published,
}

impl Harness {
    /// Returns a core without inputs so far; `number` selects its configuration.
    pub(super) fn without_inputs(number: usize) -> Self {
        Self {
            acm: Acm::new(config(number), 7),
            now: Time::ZERO,
            clients: [(0, false); CLIENTS as usize],
            open: BTreeMap::new(),
            kernel: Vec::new(),
            next_request: 0,
            sources: Vec::new(),
            sent: Vec::new(),
            multicast_requests: Vec::new(),
            closed: Vec::new(),
            opening: Vec::new(),
            attaching: Vec::new(),
            endpoints: Vec::new(),
            shut_down: false,
            stopped: false,
            sm_lids: [Lid::NONE; PORTS as usize],
            providers: Providers::default(),
            all_succeeds: false,
            published: Published::default(),
        }
    }

    pub(super) fn input(&mut self, input: Input<'_>) {
        self.acm.handle_input(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        let mut others = false;
        while let Some(output) = self.acm.poll_output() {
            let is_publication = matches!(output, Output::Publish(_));
            assert!(!(is_publication && others), "a publication after another output: {output:?}");
            others |= !is_publication;
            self.carry_out(output);
        }
        self.published.check(&self.acm, self.now);
        if let Some(client) = self.closed.pop() {
            self.input(Input::ClientClosed(client));
        }
        if let Some((provider, call)) = self.providers.next_return() {
            self.input(Input::Provider { provider, message: ProviderMessage::Returned { call, is_ok: true } });
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
        assert!(!(self.stopped && on_fabric), "an output after the shutdown: {output:?}");
        match output {
            Output::Reply { client, reply } => self.response_sent(client, &reply),
            Output::LongReply { client, bytes } => self.response_sent(client, &bytes),
            Output::KernelReply { id, .. } => {
                let position = self.kernel.iter().position(|other| *other == id);
                let Some(position) = position else { panic!("two responses to the kernel's request {}", id.0) };
                self.kernel.remove(position);
            }
            Output::CloseClient(client) => {
                self.disconnected(client);
                self.closed.push(client);
            }
            Output::SelectSource { request, .. } => self.sources.push(request),
            Output::SaSend(send) => self.sent.push(send),
            Output::OpenEndpoint { endpoint, .. } => {
                assert!(!self.opening.contains(&endpoint), "{endpoint} is opened twice");
                self.opening.push(endpoint);
                self.add_endpoint(endpoint);
            }
            Output::CloseEndpoint(endpoint) => {
                self.opening.retain(|other| *other != endpoint);
                self.attaching.retain(|(of, ..)| *of != endpoint);
                self.endpoints.retain(|other| *other != endpoint);
            }
            Output::Send { endpoint, to, mad } => {
                // Announcements of the core's own addresses (equal source and destination) have no response.
                if to.qpn == Qpn::MULTICAST && mad.src.0 != mad.dest.0 {
                    self.multicast_requests.push((endpoint, mad));
                }
            }
            Output::ShutdownDone => self.stopped = true,
            Output::Log(event) => {
                if let Event::EndpointAdded(endpoint, ..) = event {
                    self.add_endpoint(endpoint);
                }
                let _ = (event.to_string(), event.dest(), event.endpoint(), event.port(), event.client());
            }
            Output::SaReply { mad, .. } => assert_eq!(mad.header.method, Method::REPORT_RESP),
            Output::Provider { provider, call, what } => self.providers.called(provider, call, what),
            Output::Publish(publication) => {
                let is_withdrawn = match &publication {
                    Publication::Source { endpoint, .. } => endpoint.is_none(),
                    Publication::Path { .. } => false,
                    Publication::Withdrawn { .. } | Publication::AllWithdrawn(_) => true,
                };
                assert!(is_withdrawn || self.acm.config().shared_cache, "{publication:?}");
                self.published.apply(self.now, publication);
            }
            Output::Attach { endpoint, mgid, mlid } => self.attaching.push((endpoint, mgid, mlid)),
            Output::Detach { endpoint, mgid, mlid } => {
                self.attaching.retain(|attaching| *attaching != (endpoint, mgid, mlid));
            }
        }
    }

    fn add_endpoint(&mut self, endpoint: EndpointId) {
        if !self.endpoints.contains(&endpoint) {
            self.endpoints.push(endpoint);
        }
    }

    fn response_sent(&mut self, client: ClientId, reply: &[u8]) {
        let Some(tid) = reply.get(8..16) else { panic!("a reply of {} bytes", reply.len()) };
        let Some(open) = self.open.get_mut(&client) else { panic!("a response to {client}, which has disconnected") };
        let position = open.iter().position(|other| other == tid);
        let Some(position) = position else { panic!("{client} has no pending request {tid:?}") };
        open.remove(position);
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
        // An existing endpoint in seven of eight cases.
        let unknown = EndpointId::new(u32::from(number % 4), u32::from(number / 64));
        if number % 8 == 7 { unknown } else { pick(&self.endpoints, number).copied().unwrap_or(unknown) }
    }

    /// Advances the clock by `time`, and calls the core at each of its deadlines.
    ///
    /// # Panics
    /// If a deadline is in the past, or if there are too many deadlines.
    pub(super) fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        let mut wakeups = 0;
        while let Some(at) = self.acm.poll_timeout().filter(|at| *at <= until) {
            assert!(at >= self.now, "a deadline in the past: {at}, now {}", self.now);
            assert_eq!(self.acm.poll_deadline().map(|deadline| deadline.at), Some(at));
            self.now = at;
            self.acm.handle_timeout(at);
            self.drain();
            // Tables are requested by timers, so that other operations seldom respond in time.
            let is_table =
                |send: &mut SaSend| send.mad.header.method == Method::GET_TABLE && !send.id.index().is_multiple_of(4);
            if let Some(send) = self.sent.pop_if(is_table)
                && let Some(mad) = good_table(&send.mad)
            {
                self.input(Input::SaResponse { id: send.id, mad: &mad });
            }
            if self.all_succeeds {
                self.succeed();
            }
            self.check();
            wakeups += 1;
            assert!(wakeups < 200_000, "200,000 deadlines until {}", self.now);
        }
        self.now = until;
    }

    /// Carries out what the core waits for.
    pub(super) fn succeed(&mut self) {
        while let Some(endpoint) = self.opening.pop() {
            self.input(Input::EndpointOpened { endpoint, qpn: Qpn::of::<2>() });
        }
        while let Some(send) = self.sent.pop() {
            self.input(Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&good_response(&send.mad)) });
        }
        while let Some((endpoint, mgid, mlid)) = self.attaching.pop() {
            self.input(Input::Attached { endpoint, mgid, mlid });
        }
    }

    pub(super) fn check(&self) {
        if let Err(what) = self.acm.check() {
            panic!("at {}: {what}\n{}", self.now, self.acm.report());
        }
    }
}
