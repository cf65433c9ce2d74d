//! Interfaces whose addresses the daemon would take.
use super::report::Report;
use crate::{addresses::Interfaces, cli::Args, settings::Settings};
use acm_sansio::port::InterfaceAddress;

/// Says of interfaces what they have, and gives their addresses.
pub(super) fn interfaces(args: &Args, settings: &Settings, report: &mut Report) -> Vec<InterfaceAddress> {
    let Some(mut interfaces) = Interfaces::look(args.interfaces(), settings.interface_addresses()) else {
        report.ok("addresses of interfaces are not taken");
        return Vec::new();
    };
    let (count, addresses) = interfaces.count();
    if addresses == 0 {
        report.warn(
            "no address on an IPoIB interface",
            "librdmacm and others ask by IP address: load ib_ipoib and give its interfaces addresses, or write addresses \
             into the address file, with support_ips_in_addr_cfg 1",
        );
    } else {
        report.ok(format!("interfaces: {count} with {addresses} addresses"));
    }
    for name in interfaces.homeless() {
        report.warn(
            format!("interface {name}: no port or no P_Key to be found"),
            "its addresses are not served; see `ip link show` and /sys/class/net/NAME/pkey",
        );
    }
    interfaces.news().unwrap_or_default().to_vec()
}
