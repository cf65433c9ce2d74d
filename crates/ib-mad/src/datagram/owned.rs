//! Owned datagrams of any class, to be written and sent.
use crate::{
    AttributeId, DecodeError, MadHeader, MadMut, MadRef, Method, MgmtClass, Status, TransactionId, Wire,
    attribute::{Attribute, SharedAttribute},
    mad::{DIRECTED_DATA_END, MAD_SIZE, OUI, SA_HEADER, words},
    sa::SaHeader,
    wire,
    wire::{Be32, InBytes, Octets},
};
use zerocopy::IntoBytes as _;

wire! {
    /// A whole datagram of any class: the common header and the class-specific part (IBTA 13.4.2).
    ///
    /// The attribute determines class, version and offset. Functions for attributes that several classes share take the
    /// class as an argument.
    ///
    /// ```
    /// use ib_mad::{Mad, Method, MgmtClass, TransactionId, as_bytes, notice::ClassPortInfo, perf::PortCounters};
    /// let tid = TransactionId::new(1);
    /// // Performance management reads the port number in the attribute.
    /// let port = PortCounters { port_select: 2, ..PortCounters::default() };
    /// let read = Mad::request(Method::GET, 0, tid, &port);
    /// assert_eq!((as_bytes(&read)[1], as_bytes(&read)[65]), (4, 2));
    /// let info = Mad::request_shared(MgmtClass::PERF, Method::GET, 0, tid, &ClassPortInfo::ZERO);
    /// assert_eq!(info.to_string(), "Perf Get ClassPortInfo modifier 0x0 tid 0x0000000000000001: ".to_owned()
    ///     + &format!("{:?}", ClassPortInfo::default()));
    /// // The responder:
    /// let counters = PortCounters { vl15_dropped: 9.into(), ..*read.attribute_as()? };
    /// assert_eq!(read.answer_with(&counters)?.attribute_as::<PortCounters>()?.vl15_dropped.get(), 9);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    pub struct Mad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Class-specific headers and data.
        pub body: Octets<232>,
    }
}

/// Class, number and offset of the attribute of a datagram.
struct Position {
    class: MgmtClass,
    version: u8,
    attribute: AttributeId,
    offset: usize,
}

impl Mad {
    /// Returns a datagram with an attribute; in most requests to read one, the attribute is zero. An attribute that does
    /// not fit does not compile.
    ///
    /// ```
    /// use ib_mad::{Mad, Method, TransactionId, smp::{NodeInfo, PortInfo}};
    /// let tid = TransactionId::new(1);
    /// let read = Mad::request(Method::GET, 0, tid, &NodeInfo::ZERO);
    /// let write = Mad::request(Method::SET, 1, tid, &PortInfo { gid_prefix: 5.into(), ..PortInfo::ZERO });
    /// assert_eq!(read.attribute_as(), Ok(&NodeInfo::ZERO));
    /// assert_eq!(write.header.attribute_modifier.get(), 1);
    /// ```
    #[must_use]
    pub fn request<A: Attribute>(method: Method, modifier: u32, tid: TransactionId, attribute: &A) -> Self {
        const { assert!(A::OFFSET >= 24 && A::OFFSET + size_of::<A>() <= MAD_SIZE, "longer than a datagram") };
        let position =
            Position { class: A::CLASS, version: A::CLASS_VERSION, attribute: A::ATTRIBUTE, offset: A::OFFSET };
        let mut own = Self::new(&position, method, modifier, tid, attribute);
        if let (Some(oui), Some(at)) = (A::OUI, own.as_mut_bytes().get_mut(OUI..OUI + 3)) {
            at.copy_from_slice(InBytes::<_, 3>::new(oui).as_bytes());
        }
        own
    }

    /// Returns a datagram with an attribute that several classes share: Notice, InformInfo or ClassPortInfo.
    ///
    /// The class version is [`MgmtClass::version`], 1 for vendor classes; for another version, change the header
    /// afterwards. Do not use [`ClassPortInfo`](crate::notice::ClassPortInfo) with subnet management: the class does
    /// not define it, and in a directed route its last 8 bytes would be cut off.
    #[must_use]
    pub fn request_shared<A: SharedAttribute>(
        class: MgmtClass,
        method: Method,
        modifier: u32,
        tid: TransactionId,
        attribute: &A,
    ) -> Self {
        const { assert!(64 + size_of::<A>() <= MAD_SIZE, "longer than a datagram") };
        let position =
            Position { class, version: class.version(), attribute: A::ATTRIBUTE, offset: class.data_offset() };
        Self::new(&position, method, modifier, tid, attribute)
    }

