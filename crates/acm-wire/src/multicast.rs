//! The datagrams between daemons: a request to a multicast group, and a response to the sender.
use crate::{Address, client::ClientStatus};
use ib_mad::{
    Gid, Method, MgmtClass, TransactionId, Wire,
    acm::{ACM_CLASS_VERSION, AcmControl, AcmMad},
    mad::Status,
    wire::Octets,
};

pub use ib_mad::acm::group_mgid;

/// The bit of a [`witness`] in [`AcmMad::init_depth`]. The other bits, after those of [`AcmMad::resp_resources`], are the
/// generation.
const WITNESS: u8 = 1;

/// The largest generation of a node's addresses; 1 follows.
pub const MOST_GENERATIONS: u16 = 0x7fff;

/// A datagram between daemons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MulticastMessage<'a> {
    /// Request to the daemon whose node has an address.
    Request(AddressRequest<'a>),
    /// Response of the daemon whose node has the address.
    Response(AddressResponse),
}

/// A received request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRequest<'a> {
    /// Transaction id, which the response copies.
    pub tid: TransactionId,
    /// The requested address; `None` if its type is unknown.
    pub dest: Option<Address>,
    /// Address of the requester.
    pub source: Address,
    /// Multicast groups of the requester, least preferred first.
    pub groups: &'a [Gid],
    /// The generation of the requester's addresses: another number after each change of them. C ibacm sends 0.
    pub generation: u16,
    /// Another address of the requester, in a [`witness`].
    pub also: Option<Address>,
}

/// A received response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressResponse {
    /// Transaction id of the request.
    pub tid: TransactionId,
    /// Class-specific status code; 0 means success.
    pub status: u8,
    /// Multicast group whose parameters apply to the path.
    pub group: Option<Gid>,
    /// The generation of the addresses of the node that responds. C ibacm sends 0.
    pub generation: u16,
}

/// Reasons why a datagram is not a valid ACM datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MessageError {
    /// The datagram is too short.
    #[error("{0} bytes are not a datagram of 256")]
    TooShort(usize),
    /// Base version, class or class version differs from that of ACM.
    #[error("base version {base}, class {class:?} version {version} are not ACM's")]
    NotAcm {
        /// Base version of the datagram.
        base: u8,
        /// Management class of the datagram.
        class: MgmtClass,
        /// Class version of the datagram.
        version: u8,
    },
    /// The purpose of the datagram is not address resolution, or its method is unknown.
    #[error("control {control:?} with method {method:?} is not known")]
    Unknown {
        /// Purpose of the datagram.
        control: AcmControl,
        /// Method of the datagram.
        method: Method,
    },
    /// The type of the requester's address is unknown.
    #[error("source type {0} is not known")]
    SourceType(u8),
}

impl<'a> MulticastMessage<'a> {
    /// Reads a datagram without its global route header.
    ///
    /// # Errors
    /// [`MessageError`] if the datagram is not a valid ACM datagram.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, MessageError> {
        let mad = <AcmMad as Wire>::parse(bytes).map_err(|_| MessageError::TooShort(bytes.len()))?;
        if (mad.base_version, mad.mgmt_class, mad.class_version) != (1, MgmtClass::ACM, ACM_CLASS_VERSION) {
            let (base, class, version) = (mad.base_version, mad.mgmt_class, mad.class_version);
            return Err(MessageError::NotAcm { base, class, version });
        }
        match (mad.control, mad.method) {
            (AcmControl::RESOLVE, Method::GET) => {
                let named = Address::decode(mad.dest_type, &mad.dest.0);
                let is_witness = mad.init_depth & WITNESS != 0;
                Ok(Self::Request(AddressRequest {
                    tid: mad.transaction_id,
                    dest: named.filter(|_| !is_witness),
                    source: Address::decode(mad.src_type, &mad.src.0)
                        .ok_or(MessageError::SourceType(mad.src_type.get()))?,
                    groups: mad.groups(),
                    generation: generation_of(mad),
                    also: named.filter(|_| is_witness),
                }))
            }
            (AcmControl::RESOLVE, method) if method.is_response() => Ok(Self::Response(AddressResponse {
                tid: mad.transaction_id,
                status: mad.status.class_code(),
                group: mad.groups().first().copied(),
                generation: generation_of(mad),
            })),
            (control, method) => Err(MessageError::Unknown { control, method }),
        }
    }
}

/// Returns a request for `dest` by `source`, which is a member of `groups` (least preferred first). Groups after the
/// sixth are left out.
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

/// Returns a request that nobody responds to: it shows the location of `source` and of `also`, another address of the
/// same node, to all receivers. C ibacm caches the location of `source`, as that of any requester.
#[must_use]
pub fn witness(tid: TransactionId, source: &Address, also: &Address, groups: &[Gid]) -> AcmMad {
    AcmMad { init_depth: WITNESS, ..request(tid, also, source, groups) }
}

/// Returns a datagram of a node whose addresses have this generation, at most [`MOST_GENERATIONS`].
#[must_use]
pub const fn with_generation(mad: AcmMad, generation: u16) -> AcmMad {
    let [high, low] = (generation << 1).to_be_bytes();
    AcmMad { resp_resources: high, init_depth: low | mad.init_depth & WITNESS, ..mad }
}

