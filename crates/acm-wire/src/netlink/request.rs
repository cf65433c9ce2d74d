//! Requests of the kernel.
use super::{
    attribute::{Attribute, AttributeType, attributes},
    error::KernelMessageError,
    header::{MessageType, NlMessage, after},
    response::PathFlags,
};
use core::{net::IpAddr, time::Duration};
use ib_mad::{
    Gid, Pkey, ServiceId, Wire, code, wire,
    wire::{Host32, Text},
};

code! {
    /// Use of the requested path.
    pub struct PathUse(u8) {
        /// For a connection: up to six path records in the response.
        ALL = 0 "all",
        /// For datagrams in one direction: one path record in the response.
        UNIDIRECTIONAL = 1 "unidirectional",
        /// For management datagrams: at least one reversible path record in the response.
        GMP = 2 "GMP",
    }
}

impl PathUse {
    /// Returns the flags of a path record in the response to a request for this use.
    #[must_use]
    pub fn response_flags(self) -> PathFlags {
        match self {
            Self::UNIDIRECTIONAL => PathFlags::PRIMARY | PathFlags::OUTBOUND,
            _ => PathFlags::PRIMARY | PathFlags::GMP | PathFlags::OUTBOUND | PathFlags::INBOUND_REVERSE,
        }
    }
}

wire! {
    /// Fixed part of a RESOLVE request (`struct rdma_ls_resolve_header`), 66 bytes, followed by two bytes of padding.
    pub struct ResolveHeader [66] {
        /// Name of the local RDMA device, as in `/sys/class/infiniband`.
        pub device_name: Text<64>,
        /// Port number on the device, from 1.
        pub port: u8,
        /// Use of the requested path.
        pub path_use: PathUse,
    }
}

wire! {
    /// Fixed part of an IP_RESOLVE request (`struct rdma_ls_ip_resolve_header`), 4 bytes.
    pub struct IpResolveHeader [4] {
        /// Index of the network interface.
        pub interface_index: Host32,
    }
}

/// Request in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelRequest {
    /// Request for a path.
    Resolve(ResolveRequest),
    /// Request of user space to set the kernel's time-out for responses; the kernel accepts 100 ms to 200 s.
    SetTimeout(Duration),
    /// Request for the GID of an IP address.
    IpResolve(IpResolveRequest),
}

/// The properties of a requested path. `None` means that any value is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResolveRequest {
    /// Local port, and use of the path.
    pub header: ResolveHeader,
    /// Service id for which the path is requested.
    pub service_id: Option<ServiceId>,
    /// GID of the destination port.
    pub dgid: Option<Gid>,
    /// GID of the source port.
    pub sgid: Option<Gid>,
    /// Traffic class of the global route header, 8 bits.
    pub traffic_class: Option<u8>,
    /// Partition key of the path, 16 bits.
    pub pkey: Option<Pkey>,
    /// Quality of service class, 12 bits.
    pub qos_class: Option<u16>,
}

/// A request for the GID of an IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpResolveRequest {
    /// Index of the network interface on the route to the address.
    pub interface_index: u32,
    /// The IPv4 or IPv6 address.
    pub address: IpAddr,
}

impl NlMessage<'_> {
    /// Reads the message as a request. Of several attributes with the same type, the last is used. An unknown attribute
    /// is ignored unless it is mandatory.
    ///
    /// # Errors
    /// A [`KernelMessageError`].
    pub fn request(&self) -> Result<KernelRequest, KernelMessageError> {
        if self.header.flags.get() & super::FLAG_ERROR != 0 {
            return Err(KernelMessageError::ErrorResponse);
        }
        match self.header.message_type() {
            MessageType::Resolve => resolve(self.payload).map(KernelRequest::Resolve),
            MessageType::SetTimeout => set_timeout(self.payload).map(KernelRequest::SetTimeout),
            MessageType::IpResolve => ip_resolve(self.payload).map(KernelRequest::IpResolve),
            MessageType::Other { client: 4, operation } => Err(KernelMessageError::UnknownOperation { operation }),
            MessageType::Other { client, operation } => Err(KernelMessageError::OtherClient { client, operation }),
        }
    }
}

fn resolve(payload: &[u8]) -> Result<ResolveRequest, KernelMessageError> {
    let header = *ResolveHeader::parse(payload)?;
    let mut request = ResolveRequest { header, ..ResolveRequest::default() };
    for attribute in attributes(after(payload, size_of::<ResolveHeader>())) {
        let attribute = attribute?;
        match attribute.attribute_type {
            AttributeType::SERVICE_ID => {
                request.service_id = Some(ServiceId::new(u64::from_ne_bytes(attribute.exactly("service id")?)));
            }
            AttributeType::DGID => request.dgid = Some(Gid::new(attribute.exactly("destination GID")?)),
            AttributeType::SGID => request.sgid = Some(Gid::new(attribute.exactly("source GID")?)),
            AttributeType::TRAFFIC_CLASS => {
                let [traffic_class] = attribute.exactly("traffic class")?;
                request.traffic_class = Some(traffic_class);
            }
            AttributeType::PKEY => {
                request.pkey = Some(Pkey::new(u16::from_ne_bytes(attribute.exactly("P_Key")?)));
            }
            AttributeType::QOS_CLASS => {
                request.qos_class = Some(u16::from_ne_bytes(attribute.exactly("quality of service class")?));
            }
            _ => ignore(attribute)?,
        }
    }
    Ok(request)
}

fn set_timeout(payload: &[u8]) -> Result<Duration, KernelMessageError> {
    let mut timeout = None;
    for attribute in attributes(payload) {
        let attribute = attribute?;
        match attribute.attribute_type {
            AttributeType::TIMEOUT => timeout = Some(u32::from_ne_bytes(attribute.exactly("timeout")?)),
            _ => ignore(attribute)?,
        }
    }
    let ms = timeout.ok_or(KernelMessageError::Missing(AttributeType::TIMEOUT))?;
    Ok(Duration::from_millis(ms.into()))
}

fn ip_resolve(payload: &[u8]) -> Result<IpResolveRequest, KernelMessageError> {
    let interface_index = IpResolveHeader::parse(payload)?.interface_index.get();
    let mut address = None;
    for attribute in attributes(after(payload, size_of::<IpResolveHeader>())) {
        let attribute = attribute?;
        match attribute.attribute_type {
            AttributeType::IPV4 => address = Some(IpAddr::from(attribute.exactly::<4>("IPv4 address")?)),
            AttributeType::IPV6 => address = Some(IpAddr::from(attribute.exactly::<16>("IPv6 address")?)),
            _ => ignore(attribute)?,
        }
    }
    let address = address.ok_or(KernelMessageError::Missing(AttributeType::IPV4))?;
    Ok(IpResolveRequest { interface_index, address })
}

fn ignore(attribute: Attribute<'_>) -> Result<(), KernelMessageError> {
    if attribute.mandatory { Err(KernelMessageError::UnknownMandatory(attribute.attribute_type)) } else { Ok(()) }
}
