//! `-e`: endpoints.
use crate::{asker::Asker, server::Server};
use acm_client::Endpoint;
use std::io;

/// Shows the endpoint with this number, or all for 0. Whether there are any does not change the status.
pub(crate) fn show(asker: &mut Asker<'_>, server: &mut Server, index: i32) -> io::Result<()> {
    if index > 0 {
        if !of_each_port(asker, server, index)? {
            asker.out.line(format_args!(" Endpoint {index} is not available"))?;
        }
        return Ok(());
    }
    for index in 1.. {
        if !of_each_port(asker, server, index)? {
            break;
        }
    }
    Ok(())
}

/// Shows the endpoint with this number of each port; whether there is one.
fn of_each_port(asker: &mut Asker<'_>, server: &mut Server, index: i32) -> io::Result<bool> {
    // The protocol has no room for a larger one.
    let Ok(index) = u8::try_from(index) else { return Ok(false) };
    let (mut port, mut ports, mut found) = (1, u8::MAX, false);
    while port <= ports {
        if let Ok(endpoint) = server.endpoint(index, port) {
            found = true;
            ports = endpoint.ports;
            row(asker, &server.name, index, &endpoint)?;
        }
        let Some(next) = port.checked_add(1) else { break };
        port = next;
    }
    Ok(found)
}

fn row(asker: &mut Asker<'_>, service: &str, index: u8, endpoint: &Endpoint) -> io::Result<()> {
    if !core::mem::replace(&mut asker.endpoint_head, true) {
        asker.out.line(format_args!("svc,guid,port,pkey,ep_index,prov,addr_0,addresses"))?;
    }
    let Endpoint { device, port, pkey, provider, .. } = endpoint;
    let device = device.get();
    let head = format!("{service},0x{device:016x},{port},0x{:04x},{index},{provider}", pkey.get());
    let addresses: String = endpoint.addresses.iter().flat_map(|address| [",", address]).collect();
    asker.out.line(format_args!("{head}{addresses}"))
}
