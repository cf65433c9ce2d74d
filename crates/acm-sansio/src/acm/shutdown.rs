//! The end of the core: groups are left, endpoints and providers closed.
use super::Acm;
use crate::{
    api::Output,
    retry,
    shared::{Running, timers::TimerKey},
};
use alloc::vec::Vec;

impl Acm {
    pub(super) fn shutdown(&mut self) {
        if self.context.shared.running != Running::Serving {
            return;
        }
        let endpoints: Vec<_> = self.context.ports.all_endpoints().map(|(id, _)| id).collect();
        for endpoint in endpoints {
            self.close_endpoint(endpoint);
        }
        self.index_addresses();
        let ports: Vec<_> = self.context.ports.iter().map(|(port, ..)| port).collect();
        ports.into_iter().for_each(|port| self.assign_provider(port, None));
        self.end_notices();
        self.context.shared.running = Running::Leaving;
        let at = self.context.shared.now + retry::SHUTDOWN;
        self.context.shared.timers.set(TimerKey::Shutdown, at);
    }

    /// Ends the shutdown if the last group is left and the last provider has closed what it had open.
    pub(super) fn check_shutdown(&mut self) {
        let is_over = || self.context.sa.is_idle() && self.providers.are_closed();
        if self.context.shared.running == Running::Leaving && is_over() {
            self.stopped();
        }
    }

    pub(super) fn stopped(&mut self) {
        self.context.shared.running = Running::Stopped;
        self.context.shared.timers.clear(TimerKey::Shutdown);
        self.context.clients.report_failures(&mut self.context.shared);
        for port in self.context.sa.ports() {
            self.fail_sa_queries(port);
        }
        self.context.shared.output(Output::ShutdownDone);
    }
}
