//! Whether a port can be in the group that all nodes join.
use super::host::Host;
use crate::{fabric::NamedPort, log::limited};
use acm_sansio::{PortId, port::PortAttributes};
use acm_wire::files::opts::{Opt, Options};

impl Host {
    /// Says what is wrong with the options for a port.
    pub(super) fn say_of_port(&self, port: PortId, why: &str) {
        let mut ports = self.fabric.iter().flat_map(|fabric| fabric.ports());
        let Some(NamedPort { device, number, .. }) = ports.find(|named| named.id == port) else { return };
        limited!(self.lines, WARN, "config", of port, "{device} port {number}: {why}");
    }
}

/// What is wrong with the group's rate or MTU for this port, and what to do; `None` if it can be a member.
pub(super) fn beyond(options: &Options<'_>, port: &PortAttributes) -> Option<String> {
    let Options { min_rate, min_mtu, .. } = *options;
    let (option, own) = match (min_rate.mbps(), port.rate.mbps()) {
        (Some(asked), Some(own)) if asked > own => (Opt::MinRate(min_rate), port.rate.to_string()),
        _ => match (min_mtu.bytes(), port.mtu.bytes()) {
            (Some(asked), Some(own)) if asked > own => (Opt::MinMtu(min_mtu), own.to_string()),
            _ => return None,
        },
    };
    Some(format!("{option} is above its {own}: it cannot be in the group that all nodes join; lower it on all nodes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Mtu, Rate};

    #[test]
    fn a_port_below_the_group() {
        let said = |min_rate, min_mtu, rate, mtu| {
            let options = Options { min_rate, min_mtu, ..Options::default() };
            beyond(&options, &PortAttributes { rate, mtu, ..PortAttributes::default() }).unwrap_or_default()
        };
        assert_eq!(said(Rate::GBPS_10, Mtu::B2048, Rate::GBPS_10, Mtu::B2048), "");
        // By speed, not by code: 120 Gb/s has a lower one than 25.
        assert_eq!(said(Rate::GBPS_25, Mtu::B2048, Rate::GBPS_120, Mtu::B4096), "");
        assert_eq!(said(Rate::GBPS_10, Mtu::B2048, Rate::default(), Mtu::default()), "", "it does not say");
        let rate = said(Rate::GBPS_200, Mtu::B2048, Rate::GBPS_100, Mtu::B4096);
        assert!(
            rate.starts_with("min_rate 200 is above its 100 Gb/s: ") && rate.ends_with("; lower it on all nodes"),
            "{rate}"
        );
        let mtu = said(Rate::GBPS_10, Mtu::B4096, Rate::GBPS_100, Mtu::B2048);
        assert!(
            mtu.starts_with("min_mtu 4096 is above its 2048: ") && mtu.ends_with("; lower it on all nodes"),
            "{mtu}"
        );
    }
}
