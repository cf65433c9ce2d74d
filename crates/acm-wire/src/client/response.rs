//! Reading the daemon's responses.
use super::{ClientStatus, Counters, Entry, EntryFlags, EntryKind, EpHead, Frame};
use crate::Address;
use ib_mad::{DecodeError, Wire, sa::PathRecord, wire::Text};

/// Contents of a RESOLVE response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolveResponse {
    /// The resolved path.
    pub path: PathRecord,
    /// The source address, if the daemon chose it.
    pub source: Option<Address>,
}

impl ResolveResponse {
    /// Reads the response.
    ///
    /// # Errors
    /// The status of the response, if it is not success; [`ClientStatus::EINVAL`] for a response without a path.
    pub fn parse(frame: &Frame<'_>) -> Result<Self, ClientStatus> {
        if frame.header.status != ClientStatus::SUCCESS {
            return Err(frame.header.status);
        }
        let (mut path, mut source) = (None, None);
        for bytes in frame.body.chunks_exact(size_of::<Entry>()) {
            let Ok(entry) = Entry::parse(bytes) else { continue };
            match entry.kind() {
                EntryKind::Path(record) => path = Some(*record),
                EntryKind::Address(address) if entry.request_flags().contains(EntryFlags::SOURCE) => {
                    source = Some(address);
                }
                _ => {}
            }
        }
        path.map(|path| Self { path, source }).ok_or(ClientStatus::EINVAL)
    }
}

impl Counters {
    /// Reads a PERF response; missing counters are 0.
    ///
    /// # Errors
    /// The status, if it is not success.
    pub fn parse(frame: &Frame<'_>) -> Result<Self, ClientStatus> {
        if frame.header.status != ClientStatus::SUCCESS {
            return Err(frame.header.status);
        }
        let mut counters = Self::default();
        let values = frame.body.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
        counters.0.iter_mut().zip(values).for_each(|(to, from)| *to = from);
        Ok(counters)
    }
}

/// Contents of an EP response.
#[derive(Clone, Copy, Debug)]
pub struct EpResponse<'a> {
    /// The part of the response before the addresses.
    pub head: &'a EpHead,
    addresses: &'a [u8],
}

impl<'a> EpResponse<'a> {
    /// Reads the response; `None` if there is no such endpoint.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] for a response without an endpoint.
    pub fn parse(frame: &Frame<'a>) -> Result<Option<Self>, DecodeError> {
        if frame.header.status != ClientStatus::SUCCESS {
            return Ok(None);
        }
        let (head, addresses) = EpHead::parse_prefix(frame.body)?;
        Ok(Some(Self { head, addresses }))
    }

    /// Returns the addresses as text, up to the last complete address in the response.
    pub fn addresses(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let count = usize::from(self.head.address_count.get());
        self.addresses.chunks_exact(64).take(count).filter_map(|bytes| Text::<64>::parse(bytes).ok()).map(Text::as_text)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::client::{Reply, ep_reply, next_response};
    use proptest::prelude::*;
    use std::vec::Vec;

    // docs/deviations.md: counters
    #[test]
    fn responses_survive_a_round_trip() {
        let path = PathRecord { dlid: ib_mad::Lid::new(17), ..PathRecord::default() };
        let source = Address::from_text("fd00::1");
        let mut bytes = Reply::resolved([1; 8], &path, Some(&source));
        let frame = next_response(&bytes).unwrap().unwrap();
        let expected = Ok(ResolveResponse { path, source: Some(source) });
        assert_eq!((ResolveResponse::parse(&frame), frame.is_conditional()), (expected, false));
        bytes.mark_conditional();
        let frame = next_response(&bytes).unwrap().unwrap();
        assert_eq!((ResolveResponse::parse(&frame), frame.is_conditional()), (expected, true));
        // Counters have 64 bits, and bit 31 is not a sign.
        let counters = Counters([1, 2, 3, 4, 1 << 31, 1 << 32, u64::MAX]);
        let bytes = Reply::counters([1; 8], &counters);
        assert_eq!(Counters::parse(&next_response(&bytes).unwrap().unwrap()), Ok(counters));
        let addresses = [Address::from_text("node1"), Address::from_text("10.0.0.1")];
        let mut bytes = Vec::new();
        ep_reply([1; 8], 1, &EpHead { port: 2, ..EpHead::default() }, addresses.iter(), |piece| {
            bytes.extend_from_slice(piece)
        });
        let response = EpResponse::parse(&next_response(&bytes).unwrap().unwrap()).unwrap().unwrap();
        assert_eq!(response.head.port, 2);
        assert!(response.addresses().eq([b"node1".as_slice(), b"10.0.0.1"]));
    }

    proptest! {
        #[test]
        fn any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 16..700), opcode in 1_u8..4) {
            let mut bytes = bytes;
            bytes[..3].copy_from_slice(&[1, opcode | 0x80, 0]);
            let length = u16::try_from(bytes.len()).unwrap();
            bytes[6..8].copy_from_slice(&if opcode == 1 { length.to_ne_bytes() } else { length.to_be_bytes() });
            let frame = next_response(&bytes).unwrap().unwrap();
            let _ = ResolveResponse::parse(&frame);
            let _ = Counters::parse(&frame);
            if let Ok(Some(response)) = EpResponse::parse(&frame) { let _ = response.addresses().count(); }
        }
    }
}
