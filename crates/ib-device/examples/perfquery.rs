//! Prints the counters of a port as infiniband-diags does: `perfquery LID PORT`.
use core::error::Error;
use ib_device::umad::{Client, MadAddress};
use ib_mad::{
    AddressVector, Mad, Method, MgmtClass, ServiceLevel, TransactionId, as_bytes, notice::ClassPortInfo,
    perf::PortCounters,
};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [lid, port] = arguments.as_slice() else { return Err("perfquery LID PORT".into()) };
    let mut client = Client::open(Path::new("/dev/infiniband/umad0"))?;
    let to = MadAddress::general_services(AddressVector::local(lid.parse()?, ServiceLevel::ZERO), 0);
    let info = Mad::request_shared(MgmtClass::PERF, Method::GET, 0, TransactionId::new(1), &ClassPortInfo::ZERO);
    let info = client.query(&to, as_bytes(&info))?;
    let mask = info.view()?.shared_as::<ClassPortInfo>()?.capability_mask;
    let request = PortCounters { port_select: port.parse()?, ..PortCounters::default() };
    let request = Mad::request(Method::GET, 0, TransactionId::new(2), &request);
    let response = client.query(&to, as_bytes(&request))?;
    println!("# Port counters: Lid {lid} port {port} (CapMask: {mask:#04x})");
    let counters = response.view()?.attribute()?;
    print!("{}", counters.diags().ok_or("a response without counters")?);
    Ok(())
}
