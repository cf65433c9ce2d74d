//! What subnet administration answers.
use super::Acm;
use crate::{
    Event,
    id::{PortId, SaRequestId},
    provider::Context,
    sa::{Progress, Purpose, SaError},
    timers::TimerKey,
};
use core::time::Duration;
use ib_mad::{Wire, sa::SaMad};

/// How long a busy subnet administration is left alone; twice as long each time.
const BUSY_PAUSE: Duration = Duration::from_millis(250);

impl Acm {
    /// Ends all requests of a port to subnet administration.
    pub(super) fn sa_abandon(&mut self, port: PortId) {
        // Nothing is sent with the credits that are given back, and nobody searches the queue for each request.
        if let Some(queue) = self.core.sa.ports.get_mut(&port) {
            queue.waiting.clear();
            queue.memberships.clear();
        }
        for id in self.core.sa.of_port(port) {
            self.sa_finish(id, Err(SaError::PortDown));
        }
    }

    pub(super) fn sa_answer(&mut self, id: SaRequestId, bytes: &[u8]) {
        let Some(request) = self.core.sa.requests.get_mut(id) else {
            self.core.stats.stale_inputs += 1;
            return;
        };
        let Progress::InFlight { busy } = request.progress else {
            self.core.stats.sa_bad_answers += 1;
            return;
        };
        let (asked, port) = (request.mad.header, request.port);
        let fits = |mad: &&SaMad| {
            let header = &mad.header;
            header.method.is_response()
                && header.attribute_id == asked.attribute_id
                && header.transaction_id.get() & 0xffff_ffff == asked.transaction_id.get() & 0xffff_ffff
        };
        let Some(mad) = SaMad::parse(bytes).ok().filter(fits) else {
            self.core.stats.sa_bad_answers += 1;
            self.core.log(Event::BadSaAnswer(port));
            return;
        };
        let status = mad.header.status;
        if status.is_busy() && busy < self.core.config.retries {
            request.progress = Progress::Pausing { busy: busy + 1 };
            self.core.stats.sa_busy += 1;
            self.core.timers.set(TimerKey::Sa(id), self.core.now + BUSY_PAUSE.saturating_mul(1 << busy.min(8)));
            return;
        }
        self.sa_finish(id, if status.is_ok() { Ok(mad) } else { Err(SaError::Status(status)) });
    }

    /// A busy administration may be asked again; or a sender forgot to report.
    pub(super) fn sa_timeout(&mut self, id: SaRequestId) {
        let Some(request) = self.core.sa.requests.get_mut(id) else { return };
        let Progress::Pausing { busy } = request.progress else { return self.sa_finish(id, Err(SaError::TimedOut)) };
        request.progress = Progress::InFlight { busy };
        let (port, mad) = (request.port, request.mad);
        let Some(attributes) = self.core.ports.attributes(port) else {
            return self.sa_finish(id, Err(SaError::PortDown));
        };
        let to = attributes.sa_address();
        self.core.sa_send(port, id, to, mad);
    }

    pub(super) fn sa_finish(&mut self, id: SaRequestId, answer: Result<&SaMad, SaError>) {
        let Some(request) = self.core.sa.remove(id) else {
            self.core.stats.stale_inputs += 1;
            return;
        };
        self.core.timers.clear(TimerKey::Sa(id));
        match request.purpose {
            Purpose::Leave => {}
            Purpose::Query(endpoint, request) => self.query_done(endpoint, request, answer),
            Purpose::Provider(endpoint, token) => {
                if self.core.ports.endpoint(endpoint).is_some() {
                    self.provider.sa_done(&mut Context { core: &mut self.core }, endpoint, token, answer);
                }
            }
        }
        self.core.sa_pump(request.port);
    }
}
