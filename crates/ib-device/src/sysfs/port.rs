//! A port and its tables.
use super::files::{Dir, number};
use crate::{LinkLayer, LinkRate, Result};
use ib_mad::{Gid, Guid, Lid, Pkey, PortState, ServiceLevel, id::Lmc};
use std::path::PathBuf;

/// A port: `/sys/class/infiniband/NAME/ports/NUMBER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Number of the port in the device, from 1. Port 0 is the management port of a switch.
    pub number: u8,
    /// Logical state; packets pass only in [`PortState::ACTIVE`].
    pub state: PortState,
    /// The layer below the packets. LIDs and subnet manager are valid on InfiniBand only.
    pub link_layer: LinkLayer,
    /// Base LID; [`Lid::NONE`] until the subnet manager assigned one.
    pub lid: Lid,
    /// LID mask control: the port has 2^LMC LIDs.
    pub lmc: Lmc,
    /// LID of the subnet manager. The subnet administrator has the same LID.
    pub sm_lid: Lid,
    /// Service level to the subnet manager.
    pub sm_sl: ServiceLevel,
    /// Rate of the link, or the last rate of a link that is down; `None` if the driver does not report a rate.
    pub rate: Option<LinkRate>,
    /// GIDs in the order of their indexes, without unused entries.
    pub gids: Vec<GidEntry>,
    /// P_Keys in the order of their indexes, without unused entries (partition 0).
    pub pkeys: Vec<PkeyEntry>,
    /// The umad file of this port, if the module ib_umad is loaded.
    pub umad: Option<UmadFile>,
}

/// The MAD interface of one port: `/sys/class/infiniband_mad/umadN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UmadFile {
    /// The kernel's name, `umadN`.
    pub name: String,
    /// The file to open, `/dev/infiniband/umadN`.
    pub path: PathBuf,
}

/// An entry of a port's GID table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GidEntry {
    /// Index of the entry in its table, from 0. Tables may have more than 256 entries.
    pub index: u16,
    /// The GID at this index.
    pub gid: Gid,
}

/// An entry of a port's P_Key table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PkeyEntry {
    /// Index of the entry in its table, from 0.
    pub index: u16,
    /// The P_Key at this index.
    pub pkey: Pkey,
}

impl Port {
    pub(super) fn read(dir: Dir<'_>, port: u8) -> Result<Self> {
        let rate = dir.optional_text("rate")?;
        Ok(Self {
            number: port,
            state: dir.value("state", "port state", state)?,
            link_layer: link_layer(dir)?,
            lid: Lid::new(dir.value("lid", "LID", number)?),
            lmc: dir.value("lid_mask_count", "LMC (0 to 7)", |text| number(text).and_then(Lmc::checked))?,
            sm_lid: Lid::new(dir.value("sm_lid", "LID", number)?),
            sm_sl: dir.value("sm_sl", "SL (0 to 15)", |text| number(text).and_then(ServiceLevel::checked))?,
            rate: rate.as_deref().and_then(LinkRate::from_sysfs),
            gids: gids(Dir(&dir.join("gids")))?,
            pkeys: pkeys(Dir(&dir.join("pkeys")))?,
            umad: None,
        })
    }

    /// Returns the port's GUID, from the GID at index 0; `None` on an Ethernet link and while the GID table is empty.
    #[must_use]
    pub fn guid(&self) -> Option<Guid> {
        let first = self.gids.first().filter(|entry| entry.index == 0)?;
        (self.link_layer == LinkLayer::InfiniBand).then(|| first.gid.interface_id())
    }

    /// Returns the index of a GID.
    #[must_use]
    pub fn gid_index(&self, gid: Gid) -> Option<u16> {
        self.gids.iter().find(|entry| entry.gid == gid).map(|entry| entry.index)
    }

    /// Returns the index of a P_Key with the same membership bit.
    #[must_use]
    pub fn pkey_index(&self, pkey: Pkey) -> Option<u16> {
        self.pkeys.iter().find(|entry| entry.pkey == pkey).map(|entry| entry.index)
    }

    /// Returns the index of the P_Key for requests to the subnet administrator: the index of the default partition's
    /// P_Key, or 0.
    #[must_use]
    pub fn sa_pkey_index(&self) -> u16 {
        let full = self.pkey_index(Pkey::DEFAULT_FULL);
        full.or_else(|| self.pkey_index(Pkey::DEFAULT_LIMITED)).unwrap_or(0)
    }

    /// True if the port is in an InfiniBand subnet, is active and has a LID.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.link_layer == LinkLayer::InfiniBand && self.state == PortState::ACTIVE && self.lid.is_unicast()
    }
}

/// Reads the link layer of a port. Drivers know it, and do not ask the firmware.
pub(super) fn link_layer(dir: Dir<'_>) -> Result<LinkLayer> {
    Ok(match dir.optional_text("link_layer")?.as_deref() {
        // Kernels before 2.6.37 support only InfiniBand and have no such file.
        None | Some("InfiniBand") => LinkLayer::InfiniBand,
        Some("Ethernet") => LinkLayer::Ethernet,
        Some(_) => LinkLayer::Other,
    })
}

/// Parses the state in a text like `4: ACTIVE`.
fn state(text: &str) -> Option<PortState> {
    let (code, _) = text.split_once(':').unwrap_or((text, ""));
    number(code).map(PortState::new)
}

fn gids(dir: Dir<'_>) -> Result<Vec<GidEntry>> {
    let mut table = Vec::new();
    for index in dir.numbers::<u16>()? {
        // Drivers return EINVAL for unused entries.
        let Some(text) = dir.optional_text(&index.to_string())? else { continue };
        let gid: Gid = match text.parse() {
            Ok(gid) => gid,
            Err(_) => return Err(crate::Error::Text { path: dir.join(&index.to_string()), what: "GID", text }),
        };
        if !gid.is_zero() {
            table.push(GidEntry { index, gid });
        }
    }
    Ok(table)
}

fn pkeys(dir: Dir<'_>) -> Result<Vec<PkeyEntry>> {
    let mut table = Vec::new();
    for index in dir.numbers::<u16>()? {
        let pkey = Pkey::new(dir.value(&index.to_string(), "P_Key", number)?);
        if pkey.is_valid() {
            table.push(PkeyEntry { index, pkey });
        }
    }
    Ok(table)
}
