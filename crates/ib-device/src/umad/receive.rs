//! Reading frames of any length.
use super::{MadAddress, agent::AgentId, errno::errno};
use crate::{Error, Result};
use ib_mad::{AddressVector, DecodeError, FlowLabel, GlobalRoute, MadHeader, Qpn, ServiceLevel, umad::UmadHeader};
use nix::errno::Errno;
use std::{
    fs::File,
    io::{self, Read},
};
use zerocopy::FromBytes;

const HEADER: usize = size_of::<UmadHeader>();
/// Room for the longest single MAD (Omni-Path's 2048 bytes; InfiniBand's have 256).
const USUAL: usize = HEADER + 2048;

/// Memory for frames. Grows with the first long message and keeps what it has.
#[derive(Debug)]
pub struct ReceiveBuffer {
    bytes: Vec<u8>,
}

/// A frame: a MAD from the fabric, or one's own request that failed.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Who sent it and how. For a failed request: as it was sent.
    pub header: &'a UmadHeader,
    /// The MAD; a long message in one piece. Of a failed request the kernel gives back the MAD header only.
    pub mad: &'a [u8],
}

impl Received<'_> {
    /// The agent that it is for.
    #[must_use]
    pub const fn agent(&self) -> AgentId {
        AgentId(self.header.id.get())
    }

    /// Why one's own request failed; `None` for a MAD from the fabric. `ETIMEDOUT`: no answer came.
    #[must_use]
    pub fn failure(&self) -> Option<Errno> {
        match self.header.status.get() {
            0 => None,
            status => Some(Errno::from_raw(i32::try_from(status).unwrap_or(0))),
        }
    }

    /// Where its answer goes: back to who sent it, the way it came.
    #[must_use]
    pub fn sender(&self) -> MadAddress {
        let UmadHeader { gid, gid_index, hop_limit, traffic_class, flow_label, .. } = *self.header;
        let flow_label = FlowLabel::masked(flow_label.get());
        let grh = GlobalRoute { dgid: gid, sgid_index: gid_index, flow_label, hop_limit, traffic_class };
        let way = AddressVector::local(self.header.lid, ServiceLevel::masked(self.header.sl));
        let way = AddressVector { path_bits: self.header.path_bits, ..way };
        MadAddress {
            qpn: Qpn::masked(self.header.qpn.get()),
            qkey: self.header.qkey,
            pkey_index: self.header.pkey_index.get(),
            path: if self.header.grh_present == 0 { way } else { way.with_grh(grh) },
        }
    }

    /// The MAD's common header.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`]: the kernel does not hand over such frames, but a simulated one may.
    pub fn mad_header(&self) -> core::result::Result<&MadHeader, DecodeError> {
        let too_short = DecodeError::TooShort { what: "MadHeader", need: size_of::<MadHeader>(), got: self.mad.len() };
        MadHeader::ref_from_prefix(self.mad).map(|(header, _)| header).map_err(|_| too_short)
    }
}

impl Default for ReceiveBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; USUAL] }
    }
}

impl ReceiveBuffer {
    pub(super) fn fill(&mut self, mut file: &File) -> Result<Option<Received<'_>>> {
        let length = loop {
            match file.read(&mut self.bytes) {
                Ok(length) => break length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The message stays in the queue, and its header in the buffer says how long it is.
                Err(error) if errno(&error) == Errno::ENOSPC => self.grow()?,
                Err(error) => return Err(Error::call("read")(errno(&error))),
            }
        };
        let frame = self.bytes.get(..length).unwrap_or_default();
        match UmadHeader::ref_from_prefix(frame) {
            Ok((header, mad)) => Ok(Some(Received { header, mad })),
            // End of file, which a umad file does not have.
            Err(_) => Err(Error::Gone),
        }
    }

    fn grow(&mut self) -> Result<()> {
        let said = UmadHeader::ref_from_prefix(&self.bytes).map(|(header, _)| header.length.get());
        let said = usize::try_from(said.unwrap_or(0)).unwrap_or(usize::MAX);
        // Whatever the header says: longer than now, so that this ends.
        let length = said.max(self.bytes.len().saturating_mul(2));
        let more = length.saturating_sub(self.bytes.len());
        self.bytes.try_reserve_exact(more).map_err(|_| Error::Call { call: "read", errno: Errno::ENOMEM })?;
        self.bytes.resize(length, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use std::{
        io::Write,
        os::{fd::OwnedFd, unix::net::UnixStream},
    };

    /// A file that reads what was written into the other end, and then would block.
    fn file_with(bytes: &[u8]) -> (File, UnixStream) {
        let (near, mut far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
        far.write_all(bytes).unwrap();
        (OwnedFd::from(near).into(), far)
    }

    #[test]
    #[cfg_attr(miri, ignore = "miri has no non-blocking socket pair")]
    fn frame_and_failure() {
        let mut frame = vec![0; HEADER + 24];
        frame[4..8].copy_from_slice(&110u32.to_ne_bytes());
        frame[0..4].copy_from_slice(&7u32.to_ne_bytes());
        frame[HEADER + 15] = 0x2a;
        let (file, _far) = file_with(&frame);
        let mut buffer = ReceiveBuffer::default();
        let received = buffer.fill(&file).unwrap().unwrap();
        assert_eq!((received.agent().get(), received.failure()), (7, Some(Errno::ETIMEDOUT)));
        assert_eq!(received.mad_header().unwrap().transaction_id.get(), 0x2a);
        assert!(buffer.fill(&file).unwrap().is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "miri has no non-blocking socket pair")]
    fn short_frame_is_no_panic() {
        let (file, _far) = file_with(&[1; HEADER - 1]);
        assert!(matches!(ReceiveBuffer::default().fill(&file), Err(Error::Gone)));
        let (file, _far) = file_with(&[0; HEADER]);
        let mut buffer = ReceiveBuffer::default();
        let received = buffer.fill(&file).unwrap().unwrap();
        assert!(received.failure().is_none() && received.mad_header().is_err());
    }

    #[test]
    fn grows_to_what_the_header_says() {
        let mut buffer = ReceiveBuffer::default();
        buffer.bytes[16..20].copy_from_slice(&100_000u32.to_ne_bytes());
        buffer.grow().unwrap();
        assert_eq!(buffer.bytes.len(), 100_000);
        buffer.bytes[16..20].fill(0);
        buffer.grow().unwrap();
        assert_eq!(buffer.bytes.len(), 200_000);
    }
}
