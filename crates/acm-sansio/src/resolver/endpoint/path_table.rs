//! The paths from a port to all others in a partition, as the subnet administrator returned them.
use crate::{
    api::{SaError, port::PortAttributes},
    resolver::dest::RouteKey,
};
use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};
use core::num::NonZeroU16;
use ib_mad::{
    Gid, Guid, Lid, Lmc, MadRef, Mtu, PacketLifeTime, Rate, Selected, Status,
    sa::{PathRecord, QosSl, SaHeader},
};

/// The maximum number of paths: one to each port that a subnet can have.
const MAX_PATHS: usize = 49_151;

/// The fields of a path that differ between destinations, but are the same for many of them.
#[derive(Clone, Copy, Debug)]
struct Template {
    qos_sl: QosSl,
    mtu: Selected<Mtu>,
    rate: Selected<Rate>,
    packet_life_time: Selected<PacketLifeTime>,
}

impl Template {
    const fn new(path: &PathRecord) -> Self {
        let PathRecord { qos_sl, mtu, rate, packet_life_time, .. } = *path;
        Self { qos_sl, mtu, rate, packet_life_time }
    }

    /// Returns what two templates are compared by: all fields.
    fn order(self) -> impl Ord {
        let Self { qos_sl, mtu, rate, packet_life_time } = self;
        (qos_sl.qos_class(), qos_sl.sl(), mtu.parts(), rate.parts(), packet_life_time.parts())
    }

    const fn path(self, shared: &PathRecord, guid: Guid, dlid: Lid) -> PathRecord {
        let Self { qos_sl, mtu, rate, packet_life_time } = self;
        let dgid = Gid::from_parts(shared.dgid.prefix(), guid);
        PathRecord { dgid, dlid, qos_sl, mtu, rate, packet_life_time, ..*shared }
    }
}

/// The end of a path, and the number of its template.
#[derive(Clone, Copy, Debug)]
struct Entry {
    guid: Guid,
    dlid: Lid,
    /// Counted from 1; `None` if the fabric contradicted the path.
    template: Option<NonZeroU16>,
}

/// The paths from a port to all others in a partition. A path takes 14 bytes.
#[derive(Debug)]
pub(crate) struct PathTable {
    /// The fields that all paths have in common.
    shared: PathRecord,
    templates: Box<[Template]>,
    /// By GUID. Of several paths to one port, the first in the response is the first here.
    entries: Box<[Entry]>,
    /// Indexes of `entries`, by LID.
    by_lid: Box<[u16]>,
    left_out: usize,
}

/// Reports whether the data is as long as the header of the only segment says.
fn is_whole(table: &MadRef<'_>) -> bool {
    let Some(rmpp) = table.rmpp().filter(|rmpp| rmpp.flags.first() && rmpp.flags.last()) else { return true };
    usize::try_from(rmpp.data2.get()).is_ok_and(|payload| payload <= table.data().len() + size_of::<SaHeader>())
}

impl PathTable {
    /// Reads the response to a query for all paths from a port. Paths are left out if they do not begin at the port, if
    /// they differ from the first path in more than their destination, SL, MTU, rate and lifetime, or if they are too
    /// many. Such paths are queried when they are needed.
    ///
    /// # Errors
    /// [`SaError::BadResponse`] if the message is truncated or has other records; [`SaError::Status`] if it has no path
    /// that can be used.
    pub(crate) fn read(port: &PortAttributes, table: MadRef<'_>) -> Result<Self, SaError> {
        let records = table.records::<PathRecord>().map_err(|_| SaError::BadResponse)?;
        if !is_whole(&table) {
            return Err(SaError::BadResponse);
        }
        let begins_here = |path: &PathRecord| path.sgid == port.gid() && path.slid.base(port.lmc) == port.lid;
        let (mut shared, mut entries, mut left_out) = (None, Vec::new(), 0);
        let (mut templates, mut numbers) = (Vec::new(), BTreeMap::new());
        for path in records {
            let (template, guid, dlid) = (Template::new(path), path.dgid.interface_id(), path.dlid);
            let is_usable = begins_here(path) && dlid.is_unicast() && entries.len() < MAX_PATHS;
            if is_usable && template.path(shared.get_or_insert(*path), guid, dlid) == *path {
                let number = *numbers.entry(template.order()).or_insert_with(|| {
                    templates.push(template);
                    u16::try_from(templates.len()).ok().and_then(NonZeroU16::new)
                });
                entries.push(Entry { guid, dlid, template: number });
            } else {
                left_out += 1;
            }
        }
        let Some(shared) = shared else {
            // Not even the path from the port to itself.
            return Err(SaError::Status(Status::SA_NO_RECORDS));
        };
        entries.sort_by_key(|entry| entry.guid);
        let mut by_lid: Vec<(Lid, u16)> = (0..).zip(&entries).map(|(index, entry)| (entry.dlid, index)).collect();
        by_lid.sort_unstable();
        let by_lid = by_lid.into_iter().map(|(_, index)| index).collect();
        Ok(Self { shared, templates: templates.into(), entries: entries.into(), by_lid, left_out })
    }

