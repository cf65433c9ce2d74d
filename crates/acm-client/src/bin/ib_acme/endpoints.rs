//! `-e`: prints endpoints.
use crate::{run_state::RunState, server::Server};
use acm_client::Endpoint;
use std::io;

/// Prints the endpoint with this index, or all for 0. The exit status does not depend on the result.
pub(crate) fn show(state: &mut RunState<'_>, server: &mut Server, index: i32) -> io::Result<()> {
    if index > 0 {
        if !of_each_port(state, server, index)? {
            state.out.line(format_args!(" Endpoint {index} is not available"))?;
        }
    } else {
        for index in 1.. {
            if !of_each_port(state, server, index)? {
                break;
            }
        }
    }
    Ok(())
}

/// Prints the endpoint with this index of each port. Returns `false` if there is none.
fn of_each_port(state: &mut RunState<'_>, server: &mut Server, index: i32) -> io::Result<bool> {
    // The protocol's index has 8 bits.
    let Ok(index) = u8::try_from(index) else { return Ok(false) };
    let (mut port, mut ports, mut found) = (1, u8::MAX, false);
    while port <= ports {
        if let Ok(endpoint) = server.endpoint(index, port) {
            found = true;
            ports = endpoint.ports;
            row(state, &server.name, index, &endpoint)?;
        }
        let Some(next) = port.checked_add(1) else { break };
        port = next;
    }
    Ok(found)
}

fn row(state: &mut RunState<'_>, service: &str, index: u8, endpoint: &Endpoint) -> io::Result<()> {
    if !core::mem::replace(&mut state.endpoint_head, true) {
        state.out.line(format_args!("svc,guid,port,pkey,ep_index,prov,addr_0,addresses"))?;
    }
    let Endpoint { device, port, pkey, provider, .. } = endpoint;
    let device = device.get();
    let head = format!("{service},0x{device:016x},{port},0x{:04x},{index},{provider}", pkey.get());
    let addresses: String = endpoint.addresses.iter().flat_map(|address| [",", address]).collect();
    state.out.line(format_args!("{head}{addresses}"))
}
