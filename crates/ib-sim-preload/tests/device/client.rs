//! Requests that are answered.
use super::{at_node, wait_for};
use core::time::Duration;
use ib_device::{
    sysfs::{Port, Sysfs},
    umad::{Client, MadAddress, QueryError},
};
use ib_mad::{
    AddressVector, AttributeId, Lid, Method, MgmtClass, Status, TransactionId, as_bytes,
    sa::{PathRecord, Query},
    smp::{DrPath, DrSmp, NodeInfo, PortInfo, Smp},
};
use std::{collections::BTreeMap, os::fd::AsFd};

fn port() -> Port {
    Sysfs::default().scan().unwrap().devices.remove(0).ports.remove(0)
}

fn client(port: &Port) -> Client {
    Client::open(&port.umad.as_ref().unwrap().path).unwrap()
}

/// The subnet administration.
fn administration(port: &Port) -> MadAddress {
    MadAddress::general_services(AddressVector::local(port.sm_lid, port.sm_sl), port.sa_pkey_index())
}

fn request(dlid: u16) -> Query<PathRecord> {
    Query::new().slid(Lid::new(16)).dlid(Lid::new(dlid))
}

#[test]
fn each_class_is_answered() {
    if at_node("client::each_class_is_answered").is_none() {
        return;
    }
    let port = port();
    let mut client = client(&port);
    let tid = TransactionId::new(0x1234_5678_9abc);
    let smp = DrSmp::request(Method::GET, &DrPath::new(), 0, tid, &NodeInfo::ZERO);
    let response = client.query(&MadAddress::directed_route(), as_bytes(&smp)).unwrap();
    let view = response.view().unwrap();
    assert_eq!((view.header().transaction_id, view.class()), (tid, MgmtClass::SUBN_DIRECTED_ROUTE));
    assert_eq!(view.attribute_as::<NodeInfo>().unwrap().num_ports, 1);
    let by_lid = MadAddress::subnet_management(AddressVector::local(port.lid, port.sm_sl));
    let response = client
        .query(&by_lid, as_bytes(&Smp::request(Method::GET, PortInfo::of_port(1), tid, &PortInfo::ZERO)))
        .unwrap();
    assert_eq!(response.view().unwrap().attribute_as::<PortInfo>().unwrap().lid, port.lid);
    // The kernel assembles the segments of a table.
    let response = client
        .query(&administration(&port), as_bytes(&Query::<PathRecord>::new().request(Method::GET_TABLE, tid)))
        .unwrap();
    assert_eq!(response.view().unwrap().records::<PathRecord>().unwrap().count(), 4);
    // A refusal and a silence are two errors.
    let unknown = DrSmp { attribute_id: AttributeId::new(0x99), ..smp };
    let refused = client.query(&MadAddress::directed_route(), as_bytes(&unknown));
    let status = Status::METHOD_ATTRIBUTE_NOT_SUPPORTED;
    assert!(matches!(refused, Err(QueryError::Status { status: seen, .. }) if seen == status), "{refused:?}");
    let nowhere = MadAddress { path: AddressVector::local(port.lid, port.sm_sl), ..administration(&port) };
    let mut client = client.with_timeout(Duration::from_millis(1), 1);
    let silence = client.query(&nowhere, as_bytes(&request(17).request(Method::GET, tid)));
    assert!(matches!(silence, Err(QueryError::NoResponse)), "{silence:?}");
    assert!(matches!(client.query(&nowhere, &[0; 20]), Err(QueryError::Decode(_))));
}

#[test]
fn requests_in_flight_have_their_own_results() {
    if at_node("client::requests_in_flight_have_their_own_results").is_none() {
        return;
    }
    let port = port();
    let mut client = client(&port);
    let to = administration(&port);
    // All requests have the same transaction id.
    let tid = TransactionId::new(7);
    let lids = [17, 16, 17, 16, 99];
    let ids = lids.map(|dlid| (client.send(&to, as_bytes(&request(dlid).request(Method::GET, tid))).unwrap(), dlid));
    let mut open = BTreeMap::from(ids);
    // A result that arrives during another request is kept.
    let response = client.query(&to, as_bytes(&request(16).request(Method::GET, tid))).unwrap();
    assert_eq!(response.view().unwrap().header().transaction_id, tid);
    while !open.is_empty() {
        let Some((id, answer)) = client.receive().unwrap() else {
            wait_for(client.as_fd());
            continue;
        };
        match open.remove(&id).expect("each request has one result") {
            99 => assert!(matches!(answer, Err(QueryError::Status { .. })), "{answer:?}"),
            dlid => {
                let response = answer.unwrap();
                let mut paths = response.view().unwrap().records::<PathRecord>().unwrap();
                assert_eq!(paths.next().unwrap().dlid, Lid::new(dlid));
            }
        }
    }
    assert!(client.receive().unwrap().is_none());
}
