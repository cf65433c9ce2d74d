//! GetTable: all records that match, for tools such as `saquery`.
use super::response::{count, query};
use crate::{
    id::PortId,
    subnet::{Subnet, smp},
};
use alloc::{boxed::Box, vec, vec::Vec};
use ib_mad::{
    AttributeId, Gid, Lid, Method, Status,
    opa::OpaVirtualFabric,
    sa::{
        JoinState, McMemberMask, McMemberRecord, NodeRecord, PathMask, PathRecord, Query, SA_CLASS_VERSION, SaMad,
        SaRecord, TableError, TableWriter, table_length,
    },
};

/// A table: its number of records, and its segments as one message.
pub(crate) type Table = (u32, Vec<u8>);

impl Subnet {
    /// Returns the response to a GetTable request as one message, in the form in which Linux's umad returns the
    /// segments of RMPP, or the error. `None` if the datagram is not such a request.
    pub(crate) fn table_response(&mut self, port: PortId, request: &SaMad) -> Option<Result<Table, Box<SaMad>>> {
        let is_known = if is_of_omni_path(request) {
            !self.config.virtual_fabrics.is_empty()
        } else {
            request.header.class_version == SA_CLASS_VERSION
        };
        if request.header.method != Method::GET_TABLE || !is_known {
            return None;
        }
        let table = self.settings().sa.status.filter(|status| !status.is_ok());
        let table = table.map_or_else(|| self.table(port, request), Err);
        count(self.counters_mut(), request, table.as_ref().err().copied().unwrap_or(Status::OK));
        match table {
            Ok(table) => Some(Ok(table)),
            Err(status) => Some(Err(Box::new(request.answer(status).ok()?))),
        }
    }

    fn table(&self, port: PortId, request: &SaMad) -> Result<Table, Status> {
        match request.header.attribute_id {
            OpaVirtualFabric::ID if is_of_omni_path(request) => {
                let query = query::<OpaVirtualFabric>(request)?;
                let all = self.config.virtual_fabrics.iter().copied();
                written(request, &all.filter(|record| query.matches(record)).collect::<Vec<_>>())
            }
            _ if is_of_omni_path(request) => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
            AttributeId::PATH_RECORD => written(request, &self.paths(port, &query(request)?)?),
            AttributeId::MC_MEMBER_RECORD => {
                written(request, &self.members(&query(request)?, request.sa.sm_key.get() != 0))
            }
            NodeRecord::ID => written(request, &self.node_records(&query(request)?)),
            _ => Err(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED),
        }
    }

    /// Returns the paths between the ports of a query. A missing source or destination stands for all ports.
    fn paths(&self, requester: PortId, query: &Query<PathRecord>) -> Result<Vec<PathRecord>, Status> {
        let mask = query.mask();
        if mask.intersects(PathMask::DGID | PathMask::DLID) {
            return self.find_path(requester, query).map(|path| [path].into());
        }
        let every: Vec<Lid> = self.ports().map(|(_, port)| port.lid).collect();
        let has_source = mask.intersects(PathMask::SGID | PathMask::SLID);
        let from: Vec<_> =
            if has_source { [*query].into() } else { every.iter().map(|lid| query.slid(*lid)).collect() };
        let mut found = Vec::new();
        for query in from {
            for dlid in &every {
                match self.find_path(requester, &query.dlid(*dlid)) {
                    Ok(path) => found.push(path),
                    Err(Status::SA_NO_RECORDS) => {}
                    Err(status) => return Err(status),
                }
            }
        }
        Ok(found)
    }

    fn members(&self, query: &Query<McMemberRecord>, trusted: bool) -> Vec<McMemberRecord> {
        if !(trusted || query.has(McMemberMask::PORT_GID)) {
            // As in OpenSM, only a request with the SM_Key returns the members.
            let query = query.without(McMemberMask::JOIN_STATE);
            let records = self.groups().map(|group| group.record(Gid::ZERO, JoinState::empty()));
            return records.filter(|record| query.matches(record)).collect();
        }
        let records = self.groups().flat_map(|group| {
            group
                .members
                .iter()
                .filter_map(|(id, state)| Some(group.record(self.port(*id)?.gids.first().copied()?, *state)))
        });
        records.filter(|record| query.matches(record)).collect()
    }

    fn node_records(&self, query: &Query<NodeRecord>) -> Vec<NodeRecord> {
        let record = |(id, port): (PortId, &crate::port::Port)| {
            let node = self.node(id.node)?;
            Some(NodeRecord {
                lid: port.lid,
                node_info: smp::node_info(node, port, id),
                node_description: smp::description(node),
                ..NodeRecord::default()
            })
        };
        self.ports().filter_map(record).filter(|record| query.matches(record)).collect()
    }
}

/// True if the datagram is in the format of Omni-Path.
fn is_of_omni_path(request: &SaMad) -> bool {
    [request.header.base_version, request.header.class_version] == OpaVirtualFabric::VERSIONS
}

