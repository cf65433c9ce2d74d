//! A frame: header and datagram.
use super::{UmadHeader, UmadHeaderOld};
use crate::{DecodeError, Wire, view::MadRef};
use core::fmt;

/// Which of the two headers a file's frames have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// [`UmadHeader`], with a P_Key index.
    #[default]
    WithPkeyIndex,
    /// [`UmadHeaderOld`].
    Old,
}

/// A frame in place: its header, whose first 56 bytes are alike in both layouts, and the datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// The fields that both layouts have.
    pub header: &'a UmadHeaderOld,
    /// Which of our P_Keys, if the layout says it.
    pub pkey_index: Option<u16>,
    /// The datagram; more than 256 bytes if the kernel put it together from several packets.
    pub mad: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The frame that a file gave or takes.
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

    /// The datagram, to be read by class and attribute.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if it ends before its common header does.
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
