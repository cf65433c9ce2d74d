//! The thread that calls a library: one function after another, in the order of the core's outputs.
use crate::{
    devices::OpenDevice,
    functions::Functions,
    objects::Objects,
    queue::{LogLine, PluginEvent},
    slots::{Slot, SlotId},
};
use acm_sansio::api::{CallId, ProviderCall, ProviderMessage};
use core::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

/// `IBV_EVENT_SM_CHANGE`.
const SM_CHANGE: u32 = 13;
/// `IBV_EVENT_CLIENT_REREGISTER`.
const CLIENT_REREGISTER: u32 = 17;

/// A call to the library.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) call: CallId,
    pub(crate) what: ProviderCall,
}

/// Executes calls until the channel is closed.
pub(crate) fn run(
    commands: &Receiver<Command>,
    slot_id: SlotId,
    slot: &Slot,
    functions: Functions,
    open_device: OpenDevice,
) {
    let mut objects = Box::new(Objects::new(functions, slot_id, open_device));
    for Command { call, what } in commands {
        let is_ok = execute(&mut objects, slot_id, slot, what);
        slot.queue.push(slot.provider, PluginEvent::Message(ProviderMessage::Returned { call, is_ok }));
    }
    // The open objects are never freed, because the library's threads run until the program ends and may use the
    // objects.
    slot.leaked_objects.store(Box::into_raw(objects).cast(), Ordering::Relaxed);
}

fn execute(objects: &mut Objects, slot_id: SlotId, slot: &Slot, what: ProviderCall) -> bool {
    match what {
        ProviderCall::OpenPort { port, attributes } => match objects.open_port(port, &attributes) {
            Ok(is_ok) => return is_ok,
            Err(reason) => {
                let text = format!("port {} is not opened: {reason}", attributes.port_number);
                slot.queue.push_line(slot.provider, LogLine { level: 0, text });
                return false;
            }
        },
        ProviderCall::ClosePort(port) => objects.close_port(port),
        ProviderCall::OpenEndpoint { endpoint, port, pkey } => return objects.open_endpoint(endpoint, port, pkey),
        ProviderCall::CloseEndpoint(endpoint) => objects.close_endpoint(endpoint),
        ProviderCall::AddAddress { endpoint, address } => return objects.add_address(endpoint, address),
        ProviderCall::RemoveAddress { endpoint, address } => objects.remove_address(endpoint, &address),
        ProviderCall::Resolve { request, endpoint, source, message } => {
            return slot_id.number(request).is_some_and(|number| objects.resolve(endpoint, &source, &message, number));
        }
        ProviderCall::Query { request, endpoint, source, message } => {
            return slot_id.number(request).is_some_and(|number| objects.query(endpoint, &source, &message, number));
        }
        ProviderCall::Reregister(port) => return objects.event(port, CLIENT_REREGISTER),
        ProviderCall::ManagerChanged(port) => return objects.event(port, SM_CHANGE),
        ProviderCall::QueryCounters { request, endpoint } => {
            let Some(values) = objects.counters(endpoint) else { return false };
            slot.queue.push(slot.provider, PluginEvent::Message(ProviderMessage::Counters { request, values }));
        }
        // The thread of `handlers` does this.
        ProviderCall::SaResponse { .. } | ProviderCall::SaFailed { .. } => {}
    }
    true
}
