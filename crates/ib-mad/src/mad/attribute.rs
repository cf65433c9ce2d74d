//! Ids of attributes.
use crate::id;

id! {
    /// Attribute id: the type of a datagram's data. Its meaning depends on the class. The constants are the attributes
    /// of subnet administration, including those that every class shares (IBTA 13.4.8, 15.2.5).
    pub struct AttributeId(u16), "{:#06x}"
}
