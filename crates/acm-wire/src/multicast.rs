//! The datagrams between daemons: a request to a multicast group, a response to its sender.
use crate::Address;
use ib_mad::{
    Gid, Method, MgmtClass, TransactionId, Wire,
    acm::{ACM_CLASS_VERSION, AcmControl, AcmMad},
    mad::Status,
    wire::Octets,
};

pub use ib_mad::acm::group_mgid;

/// Most groups that a request lists.
pub const MAX_GROUPS: usize = 6;

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MulticastMessage<'a> {
    /// Who has this address?
    Request(AddressRequest<'a>),
    /// I have it.
    Response(AddressResponse),
}

/// A request, as it is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRequest<'a> {
    /// Carried over to the response.
    pub tid: TransactionId,
    /// The address that is looked for; `None` if its type is not known.
    pub dest: Option<Address>,
    /// The asker's own address.
    pub source: Address,
    /// The asker's groups, least preferred first.
    pub groups: &'a [Gid],
}

/// A response, as it is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressResponse {
    /// The transaction id of the request that it answers.
    pub tid: TransactionId,
    /// The class's code; 0 = done.
    pub status: u8,
    /// The group whose parameters the route is to have.
    pub group: Option<Gid>,
}

/// Why a datagram is not one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MessageError {
    /// Shorter than a datagram.
    #[error("{0} bytes are not a datagram of 256")]
    TooShort(usize),
    /// A version or class that is not ACM's.
    #[error("base version {base}, class {class:?} version {version} are not ACM's")]
    NotAcm {
        /// Base version that the datagram has.
        base: u8,
        /// Management class that the datagram has.
        class: MgmtClass,
        /// Class version that the datagram has.
        version: u8,
    },
    /// Not about resolving, or a method that is not known.
    #[error("control {control:?} with method {method:?} is not known")]
    Unknown {
        /// What it is about.
        control: AcmControl,
        /// What it asks.
        method: Method,
    },
    /// The asker's address has a type that is not known.
    #[error("source type {0} is not known")]
    SourceType(u8),
}

impl<'a> MulticastMessage<'a> {
    /// Reads a datagram (without its global route header).
    ///
    /// # Errors
    /// [`MessageError`] if it is not one of ours.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, MessageError> {
        let mad = AcmMad::parse(bytes).map_err(|_| MessageError::TooShort(bytes.len()))?;
        if (mad.base_version, mad.mgmt_class, mad.class_version) != (1, MgmtClass::ACM, ACM_CLASS_VERSION) {
            let (base, class, version) = (mad.base_version, mad.mgmt_class, mad.class_version);
            return Err(MessageError::NotAcm { base, class, version });
        }
        match (mad.control, mad.method) {
            (AcmControl::RESOLVE, Method::GET) => Ok(Self::Request(AddressRequest {
                tid: mad.transaction_id,
                dest: Address::decode(mad.dest_type, &mad.dest.0),
                source: Address::decode(mad.src_type, &mad.src.0)
                    .ok_or(MessageError::SourceType(mad.src_type.get()))?,
                groups: mad.groups(),
            })),
            (AcmControl::RESOLVE, method) if method.is_response() => Ok(Self::Response(AddressResponse {
                tid: mad.transaction_id,
                status: mad.status.class_code(),
                group: mad.groups().first().copied(),
            })),
            (control, method) => Err(MessageError::Unknown { control, method }),
        }
    }
}

/// A request for `dest` by `source`, who is in `groups` (least preferred first; those beyond [`MAX_GROUPS`] are left
/// out from the end).
#[must_use]
pub fn request(tid: TransactionId, dest: &Address, source: &Address, groups: &[Gid]) -> AcmMad {
    let ((dest_type, dest), (src_type, src)) = (dest.encode(), source.encode());
    let mut mad = AcmMad {
        dest_type,
        dest_length: 64,
        src_type,
        src_length: 64,
        dest: Octets(dest),
        src: Octets(src),
        ..start(Method::GET, tid)
    };
    for (to, from) in mad.gids.iter_mut().zip(groups) {
        *to = *from;
        mad.gid_count += 1;
    }
    mad
}

/// The response to a request: `group` is the best one that both are in.
#[must_use]
pub fn response(tid: TransactionId, group: Gid) -> AcmMad {
    let mut mad = AcmMad { gid_count: 1, ..start(Method::GET_RESP, tid) };
    mad.gids[0] = group;
    mad
}

fn start(method: Method, transaction_id: TransactionId) -> AcmMad {
    AcmMad {
        base_version: 1,
        mgmt_class: MgmtClass::ACM,
        class_version: ACM_CLASS_VERSION,
        method,
        status: Status::OK,
        control: AcmControl::RESOLVE,
        transaction_id,
        ..AcmMad::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_of_a_request() {
        let group = group_mgid(ib_mad::Pkey::DEFAULT_FULL, 0, ib_mad::Rate::GBPS_10, ib_mad::Mtu::B2048);
        let mad =
            request(TransactionId::new(5), &Address::from_text("node2"), &Address::from_text("10.0.0.1"), &[group]);
        let bytes = ib_mad::as_bytes(&mad);
        assert_eq!(bytes[..16], [1, 0x2c, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(bytes[16..24], [1, 64, 2, 64, 1, 0, 0, 0]);
        assert_eq!(bytes[24..30], *b"node2\0");
        assert_eq!(bytes[88..93], [10, 0, 0, 1, 0]);
        assert_eq!(bytes[152..161], [0xff, 0x15, 0x40, 0x01, 0xff, 0xff, 0, 3, 4]);
    }

    proptest! {
        #[test]
        fn round_trip(tid: u64, dest in "[a-z0-9.-]{1,64}", source in any::<u128>(), groups in proptest::collection::vec(any::<[u8; 16]>(), 0..9)) {
            let dest = Address::Name(crate::Name::new(dest.as_bytes()));
            let source = Address::Ip6(source.into());
            let mut all = [Gid::ZERO; 9];
            all.iter_mut().zip(&groups).for_each(|(to, from)| *to = Gid::new(*from));
            let groups = &all[..groups.len()];
            let tid = TransactionId::new(tid);
            let mad = request(tid, &dest, &source, groups);
            let seen = MulticastMessage::parse(ib_mad::as_bytes(&mad)).unwrap();
            let kept = &groups[..groups.len().min(6)];
            prop_assert_eq!(seen, MulticastMessage::Request(AddressRequest { tid, dest: Some(dest), source, groups: kept }));
        }

        #[test]
        fn any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), ours: bool) {
            let mut bytes = bytes;
            if ours && bytes.len() >= 8 { bytes[..8].copy_from_slice(&[1, 0x2c, 1, 1, 0, 0, 0, 1]); }
            let _ = MulticastMessage::parse(&bytes);
        }
    }
}
