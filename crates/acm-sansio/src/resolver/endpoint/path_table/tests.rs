use super::*;
use alloc::vec;
use ib_mad::{
    Method, Pkey, ServiceLevel, TransactionId, as_bytes,
    sa::{Query, ReversiblePaths, TableWriter, table_length},
};
use proptest::prelude::*;

fn gid(number: u64) -> Gid {
    Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(number))
}

fn port() -> PortAttributes {
    PortAttributes { lid: Lid::new(1), gids: vec![gid(1)], ..PortAttributes::default() }
}

/// Returns the path from port 1 to a port.
fn path(number: u16) -> PathRecord {
    PathRecord {
        dgid: gid(number.into()),
        sgid: gid(1),
        dlid: Lid::new(number),
        slid: Lid::new(1),
        reversible_paths: ReversiblePaths::default().with_reversible(true),
        pkey: Pkey::DEFAULT_FULL,
        qos_sl: QosSl::default().with_sl(ServiceLevel::masked(number.to_be_bytes()[1])),
        ..PathRecord::default()
    }
}

fn message(paths: &[PathRecord]) -> Vec<u8> {
    let request = Query::<PathRecord>::new().request(Method::GET_TABLE, TransactionId::new(1));
    let mut table = TableWriter::new(&request, vec![0; table_length::<PathRecord>(paths.len())]).unwrap();
    paths.iter().for_each(|path| table.push(path).unwrap());
    table.finish().as_bytes().to_vec()
}

fn read(paths: &[PathRecord]) -> Result<PathTable, SaError> {
    PathTable::read(&port(), MadRef::new(&message(paths)).unwrap())
}

fn to_gid(number: u64) -> RouteKey {
    RouteKey { dgid: gid(number), ..RouteKey::default() }
}

fn to_lid(lid: u16) -> RouteKey {
    RouteKey { dlid: Lid::new(lid), ..RouteKey::default() }
}

#[test]
fn path_is_found_by_gid_lid_or_both_as_the_record_was() {
    // GUIDs and LIDs are in different orders.
    let paths = [5, 3, 9, 1].map(|number| PathRecord { dlid: Lid::new(100 - number), ..path(number) });
    let table = read(&paths).unwrap();
    assert_eq!((table.len(), table.left_out()), (4, 0));
    for path in paths {
        let by_gid = RouteKey { dgid: path.dgid, ..RouteKey::default() };
        let by_lid = RouteKey { dlid: path.dlid, ..RouteKey::default() };
        let from_here = RouteKey { sgid: gid(1), slid: Lid::new(1), dlid: path.dlid, ..by_gid };
        assert_eq!([by_gid, by_lid, from_here].map(|key| table.path(&key)), [Some(path); 3]);
    }
    assert_eq!([to_gid(4), to_lid(5)].map(|key| table.path(&key)), [None; 2]);
    let other_prefix = RouteKey { dgid: Gid::from_parts(7, Guid::new(5)), ..RouteKey::default() };
    let contradiction = RouteKey { dlid: Lid::new(97), ..to_gid(5) };
    assert_eq!([other_prefix, contradiction, RouteKey::default()].map(|key| table.path(&key)), [None; 3]);
}

#[test]
fn request_with_other_properties_is_not_in_the_table() {
    let table = read(&[path(5)]).unwrap();
    let key = to_gid(5);
    assert!(table.path(&key).is_some());
    let others = [
        RouteKey { sgid: gid(2), ..key },
        RouteKey { slid: Lid::new(2), ..key },
        RouteKey { traffic_class: 1, ..key },
        RouteKey { qos_class: 1, ..key },
        RouteKey { sl: path(5).qos_sl.sl(), ..key },
        RouteKey { mtu: Selected::exactly(Mtu::B256), ..key },
        RouteKey { rate: Selected::exactly(Rate::GBPS_10), ..key },
        RouteKey { packet_life_time: Selected::exactly(PacketLifeTime::of::<3>()), ..key },
        RouteKey { service_id: ib_mad::ServiceId::new(1), ..key },
    ];
    assert_eq!(others.map(|key| table.path(&key)), [None; 9]);
}

