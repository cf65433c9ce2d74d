//! Typed views of a whole datagram by its class.
use super::Mad;
use crate::{
    DecodeError, MgmtClass, Wire, as_bytes,
    sa::SaMad,
    smp::{DrSmp, Smp},
    vendor::{VendorMad, VendorOuiMad},
};
use core::fmt;
use zerocopy::IntoBytes as _;

/// The structure of a whole datagram of a class, with names for its keys and class-specific headers.
///
/// ```
/// use ib_mad::{Method, Mad, Mkey, TransactionId, smp::{PortInfo, Smp}};
/// let mut ask = Mad::request(Method::GET, 1, TransactionId::new(1), &PortInfo::ZERO);
/// ask.datagram_mut::<Smp>()?.mkey = Mkey::new(7);
/// assert_eq!(ask.datagram::<Smp>()?.mkey, Mkey::new(7));
/// # Ok::<(), ib_mad::DecodeError>(())
/// ```
pub trait Datagram: Wire + Into<Mad> {
    /// True if datagrams of the class have this structure.
    fn is_of(class: MgmtClass) -> bool;
}

macro_rules! datagrams {
    ($($(#[$m:meta])* $name:path: $is:expr,)*) => {$(
        $(#[$m])*
        impl Datagram for $name {
            fn is_of(class: MgmtClass) -> bool {
                ($is)(class)
            }
        }
        $(#[$m])*
        impl $name {
            /// Casts a datagram of the class from the start of `bytes`, in place.
            ///
            /// # Errors
            /// [`DecodeError::TooShort`] if `bytes` ends before the datagram, [`DecodeError::BadValue`] if the datagram
            /// is of another class.
            pub fn parse(bytes: &[u8]) -> Result<&Self, DecodeError> {
                let own = <Self as Wire>::parse(bytes)?;
                check_class::<Self>(bytes.get(1).copied().unwrap_or_default())?;
                Ok(own)
            }
        }
        $(#[$m])*
        impl From<$name> for Mad {
            fn from(datagram: $name) -> Self {
                zerocopy::transmute!(datagram)
            }
        }
    )*};
}
datagrams! {
    Smp: |class| class == MgmtClass::SUBN_LID_ROUTED,
    DrSmp: |class| class == MgmtClass::SUBN_DIRECTED_ROUTE,
    SaMad: |class| class == MgmtClass::SUBN_ADM,
    #[cfg(feature = "perf")]
    crate::perf::PerfMad: |class| class == MgmtClass::PERF,
    #[cfg(feature = "baseboard")]
    crate::baseboard::BaseboardMad: |class| class == MgmtClass::BASEBOARD,
    #[cfg(feature = "device")]
    crate::device::DeviceMad: |class| class == MgmtClass::DEVICE_MGMT,
    #[cfg(feature = "cm")]
    crate::cm::CmMad: |class| class == MgmtClass::COMM_MGMT,
    #[cfg(feature = "congestion")]
    crate::congestion::CongestionMad: |class| class == MgmtClass::CONGESTION,
    #[cfg(feature = "acm")]
    crate::acm::AcmMad: |class| class == MgmtClass::ACM,
    VendorMad: MgmtClass::is_vendor,
    VendorOuiMad: MgmtClass::is_vendor_oui,
}

impl Mad {
    /// Returns the datagram as the structure of its class.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the datagram is of another class.
    pub fn datagram<T: Datagram>(&self) -> Result<&T, DecodeError> {
        check_class::<T>(self.header.mgmt_class.get())?;
        <T as Wire>::parse(as_bytes(self))
    }

    /// Returns the datagram as the structure of its class, so that it can be changed.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the datagram is of another class.
    pub fn datagram_mut<T: Datagram>(&mut self) -> Result<&mut T, DecodeError> {
        check_class::<T>(self.header.mgmt_class.get())?;
        T::parse_mut(self.as_mut_bytes())
    }
}

/// Checks the class of a datagram that is read as a `T`.
fn check_class<T: Datagram>(class: u8) -> Result<(), DecodeError> {
    let other = DecodeError::BadValue { what: "mgmt_class", value: class.into() };
    if T::is_of(MgmtClass::new(class)) { Ok(()) } else { Err(other) }
}

impl fmt::Display for Mad {
    /// Prints the datagram as [`MadRef`](crate::MadRef) does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.view(), f)
    }
}
