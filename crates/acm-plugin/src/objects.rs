//! The open objects of a library, and the C structures that the library points at. Only the thread that calls the
//! library uses them.
//!
//! ibacm never frees devices and ports, and a library may read a device or port after it was closed. Therefore this
//! module does not free devices and ports either, and reuses them when they are opened again. Endpoints and addresses
//! are freed after the function that closes them.
#![expect(unsafe_code, reason = "it calls the library")]
use crate::{
    convert,
    devices::{OpenDevice, OpenedDevice},
    functions::{Close, Functions, Handle},
    registry,
    slots::{Running, SlotId},
};
use acm_provider::abi;
use acm_sansio::{EndpointId, PortId, port::PortAttributes};
use acm_wire::Address;
use core::{
    ffi::{c_char, c_void},
    ptr::{self, NonNull},
};
use ib_mad::{Guid, Pkey};
use std::collections::BTreeMap;

/// A structure that a library points at.
struct Shared<T>(NonNull<T>);

impl<T> Shared<T> {
    fn new(value: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new(value))))
    }

    const fn pointer(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: `new` makes the pointer from a box, and only this function frees it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

struct Device {
    c: Shared<abi::Device>,
    /// The open device and the library's context; `None` if no port is open.
    opened: Option<(OpenedDevice, *mut c_void)>,
    ports: BTreeMap<u8, Port>,
}

struct Port {
    c: Shared<abi::Port>,
    /// The core's id and the library's context; `None` if the port is closed.
    opened: Option<(PortId, *mut c_void)>,
}

struct Endpoint {
    c: Shared<abi::Endpoint>,
    port: PortId,
    context: *mut c_void,
    addresses: BTreeMap<Address, AddedAddress>,
}

struct AddedAddress {
    context: *mut c_void,
    // The library keeps pointers to both.
    _c: Shared<abi::Address>,
    _text: Shared<[u8; 65]>,
}

/// The open objects of a library.
pub(crate) struct Objects {
    functions: Functions,
    slot: SlotId,
    open_device: OpenDevice,
    devices: BTreeMap<Guid, Device>,
    endpoints: BTreeMap<EndpointId, Endpoint>,
}

/// True if an object was opened, false if the library rejected the object. An error is the reason of another failure,
/// for the log.
pub(crate) type OpenResult = Result<bool, String>;

impl Objects {
    pub(crate) fn new(functions: Functions, slot: SlotId, open_device: OpenDevice) -> Self {
        Self { functions, slot, open_device, devices: BTreeMap::new(), endpoints: BTreeMap::new() }
    }

    fn running(&self, function: &'static str) -> Running {
        Running::new(self.slot, function)
    }

    fn close(&self, function: Close, name: &'static str, context: *mut c_void) {
        let _running = self.running(name);
        // SAFETY: the library returned this context when it opened the object, and the object is closed only once.
        unsafe { function(context) };
    }

    pub(crate) fn open_port(&mut self, id: PortId, attributes: &PortAttributes) -> OpenResult {
        let guid = attributes.device_guid;
        self.close_port(id);
        let opener = self.open_device.clone();
        let (slot, functions) = (self.slot, self.functions);
        let device = self.devices.entry(guid).or_insert_with(|| Device {
            c: Shared::new(abi::Device { verbs: ptr::null_mut(), guid: guid.get().to_be_bytes() }),
            opened: None,
            ports: BTreeMap::new(),
        });
        let context = match &device.opened {
            Some((opened, context)) => {
                opened.discard_events();
                *context
            }
            None => {
                let opened = opener.open(guid)?;
                let mut context = ptr::null_mut();
                // SAFETY: the structure is never freed. While no port of the device is open, the library reads it only
                // in its functions.
                unsafe { (*device.c.pointer()).verbs = opened.verbs() };
                let running = Running::new(slot, "open_device");
                // SAFETY: the device is open, and the library may write the context.
                let result = unsafe { (functions.open_device)(device.c.pointer(), &raw mut context) };
                drop(running);
                if result != 0 {
                    // SAFETY: as above.
                    unsafe { (*device.c.pointer()).verbs = ptr::null_mut() };
                    return Ok(false);
                }
                device.opened = Some((opened, context));
                context
            }
        };
        let number = attributes.port_number;
        let pointer = device.c.pointer();
        let port = device.ports.entry(number).or_insert_with(|| Port {
            c: Shared::new(abi::Port { device: pointer, port_number: number }),
            opened: None,
        });
        registry::add_port(port.c.pointer(), attributes.gids.iter().map(|gid| gid.get()).collect());
        let mut port_context = ptr::null_mut();
        let running = Running::new(slot, "open_port");
        // SAFETY: the port is never freed, its device is open, and the library may write the context.
        let result = unsafe { (functions.open_port)(port.c.pointer(), context, &raw mut port_context) };
        drop(running);
        if result == 0 {
            port.opened = Some((id, port_context));
        } else {
            registry::remove_port(port.c.pointer());
            self.close_device_without_ports(guid);
        }
        Ok(result == 0)
    }

    pub(crate) fn close_port(&mut self, id: PortId) {
        let endpoints: Vec<EndpointId> =
            self.endpoints.iter().filter(|(_, endpoint)| endpoint.port == id).map(|(id, _)| *id).collect();
        endpoints.into_iter().for_each(|endpoint| self.close_endpoint(endpoint));
        let matches = |port: &&mut Port| port.opened.is_some_and(|(open, _)| open == id);
        let mut found = None;
        for (guid, device) in &mut self.devices {
            if let Some(port) = device.ports.values_mut().find(matches) {
                found = port.opened.take().map(|(_, context)| (*guid, port.c.pointer(), context));
                break;
            }
        }
        let Some((guid, port, context)) = found else { return };
        self.close(self.functions.close_port, "close_port", context);
        registry::remove_port(port);
        self.close_device_without_ports(guid);
    }

    fn close_device_without_ports(&mut self, guid: Guid) {
        let Some(device) = self.devices.get_mut(&guid) else { return };
        if device.ports.values().any(|port| port.opened.is_some()) {
            if let Some((opened, _)) = &device.opened {
                opened.discard_events();
            }
            return;
        }
        let (Some((opened, context)), pointer) = (device.opened.take(), device.c.pointer()) else { return };
        self.close(self.functions.close_device, "close_device", context);
        // SAFETY: the structure is never freed, and the library has closed the device.
        unsafe { (*pointer).verbs = ptr::null_mut() };
        drop(opened);
    }

    fn port(&self, id: PortId) -> Option<(*mut abi::Port, *mut c_void)> {
        let mut ports = self.devices.values().flat_map(|device| device.ports.values());
        ports.find_map(|port| {
            port.opened.filter(|(open, _)| *open == id).map(|(_, context)| (port.c.pointer(), context))
        })
    }

    pub(crate) fn open_endpoint(&mut self, id: EndpointId, port_id: PortId, pkey: Pkey) -> bool {
        let Some((port, port_context)) = self.port(port_id) else { return false };
        let c = Shared::new(abi::Endpoint { port, pkey: pkey.get() });
        // The library may send requests to the subnet administrator before the call returns.
        registry::add_endpoint(c.pointer(), self.slot, id);
        let mut context = ptr::null_mut();
        let running = self.running("open_endpoint");
        // SAFETY: the endpoint exists until it is closed, its port is open, and the library may write the context.
        let result = unsafe { (self.functions.open_endpoint)(c.pointer(), port_context, &raw mut context) };
        drop(running);
        if result != 0 {
            registry::remove_endpoint(c.pointer());
            return false;
        }
        let endpoint = Endpoint { c, port: port_id, context, addresses: BTreeMap::new() };
        self.endpoints.insert(id, endpoint);
        true
    }

    pub(crate) fn close_endpoint(&mut self, id: EndpointId) {
        let Some(endpoint) = self.endpoints.remove(&id) else { return };
        for added in endpoint.addresses.into_values() {
            self.close(self.functions.remove_address, "remove_address", added.context);
        }
        self.close(self.functions.close_endpoint, "close_endpoint", endpoint.context);
        registry::remove_endpoint(endpoint.c.pointer());
    }

    pub(crate) fn add_address(&mut self, id: EndpointId, address: Address) -> bool {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return false };
        if endpoint.addresses.contains_key(&address) {
            return true;
        }
        let (kind, info) = convert::address(&address);
        let text = Shared::new(id_string(&address));
        let id_string = text.pointer().cast::<c_char>();
        let c = Shared::new(abi::Address { endpoint: endpoint.c.pointer(), info, id_string, kind });
        let mut context = ptr::null_mut();
        let running = Running::new(self.slot, "add_address");
        // SAFETY: address and endpoint exist until they are removed, and the library may write the context.
        let result = unsafe { (self.functions.add_address)(c.pointer(), endpoint.context, &raw mut context) };
        drop(running);
        if result == 0 {
            endpoint.addresses.insert(address, AddedAddress { context, _c: c, _text: text });
        }
        result == 0
    }

    pub(crate) fn remove_address(&mut self, id: EndpointId, address: &Address) {
        let Some(added) = self.endpoints.get_mut(&id).and_then(|endpoint| endpoint.addresses.remove(address)) else {
            return;
        };
        self.close(self.functions.remove_address, "remove_address", added.context);
    }

    /// Calls `resolve`. Returns false if the endpoint does not have the source address.
    pub(crate) fn resolve(&self, id: EndpointId, source: &Address, message: &[u8], number: u64) -> bool {
        self.request(("resolve", self.functions.resolve), id, source, message, number)
    }

    /// Calls `query`. Returns false if the endpoint does not have the source address.
    pub(crate) fn query(&self, id: EndpointId, source: &Address, message: &[u8], number: u64) -> bool {
        self.request(("query", self.functions.query), id, source, message, number)
    }

    fn request(
        &self,
        (name, function): (&'static str, Handle),
        id: EndpointId,
        source: &Address,
        message: &[u8],
        number: u64,
    ) -> bool {
        let added = self.endpoints.get(&id).and_then(|endpoint| endpoint.addresses.get(source));
        let Some(added) = added else { return false };
        let mut message = convert::message(message);
        let _running = self.running(name);
        // SAFETY: the context belongs to an added address, and the message exists until the call returns. The return
        // value is ignored, because a response follows in every case.
        unsafe { function(added.context, &raw mut message, number) };
        true
    }

    /// Calls `handle_event` for a port. Returns false if the port is not open, or the library rejects the event.
    pub(crate) fn event(&self, id: PortId, event: u32) -> bool {
        self.devices
            .values()
            .filter_map(|device| device.opened.as_ref())
            .for_each(|(opened, _)| opened.discard_events());
        let Some((_, context)) = self.port(id) else { return false };
        let _running = self.running("handle_event");
        // SAFETY: the context belongs to an open port.
        unsafe { (self.functions.handle_event)(context, event) == 0 }
    }

    /// Returns the endpoint's counters.
    pub(crate) fn counters(&self, id: EndpointId) -> Option<Vec<u64>> {
        let endpoint = self.endpoints.get(&id)?;
        // The library returns the number of counters in 8 bits.
        let (mut values, mut count) = ([0u64; 256], 0);
        let _running = self.running("query_perf");
        // SAFETY: the context belongs to an open endpoint, and the array has room for the maximum number of counters.
        unsafe { (self.functions.query_perf)(endpoint.context, values.as_mut_ptr(), &raw mut count) };
        Some(values.iter().take(count.into()).map(|value| u64::from_be(*value)).collect())
    }
}

/// Returns an address as a C string.
fn id_string(address: &Address) -> [u8; 65] {
    let text = match address {
        Address::Name(name) => name.as_bytes().to_vec(),
        other => other.to_string().into_bytes(),
    };
    let mut bytes = [0; 65];
    for (to, from) in bytes.iter_mut().take(64).zip(text) {
        *to = from;
    }
    bytes
}

#[cfg(test)]
mod tests;
