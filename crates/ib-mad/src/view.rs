//! Views of datagrams by class and attribute.
#[cfg(feature = "acm")]
use crate::acm::AcmMad;
#[cfg(feature = "baseboard")]
use crate::baseboard::BaseboardAttribute;
#[cfg(feature = "cm")]
use crate::cm::CmAttribute;
#[cfg(feature = "congestion")]
use crate::congestion::{CONGESTION_LOG, CongestionAttribute, CongestionLogCa, CongestionLogSwitch, CongestionLogType};
#[cfg(feature = "device")]
use crate::device::DeviceAttribute;
#[cfg(feature = "opa")]
use crate::opa::{OpaAttribute, OpaDirectedRoute};
#[cfg(feature = "perf")]
use crate::perf::PerfAttribute;
use crate::{
    DecodeError, MadHeader, Method, MgmtClass, Status, Wire,
    attribute::{Attribute, SharedAttribute, Structure},
    mad::{DIRECTED_DATA_END, RMPP_HEADER, SA_HEADER},
    notice::Notice,
    rmpp::{self, RmppHeader},
    sa::{QueryRef, SaAttribute, SaHeader, check_query},
    smp::{DrSmp, SmpAttribute},
};
use core::fmt;

mod change;
mod display;
mod layout;
mod records;
pub use change::MadMut;
use layout::{Format, check};