    fn new<T: Wire>(position: &Position, method: Method, modifier: u32, tid: TransactionId, attribute: &T) -> Self {
        let mut header = MadHeader::new(position.class, position.version, method, position.attribute, tid);
        header.attribute_modifier = Be32::new(modifier);
        let mut own = Self { header, body: Octets([0; 232]) };
        if position.class == MgmtClass::SUBN_ADM
            && let Ok(sa) = SaHeader::parse_mut(own.as_mut_bytes().get_mut(SA_HEADER..).unwrap_or_default())
        {
            sa.attribute_offset = words::<T>();
        }
        own.put(position.offset.max(size_of::<MadHeader>()), attribute);
        own
    }

    /// Returns a view that reads the datagram by its class and attribute id.
    #[must_use]
    pub fn view(&self) -> MadRef<'_> {
        MadRef::from(self)
    }

    /// Returns the attribute if it is an `A`.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if class, attribute id or vendor differ from those of `A`.
    pub fn attribute_as<A: Attribute>(&self) -> Result<&A, DecodeError> {
        self.view().attribute_as()
    }

    /// Returns an attribute that several classes share, if it is an `A`.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the attribute id differs from that of `A`.
    pub fn shared_as<A: SharedAttribute>(&self) -> Result<&A, DecodeError> {
        self.view().shared_as()
    }

    /// Returns the response to this request with a status and without data. In a directed route it has the direction
    /// bit.
    ///
    /// The class-specific headers and keys are those of the request, including RMPP and `SM_Key` of subnet
    /// administration. A server of subnet administration uses [`SaMad::answer`](crate::sa::SaMad::answer), which clears
    /// both.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if this datagram has no response.
    pub fn answer(&self, status: Status) -> Result<Self, DecodeError> {
        let mut own = *self;
        MadMut::new(own.as_mut_bytes())?.answer(status)?;
        let class = own.header.mgmt_class;
        own.as_mut_bytes().get_mut(class.data_offset()..data_end(class)).unwrap_or_default().fill(0);
        Ok(own)
    }

    /// Returns the response to this request with the requested attribute.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the request is for another attribute, or has no response.
    pub fn answer_with<A: Attribute>(&self, attribute: &A) -> Result<Self, DecodeError> {
        self.attribute_as::<A>()?;
        let mut own = self.answer(Status::OK)?;
        *MadMut::new(own.as_mut_bytes())?.attribute_as::<A>()? = *attribute;
        Ok(own)
    }

    /// Returns the response to this request with an attribute that several classes share.
    ///
    /// ```
    /// use ib_mad::{Method, Mad, MgmtClass, TransactionId, notice::ClassPortInfo};
    /// let info = ClassPortInfo { base_version: 1, class_version: 1, ..ClassPortInfo::default() };
    /// let request = Mad::request_shared(MgmtClass::PERF, Method::GET, 0, TransactionId::new(1), &ClassPortInfo::ZERO);
    /// assert_eq!(request.answer_with_shared(&info)?.shared_as::<ClassPortInfo>()?, &info);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the request is for another attribute, or has no response.
    pub fn answer_with_shared<A: SharedAttribute>(&self, attribute: &A) -> Result<Self, DecodeError> {
        self.shared_as::<A>()?;
        let mut own = self.answer(Status::OK)?;
        own.put(own.header.mgmt_class.data_offset(), attribute);
        Ok(own)
    }

    /// Writes data at `offset`; what goes past the data area of the class is cut off.
    fn put<T: Wire>(&mut self, offset: usize, data: &T) {
        let end = data_end(self.header.mgmt_class);
        let data_bytes = self.as_mut_bytes().get_mut(offset..end).unwrap_or_default();
        data_bytes.iter_mut().zip(data.as_bytes()).for_each(|(to, from)| *to = *from);
    }
}

impl<'a> From<&'a Mad> for MadRef<'a> {
    fn from(mad: &'a Mad) -> Self {
        Self::of(&mad.header, crate::as_bytes(mad))
    }
}

/// Returns the end of the data area. The paths of a directed route follow it.
fn data_end(class: MgmtClass) -> usize {
    if class == MgmtClass::SUBN_DIRECTED_ROUTE { DIRECTED_DATA_END } else { MAD_SIZE }
}
