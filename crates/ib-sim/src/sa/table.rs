//! GetTable: every record that matches, for tools (`saquery`).
use super::answer::{asked, count};
use crate::{Group, PortId, Subnet, smp};
use alloc::vec::Vec;
use ib_mad::{
    AttributeId, Gid, Lid, Method, Status, as_bytes,
    rmpp::{RmppFlags, RmppType},
    sa::{
        JoinState, McMemberMask, McMemberRecord, NodeMask, NodeRecord, PathMask, PathRecord, SA_CLASS_VERSION, SaMad,
        SaRecord,
    },
    wire::{Be16, Be32},
};

/// Bytes in front of the records.
const HEADER: usize = 56;
/// Longest answer, so that it fits in one message of the server.
const LONGEST: usize = 60_000;

impl Subnet {
    /// The answer to a GetTable request as one long message, the way Linux's umad hands over what came in many RMPP
    /// segments; `None` to what is no such request.
    #[must_use]
    pub fn administer_table(&mut self, port: PortId, request: &SaMad) -> Option<Vec<u8>> {
        if request.header.method != Method::GET_TABLE || request.header.class_version != SA_CLASS_VERSION {
            return None;
        }
        let mut answer = *request;
        answer.header.method = Method::GET_TABLE_RESP;
        let (step, records) = match self.table(port, request) {
            Ok(found) => found,
            Err(status) => {
                answer.header.status = status;
                (0, Vec::new())
            }
        };
        count(self.counters_mut(), request, answer.header.status);
        answer.sa.attribute_offset = Be16::new(step);
        answer.rmpp.version = 1;
        answer.rmpp.rmpp_type = RmppType::DATA;
        answer.rmpp.flags = RmppFlags::default().with_active(true).with_first(true).with_last(true);
        answer.rmpp.data1 = Be32::new(1);
        // The payload's length counts the header of subnet administration (20 bytes).
        answer.rmpp.data2 = Be32::new(u32::try_from(records.len() + 20).unwrap_or(u32::MAX));
        let mut message = as_bytes(&answer).get(..HEADER).unwrap_or_default().to_vec();
        message.extend(records);
        Some(message)
    }

    /// The distance of the records in units of 8 bytes, and the records.
    fn table(&self, port: PortId, request: &SaMad) -> Result<(u16, Vec<u8>), Status> {
        let mask = request.sa.component_mask.get();
        match request.header.attribute_id {
            AttributeId::PATH_RECORD => packed(&self.paths(port, asked::<PathRecord>(request)?, mask)?),
            AttributeId::MC_MEMBER_RECORD => {
                let trusted = request.sa.sm_key.get() != 0;
                packed(&self.members(asked::<McMemberRecord>(request)?, mask, trusted))
            }
            NodeRecord::ID => {
                let lid = request.data.0.first_chunk().map(|bytes| Lid::new(u16::from_be_bytes(*bytes)));
                packed(&self.node_records(lid.filter(|_| NodeMask::from_bits_retain(mask).contains(NodeMask::LID))))
            }
            _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
        }
    }

    /// Paths between the ports that are asked for; every port where none is named.
    fn paths(&self, asker: PortId, asked: &PathRecord, mask: u64) -> Result<Vec<PathRecord>, Status> {
        let named = PathMask::from_bits_retain(mask);
        if named.intersects(PathMask::DGID | PathMask::DLID) {
            return self.find_path(asker, asked, mask).map(|path| [path].into());
        }
        let every: Vec<Lid> = self.ports().map(|(_, port)| port.lid).collect();
        let from = if named.intersects(PathMask::SGID | PathMask::SLID) { &[Lid::NONE][..] } else { &every };
        let mut found = Vec::new();
        for slid in from {
            for dlid in &every {
                let mut query = PathRecord { dlid: *dlid, ..*asked };
                let mut mask = mask | PathMask::DLID.bits();
                if *slid != Lid::NONE {
                    query.slid = *slid;
                    mask |= PathMask::SLID.bits();
                }
                match self.find_path(asker, &query, mask) {
                    Ok(path) => found.push(path),
                    Err(Status::SA_NO_RECORDS) => {}
                    Err(status) => return Err(status),
                }
            }
        }
        Ok(found)
    }

    fn members(&self, asked: &McMemberRecord, mask: u64, trusted: bool) -> Vec<McMemberRecord> {
        let mask = McMemberMask::from_bits_retain(mask);
        let unless = |component, agrees| !mask.contains(component) || agrees;
        let wanted = |group: &&Group| {
            unless(McMemberMask::MGID, group.mgid == asked.mgid)
                && unless(McMemberMask::MLID, group.mlid == asked.mlid)
                && unless(McMemberMask::PKEY, group.pkey == asked.pkey)
        };
        let groups = self.groups().filter(wanted);
        if !(trusted || mask.contains(McMemberMask::PORT_GID)) {
            // As OpenSM has it: who is a member is for those who know the key.
            return groups.map(|group| group.record(Gid::ZERO, JoinState::empty())).collect();
        }
        let records = groups.flat_map(|group| {
            group.members.iter().filter_map(|(id, state)| {
                let gid = self.port(*id)?.gids.first().copied()?;
                unless(McMemberMask::PORT_GID, gid == asked.port_gid).then(|| group.record(gid, *state))
            })
        });
        records.collect()
    }

    fn node_records(&self, lid: Option<Lid>) -> Vec<NodeRecord> {
        let ports = self.ports().filter(|(_, port)| lid.is_none_or(|lid| lid == port.lid));
        let record = |(id, port): (PortId, &crate::Port)| {
            let node = self.node(id.node)?;
            Some(NodeRecord {
                lid: port.lid,
                node_info: smp::node_info(node, port, id),
                node_description: smp::description(node),
                ..NodeRecord::default()
            })
        };
        ports.filter_map(record).collect()
    }
}

