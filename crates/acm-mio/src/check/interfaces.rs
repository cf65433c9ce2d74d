//! Interfaces whose addresses the daemon would take.
use super::report::Report;
use crate::{addresses::Interfaces, cli::Args, settings::Settings};

pub(super) fn interfaces(args: &Args, settings: &Settings, report: &mut Report) {
    let Some(interfaces) = Interfaces::look(args.interfaces(), settings.interface_addresses()) else {
        return report.ok("addresses of interfaces are not taken");
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
}