    /// Returns the number of paths.
    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of records in the response that are not in the table.
    pub(crate) const fn left_out(&self) -> usize {
        self.left_out
    }

    fn with_guid(&self, guid: Guid) -> impl Iterator<Item = &Entry> {
        let first = self.entries.partition_point(|entry| entry.guid < guid);
        self.entries.iter().skip(first).take_while(move |entry| entry.guid == guid)
    }

    /// Returns the paths to the LIDs of a port with this base LID.
    fn with_lids(&self, lid: Lid, lmc: Lmc) -> impl Iterator<Item = &Entry> {
        let entry = |index: &u16| self.entries.get(usize::from(*index));
        let first = self.by_lid.partition_point(|index| entry(index).is_some_and(|entry| entry.dlid < lid));
        self.by_lid.iter().skip(first).map_while(entry).take_while(move |entry| entry.dlid.base(lmc) == lid)
    }

    /// Returns the path for a request, if a query for it would return the same: the request names only the ends of the
    /// path.
    pub(crate) fn path(&self, key: &RouteKey) -> Option<PathRecord> {
        let from_here = (key.sgid.is_zero() || key.sgid == self.shared.sgid)
            && (key.slid.is_zero() || key.slid == self.shared.slid);
        if !key.has_only_ends() || !from_here {
            return None;
        }
        let entry = if key.dgid.is_zero() {
            self.with_lids(key.dlid, Lmc::default()).next()
        } else if key.dgid.prefix() == self.shared.dgid.prefix() {
            let at_lid = |entry: &&Entry| key.dlid.is_zero() || entry.dlid == key.dlid;
            self.with_guid(key.dgid.interface_id()).find(at_lid)
        } else {
            None
        };
        let Entry { guid, dlid, template } = *entry?;
        let template = self.templates.get(usize::from(template?.get()) - 1)?;
        Some(template.path(&self.shared, guid, dlid))
    }

    /// Compares the paths with a datagram, whose sender has this GID and base LID. If no path leads there, those to the
    /// GID and those to the LID are marked as wrong. Returns the number of ports that this is new for.
    pub(crate) fn contradict(&mut self, lid: Lid, lmc: Lmc, gid: Gid) -> u64 {
        let guid = gid.interface_id();
        if gid.prefix() != self.shared.dgid.prefix() || self.with_guid(guid).any(|entry| entry.dlid.base(lmc) == lid) {
            return 0;
        }
        let at_lid = self.with_lids(lid, lmc).filter(|entry| entry.template.is_some());
        let wrong: Vec<Gid> = at_lid.map(|entry| Gid::from_parts(gid.prefix(), entry.guid)).collect();
        wrong.into_iter().chain([gid]).map(|gid| u64::from(self.refute(gid))).sum()
    }

    /// Marks all paths to a port as wrong. Returns `true` if one was not marked before.
    pub(crate) fn refute(&mut self, dgid: Gid) -> bool {
        let guid = dgid.interface_id();
        if dgid.prefix() != self.shared.dgid.prefix() {
            return false;
        }
        let first = self.entries.partition_point(|entry| entry.guid < guid);
        let entries = self.entries.iter_mut().skip(first).take_while(|entry| entry.guid == guid);
        entries.fold(false, |news, entry| news | entry.template.take().is_some())
    }
}

#[cfg(test)]
mod tests;
