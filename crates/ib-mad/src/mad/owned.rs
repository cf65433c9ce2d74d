//! A whole datagram of any class, owned: what a program writes and sends.
use super::{
    MAD_SIZE, MadHeader, Method, MgmtClass, Status,
    place::{DIRECTED_DATA_END, OUI, SA_HEADER, words},
};
use crate::{
    AttributeId, DecodeError, MadMut, MadRef, TransactionId, Wire,
    attribute::{Attribute, SharedAttribute},
    sa::SaHeader,
    wire,
    wire::{Be32, InBytes, Octets},
};
use zerocopy::IntoBytes as _;

wire! {
    /// A whole datagram of any class: the common header, and what the class puts behind it (IBTA 13.4.2).
    ///
    /// The attribute says the class, its version and the place; attributes that several classes have take the class.
    ///
    /// ```
    /// use ib_mad::{Mad, Method, MgmtClass, TransactionId, as_bytes, notice::ClassPortInfo, perf::PortCounters};
    /// let tid = TransactionId::new(1);
    /// // Which port's counters: performance management reads it in the attribute.
    /// let port = PortCounters { port_select: 2, ..PortCounters::default() };
    /// let read = Mad::request(Method::GET, 0, tid, &port);
    /// assert_eq!((as_bytes(&read)[1], as_bytes(&read)[65]), (4, 2));
    /// let able = Mad::get_shared::<ClassPortInfo>(MgmtClass::PERF, 0, tid);
    /// assert_eq!(able.to_string(), "Perf Get ClassPortInfo modifier 0x0 tid 0x0000000000000001: ".to_owned()
    ///     + &format!("{:?}", ClassPortInfo::default()));
    /// // The other side:
    /// let counters = PortCounters { vl15_dropped: 9.into(), ..*read.attribute_as()? };
    /// assert_eq!(read.answer_with(&counters)?.attribute_as::<PortCounters>()?.vl15_dropped.get(), 9);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    pub struct Mad [256] {
        /// Common header.
        pub header: MadHeader,
        /// All behind it: the class's own headers, and the data.
        pub body: Octets<232>,
    }
}

/// Where an attribute goes.
struct Place {
    class: MgmtClass,
    version: u8,
    attribute: AttributeId,
    offset: usize,
}

impl Mad {
    /// A request to read an attribute, which is zero in it.
    ///
    /// Performance management wants a port in the attribute: [`request`](Self::request) takes it.
    #[must_use]
    pub fn get<A: Attribute>(modifier: u32, tid: TransactionId) -> Self {
        Self::request(Method::GET, modifier, tid, &A::ZERO)
    }

    /// A request to change an attribute.
    #[must_use]
    pub fn set<A: Attribute>(modifier: u32, tid: TransactionId, attribute: &A) -> Self {
        Self::request(Method::SET, modifier, tid, attribute)
    }

    /// A message that is not answered by its method, as those of communication management.
    #[must_use]
    pub fn send<A: Attribute>(tid: TransactionId, message: &A) -> Self {
        Self::request(Method::SEND, 0, tid, message)
    }

    /// A datagram of any method. An attribute that does not fit into one does not compile.
    #[must_use]
    pub fn request<A: Attribute>(method: Method, modifier: u32, tid: TransactionId, attribute: &A) -> Self {
        const { assert!(A::OFFSET >= 24 && A::OFFSET + size_of::<A>() <= MAD_SIZE, "longer than a datagram") };
        let place = Place { class: A::CLASS, version: A::CLASS_VERSION, attribute: A::ATTRIBUTE, offset: A::OFFSET };
        let mut own = Self::new(&place, method, modifier, tid, attribute);
        if let (Some(oui), Some(at)) = (A::OUI, own.as_mut_bytes().get_mut(OUI..OUI + 3)) {
            at.copy_from_slice(InBytes::<_, 3>::new(oui).as_bytes());
        }
        own
    }

    /// A request to read an attribute that several classes have.
    #[must_use]
    pub fn get_shared<A: SharedAttribute>(class: MgmtClass, modifier: u32, tid: TransactionId) -> Self {
        Self::request_shared(class, Method::GET, modifier, tid, &A::ZERO)
    }

