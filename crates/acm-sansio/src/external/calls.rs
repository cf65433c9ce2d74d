//! Calls to a provider that have not returned, and providers that hang.
use super::{
    ports::LifecycleCall,
    state::{Call, External},
    token::{PendingCallId, Task},
};
use crate::{
    api::{CallId, Event, ProviderCall, ProviderEvent, failure::Failure, id::EndpointId},
    provider::Context,
    retry::PROVIDER_CALL,
};
use alloc::vec::Vec;

impl External {
    /// Calls a function of the provider.
    pub(super) fn call(&mut self, cx: &mut Context, what: ProviderCall, lifecycle: Option<LifecycleCall>) {
        if self.calls.len() == 0 {
            let at = cx.shared.now() + PROVIDER_CALL;
            cx.shared.set_timer(self.token(Task::Call), at);
        }
        let opens_or_closes = lifecycle.is_some();
        let call = self.calls.insert(Call { function: what.function(), lifecycle });
        if opens_or_closes {
            self.lifecycle = Some(call);
        }
        cx.call(self.id, Some(call.external_id(self.id)), what);
    }

    /// Handles the return of a call.
    pub(super) fn returned(&mut self, cx: &mut Context, call: CallId, is_ok: bool) {
        let call = PendingCallId::from_external_id(call, self.id);
        let found = call.and_then(|call| Some((call, self.calls.remove(call)?)));
        let Some((call, done)) = cx.shared.named(found) else { return };
        let timer = self.token(Task::Call);
        if self.calls.len() == 0 {
            cx.shared.clear_timer(timer);
        } else {
            let at = cx.shared.now() + PROVIDER_CALL;
            cx.shared.set_timer(timer, at);
        }
        if core::mem::take(&mut self.hangs) {
            cx.shared.log(Event::Provider(self.id, ProviderEvent::Returned));
            self.resume_serving(cx);
        }
        if self.lifecycle == Some(call) {
            self.lifecycle = None;
        }
        if let Some(lifecycle) = done.lifecycle {
            self.lifecycle_done(cx, lifecycle, is_ok);
        }
        self.proceed(cx);
    }

    /// Handles the time-out of the oldest call: the provider hangs. Its requests fail, and its endpoints are closed.
    pub(super) fn call_due(&mut self, cx: &mut Context) {
        let Some((_, call)) = cx.shared.existing(self.calls.iter().next()) else { return };
        let function = call.function;
        self.hangs = true;
        cx.shared.stats.provider_hangs += 1;
        cx.shared.log(Event::Provider(self.id, ProviderEvent::Hangs(function, PROVIDER_CALL.as_secs())));
        let endpoints: Vec<EndpointId> = self.endpoints.keys().copied().collect();
        for endpoint in endpoints {
            self.stop_serving(cx, endpoint, Failure::ProviderDown);
        }
    }

    /// Starts whatever is possible now: opening, closing, requests.
    pub(super) fn proceed(&mut self, cx: &mut Context) {
        self.sync(cx);
        self.pump(cx);
    }
}
