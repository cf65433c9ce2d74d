//! Builds a PortInfo and prints it, on one line and with one field on each line: `cargo run --example portinfo`.
use ib_mad::{
    Lid, LinkSpeed, LinkSpeedExt, LinkWidth, PortPhysicalState, PortState, as_bytes,
    attribute::Structure,
    smp::{PortCapability, PortInfo},
};

fn main() {
    let mut port = PortInfo { lid: Lid::new(4), master_sm_lid: Lid::new(1), ..PortInfo::default() };
    port.capability_mask = PortCapability::TRAP | PortCapability::EXTENDED_SPEEDS;
    port.speed_state = port.speed_state.with_port_state(PortState::ACTIVE);
    port.physical_states = port.physical_states.with_port_physical_state(PortPhysicalState::LINK_UP);
    port.link_width_active = LinkWidth::X4;
    port.link_speed = port.link_speed.with_link_speed_active(LinkSpeed::QDR);
    port.ext_speeds = port.ext_speeds.with_link_speed_ext_active(LinkSpeedExt::EDR);
    println!("{port:?}\n");
    println!("{:#}", Structure::of::<PortInfo>().display(as_bytes(&port)));
    println!("link: {:?} Mb/s", port.link_mbps());
}
