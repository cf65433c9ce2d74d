//! The end of the core: groups are left, endpoints and providers closed.
use super::Acm;
use crate::{
    api::Output,
    cx::{Running, timers::TimerKey},
    retry,
};
use alloc::vec::Vec;

impl Acm {
    pub(super) fn shutdown(&mut self) {
        if self.context.running != Running::Serving {
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
        self.context.running = Running::Leaving;
        let at = self.context.now + retry::SHUTDOWN;
        self.context.timers.set(TimerKey::Shutdown, at);
    }

    /// Ends the shutdown if the last group is left and the last provider has closed what it had open.
    pub(super) fn check_shutdown(&mut self) {
        let is_over = || self.context.sa.is_idle() && self.providers.are_closed();
        if self.context.running == Running::Leaving && is_over() {
            self.stopped();
        }
    }

    pub(super) fn stopped(&mut self) {
        self.context.running = Running::Stopped;
        self.context.timers.clear(TimerKey::Shutdown);
        self.context.clients.report_failures(&mut self.context.cx);
        for port in self.context.sa.ports() {
            self.fail_sa_queries(port);
        }
        self.context.output(Output::ShutdownDone);
    }
}
