//! Receiving frames of any length.
use super::{MadAddress, agent::AgentId};
use crate::{Error, Result, error::errno};
use ib_mad::{AddressVector, DecodeError, FlowLabel, GlobalRoute, MadHeader, Qpn, ServiceLevel, umad::UmadHeader};
use nix::errno::Errno;
use std::{
    fs::File,
    io::{self, Read},
};
use zerocopy::FromBytes;

const HEADER: usize = size_of::<UmadHeader>();
/// Bytes for the longest single MAD (2048 on Omni-Path; 256 on InfiniBand).
const INITIAL_LENGTH: usize = HEADER + 2048;

/// A buffer for frames, which grows when a longer message is received and never shrinks.
#[derive(Debug)]
pub struct ReceiveBuffer {
    bytes: Vec<u8>,
}

/// A received frame: a MAD from the fabric, or a failed request of this program.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Header of the frame. Contains the sender's address, or for a failed request the header of the request.
    pub header: &'a UmadHeader,
    /// The MAD, or a whole long message. For a failed request, the kernel returns only the MAD header.
    pub mad: &'a [u8],
}

impl Received<'_> {
    /// Returns the agent to which the frame belongs.
    #[must_use]
    pub const fn agent(&self) -> AgentId {
        AgentId(self.header.id.get())
    }

    /// Returns the reason why a request of this program failed, `ETIMEDOUT` if no response arrived. `None` for a MAD
    /// from the fabric.
    #[must_use]
    pub fn failure(&self) -> Option<Errno> {
        match self.header.status.get() {
            0 => None,
            status => Some(Errno::from_raw(i32::try_from(status).unwrap_or(0))),
        }
    }

    /// Returns the sender's address, the destination of a response.
    #[must_use]
    pub fn sender(&self) -> MadAddress {
        let UmadHeader { gid, gid_index, hop_limit, traffic_class, flow_label, .. } = *self.header;
        let flow_label = FlowLabel::masked(flow_label.get());
        let grh = GlobalRoute { dgid: gid, sgid_index: gid_index, flow_label, hop_limit, traffic_class };
        let path = AddressVector::local(self.header.lid, ServiceLevel::masked(self.header.sl));
        let path = AddressVector { path_bits: self.header.path_bits, ..path };
        MadAddress {
            qpn: Qpn::masked(self.header.qpn.get()),
            qkey: self.header.qkey,
            pkey_index: self.header.pkey_index.get(),
            path: if self.header.grh_present == 0 { path } else { path.with_grh(grh) },
        }
    }

    /// Returns the common header of the MAD.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], which occurs only with a simulated device.
    pub fn mad_header(&self) -> core::result::Result<&MadHeader, DecodeError> {
        let too_short = DecodeError::TooShort { what: "MadHeader", need: size_of::<MadHeader>(), got: self.mad.len() };
        MadHeader::ref_from_prefix(self.mad).map(|(header, _)| header).map_err(|_| too_short)
    }
}

impl Default for ReceiveBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; INITIAL_LENGTH] }
    }
}

impl ReceiveBuffer {
    pub(super) fn fill(&mut self, mut file: &File) -> Result<Option<Received<'_>>> {
        let length = loop {
            match file.read(&mut self.bytes) {
                Ok(length) => break length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The message stays in the kernel's queue. The header, which is in the buffer, has the length of the
                // message.
                Err(error) if errno(&error) == Errno::ENOSPC => self.grow()?,
                Err(error) => return Err(Error::call("read")(errno(&error))),
            }
        };
        let frame = self.bytes.get(..length).unwrap_or_default();
        match UmadHeader::ref_from_prefix(frame) {
            Ok((header, mad)) => Ok(Some(Received { header, mad })),
            // End of the file, which does not occur with a real umad file.
            Err(_) => Err(Error::Gone),
        }
    }

    fn grow(&mut self) -> Result<()> {
        let length = UmadHeader::ref_from_prefix(&self.bytes).map(|(header, _)| header.length.get());
        let length = usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX);
        // At least twice the current length, so that a wrong header cannot cause an endless loop.
        let length = length.max(self.bytes.len().saturating_mul(2));
        let more = length.saturating_sub(self.bytes.len());
        self.bytes.try_reserve_exact(more).map_err(|_| Error::Call { call: "read", errno: Errno::ENOMEM })?;
        self.bytes.resize(length, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::Write,
        os::{fd::OwnedFd, unix::net::UnixStream},
    };

    /// Returns a file from which these bytes can be read before it would block, and the other end of the file.
    fn file_with(bytes: &[u8]) -> (File, UnixStream) {
        let (near, mut far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.write_all(bytes).unwrap();
        (OwnedFd::from(near).into(), far)
    }

    #[test]
    #[cfg_attr(miri, ignore = "miri has no non-blocking socket pair")]
    fn failed_request_has_agent_error_and_transaction_id() {
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
    fn short_frame_does_not_panic() {
        let (file, _far) = file_with(&[1; HEADER - 1]);
        assert!(matches!(ReceiveBuffer::default().fill(&file), Err(Error::Gone)));
        let (file, _far) = file_with(&[0; HEADER]);
        let mut buffer = ReceiveBuffer::default();
        let received = buffer.fill(&file).unwrap().unwrap();
        assert!(received.failure().is_none() && received.mad_header().is_err());
    }

    #[test]
    fn buffer_grows_to_the_length_in_the_header() {
        let mut buffer = ReceiveBuffer::default();
        buffer.bytes[16..20].copy_from_slice(&100_000u32.to_ne_bytes());
        buffer.grow().unwrap();
        assert_eq!(buffer.bytes.len(), 100_000);
        buffer.bytes[16..20].fill(0);
        buffer.grow().unwrap();
        assert_eq!(buffer.bytes.len(), 200_000);
    }
}
