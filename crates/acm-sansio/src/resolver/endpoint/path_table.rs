//! The paths from a port to all others in a partition, as the subnet administrator returned them.
use crate::{
    api::{SaError, port::PortAttributes},
    resolver::dest::RouteKey,
};
use alloc::{boxed::Box, vec::Vec};
use ib_mad::{
    Gid, Guid, Lid, MadRef, Mtu, PacketLifeTime, Rate, Selected, Status,
    sa::{PathRecord, QosSl, SaHeader},
};

/// The maximum number of paths: one to each port that a subnet can have.
const MAX_PATHS: usize = 49_151;

/// The fields of a path that differ between destinations.
#[derive(Clone, Copy, Debug)]
struct Entry {
    guid: Guid,
    dlid: Lid,
    qos_sl: QosSl,
    mtu: Selected<Mtu>,
    rate: Selected<Rate>,
    packet_life_time: Selected<PacketLifeTime>,
    /// `true` if the fabric contradicted it.
    wrong: bool,
}

impl Entry {
    const fn new(path: &PathRecord) -> Self {
        let PathRecord { dgid, dlid, qos_sl, mtu, rate, packet_life_time, .. } = *path;
        Self { guid: dgid.interface_id(), dlid, qos_sl, mtu, rate, packet_life_time, wrong: false }
    }

    const fn path(&self, shared: &PathRecord) -> PathRecord {
        let Self { guid, dlid, qos_sl, mtu, rate, packet_life_time, wrong: _ } = *self;
        let dgid = Gid::from_parts(shared.dgid.prefix(), guid);
        PathRecord { dgid, dlid, qos_sl, mtu, rate, packet_life_time, ..*shared }
    }
}

/// The paths from a port to all others in a partition. A path takes 20 bytes.
#[derive(Debug)]
pub(crate) struct PathTable {
    /// The fields that all paths have in common.
    shared: PathRecord,
    /// By GUID. Of several paths to one port, the first in the response is the first here.
    entries: Box<[Entry]>,
    /// Indexes of `entries`, by LID.
    by_lid: Box<[u32]>,
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
        for path in records {
            let entry = Entry::new(path);
            let is_usable = begins_here(path) && path.dlid.is_unicast();
            if is_usable && entries.len() < MAX_PATHS && entry.path(shared.get_or_insert(*path)) == *path {
                entries.push(entry);
            } else {
                left_out += 1;
            }
        }
        let Some(shared) = shared else {
            // Not even the path from the port to itself.
            return Err(SaError::Status(Status::SA_NO_RECORDS));
        };
        entries.sort_by_key(|entry| entry.guid);
        let mut by_lid: Vec<(Lid, u32)> = (0..).zip(&entries).map(|(index, entry)| (entry.dlid, index)).collect();
        by_lid.sort_unstable();
        let by_lid = by_lid.into_iter().map(|(_, index)| index).collect();
        Ok(Self { shared, entries: entries.into(), by_lid, left_out })
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

    fn with_lid(&self, lid: Lid) -> impl Iterator<Item = &Entry> {
        let entry = |index: &u32| usize::try_from(*index).ok().and_then(|index| self.entries.get(index));
        let first = self.by_lid.partition_point(|index| entry(index).is_some_and(|entry| entry.dlid < lid));
        self.by_lid.iter().skip(first).map_while(entry).take_while(move |entry| entry.dlid == lid)
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
            self.with_lid(key.dlid).next()
        } else if key.dgid.prefix() == self.shared.dgid.prefix() {
            let at_lid = |entry: &&Entry| key.dlid.is_zero() || entry.dlid == key.dlid;
            self.with_guid(key.dgid.interface_id()).find(at_lid)
        } else {
            None
        };
        entry.filter(|entry| !entry.wrong).map(|entry| entry.path(&self.shared))
    }

    /// Marks all paths to a port as wrong. Returns `true` if one was not marked before.
    pub(crate) fn refute(&mut self, dgid: Gid) -> bool {
        let guid = dgid.interface_id();
        if dgid.prefix() != self.shared.dgid.prefix() {
            return false;
        }
        let first = self.entries.partition_point(|entry| entry.guid < guid);
        let entries = self.entries.iter_mut().skip(first).take_while(|entry| entry.guid == guid);
        entries.fold(false, |news, entry| news | !core::mem::replace(&mut entry.wrong, true))
    }
}

#[cfg(test)]
mod tests;
