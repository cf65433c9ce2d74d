//! Management datagrams.
use super::{at_node, wait_for};
use core::time::Duration;
use ib_device::{
    sysfs::{Port, Sysfs},
    umad::{Agent, Expect, MadAddress, ReceiveBuffer, UmadPort},
};
use ib_mad::{
    AddressVector, FlowLabel, Gid, Lid, Method, MgmtClass, Mtu, Pkey, Qkey, Rate, Selector, ServiceLevel,
    TransactionId,
    sa::{JoinState, McMemberRecord, PathRecord, Query, SA_CLASS_VERSION, SaMad},
};
use nix::errno::Errno;
use std::os::fd::AsFd;

/// Waits for the next frame. Returns the lower half of its transaction id, its failure, and its MAD if it is complete.
fn next(umad: &UmadPort) -> (u64, Option<Errno>, Option<SaMad>) {
    let mut buffer = ReceiveBuffer::default();
    loop {
        if let Some(received) = umad.receive(&mut buffer).unwrap() {
            let tid = received.mad_header().unwrap().transaction_id.get() & 0xffff_ffff;
            return (tid, received.failure(), SaMad::parse(received.mad).ok().copied());
        }
        wait_for(umad.as_fd());
    }
}

/// Joins the port to a group. Returns the group's LID.
pub(super) fn join(port: &Port, mgid: Gid) -> Lid {
    let mut umad = UmadPort::open(&port.umad.as_ref().unwrap().path).unwrap();
    let agent = umad.register(&Agent::client(MgmtClass::SUBN_ADM, SA_CLASS_VERSION)).unwrap();
    let to = MadAddress::general_services(AddressVector::local(port.sm_lid, port.sm_sl), port.sa_pkey_index());
    let query = Query::<McMemberRecord>::new()
        .mgid(mgid)
        .port_gid(port.gids[0].gid)
        .qkey(Qkey::GSI)
        .mtu(Selector::Exactly, Mtu::B2048)
        .traffic_class(0)
        .pkey(Pkey::DEFAULT_FULL)
        .rate(Selector::Exactly, Rate::GBPS_10)
        .sl(ServiceLevel::ZERO)
        .flow_label(FlowLabel::ZERO)
        .join_state(JoinState::FULL_MEMBER);
    let expect = Expect::Response { timeout: Duration::from_secs(30), retries: 0 };
    umad.send(agent, &to, expect, ib_mad::as_bytes(&query.request(Method::SET, TransactionId::new(1)))).unwrap();
    next(&umad).2.unwrap().record::<McMemberRecord>().unwrap().mlid
}

#[test]
fn request_gets_a_response_or_times_out() {
    if at_node("umad::request_gets_a_response_or_times_out").is_none() {
        return;
    }
    let port = Sysfs::default().scan().unwrap().devices.remove(0).ports.remove(0);
    let mut umad = UmadPort::open(&port.umad.as_ref().unwrap().path).unwrap();
    let agent = umad.register(&Agent::client(MgmtClass::SUBN_ADM, SA_CLASS_VERSION)).unwrap();
    let to = MadAddress::general_services(AddressVector::local(port.sm_lid, port.sm_sl), port.sa_pkey_index());
    let gid = port.gids[0].gid;
    let record = PathRecord { sgid: gid, dgid: gid, ..PathRecord::default() };
    let mad = |tid| Query::from_non_zero(record).request(Method::GET, TransactionId::new(tid));
    let expect = Expect::Response { timeout: Duration::from_secs(30), retries: 0 };
    for tid in [7, 8] {
        umad.send(agent, &to, expect, ib_mad::as_bytes(&mad(tid))).unwrap();
        let (response_tid, failure, response) = next(&umad);
        assert_eq!((response_tid, failure), (tid, None));
        let response = response.unwrap();
        let path = response.record::<PathRecord>().unwrap();
        assert_eq!((path.slid, path.dlid, path.dgid), (port.lid, port.lid, gid));
    }
    // There is no administrator at this LID.
    let nowhere = MadAddress { path: AddressVector::local(port.lid, port.sm_sl), ..to };
    let expect = Expect::Response { timeout: Duration::from_millis(1), retries: 1 };
    umad.send(agent, &nowhere, expect, ib_mad::as_bytes(&mad(9))).unwrap();
    assert_eq!(next(&umad).1, Some(Errno::ETIMEDOUT));
    umad.unregister(agent).unwrap();
    assert!(umad.unregister(agent).is_err());
    assert!(umad.send(agent, &to, expect, ib_mad::as_bytes(&mad(10))).is_err(), "the agent is unregistered");
}
