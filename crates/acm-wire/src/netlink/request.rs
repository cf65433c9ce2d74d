//! What is asked.
use super::{
    answer::PathFlags,
    attribute::{Attribute, AttributeType, attributes},
    error::KernelMessageError,
    header::{MessageType, NlMessage, after},
};
use core::{net::IpAddr, time::Duration};
use ib_mad::{
    Gid, Pkey, ServiceId, Wire, code, wire,
    wire::{Host32, Text},
};

code! {
    /// How the asker will use the path.
    pub struct PathUse(u8) {
        /// For a connection: up to six path records.
        ALL = 0 "all",
        /// For datagrams in one direction: one path record.
        UNIDIRECTIONAL = 1 "unidirectional",
        /// For management datagrams: at least one reversible path record.
        GMP = 2 "GMP",
    }
}

impl PathUse {
    /// The flags of a path record in the answer to such a request.
    #[must_use]
    pub fn answer_flags(self) -> PathFlags {
        match self {
            Self::UNIDIRECTIONAL => PathFlags::PRIMARY | PathFlags::OUTBOUND,
            _ => PathFlags::PRIMARY | PathFlags::GMP | PathFlags::OUTBOUND | PathFlags::INBOUND_REVERSE,
        }
    }
}

wire! {
    /// Fixed part of a RESOLVE request (`struct rdma_ls_resolve_header`), 66 bytes; two more pad it.
    pub struct ResolveHeader [66] {
        /// Name of the RDMA device that the path begins at, as in `/sys/class/infiniband`.
        pub device_name: Text<64>,
        /// Its port, from 1.
        pub port: u8,
        /// How the path will be used.
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

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelRequest {
    /// A path, with what the kernel knows of it.
    Resolve(ResolveRequest),
    /// User space asks the kernel to wait this long for answers; the kernel takes 100 ms to 200 s.
    SetTimeout(Duration),
    /// The GID of an IP address.
    IpResolve(IpResolveRequest),
}

/// What the kernel knows of a path that it asks for. What is `None` was not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResolveRequest {
    /// Where the path begins, and what for.
    pub header: ResolveHeader,
    /// Service that the path is for.
    pub service_id: Option<ServiceId>,
    /// GID of the port that the path leads to.
    pub dgid: Option<Gid>,
    /// GID of the port that the path starts from.
    pub sgid: Option<Gid>,
    /// Traffic class of the global route header, 8 bits.
    pub traffic_class: Option<u8>,
    /// Partition key of the path, 16 bits.
    pub pkey: Option<Pkey>,
    /// Quality of service class, 12 bits.
    pub qos_class: Option<u16>,
}

/// An IP address whose GID the kernel asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpResolveRequest {
    /// Index of the network interface that leads to it.
    pub interface_index: u32,
    /// IPv4 or IPv6 address whose GID is wanted.
    pub address: IpAddr,
}

impl NlMessage<'_> {
    /// What the message asks for. Of an attribute that comes twice, the later one counts; an unknown one that is not
    /// mandatory is ignored.
    ///
    /// # Errors
    /// A [`KernelMessageError`].
    pub fn request(&self) -> Result<KernelRequest, KernelMessageError> {
        if self.header.flags.get() & super::FLAG_ERROR != 0 {
            return Err(KernelMessageError::ErrorAnswer);
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