/// Records one behind the other, each on a multiple of 8 bytes.
fn packed<R: ib_mad::Wire>(records: &[R]) -> Result<(u16, Vec<u8>), Status> {
    let words = size_of::<R>().div_ceil(8);
    if records.len() * words * 8 > LONGEST {
        return Err(Status::SA_NO_RESOURCES);
    }
    let mut bytes = Vec::with_capacity(records.len() * words * 8);
    for record in records {
        bytes.extend_from_slice(as_bytes(record));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    Ok((u16::try_from(words).unwrap_or(u16::MAX), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SubnetConfig;
    use alloc::vec;
    use ib_mad::{
        Guid, PortState, TransactionId,
        sa::{Query, Records},
    };

    fn ask(subnet: &mut Subnet, attribute: AttributeId) -> Vec<u8> {
        let request = SaMad::request(Method::GET_TABLE, attribute, TransactionId::new(1));
        subnet.administer_table(PortId::new(1, 1), &request).unwrap()
    }

    #[test]
    fn every_node_and_every_path() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        for _ in 0..3 {
            subnet.add_node().unwrap();
        }
        let nodes = ask(&mut subnet, NodeRecord::ID);
        let step = u16::from_be_bytes([nodes[44], nodes[45]]);
        let lids: Vec<u16> = Records::<NodeRecord>::new(&nodes[HEADER..], step).unwrap().map(|r| r.lid.get()).collect();
        assert_eq!((step, lids), (14, [16, 17, 18].to_vec()));
        let paths = ask(&mut subnet, AttributeId::PATH_RECORD);
        assert_eq!(paths.len(), HEADER + 9 * 64);
        let groups = ask(&mut subnet, AttributeId::MC_MEMBER_RECORD);
        // No record is an answer too (IBTA C15-0.1.5).
        assert_eq!((groups.len(), &groups[4..6]), (HEADER, &[0, 0][..]));
    }

    /// The LIDs of the paths that answer a query.
    fn paths(subnet: &mut Subnet, query: Query<PathRecord>) -> Result<Vec<(u16, u16)>, Status> {
        let mut request = query.get(TransactionId::new(1));
        request.header.method = Method::GET_TABLE;
        let answer = subnet.administer_table(PortId::new(1, 1), &request).unwrap();
        let (status, step) = ([answer[4], answer[5]], u16::from_be_bytes([answer[44], answer[45]]));
        if status != [0, 0] {
            assert_eq!((answer.len(), step), (HEADER, 0));
            return Err(Status::new(u16::from_be_bytes(status)));
        }
        let length = u32::from_be_bytes([answer[32], answer[33], answer[34], answer[35]]);
        assert_eq!(usize::try_from(length).unwrap(), answer.len() - HEADER + 20);
        let records = Records::<PathRecord>::new(&answer[HEADER..], step).unwrap();
        Ok(records.map(|path| (path.slid.get(), path.dlid.get())).collect())
    }

    #[test]
    fn paths_between_the_ports_that_are_named() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        for _ in 0..3 {
            subnet.add_node().unwrap();
        }
        let new = Query::<PathRecord>::new;
        let gid = |node: u64| Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x0002_c903_0000_0001 + 16 * node));
        // With a destination it is one, from the asker if nobody else is named.
        assert_eq!(paths(&mut subnet, new().dlid(Lid::new(18))), Ok(vec![(16, 18)]));
        assert_eq!(paths(&mut subnet, new().dgid(gid(3)).slid(Lid::new(17))), Ok(vec![(17, 18)]));
        let from_second = Ok(vec![(17, 16), (17, 17), (17, 18)]);
        assert_eq!(paths(&mut subnet, new().slid(Lid::new(17))), from_second);
        assert_eq!(paths(&mut subnet, new().sgid(gid(2))), from_second);
        // A port that is away has no path, and takes none from the others.
        let id = PortId::new(3, 1);
        subnet.set_port_state(id, PortState::DOWN).unwrap();
        assert_eq!(paths(&mut subnet, new()), Ok(vec![(16, 16), (16, 17), (17, 16), (17, 17)]));
        assert_eq!(paths(&mut subnet, new().dlid(Lid::new(18))), Err(Status::SA_NO_RECORDS));
        subnet.settings_mut().sa.unknown_gid_status = Status::SA_INVALID_GID;
        assert_eq!(paths(&mut subnet, new().sgid(gid(99))), Err(Status::SA_INVALID_GID));
        let errors = subnet.counters();
        assert_eq!((errors.sa_path_queries, errors.sa_errors), (7, 2));
    }

    #[test]
    fn what_is_no_request_for_a_table() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let port = PortId::new(1, 1);
        let good = SaMad::request(Method::GET_TABLE, NodeRecord::ID, TransactionId::new(1));
        let mut get = good;
        get.header.method = Method::GET;
        assert_eq!(subnet.administer_table(port, &get), None);
        let mut old = good;
        old.header.class_version = SA_CLASS_VERSION - 1;
        assert_eq!(subnet.administer_table(port, &old), None);
        let unknown = SaMad::request(Method::GET_TABLE, AttributeId::NOTICE, TransactionId::new(1));
        let answer = subnet.administer_table(port, &unknown).unwrap();
        assert_eq!(answer[4..6], Status::METHOD_ATTRIBUTE_NOT_SUPPORTED.get().to_be_bytes());
    }

    #[test]
    fn one_answer_has_an_end() {
        let records = |count| packed(&vec![PathRecord::default(); count]).map(|(step, bytes)| (step, bytes.len()));
        assert_eq!(records(937), Ok((8, 59_968)));
        assert_eq!(records(938), Err(Status::SA_NO_RESOURCES));
    }
}