/// The attribute of a datagram, with the type of its class and attribute id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttributeRef<'a> {
    /// Attribute of subnet management.
    Smp(SmpAttribute<'a>),
    /// Attribute of subnet administration; in the response to GetTable, the first record.
    Sa(SaAttribute<'a>),
    /// Attribute of performance management.
    #[cfg(feature = "perf")]
    Perf(PerfAttribute<'a>),
    /// Attribute of baseboard management.
    #[cfg(feature = "baseboard")]
    Baseboard(BaseboardAttribute<'a>),
    /// Attribute of device management.
    #[cfg(feature = "device")]
    Device(DeviceAttribute<'a>),
    /// Message of communication management.
    #[cfg(feature = "cm")]
    Cm(CmAttribute<'a>),
    /// Attribute of congestion control.
    #[cfg(feature = "congestion")]
    Congestion(CongestionAttribute<'a>),
    /// Congestion log of a switch.
    #[cfg(feature = "congestion")]
    CongestionLogSwitch(&'a CongestionLogSwitch),
    /// Congestion log of a channel adapter.
    #[cfg(feature = "congestion")]
    CongestionLogCa(&'a CongestionLogCa),
    /// Whole datagram of the communication management assistant.
    #[cfg(feature = "acm")]
    Acm(&'a AcmMad),
    /// Attribute of Omni-Path.
    #[cfg(feature = "opa")]
    Opa(OpaAttribute<'a>),
    /// Data without a type in this crate. Also used for the data of a response without a record, of an RMPP segment
    /// after the first, and of another version of the format or the class.
    Unknown(&'a [u8]),
}

impl<'a> AttributeRef<'a> {
    /// Returns the bytes of the attribute.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        match self {
            Self::Smp(own) => own.as_bytes(),
            Self::Sa(own) => own.as_bytes(),
            #[cfg(feature = "perf")]
            Self::Perf(own) => own.as_bytes(),
            #[cfg(feature = "baseboard")]
            Self::Baseboard(own) => own.as_bytes(),
            #[cfg(feature = "device")]
            Self::Device(own) => own.as_bytes(),
            #[cfg(feature = "cm")]
            Self::Cm(own) => own.as_bytes(),
            #[cfg(feature = "congestion")]
            Self::Congestion(own) => own.as_bytes(),
            #[cfg(feature = "congestion")]
            Self::CongestionLogSwitch(own) => crate::as_bytes(*own),
            #[cfg(feature = "congestion")]
            Self::CongestionLogCa(own) => crate::as_bytes(*own),
            #[cfg(feature = "acm")]
            Self::Acm(own) => crate::as_bytes(*own),
            #[cfg(feature = "opa")]
            Self::Opa(own) => own.as_bytes(),
            Self::Unknown(bytes) => bytes,
        }
    }

    /// Returns the structure of the attribute; `None` if it has no type in this crate.
    #[must_use]
    pub const fn structure(&self) -> Option<Structure> {
        Some(match self {
            Self::Smp(own) => own.structure(),
            Self::Sa(own) => own.structure(),
            #[cfg(feature = "perf")]
            Self::Perf(own) => own.structure(),
            #[cfg(feature = "baseboard")]
            Self::Baseboard(own) => own.structure(),
            #[cfg(feature = "device")]
            Self::Device(own) => own.structure(),
            #[cfg(feature = "cm")]
            Self::Cm(own) => own.structure(),
            #[cfg(feature = "congestion")]
            Self::Congestion(own) => own.structure(),
            #[cfg(feature = "congestion")]
            Self::CongestionLogSwitch(_) => Structure::of::<CongestionLogSwitch>(),
            #[cfg(feature = "congestion")]
            Self::CongestionLogCa(_) => Structure::of::<CongestionLogCa>(),
            #[cfg(feature = "acm")]
            Self::Acm(_) => Structure::of::<AcmMad>(),
            #[cfg(feature = "opa")]
            Self::Opa(own) => own.structure(),
            Self::Unknown(_) => return None,
        })
    }

    /// Returns the notice, if the attribute is a notice.
    #[must_use]
    pub const fn notice(&self) -> Option<&'a Notice> {
        match self {
            Self::Smp(SmpAttribute::Notice(notice)) => Some(notice),
            #[cfg(feature = "baseboard")]
            Self::Baseboard(BaseboardAttribute::Notice(notice)) => Some(notice),
            #[cfg(feature = "device")]
            Self::Device(DeviceAttribute::Notice(notice)) => Some(notice),
            #[cfg(feature = "congestion")]
            Self::Congestion(CongestionAttribute::Notice(notice)) => Some(notice),
            Self::Sa(SaAttribute::SaNotice(notice)) => Some(&notice.notice),
            _ => None,
        }
    }
}

impl fmt::Display for AttributeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.structure() {
            Some(structure) => fmt::Display::fmt(&structure.display(self.as_bytes()), f),
            None => {
                let bytes = self.as_bytes();
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                f.write_str("data ")?;
                bytes.iter().take(end).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                write!(f, " ({} bytes)", bytes.len())
            }
        }
    }
}

/// A datagram in place: 256 bytes, up to 2,048 bytes of Omni-Path, or a longer message reassembled from RMPP segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MadRef<'a> {
    header: &'a MadHeader,
    bytes: &'a [u8],
}

impl<'a> MadRef<'a> {
    /// Returns a view of the datagram at the start of `bytes`.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the common header does.
    pub fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Ok(Self { header: MadHeader::parse(bytes)?, bytes })
    }

    /// Returns a view of a datagram; `header` is the start of `bytes`.
    pub(crate) const fn of(header: &'a MadHeader, bytes: &'a [u8]) -> Self {
        Self { header, bytes }
    }

    /// Returns the common header.
    #[must_use]
    pub const fn header(&self) -> &'a MadHeader {
        self.header
    }
    /// Returns all bytes of the datagram or message.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
    /// Returns the management class.
    #[must_use]
    pub const fn class(&self) -> MgmtClass {
        self.header.mgmt_class
    }
    /// Returns the query to subnet administration; `None` for datagrams without a query: a response, a report, an
    /// acknowledgement of RMPP, a `Set` with an empty component mask.
    #[must_use]
    pub fn query(&self) -> Option<QueryRef<'a>> {
        let mask = self.sa()?.component_mask.get();
        // Without a mask, a Set contains the whole attribute.
        let has_query = check_query(self.header, self.rmpp()?).is_ok() && (self.method() != Method::SET || mask != 0);
        let is_known = self.format() == Format::InfiniBand;
        let record = SaAttribute::parse(self.header().attribute_id, self.data()).ok()?.filter(|_| is_known)?;
        has_query.then(|| record.query(mask))
    }

    /// Returns the method.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.header.method
    }

    /// Returns the status, without the direction bit of a directed route.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.header.masked_status()
    }

    /// True if the datagram is a response; see [`MadHeader::is_response`].
    #[must_use]
    pub const fn is_response(&self) -> bool {
        self.header.is_response()
    }

    const fn format(&self) -> Format {
        Format::of(self.header)
    }

    /// Returns the directed-route structure, if the datagram has a directed route.
    #[must_use]
    pub fn directed_route(&self) -> Option<&'a DrSmp> {
        match (self.format(), self.class()) {
            (Format::InfiniBand, MgmtClass::SUBN_DIRECTED_ROUTE) => DrSmp::parse(self.bytes).ok(),
            _ => None,
        }
    }

    /// Returns the directed route of an Omni-Path datagram, if it has one.
    #[cfg(feature = "opa")]
    #[must_use]
    pub fn opa_directed_route(&self) -> Option<&'a OpaDirectedRoute> {
        match (self.format(), self.class()) {
            (Format::OmniPath, MgmtClass::SUBN_DIRECTED_ROUTE) => OpaDirectedRoute::parse(self.bytes.get(32..)?).ok(),
            _ => None,
        }
    }

    /// Returns the RMPP header, if the class has one.
    #[must_use]
    pub fn rmpp(&self) -> Option<&'a RmppHeader> {
        rmpp::header_length(self.class()).filter(|_| self.format() != Format::Unknown)?;
        RmppHeader::parse(self.bytes.get(RMPP_HEADER..)?).ok()
    }

    /// Returns the header of subnet administration, if the datagram has that class.
    #[must_use]
    pub fn sa(&self) -> Option<&'a SaHeader> {
        match self.class() {
            MgmtClass::SUBN_ADM if self.format() != Format::Unknown => {
                SaHeader::parse(self.bytes.get(SA_HEADER..)?).ok()
            }
            _ => None,
        }
    }

    /// Returns the bytes after the headers of the class.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        let bytes = match (self.format(), self.class()) {
            // The paths of a directed route follow the data.
            (Format::InfiniBand, MgmtClass::SUBN_DIRECTED_ROUTE) => {
                self.bytes.get(..DIRECTED_DATA_END).unwrap_or(self.bytes)
            }
            _ => self.bytes,
        };
        bytes.get(self.format().data_offset(self.class())..).unwrap_or_default()
    }

    /// Returns the attribute. Versions, class and attribute id determine its type.
    ///
    /// The status is not checked, because this function is for programs that print any datagram. Use
    /// [`attribute_as`](Self::attribute_as) to read the data of a response.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the datagram ends before the attribute does.
    pub fn attribute(&self) -> Result<AttributeRef<'a>, DecodeError> {
        let (id, data) = (self.header.attribute_id, self.data());
        match self.format() {
            Format::InfiniBand => {}
            #[cfg(feature = "opa")]
            Format::OmniPath => return Ok(self.opa()?.map_or(AttributeRef::Unknown(data), AttributeRef::Opa)),
            _ => return Ok(AttributeRef::Unknown(data)),
        }
        let known = match self.class() {
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE => {
                SmpAttribute::parse(id, data)?.map(AttributeRef::Smp)
            }
            MgmtClass::SUBN_ADM => self.record()?.map(AttributeRef::Sa),
            #[cfg(feature = "perf")]
            MgmtClass::PERF => PerfAttribute::parse(id, data)?.map(AttributeRef::Perf),
            #[cfg(feature = "baseboard")]
            MgmtClass::BASEBOARD => BaseboardAttribute::parse(id, data)?.map(AttributeRef::Baseboard),
            #[cfg(feature = "device")]
            MgmtClass::DEVICE_MGMT => DeviceAttribute::parse(id, data)?.map(AttributeRef::Device),
            #[cfg(feature = "cm")]
            MgmtClass::COMM_MGMT => CmAttribute::parse(id, data)?.map(AttributeRef::Cm),
            #[cfg(feature = "congestion")]
            MgmtClass::CONGESTION => self.congestion()?,
            #[cfg(feature = "acm")]
            MgmtClass::ACM => Some(AttributeRef::Acm(AcmMad::parse(self.bytes)?)),
            _ => None,
        };
        Ok(known.unwrap_or(AttributeRef::Unknown(data)))
    }

    /// Returns the attribute if it is an `A`. For a table of subnet administration, which may be empty, use
    /// [`records`](Self::records).
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if a version, the class, the attribute id or the vendor differs from that of `A`;
    /// `what` names the field. [`DecodeError::ErrorResponse`] if the response reports an error.
    /// [`DecodeError::TooShort`] if the datagram ends before the attribute does.
    pub fn attribute_as<A: Attribute>(&self) -> Result<&'a A, DecodeError> {
        check::<A>(self.header)?;
        self.header.check_status()?;
        layout::check_vendor::<A>(self.bytes)?;
        A::parse(self.bytes.get(A::OFFSET..).unwrap_or_default())
    }

    /// Returns an attribute that several classes share, if it is an `A`.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the attribute id or a version differs from that of `A`; `what` names the field.
    /// [`DecodeError::ErrorResponse`] if the response reports an error other than [`Status::REDIRECT`], whose
    /// ClassPortInfo has the other port. [`DecodeError::TooShort`] if the datagram ends before the attribute does.
    pub fn shared_as<A: SharedAttribute>(&self) -> Result<&'a A, DecodeError> {
        layout::check_version(self.header)?;
        if self.status() != Status::REDIRECT {
            self.header.check_status()?;
        }
        match self.header.attribute_id {
            id if id == A::ATTRIBUTE => A::parse(self.data()),
            other => Err(DecodeError::BadValue { what: "attribute_id", value: other.get().into() }),
        }
    }

    fn record(&self) -> Result<Option<SaAttribute<'a>>, DecodeError> {
        let bytes = self.record_bytes();
        if bytes.is_empty() { Ok(None) } else { SaAttribute::parse(self.record_id(), bytes) }
    }

    #[cfg(feature = "opa")]
    fn opa(&self) -> Result<Option<OpaAttribute<'a>>, DecodeError> {
        let data = if self.class() == MgmtClass::SUBN_ADM { self.record_bytes() } else { self.data() };
        match data {
            [] => Ok(None),
            data => OpaAttribute::parse(self.class(), self.header.attribute_id, data),
        }
    }

    #[cfg(feature = "congestion")]
    fn congestion(&self) -> Result<Option<AttributeRef<'a>>, DecodeError> {
        if self.header.attribute_id != CONGESTION_LOG {
            return Ok(CongestionAttribute::parse(self.header.attribute_id, self.data())?.map(AttributeRef::Congestion));
        }
        let log = self.bytes.get(32..).unwrap_or_default();
        Ok(match *CongestionLogType::parse(log)? {
            CongestionLogType::SWITCH => Some(AttributeRef::CongestionLogSwitch(CongestionLogSwitch::parse(log)?)),
            CongestionLogType::CHANNEL_ADAPTER => Some(AttributeRef::CongestionLogCa(CongestionLogCa::parse(log)?)),
            _ => None,
        })
    }
}
