//! The file `ibacm_addr.cfg`: the host's name on its ports.
use super::interfaces::Interfaces;
use core::net::IpAddr;
use ib_device::{LinkLayer, sysfs::Sysfs};
use ib_mad::PortState;

const HEAD: &str = "\
# Names of this node, for ibacm and acm-mio: one on a line, with the port that has it.
#
#   NAME DEVICE PORT PKEY
#
# NAME    up to 63 characters; other nodes ask for it
# DEVICE  as ibstat has it
# PORT    from 1
# PKEY    a partition key in hex that the port has, or \"default\" for the first of its table
#
# A port may have any number of names, and a name may be in several partitions. IP addresses are those of the
# interfaces on InfiniBand ports: they need no lines. Examples:
#
#   login1     mlx5_0 1 default
#   login1-st  mlx5_0 1 0x8012

";

/// Returns the file and its lines: the host's name on the first active port, and a numbered name on each port; with
/// `interfaces`, also the IP addresses of interfaces on these ports.
///
/// # Errors
/// The message to print if there is no port.
pub(super) fn text(interfaces: bool) -> Result<(String, Vec<String>), String> {
    let scan = Sysfs::default().scan().map_err(|error| error.to_string())?;
    if let Some((device, error)) = scan.failures.first() {
        return Err(format!("{device}: {error}"));
    }
    let host = nix::unistd::gethostname().map_err(|error| format!("gethostname: {error}"))?;
    let host = host.to_string_lossy();
    let host = short(&host)?;
    let ports = scan.devices.iter().flat_map(|device| device.ports.iter().map(move |port| (device, port)));
    let ports = ports.filter(|(_, port)| port.number > 0 && port.link_layer == LinkLayer::InfiniBand);
    let ports = ports.map(|(device, port)| (device.name.as_str(), port.number, port.state == PortState::ACTIVE));
    let mut lines = lines(host, &ports.collect::<Vec<_>>());
    if lines.is_empty() {
        return Err("ibv_get_device_list - no devices present?".to_owned());
    }
    if interfaces {
        lines.extend(Interfaces::of_host().lines(&scan.devices)?);
    }
    let text = lines.iter().fold(HEAD.to_owned(), |text, line| text + line + "\n");
    Ok((text, lines))
}

/// Returns the host's name up to its first dot. The first number of an IP address would be the name of many hosts.
fn short(host: &str) -> Result<&str, String> {
    if host.parse::<IpAddr>().is_ok() {
        return Err(format!("the name of this host is an IP address ({host}): set another (hostnamectl set-hostname)"));
    }
    Ok(host.split('.').next().unwrap_or_default())
}

fn lines(host: &str, ports: &[(&str, u8, bool)]) -> Vec<String> {
    let first = ports.iter().find(|(_, _, is_active)| *is_active);
    let mut lines = Vec::new();
    for (number, port @ (device, index, _)) in (1..).zip(ports) {
        if first == Some(port) {
            lines.push(format!("{host} {device} {index} default"));
        }
        lines.push(format!("{host}-{number} {device} {index} default"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ip_address_is_no_name_of_a_host() {
        assert_eq!(short("vm.example.org"), Ok("vm"));
        assert_eq!(short("127"), Ok("127"));
        assert!(short("127.0.0.1").unwrap_err().contains("(127.0.0.1)"));
    }

    #[test]
    fn first_active_port_has_the_plain_name() {
        let ports = [("a", 1, false), ("a", 2, true), ("b", 1, true)];
        let expected = ["vm-1 a 1 default", "vm a 2 default", "vm-2 a 2 default", "vm-3 b 1 default"];
        assert_eq!(lines("vm", &ports), expected);
        assert_eq!(lines("vm", &ports[..1]), ["vm-1 a 1 default"]);
    }
}
