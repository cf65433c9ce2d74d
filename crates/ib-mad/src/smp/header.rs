//! The two datagrams of subnet management.
use crate::{
    AttributeId, Lid, MadHeader, Method, MgmtClass, Mkey, Status, TransactionId,
    attribute::Attribute,
    bits,
    mad::requests,
    wire,
    wire::{Be32, Octets, Reserved},
};
use core::fmt;

/// Class version of subnet management.
pub const SMP_CLASS_VERSION: u8 = 1;

wire! {
    /// A subnet management datagram that goes by LID (IBTA 14.2.1.1).
    pub struct Smp [256] {
        /// Common header; class 0x01.
        pub header: MadHeader,
        /// Who asks: the port's key, or zero.
        pub mkey: Mkey,
        /// Zero.
        pub reserved: Reserved<32>,
        /// The attribute.
        pub data: Octets<64>,
        /// Zero.
        pub reserved2: Reserved<128>,
    }
}

bits! {
    /// Direction and status of a directed-route datagram.
    pub struct DrStatus [2] {
        /// Whether the datagram is on its way back.
        direction / with_direction: bool = 1,
        /// How it went: the low 15 bits of a status.
        status / with_status: Status = 15,
    }
}

wire! {
    /// A subnet management datagram that goes by a list of ports (IBTA 14.2.1.2).
    ///
    /// At hop `n` the datagram leaves by port `initial_path[n]`; `initial_path[0]` is not used. On its way it collects
    /// in `return_path` the ports that it came in by.
    pub struct DrSmp [256] {
        /// 1.
        pub base_version: u8,
        /// [`MgmtClass::SUBN_DIRECTED_ROUTE`].
        pub mgmt_class: MgmtClass,
        /// 1.
        pub class_version: u8,
        /// What is asked, or which answer this is.
        pub method: Method,
        /// Direction and status.
        pub dr_status: DrStatus,
        /// How many hops are done.
        pub hop_pointer: u8,
        /// How many hops there are.
        pub hop_count: u8,
        /// Carried over from a request to its answer.
        pub transaction_id: TransactionId,
        /// What the data is.
        pub attribute_id: AttributeId as show_attribute,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Which one: a port number, a block number.
        pub attribute_modifier: Be32,
        /// Who asks: the port's key, or zero.
        pub mkey: Mkey,
        /// LID that the directed part starts at; permissive if at the sender.
        pub dr_slid: Lid,
        /// LID that the directed part ends at; permissive if at the receiver.
        pub dr_dlid: Lid,
        /// Zero.
        pub reserved2: Reserved<28>,
        /// The attribute.
        pub data: Octets<64>,
        /// Ports to leave by.
        pub initial_path: Octets<64>,
        /// Ports that the datagram came in by.
        pub return_path: Octets<64>,
    }
}

fn show_attribute(own: &DrSmp, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", own.attribute_id.of(MgmtClass::SUBN_DIRECTED_ROUTE))
}

requests! { Smp of SUBN_LID_ROUTED version SMP_CLASS_VERSION }

/// A directed route of more hops than a datagram has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a directed route of {hops} hops; 63 is the most")]
pub struct TooManyHops {
    /// How many there are.
    pub hops: usize,
}

impl DrSmp {
    /// A request to read an attribute of the node that `path` leads to, port by port; an empty path is the own port.
    ///
    /// # Errors
    /// [`TooManyHops`] if the path has more than 63 ports.
    pub fn get<A: Attribute>(path: &[u8], modifier: u32, tid: TransactionId) -> Result<Self, TooManyHops> {
        let mut initial_path = Octets([0; 64]);
        let too_many = TooManyHops { hops: path.len() };
        initial_path.0.get_mut(1..=path.len()).ok_or(too_many)?.copy_from_slice(path);
        Ok(Self {
            base_version: 1,
            mgmt_class: MgmtClass::SUBN_DIRECTED_ROUTE,
            class_version: SMP_CLASS_VERSION,
            method: Method::GET,
            hop_count: u8::try_from(path.len()).map_err(|_| too_many)?,
            transaction_id: tid,
            attribute_id: A::ATTRIBUTE,
            attribute_modifier: Be32::new(modifier),
            dr_slid: Lid::PERMISSIVE,
            dr_dlid: Lid::PERMISSIVE,
            initial_path,
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smp::NodeInfo;

    #[test]
    fn a_path_is_whole_or_an_error() {
        let tid = TransactionId::new(1);
        let path = [7; 63];
        let smp = DrSmp::get::<NodeInfo>(&path, 0, tid).unwrap();
        assert_eq!((smp.hop_count, smp.initial_path.0[0], &smp.initial_path.0[1..]), (63, 0, &path[..]));
        assert_eq!(DrSmp::get::<NodeInfo>(&[], 0, tid).unwrap().hop_count, 0);
        for hops in [64, 300] {
            assert_eq!(DrSmp::get::<NodeInfo>(&[7; 300][..hops], 0, tid), Err(TooManyHops { hops }));
        }
    }
}
