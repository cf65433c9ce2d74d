//! Prints the counters of a port as infiniband-diags does: `perfquery LID PORT`.
use core::error::Error;
use ib_device::umad::{Client, MadAddress};
use ib_mad::{
    AddressVector, Mad, Method, MgmtClass, ServiceLevel, TransactionId, Wire, as_bytes, notice::ClassPortInfo,
    perf::PortCounters,
};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [lid, port] = arguments.as_slice() else { return Err("perfquery LID PORT".into()) };
    let mut client = Client::open(Path::new("/dev/infiniband/umad0"))?;
    let to = MadAddress::general_services(AddressVector::local(lid.parse()?, ServiceLevel::ZERO), 0);
    let info = Mad::get_shared::<ClassPortInfo>(MgmtClass::PERF, 0, TransactionId::new(1));
    let info = client.query(&to, as_bytes(&info))?;
    let mask = info.view()?.shared_as::<ClassPortInfo>()?.capability_mask;
    let request = PortCounters { port_select: port.parse()?, ..PortCounters::default() };
    let request = Mad::request(Method::GET, 0, TransactionId::new(2), &request);
    let response = client.query(&to, as_bytes(&request))?;
    println!("# Port counters: Lid {lid} port {port} (CapMask: {mask:#04x})");
    for counter in response.view()?.attribute_as::<PortCounters>()?.leaves() {
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
