//! Everything of the core but its provider.
use crate::{
    Config, Event, Input, Time,
    clients::{Asker, Clients, Waiting},
    id::{ClientId, EndpointId, PortId, SaRequestId},
    output::{Output, SaAddress, SaSend, Stats},
    ports::{PortAttributes, Ports},
    provider::Token,
    rng::Rng,
    sa::{Purpose, SaError, SaQueue},
    timers::{TimerKey, Timers},
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, Counters, Reply},
};
use alloc::collections::VecDeque;
use core::time::Duration;
use ib_mad::{
    TransactionId,
    sa::{PathRecord, SaMad},
};

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) now: Time,
    pub(crate) rng: Rng,
    pub(crate) outputs: VecDeque<Output>,
    pub(crate) timers: Timers,
    pub(crate) ports: Ports,
    pub(crate) clients: Clients,
    pub(crate) sa: SaQueue,
    pub(crate) counters: Counters,
    pub(crate) stats: Stats,
    pub(crate) shutting_down: bool,
    /// Facts that came of carrying out outputs, to be told in their order.
    pub(crate) facts: VecDeque<Input<'static>>,
}

impl Core {
    pub(crate) fn new(config: Config, seed: u64) -> Self {
        Self {
            config,
            now: Time::ZERO,
            rng: Rng::new(seed),
            outputs: VecDeque::new(),
            timers: Timers::default(),
            ports: Ports::new(seed),
            clients: Clients::new(),
            sa: SaQueue::new(),
            counters: Counters::default(),
            stats: Stats::default(),
            shutting_down: false,
            facts: VecDeque::new(),
        }
    }

    pub(crate) fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(crate) fn log(&mut self, event: Event) {
        self.output(Output::Log(event));
    }

    /// Answers a client, if it is still there.
    pub(crate) fn reply(&mut self, client: ClientId, reply: Reply) {
        if self.clients.is_open(client) {
            self.output(Output::Reply { client, reply });
        } else {
            self.stats.replies_dropped += 1;
        }
    }

    /// Counts how a request of an endpoint went.
    pub(crate) fn count_status(&mut self, endpoint: Option<EndpointId>, status: ClientStatus) {
        let counter = match status {
            ClientStatus::SUCCESS => return,
            ClientStatus::ENODATA => Counter::NoData,
            _ => Counter::Error,
        };
        self.counters.count(counter);
        if let Some(endpoint) = endpoint.and_then(|id| self.ports.endpoint_mut(id)) {
            endpoint.counters.count(counter);
        }
    }

    /// Answers everybody who waits for `token`.
    pub(crate) fn complete(&mut self, token: Token, result: Result<&PathRecord, ClientStatus>) {
        while let Some((id, request)) = self.clients.pop(token) {
            let Waiting::Provider { endpoint, chosen_source } = request.waiting else { continue };
            if matches!(request.asker, Asker::Kernel(_)) {
                self.timers.clear(TimerKey::Kernel(id));
            }
            self.finish(request.asker, endpoint, chosen_source.as_ref(), result);
        }
    }

    /// Answers a request of an endpoint.
    pub(crate) fn finish(
        &mut self,
        asker: Asker,
        endpoint: EndpointId,
        chosen_source: Option<&Address>,
        result: Result<&PathRecord, ClientStatus>,
    ) {
        let status = result.err().unwrap_or(ClientStatus::SUCCESS);
        match asker {
            Asker::Client { id, tid } => {
                let reply = match result {
                    Ok(path) => Reply::resolved(tid, path, chosen_source),
                    Err(status) => Reply::unresolved(tid, status),
                };
                self.count_status(Some(endpoint), status);
                self.reply(id, reply);
            }
            Asker::Kernel(Some(id)) => {
                self.count_status(Some(endpoint), status);
                self.output(Output::KernelReply { id, path: result.copied() });
            }
            Asker::Kernel(None) => {}
        }
    }

    /// The upper half of a transaction id belongs to the kernel.
    pub(crate) fn sa_tid(&mut self) -> TransactionId {
        TransactionId::new(self.rng.next() >> 32)
    }

    pub(crate) fn sa_push(&mut self, port: PortId, purpose: Purpose, mad: SaMad) -> Result<(), SaError> {
        if self.ports.attributes(port).is_none() {
            return Err(SaError::PortDown);
        }
        self.sa.push(port, purpose, mad, self.config.limits.sa_queue).inspect_err(|_| self.stats.sa_refused += 1)?;
        self.sa_pump(port);
        Ok(())
    }

    /// Sends what the port's credits allow.
    pub(crate) fn sa_pump(&mut self, port: PortId) {
        while let Some(to) = self.ports.attributes(port).map(PortAttributes::sa_address)
            && let Some((id, mad)) = self.sa.next(port, self.config.sa_depth)
        {
            self.sa_send(port, id, to, mad);
        }
    }

    /// Sends a request that holds a credit.
    pub(crate) fn sa_send(&mut self, port: PortId, id: SaRequestId, to: SaAddress, mad: SaMad) {
        let (timeout, retries) = (self.config.timeout, self.config.retries);
        self.output(Output::SaSend(SaSend { port, id, to, mad, timeout, retries }));
        // The sender repeats and reports; this is for a sender that forgets to.
        let margin = Duration::from_secs(1);
        self.timers.set(TimerKey::Sa(id), self.now + self.config.sa_time() + margin);
    }
}
