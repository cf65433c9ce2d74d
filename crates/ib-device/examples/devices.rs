//! Prints the InfiniBand devices of this machine: `cargo run -p ib-device --example devices`.
use ib_device::{sysfs::Sysfs, verbs::Context};

fn main() -> ib_device::Result<()> {
    let scan = Sysfs::default().scan()?;
    for (name, error) in &scan.failures {
        println!("{name}: {error}");
    }
    for device in &scan.devices {
        println!("{} {} {:?}", device.name, device.node_guid, device.node_description);
        for port in &device.ports {
            println!("  port {} {} {:?} LID {} LMC {}", port.number, port.state, port.link_layer, port.lid, port.lmc);
            println!("    subnet manager LID {} SL {}, rate {:?}", port.sm_lid, port.sm_sl, port.rate);
            println!("    GIDs {:?}\n    P_Keys {:?}", port.gids, port.pkeys);
            println!("    umad {:?}", port.umad.as_ref().map(|umad| &umad.path));
        }
        match Context::open(&device.name) {
            Ok(context) => {
                for port in &device.ports {
                    println!("  {:?}", context.query_port(port.number));
                }
            }
            Err(error) => println!("  verbs: {error}"),
        }
    }
    Ok(())
}
