//! Prints the counters of a port as infiniband-diags does: `perfquery LID PORT`.
use core::{error::Error, time::Duration};
use ib_device::umad::{Agent, Expect, MadAddress, ReceiveBuffer, UmadPort};
use ib_mad::{
    AddressVector, Mad, Method, MgmtClass, ServiceLevel, TransactionId, Wire, as_bytes, notice::ClassPortInfo,
    perf::PortCounters,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::{os::fd::AsFd, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [lid, port] = arguments.as_slice() else { return Err("perfquery LID PORT".into()) };
    let mut umad = UmadPort::open(Path::new("/dev/infiniband/umad0"))?;
    let agent = umad.register(&Agent::client(MgmtClass::PERF, MgmtClass::PERF.version()))?;
    let to = MadAddress::general_services(AddressVector::local(lid.parse()?, ServiceLevel::ZERO), 0);
    let mut query = |mad: Mad| -> Result<Mad, Box<dyn Error>> {
        umad.send(agent, &to, Expect::Response { timeout: Duration::from_secs(1), retries: 3 }, as_bytes(&mad))?;
        poll(&mut [PollFd::new(umad.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE)?;
        let mut buffer = ReceiveBuffer::default();
        let response = umad.receive(&mut buffer)?.ok_or("no response")?;
        response.failure().map_or_else(|| Ok(*Mad::parse(response.mad)?), |error| Err(error.into()))
    };
    let info = query(Mad::get_shared::<ClassPortInfo>(MgmtClass::PERF, 0, TransactionId::new(1)))?;
    let mask = info.shared_as::<ClassPortInfo>()?.capability_mask;
    let request = PortCounters { port_select: port.parse()?, ..PortCounters::default() };
    let response = query(Mad::request(Method::GET, 0, TransactionId::new(2), &request))?;
    println!("# Port counters: Lid {lid} port {port} (CapMask: {mask:#04x})");
    for counter in response.attribute_as::<PortCounters>()?.leaves() {
        let words = counter.name().split('_').map(|word| match word.split_at(1) {
            _ if ["qp1", "vl15"].contains(&word) => word.to_uppercase(),
            (first, rest) => first.to_uppercase() + rest,
        });
        let value = match (counter.name(), counter.number()) {
            ("counter_select", Some(bits)) => format!("{bits:#06x}"),
            ("counter_select2", Some(bits)) => format!("{bits:#04x}"),
            _ => counter.to_string(),
        };
        println!("{:.<33}{value}", words.collect::<String>() + ":");
    }
    Ok(())
}
