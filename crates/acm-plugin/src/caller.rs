//! The thread that calls a library: one function after another, in the order in which the core wants them.
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

/// A call for the thread.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) call: CallId,
    pub(crate) what: ProviderCall,
}

/// Calls until nobody wants anything any more.
pub(crate) fn run(
    commands: &Receiver<Command>,
    slot_id: SlotId,
    slot: &Slot,
    functions: Functions,
    open_device: OpenDevice,
) {
    let mut objects = Box::new(Objects::new(functions, slot_id, open_device));
    for Command { call, what } in commands {
        let is_ok = carry_out(&mut objects, slot_id, slot, what);
        slot.queue.push(slot.provider, PluginEvent::Message(ProviderMessage::Returned { call, is_ok }));
    }
    // What is open at the end stays: the library's threads go on until the program ends.
    slot.kept.store(Box::into_raw(objects).cast(), Ordering::Relaxed);
}

fn carry_out(objects: &mut Objects, slot_id: SlotId, slot: &Slot, what: ProviderCall) -> bool {
    match what {
        ProviderCall::OpenPort { port, attributes } => match objects.open_port(port, &attributes) {
            Ok(is_ok) => return is_ok,
            Err(why) => {
                let text = format!("port {} is not opened: {why}", attributes.port_number);
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
        ProviderCall::Reregister(port) => return objects.reregister(port),
        ProviderCall::QueryCounters { request, endpoint } => {
            let Some(values) = objects.counters(endpoint) else { return false };
            slot.queue.push(slot.provider, PluginEvent::Message(ProviderMessage::Counters { request, values }));
        }
        // Another thread does this.
        ProviderCall::SaResponse { .. } | ProviderCall::SaFailed { .. } => {}
    }
    true
}