#[test]
fn paths_that_do_not_fit_the_table_are_left_out() {
    let paths = [
        PathRecord { sgid: gid(2), ..path(2) },
        path(3),
        PathRecord { slid: Lid::new(2), ..path(4) },
        PathRecord { dlid: Lid::new(0xc001), ..path(5) },
        PathRecord { pkey: Pkey::new(0x8001), ..path(6) },
        PathRecord { dgid: Gid::from_parts(9, Guid::new(7)), ..path(7) },
        path(8),
    ];
    let table = read(&paths).unwrap();
    assert_eq!((table.len(), table.left_out()), (2, 5));
    assert_eq!([3, 8].map(|number| table.path(&to_lid(number))), [3, 8].map(|number| Some(path(number))));
}

#[test]
fn table_has_at_most_49_151_paths_of_14_bytes() {
    assert_eq!(size_of::<Entry>() + size_of::<u16>(), 14);
    let paths: Vec<PathRecord> = (0..=49_151).map(|number| path(number % 0xbfff + 1)).collect();
    let table = read(&paths).unwrap();
    assert_eq!((table.len(), table.left_out(), table.templates.len()), (49_151, 1, 16), "as many as SLs");
}

#[test]
fn first_of_several_paths_to_a_port_is_found_by_its_gid() {
    let (first, second) = (PathRecord { dlid: Lid::new(9), ..path(5) }, PathRecord { dlid: Lid::new(8), ..path(5) });
    let mut table = read(&[path(4), first, second, path(6)]).unwrap();
    assert_eq!(table.path(&to_gid(5)), Some(first));
    assert_eq!([9, 8].map(|lid| table.path(&to_lid(lid))), [Some(first), Some(second)]);
    assert!(table.refute(gid(5)) && !table.refute(gid(5)));
    assert_eq!([to_gid(5), to_lid(9), to_lid(8)].map(|key| table.path(&key)), [None; 3]);
    assert!(table.path(&to_gid(4)).is_some() && table.path(&to_gid(6)).is_some());
    assert!(!table.refute(gid(99)) && !table.refute(Gid::from_parts(7, Guid::new(4))));
}

#[test]
fn truncated_empty_and_foreign_messages_are_refused() {
    let whole = message(&[path(2), path(3)]);
    let read = |bytes: &[u8]| PathTable::read(&port(), MadRef::new(bytes).unwrap()).map(|table| table.len());
    assert_eq!(read(&whole), Ok(2));
    for length in [24, 60, 120, whole.len() - 1] {
        assert_eq!(read(&whole[..length]), Err(SaError::BadResponse), "{length} bytes");
    }
    let none = Err(SaError::Status(Status::SA_NO_RECORDS));
    assert_eq!((read(&message(&[])), read(&message(&[PathRecord::default()]))), (none, none));
    let mut foreign = whole.clone();
    foreign[17] = 0x11;
    assert_eq!(read(&foreign), Err(SaError::BadResponse));
    // A single record in a whole datagram.
    let mut datagram = message(&[path(2)]);
    datagram.resize(256, 0);
    assert_eq!((read(&datagram), as_bytes(&path(2)).len()), (Ok(1), 64));
}

/// Returns the path that the records have for a request, as if they were kept as they came: by GID the first, by LID
/// the first of the lowest GUID. A port whose paths were refuted has none.
fn from_records(records: &[PathRecord], refuted: &[u64], key: &RouteKey) -> Option<PathRecord> {
    let usable = |path: &&PathRecord| path.sgid == gid(1) && path.slid == Lid::new(1) && path.dlid.is_unicast();
    let first = *records.iter().find(usable)?;
    let ends = |path: &PathRecord| PathRecord {
        dgid: path.dgid,
        dlid: path.dlid,
        qos_sl: path.qos_sl,
        mtu: path.mtu,
        rate: path.rate,
        packet_life_time: path.packet_life_time,
        ..first
    };
    let mut fitting: Vec<_> = records.iter().filter(usable).filter(|path| **path == ends(path)).collect();
    fitting.sort_by_key(|path| path.dgid);
    let at_gid = |path: &PathRecord| key.dgid.is_zero() || path.dgid == key.dgid;
    let at_lid = |path: &PathRecord| key.dlid.is_zero() || path.dlid == key.dlid;
    let found = fitting.into_iter().find(|path| at_gid(path) && at_lid(path)).copied();
    found.filter(|path| refuted.iter().all(|number| path.dgid != gid(*number)))
}