    /// A datagram with an attribute that several classes have: a trap, a subscription, what a class can do.
    ///
    /// The version is [`MgmtClass::version`], and 1 for a vendor's class: another is written into the header. Of a
    /// [`ClassPortInfo`](crate::notice::ClassPortInfo), which subnet management does not have, a directed route has no
    /// room for the end.
    #[must_use]
    pub fn request_shared<A: SharedAttribute>(
        class: MgmtClass,
        method: Method,
        modifier: u32,
        tid: TransactionId,
        attribute: &A,
    ) -> Self {
        const { assert!(64 + size_of::<A>() <= MAD_SIZE, "longer than a datagram") };
        let place = Place { class, version: class.version(), attribute: A::ATTRIBUTE, offset: class.data_offset() };
        Self::new(&place, method, modifier, tid, attribute)
    }

    fn new<T: Wire>(place: &Place, method: Method, modifier: u32, tid: TransactionId, attribute: &T) -> Self {
        let mut header = MadHeader::new(place.class, place.version, method, place.attribute, tid);
        header.attribute_modifier = Be32::new(modifier);
        let mut own = Self { header, body: Octets([0; 232]) };
        if place.class == MgmtClass::SUBN_ADM
            && let Ok(sa) = SaHeader::parse_mut(own.as_mut_bytes().get_mut(SA_HEADER..).unwrap_or_default())
        {
            sa.attribute_offset = words::<T>();
        }
        own.put(place.offset.max(size_of::<MadHeader>()), attribute);
        own
    }

    /// The datagram, to be read by what its class and its number say.
    #[must_use]
    pub fn view(&self) -> MadRef<'_> {
        MadRef::from(self)
    }

    /// The attribute if it is an `A`.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the class, the attribute's number or the vendor is another's.
    pub fn attribute_as<A: Attribute>(&self) -> Result<&A, DecodeError> {
        self.view().attribute_as()
    }

    /// The attribute that several classes have, if it is an `A`.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the attribute's number is another's.
    pub fn shared_as<A: SharedAttribute>(&self) -> Result<&A, DecodeError> {
        self.view().shared_as()
    }

    /// The answer to this with a status and without data; of directed-route subnet management, on its way back.
    ///
    /// The class's own headers and keys stay as they were asked with, RMPP and `SM_Key` of subnet administration too:
    /// [`SaMad::answer`](crate::sa::SaMad::answer) leaves these out, as a server has to.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if nothing answers it.
    pub fn answer(&self, status: Status) -> Result<Self, DecodeError> {
        let mut own = *self;
        MadMut::new(own.as_mut_bytes())?.answer(status)?;
        let class = own.header.mgmt_class;
        own.as_mut_bytes().get_mut(class.data_offset()..data_end(class)).unwrap_or_default().fill(0);
        Ok(own)
    }

    /// The answer to this with the attribute that it asked for.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if it asked for another, or if nothing answers it.
    pub fn answer_with<A: Attribute>(&self, attribute: &A) -> Result<Self, DecodeError> {
        self.attribute_as::<A>()?;
        let mut own = self.answer(Status::OK)?;
        *MadMut::new(own.as_mut_bytes())?.attribute_as::<A>()? = *attribute;
        Ok(own)
    }

    /// The answer to this with the attribute that several classes have, if it asked for that.
    ///
    /// ```
    /// use ib_mad::{Mad, MgmtClass, TransactionId, notice::ClassPortInfo};
    /// let able = ClassPortInfo { base_version: 1, class_version: 1, ..ClassPortInfo::default() };
    /// let asked = Mad::get_shared::<ClassPortInfo>(MgmtClass::PERF, 0, TransactionId::new(1));
    /// assert_eq!(asked.answer_with_shared(&able)?.shared_as::<ClassPortInfo>()?, &able);
    /// # Ok::<(), ib_mad::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if it asked for another, or if nothing answers it.
    pub fn answer_with_shared<A: SharedAttribute>(&self, attribute: &A) -> Result<Self, DecodeError> {
        self.shared_as::<A>()?;
        let mut own = self.answer(Status::OK)?;
        own.put(own.header.mgmt_class.data_offset(), attribute);
        Ok(own)
    }

    /// Writes data from there on, as far as the class has room for it.
    fn put<T: Wire>(&mut self, offset: usize, data: &T) {
        let end = data_end(self.header.mgmt_class);
        let place = self.as_mut_bytes().get_mut(offset..end).unwrap_or_default();
        place.iter_mut().zip(data.as_bytes()).for_each(|(to, from)| *to = *from);
    }
}

impl<'a> From<&'a Mad> for MadRef<'a> {
    fn from(mad: &'a Mad) -> Self {
        Self::of(&mad.header, crate::as_bytes(mad))
    }
}

/// The paths of a directed route follow its data.
fn data_end(class: MgmtClass) -> usize {
    if class == MgmtClass::SUBN_DIRECTED_ROUTE { DIRECTED_DATA_END } else { MAD_SIZE }
}