/// Returns the records as one message, with their number.
fn written<R: SaRecord>(request: &SaMad, records: &[R]) -> Result<Table, Status> {
    let write = || {
        let mut table = TableWriter::new(request, vec![0; table_length::<R>(records.len())])?;
        records.iter().try_for_each(|record| table.push(record))?;
        Ok(table.finish().into_buffer().0)
    };
    let message = write().map_err(|_: TableError| Status::INVALID_FIELD)?;
    Ok((u32::try_from(records.len()).unwrap_or(u32::MAX), message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::SubnetConfig;
    use ib_mad::{Guid, MadRef, PortState, TransactionId};

    fn request(subnet: &mut Subnet, attribute: AttributeId) -> Vec<u8> {
        let request = SaMad::request(Method::GET_TABLE, attribute, TransactionId::new(1));
        subnet.table_response(PortId::new(1, 1), &request).unwrap().unwrap().1
    }

    #[test]
    fn table_lists_every_node_and_every_path() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        for _ in 0..3 {
            subnet.add_node().unwrap();
        }
        let nodes = request(&mut subnet, NodeRecord::ID);
        let mad = MadRef::new(&nodes).unwrap();
        let step = mad.sa().unwrap().attribute_offset.get();
        let lids: Vec<u16> = mad.records::<NodeRecord>().unwrap().map(|record| record.lid.get()).collect();
        assert_eq!((step, lids), (14, [16, 17, 18].to_vec()));
        let paths = request(&mut subnet, AttributeId::PATH_RECORD);
        assert_eq!(paths.len(), table_length::<PathRecord>(9));
        let groups = request(&mut subnet, AttributeId::MC_MEMBER_RECORD);
        // A table without records is a valid response (IBTA C15-0.1.5).
        assert_eq!((groups.len(), &groups[4..6]), (table_length::<McMemberRecord>(0), &[0, 0][..]));
    }

    /// Returns the LIDs of the paths in the response to a query.
    fn paths(subnet: &mut Subnet, query: Query<PathRecord>) -> Result<Vec<(u16, u16)>, Status> {
        let mut request = query.request(Method::GET, TransactionId::new(1));
        request.header.method = Method::GET_TABLE;
        let response = subnet.table_response(PortId::new(1, 1), &request).unwrap();
        let (count, response) = response.map_err(|error| error.header.status)?;
        let mad = MadRef::new(&response).unwrap();
        assert_eq!(mad.sa().unwrap().attribute_offset.get(), 8);
        let records = mad.records::<PathRecord>().unwrap();
        let ends: Vec<_> = records.map(|path| (path.slid.get(), path.dlid.get())).collect();
        assert_eq!(count as usize, ends.len());
        Ok(ends)
    }

    #[test]
    fn table_has_the_paths_between_the_named_ports() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        for _ in 0..3 {
            subnet.add_node().unwrap();
        }
        let new = Query::<PathRecord>::new;
        let gid = |node: u64| Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x0002_c903_0000_0001 + 16 * node));
        // With a destination there is one path. The default source is the requester.
        assert_eq!(paths(&mut subnet, new().dlid(Lid::new(18))), Ok(vec![(16, 18)]));
        assert_eq!(paths(&mut subnet, new().dgid(gid(3)).slid(Lid::new(17))), Ok(vec![(17, 18)]));
        let from_second = Ok(vec![(17, 16), (17, 17), (17, 18)]);
        assert_eq!(paths(&mut subnet, new().slid(Lid::new(17))), from_second);
        assert_eq!(paths(&mut subnet, new().sgid(gid(2))), from_second);
        // A port that is down has no paths; the paths of other ports stay.
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
    fn virtual_fabrics_are_listed_in_datagrams_of_omni_path() {
        let fabric = |index: u16| OpaVirtualFabric { index: index.into(), ..OpaVirtualFabric::default() };
        let config = SubnetConfig { virtual_fabrics: (0..20).map(fabric).collect(), ..SubnetConfig::default() };
        let (mut with, mut without) = (Subnet::new(config, 1), Subnet::new(SubnetConfig::default(), 1));
        let port = PortId::new(1, 1);
        let all = Query::<OpaVirtualFabric>::new();
        let (count, message) =
            with.table_response(port, &all.request(Method::GET_TABLE, TransactionId::new(1))).unwrap().unwrap();
        let found: Vec<_> = MadRef::new(&message).unwrap().records().unwrap().copied().collect();
        assert_eq!((count, found), (20, (0..20).map(fabric).collect()));
        let (count, _) = with
            .table_response(port, &all.index(7).request(Method::GET_TABLE, TransactionId::new(1)))
            .unwrap()
            .unwrap();
        assert_eq!(count, 1);
        assert_eq!(without.table_response(port, &all.request(Method::GET_TABLE, TransactionId::new(1))), None);
        // Another attribute in such a datagram, and the attribute in a datagram of InfiniBand.
        let mut paths = all.request(Method::GET_TABLE, TransactionId::new(1));
        paths.header.attribute_id = AttributeId::PATH_RECORD;
        let plain = SaMad::request(Method::GET_TABLE, OpaVirtualFabric::ID, TransactionId::new(1));
        for request in [paths, plain] {
            let refused = with.table_response(port, &request).unwrap().unwrap_err();
            assert_eq!(refused.header.status, Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
        }
    }

    #[test]
    fn datagram_that_is_no_table_request_gets_no_table() {
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let port = PortId::new(1, 1);
        let good = SaMad::request(Method::GET_TABLE, NodeRecord::ID, TransactionId::new(1));
        let mut get = good;
        get.header.method = Method::GET;
        assert_eq!(subnet.table_response(port, &get), None);
        let mut old = good;
        old.header.class_version = SA_CLASS_VERSION - 1;
        assert_eq!(subnet.table_response(port, &old), None);
        let unknown = SaMad::request(Method::GET_TABLE, AttributeId::NOTICE, TransactionId::new(1));
        let response = subnet.table_response(port, &unknown).unwrap().unwrap_err();
        assert_eq!(response.header.status, Status::METHOD_ATTRIBUTE_NOT_SUPPORTED);
    }
}
