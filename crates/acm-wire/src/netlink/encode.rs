//! Requests in the format of the kernel.
use super::{
    attribute::{AttributeHeader, AttributeType},
    header::{FLAG_REQUEST, MessageType, NlHeader},
    request::{IpResolveHeader, IpResolveRequest, ResolveRequest},
};
use core::net::IpAddr;
use ib_mad::{
    Wire, as_bytes,
    wire::{Host16, Host32},
};

/// Size of the longest request of this module in bytes: a RESOLVE with every attribute.
pub const MAX_REQUEST: usize = 160;

/// Error of a buffer that is too small for a request. [`MAX_REQUEST`] bytes are enough for each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request of {need} bytes or more does not fit in {got}")]
pub struct NoRoom {
    /// Required size up to the end of the part that did not fit, in bytes.
    pub need: usize,
    /// Size of the buffer in bytes.
    pub got: usize,
}

/// A message that is being written, with space for the header at the start.
struct Writer<'a> {
    buffer: &'a mut [u8],
    used: usize,
}

impl<'a> Writer<'a> {
    fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, used: size_of::<NlHeader>() }
    }

    /// Appends bytes and their padding.
    fn put(&mut self, parts: [&[u8]; 2]) -> Result<(), NoRoom> {
        let [first, second] = parts;
        let (from, length) = (self.used, first.len() + second.len());
        let need = from + length.next_multiple_of(4);
        let got = self.buffer.len();
        let room = self.buffer.get_mut(from..need).ok_or(NoRoom { need, got })?;
        let padding = [0; 3];
        let bytes = first.iter().chain(second).chain(&padding);
        room.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.used = need;
        Ok(())
    }

    /// Appends a mandatory attribute if there is a value.
    fn attribute<const N: usize>(&mut self, kind: AttributeType, value: Option<[u8; N]>) -> Result<(), NoRoom> {
        let Some(value) = value else { return Ok(()) };
        let length = u16::try_from(size_of::<AttributeHeader>() + N).unwrap_or(u16::MAX);
        let header = AttributeHeader { length: Host16::new(length), raw_type: kind.mandatory() };
        self.put([as_bytes(&header), &value])
    }

    /// Writes the header and returns the size of the message in bytes.
    fn finish(self, message_type: MessageType, sequence: u32) -> Result<usize, NoRoom> {
        let header = NlHeader {
            length: Host32::new(u32::try_from(self.used).unwrap_or(u32::MAX)),
            raw_type: Host16::new(message_type.into_raw()),
            flags: Host16::new(FLAG_REQUEST),
            sequence: Host32::new(sequence),
            // Port id of the kernel.
            port_id: Host32::new(0),
        };
        let (need, got) = (self.used, self.buffer.len());
        *NlHeader::parse_mut(self.buffer).map_err(|_| NoRoom { need, got })? = header;
        Ok(self.used)
    }
}

impl ResolveRequest {
    /// Writes the request as the kernel does: present values become mandatory attributes, in the kernel's order.
    /// Returns the number of used bytes of the buffer.
    ///
    /// # Errors
    /// [`NoRoom`] if the buffer is too small.
    pub fn encode(&self, sequence: u32, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        let mut message = Writer::new(buffer);
        message.put([as_bytes(&self.header), &[]])?;
        message.attribute(AttributeType::SERVICE_ID, self.service_id.map(|id| id.get().to_ne_bytes()))?;
        message.attribute(AttributeType::DGID, self.dgid.map(ib_mad::Gid::get))?;
        message.attribute(AttributeType::SGID, self.sgid.map(ib_mad::Gid::get))?;
        message.attribute(AttributeType::TRAFFIC_CLASS, self.traffic_class.map(|class| [class]))?;
        message.attribute(AttributeType::PKEY, self.pkey.map(|pkey| pkey.get().to_ne_bytes()))?;
        message.attribute(AttributeType::QOS_CLASS, self.qos_class.map(u16::to_ne_bytes))?;
        message.finish(MessageType::Resolve, sequence)
    }
}

impl IpResolveRequest {
    /// Writes the request as the kernel does. Returns the number of used bytes of the buffer.
    ///
    /// # Errors
    /// [`NoRoom`] if the buffer is too small.
    pub fn encode(&self, sequence: u32, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        let mut message = Writer::new(buffer);
        message.put([as_bytes(&IpResolveHeader { interface_index: Host32::new(self.interface_index) }), &[]])?;
        match self.address {
            IpAddr::V4(ip) => message.attribute(AttributeType::IPV4, Some(ip.octets()))?,
            IpAddr::V6(ip) => message.attribute(AttributeType::IPV6, Some(ip.octets()))?,
        }
        message.finish(MessageType::IpResolve, sequence)
    }
}
