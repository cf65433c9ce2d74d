//! A frame of a umad file: header and datagram.
use super::{UmadHeader, UmadHeaderOld};
use crate::{DecodeError, Wire, view::MadRef};
use core::fmt;

/// Header layout of a file's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// Frames start with a [`UmadHeader`], which has a P_Key index.
    #[default]
    WithPkeyIndex,
    /// Frames start with a [`UmadHeaderOld`].
    Old,
}

/// A frame in place: header and datagram. The first 56 bytes of the header are the same in both layouts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// Fields that both layouts have.
    pub header: &'a UmadHeaderOld,
    /// Index in the local P_Key table, if the layout has it.
    pub pkey_index: Option<u16>,
    /// Datagram; more than 256 bytes if the kernel reassembled it from several packets.
    pub mad: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Splits a frame that was read from a umad file, or will be written to one, into header and datagram.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the bytes end before the header does.
    pub fn parse(bytes: &'a [u8], layout: Layout) -> Result<Self, DecodeError> {
        match layout {
            Layout::WithPkeyIndex => {
                let (full, mad) = UmadHeader::parse_prefix(bytes)?;
                Ok(Self { header: UmadHeaderOld::parse(bytes)?, pkey_index: Some(full.pkey_index.get()), mad })
            }
            Layout::Old => {
                let (header, mad) = UmadHeaderOld::parse_prefix(bytes)?;
                Ok(Self { header, pkey_index: None, mad })
            }
        }
    }

    /// Returns a view that reads the datagram by class and attribute.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the datagram ends before its common header does.
    pub fn view(&self) -> Result<MadRef<'a>, DecodeError> {
        MadRef::new(self.mad)
    }
}

impl fmt::Display for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header;
        write!(f, "agent {} LID {} QP {:#x}", header.id.get(), header.lid, header.qpn.get())?;
        if header.status.get() != 0 {
            write!(f, " errno {}", header.status.get())?;
        }
        match self.view() {
            Ok(mad) => write!(f, ": {mad}"),
            Err(error) => write!(f, ": {error}"),
        }
    }
}