fn generation_of(mad: &AcmMad) -> u16 {
    u16::from_be_bytes([mad.resp_resources, mad.init_depth]) >> 1
}

/// Returns the response to a request. `group` is the most preferred group that both daemons have joined.
#[must_use]
pub fn response(tid: TransactionId, group: Gid) -> AcmMad {
    let mut mad = AcmMad { gid_count: 1, ..start(Method::GET_RESP, tid) };
    mad.gids[0] = group;
    mad
}

/// Returns the response to a request that was sent to this daemon alone, for an address that its node does not have: the
/// status is [`ClientStatus::EDESTADDR`], and no group is named. C ibacm sends no such response, and never requests an
/// address from one daemon alone.
#[must_use]
pub fn refusal(tid: TransactionId) -> AcmMad {
    AcmMad { status: Status::new(u16::from(ClientStatus::EDESTADDR.get()) << 8), ..start(Method::GET_RESP, tid) }
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
    fn witness_is_a_request_with_two_addresses_of_its_sender() {
        let [one, other] = ["node1", "10.0.0.1"].map(Address::from_text);
        let mad = witness(TransactionId::new(5), &one, &other, &[]);
        for generation in [0, 1, MOST_GENERATIONS] {
            let mad = with_generation(mad, generation);
            let Ok(MulticastMessage::Request(request)) = MulticastMessage::parse(ib_mad::as_bytes(&mad)) else {
                panic!()
            };
            assert_eq!((request.source, request.dest, request.also), (one, None, Some(other)));
            assert_eq!((request.generation, mad.dest_type), (generation, other.encode().0));
        }
    }

    #[test]
    fn request_has_the_layout_of_the_c_ibacm() {
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

    #[test]
    fn response_has_the_status_of_its_class_and_the_first_group() {
        fn parsed(mad: &AcmMad) -> MulticastMessage<'_> {
            MulticastMessage::parse(ib_mad::as_bytes(mad)).unwrap()
        }
        let group = Gid::new([0xff; 16]);
        let mut mad = response(TransactionId::new(7), group);
        let mut expected = AddressResponse { tid: TransactionId::new(7), status: 0, group: Some(group), generation: 0 };
        assert_eq!(parsed(&mad), MulticastMessage::Response(expected));
        // Further groups do not count.
        (mad.gids[1], mad.gid_count) = (Gid::new([0xfe; 16]), 2);
        assert_eq!(parsed(&mad), MulticastMessage::Response(expected));
        // C ibacm responds with ACM_STATUS_ENODATA in the upper byte, and without a group.
        (mad.status, mad.gid_count) = (Status::new(0x0200), 0);
        (expected.status, expected.group) = (2, None);
        assert_eq!(parsed(&mad), MulticastMessage::Response(expected));
    }

    #[test]
    fn datagram_of_another_class_or_version_is_rejected() {
        let mad = response(TransactionId::new(7), Gid::ZERO);
        for other in [
            AcmMad { base_version: 2, ..mad },
            AcmMad { mgmt_class: MgmtClass::SUBN_ADM, ..mad },
            AcmMad { class_version: 2, ..mad },
        ] {
            let error = MulticastMessage::parse(ib_mad::as_bytes(&other)).unwrap_err();
            let (base, class, version) = (other.base_version, other.mgmt_class, other.class_version);
            assert_eq!(error, MessageError::NotAcm { base, class, version });
        }
        for (control, method) in [(AcmControl::RESOLVE, Method::SET), (AcmControl::new(2), Method::GET)] {
            let error = MulticastMessage::parse(ib_mad::as_bytes(&AcmMad { control, method, ..mad })).unwrap_err();
            assert_eq!(error, MessageError::Unknown { control, method });
        }
    }

    proptest! {
        #[test]
        fn request_survives_a_round_trip(
            tid: u64,
            dest in "[a-z0-9.-]{1,64}",
            source in any::<u128>(),
            groups in proptest::collection::vec(any::<[u8; 16]>(), 0..9),
        ) {
            let dest = Address::Name(crate::Name::new(dest.as_bytes()));
            let source = Address::Ip6(source.into());
            let mut all = [Gid::ZERO; 9];
            all.iter_mut().zip(&groups).for_each(|(to, from)| *to = Gid::new(*from));
            let groups = &all[..groups.len()];
            let tid = TransactionId::new(tid);
            let mad = request(tid, &dest, &source, groups);
            let seen = MulticastMessage::parse(ib_mad::as_bytes(&mad)).unwrap();
            let kept = &groups[..groups.len().min(6)];
            prop_assert_eq!(seen, MulticastMessage::Request(AddressRequest {
                tid, dest: Some(dest), source, groups: kept, generation: 0, also: None
            }));
        }

        #[test]
        fn any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), ours: bool) {
            let mut bytes = bytes;
            if ours && bytes.len() >= 8 { bytes[..8].copy_from_slice(&[1, 0x2c, 1, 1, 0, 0, 0, 1]); }
            let _ = MulticastMessage::parse(&bytes);
        }
    }
}
