//! Builds datagrams of several classes and prints them: `cargo run --example write_mads`.
use ib_mad::{
    AttributeId, Mad, Method, MgmtClass, Status, TransactionId, VendorId,
    attribute::Attribute,
    cm::CmRtu,
    congestion::{CongestionInfo, CongestionMad},
    notice::ClassPortInfo,
    perf::{CounterSelect, PortCounters},
    smp::{DrPath, DrSmp, NodeInfo},
    vendor::OPENIB_OUI,
    wire,
    wire::{Be32, Octets},
};

wire! {
    /// An attribute of a vendor class, in the vendor's layout.
    pub struct Ping [8] {
        /// Number of the ping.
        pub number: Be32,
        /// Bytes that the response returns.
        pub payload: Octets<4>,
    }
}
impl Attribute for Ping {
    const CLASS: MgmtClass = MgmtClass::new(0x32);
    const ATTRIBUTE: AttributeId = AttributeId::new(0);
    const OUI: Option<VendorId> = Some(OPENIB_OUI);
}

pub(crate) fn main() -> Result<(), Box<dyn core::error::Error>> {
    let tid = TransactionId::new(7);

    // Read the counters of port 1, whose number is in the attribute, and clear them.
    let port = PortCounters { port_select: 1, ..PortCounters::default() };
    let read = Mad::request(Method::GET, 0, tid, &port);
    let clear = Mad::request(
        Method::SET,
        0,
        tid,
        &PortCounters { counter_select: CounterSelect::from_bits_retain(u16::MAX), ..port },
    );

    // An attribute that several classes share needs the class.
    let class_port_info = Mad::request_shared(MgmtClass::PERF, Method::GET, 0, tid, &ClassPortInfo::ZERO);

    // A node three switches away.
    let path: DrPath = "0,1,5,2".parse()?;
    let node = Mad::from(DrSmp::request(Method::GET, &path, 0, tid, &NodeInfo::ZERO));

    // A message of communication management, and an attribute of a vendor class.
    let ready = Mad::request(Method::SEND, 0, tid, &CmRtu::default());
    let ping = Mad::request(Method::GET, 0, tid, &Ping::ZERO);

    // The structure of the class has a field for its key.
    let mut congestion = Mad::request(Method::GET, 0, tid, &CongestionInfo::ZERO);
    congestion.datagram_mut::<CongestionMad>()?.cc_key = 5.into();

    for mad in [read, clear, class_port_info, node, ready, ping, congestion] {
        println!("{mad}");
    }

    // The responder reads the request and answers it.
    assert_eq!(read.header.method, Method::GET);
    let counters = PortCounters { symbol_error_counter: 3.into(), ..*read.attribute_as::<PortCounters>()? };
    println!("{}", read.answer_with(&counters)?);
    println!("{}", node.answer(Status::BUSY)?);
    Ok(())
}
