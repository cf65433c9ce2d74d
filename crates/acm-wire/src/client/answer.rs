//! Reading the daemon's answers.
use super::{ClientStatus, Counters, Entry, EntryFlags, EntryKind, EpHead, Frame};
use crate::Address;
use ib_mad::{DecodeError, Wire, sa::PathRecord, wire::Text};

/// What a RESOLVE answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolveAnswer {
    /// The path that was resolved.
    pub path: PathRecord,
    /// The source, if the daemon chose it.
    pub source: Option<Address>,
}

impl ResolveAnswer {
    /// Reads the answer.
    ///
    /// # Errors
    /// The status, if it is not success; [`ClientStatus::EINVAL`] for an answer without a path.
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
    /// Reads a PERF answer; counters that it does not have are 0.
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

/// What an EP answer says.
#[derive(Clone, Copy, Debug)]
pub struct EpAnswer<'a> {
    /// What the answer says of the endpoint before its addresses.
    pub head: &'a EpHead,
    addresses: &'a [u8],
}

impl<'a> EpAnswer<'a> {
    /// Reads the answer; `None` if there is no such endpoint.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] for an answer without an endpoint.
    pub fn parse(frame: &Frame<'a>) -> Result<Option<Self>, DecodeError> {
        if frame.header.status != ClientStatus::SUCCESS {
            return Ok(None);
        }
        let (head, addresses) = EpHead::parse_prefix(frame.body)?;
        Ok(Some(Self { head, addresses }))
    }

    /// Its addresses, as text. The count in the answer is not trusted beyond the bytes that came.
    pub fn addresses(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let count = usize::from(self.head.address_count.get());
        self.addresses.chunks_exact(64).take(count).filter_map(|bytes| Text::<64>::parse(bytes).ok()).map(Text::as_text)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::client::{Reply, ep_reply, next_answer};
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn answers_round_trip() {
        let path = PathRecord { dlid: ib_mad::Lid::new(17), ..PathRecord::default() };
        let source = Address::from_text("fd00::1");
        let bytes = Reply::resolved([1; 8], &path, Some(&source));
        let answer = ResolveAnswer::parse(&next_answer(&bytes).unwrap().unwrap());
        assert_eq!(answer, Ok(ResolveAnswer { path, source: Some(source) }));
        // Neither cut at 32 bits nor with the sign of the 32nd.
        let counters = Counters([1, 2, 3, 4, 1 << 31, 1 << 32, u64::MAX]);
        let bytes = Reply::counters([1; 8], &counters);
        assert_eq!(Counters::parse(&next_answer(&bytes).unwrap().unwrap()), Ok(counters));
        let addresses = [Address::from_text("node1"), Address::from_text("10.0.0.1")];
        let mut bytes = Vec::new();
        ep_reply([1; 8], 1, &EpHead { port: 2, ..EpHead::default() }, addresses.iter(), |piece| {
            bytes.extend_from_slice(piece)
        });
        let answer = EpAnswer::parse(&next_answer(&bytes).unwrap().unwrap()).unwrap().unwrap();
        assert_eq!(answer.head.port, 2);
        assert!(answer.addresses().eq([b"node1".as_slice(), b"10.0.0.1"]));
    }

    proptest! {
        #[test]
        fn any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 16..700), opcode in 1_u8..4) {
            let mut bytes = bytes;
            bytes[..3].copy_from_slice(&[1, opcode | 0x80, 0]);
            let length = u16::try_from(bytes.len()).unwrap();
            bytes[6..8].copy_from_slice(&if opcode == 1 { length.to_ne_bytes() } else { length.to_be_bytes() });
            let frame = next_answer(&bytes).unwrap().unwrap();
            let _ = ResolveAnswer::parse(&frame);
            let _ = Counters::parse(&frame);
            if let Ok(Some(answer)) = EpAnswer::parse(&frame) { let _ = answer.addresses().count(); }
        }
    }
}