fn any_record() -> impl Strategy<Value = PathRecord> {
    let end = (1..12_u64, prop_oneof![9 => 1..12_u16, 1 => Just(0xc001)], prop_oneof![9 => Just(1_u64), 1 => Just(2)]);
    let fields = (0..4_u16, 0..3_u8, 0..2_usize, 0..2_usize, 0..2_usize, prop_oneof![9 => Just(0_u8), 1 => Just(3)]);
    (end, fields).prop_map(|((to, dlid, from), (qos_class, sl, mtu, rate, life, traffic_class))| PathRecord {
        dgid: gid(to),
        sgid: gid(from),
        dlid: Lid::new(dlid),
        qos_sl: QosSl::default().with_qos_class(qos_class).with_sl(ServiceLevel::masked(sl)),
        mtu: Selected::exactly([Mtu::B256, Mtu::B2048][mtu]),
        rate: Selected::exactly([Rate::GBPS_10, Rate::GBPS_100][rate]),
        packet_life_time: Selected::exactly([PacketLifeTime::of::<3>(), PacketLifeTime::of::<4>()][life]),
        traffic_class,
        ..path(1)
    })
}

proptest! {
    #[test]
    fn table_has_the_paths_of_its_records(
        records in proptest::collection::vec(any_record(), 1..60),
        refuted in proptest::collection::vec(1..12_u64, 0..3),
    ) {
        let Ok(mut table) = read(&records) else { return Ok(()) };
        for number in &refuted {
            table.refute(gid(*number));
        }
        for (to, lid) in (0..13).flat_map(|to| (0..13).map(move |lid| (to, lid))).skip(1) {
            let dgid = if to == 0 { Gid::default() } else { gid(to) };
            let key = RouteKey { dgid, dlid: Lid::new(lid), ..RouteKey::default() };
            prop_assert_eq!(table.path(&key), from_records(&records, &refuted, &key), "{:?}", key);
        }
    }
}

#[test]
fn datagram_from_elsewhere_marks_the_paths_to_its_gid_and_its_lid() {
    let lmc = Lmc::checked(1).unwrap();
    let at = |lid: u16, number: u64| PathRecord { dgid: gid(number), dlid: Lid::new(lid), ..path(7) };
    // 3 and 4 share a port.
    let mut table = read(&[at(10, 1), at(12, 2), at(15, 3), at(14, 4)]).unwrap();
    let lids = |table: &PathTable| [1, 2, 3, 4].map(|number| table.path(&to_gid(number)).map(|path| path.dlid.get()));
    let all = [Some(10), Some(12), Some(15), Some(14)];
    for (lid, number) in [(10, 1), (14, 3), (14, 4), (20, 9)] {
        assert_eq!((table.contradict(Lid::new(lid), lmc, gid(number)), lids(&table)), (0, all), "{lid} {number}");
    }
    let elsewhere = Gid::from_parts(7, Guid::new(2));
    assert_eq!((table.contradict(Lid::new(14), lmc, elsewhere), lids(&table)), (0, all), "another subnet");
    assert_eq!((table.contradict(Lid::new(14), lmc, gid(2)), lids(&table)), (3, [Some(10), None, None, None]));
    assert_eq!(table.contradict(Lid::new(14), lmc, gid(2)), 0, "it is known");
    assert_eq!(table.path(&to_lid(14)), None);
}
