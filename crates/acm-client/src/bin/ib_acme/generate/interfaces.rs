//! Lines of the address file for the IP addresses of IP over InfiniBand.
use acm_wire::files::addr::read_pkey;
use core::net::IpAddr;
use ib_device::sysfs::Device;
use ib_mad::Gid;
use nix::ifaddrs::getifaddrs;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// `ARPHRD_INFINIBAND`, the type of an interface of IP over InfiniBand.
const INFINIBAND: &str = "32";

/// The interfaces of a host.
pub(super) struct Interfaces {
    /// `/sys/class/net`.
    class: PathBuf,
    /// Each interface with an IP address, in the order of the kernel.
    addresses: io::Result<Vec<(String, IpAddr)>>,
}

impl Interfaces {
    pub(super) fn of_host() -> Self {
        let found = getifaddrs().map_err(io::Error::from).map(|all| {
            let ip = |of: &nix::ifaddrs::InterfaceAddress| {
                let address = of.address?;
                let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
                v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
            };
            all.filter_map(|of| Some((ip(&of)?, of.interface_name))).map(|(ip, name)| (name, ip)).collect()
        });
        Self { class: "/sys/class/net".into(), addresses: found }
    }

    /// Returns a line for each IP address of an interface on a port of these devices.
    ///
    /// # Errors
    /// The message to print if the addresses cannot be read.
    pub(super) fn lines(self, devices: &[Device]) -> Result<Vec<String>, String> {
        let addresses = self.addresses.map_err(|error| format!("IP addresses: {error}"))?;
        let line = |(interface, ip): &(String, IpAddr)| {
            let of = self.class.join(interface);
            let gid = port_gid(&of)?;
            let mut ports = devices.iter().flat_map(|device| device.ports.iter().map(move |port| (device, port)));
            let (device, port) = ports.find(|(_, port)| port.guid() == Some(gid.interface_id()))?;
            let pkey = read_pkey(read(&of, "pkey")?.trim())?;
            Some(format!("{ip} {} {} {pkey}", device.name, port.number))
        };
        Ok(addresses.iter().filter_map(line).collect())
    }
}

/// Returns the GID of an interface's port: bytes 4 to 19 of its hardware address (RFC 4391, 9.1.1).
fn port_gid(interface: &Path) -> Option<Gid> {
    if read(interface, "type")?.trim() != INFINIBAND {
        return None;
    }
    let text = read(interface, "address")?;
    let bytes = text.trim().split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect::<Option<Vec<u8>>>()?;
    let (_, gid) = bytes.split_first_chunk::<4>()?;
    Some(Gid::new(gid.try_into().ok()?))
}

fn read(interface: &Path, file: &str) -> Option<String> {
    fs::read_to_string(interface.join(file)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_device::sysfs::Sysfs;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn addresses_of_interfaces_on_a_port_have_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let class = folder.path().join("net");
        write(
            folder.path(),
            &[
                ("class/infiniband/mlx5_0/node_guid", "0002:c903:0000:0010\n"),
                ("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"),
                ("class/infiniband/mlx5_0/ports/1/lid", "0x10\n"),
                ("class/infiniband/mlx5_0/ports/1/lid_mask_count", "0\n"),
                ("class/infiniband/mlx5_0/ports/1/sm_lid", "0x1\n"),
                ("class/infiniband/mlx5_0/ports/1/sm_sl", "0\n"),
                ("class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0002:c903:0000:0011\n"),
                ("class/infiniband/mlx5_0/ports/1/pkeys/0", "0xffff\n"),
                ("net/ib0/type", "32\n"),
                ("net/ib0/address", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:11\n"),
                ("net/ib0/pkey", "0xffff\n"),
                ("net/ib0.8001/type", "32\n"),
                ("net/ib0.8001/address", "80:00:02:09:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:11\n"),
                ("net/ib0.8001/pkey", "0x8001\n"),
                // The port of another device.
                ("net/ib1/type", "32\n"),
                ("net/ib1/address", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:21\n"),
                ("net/ib1/pkey", "0xffff\n"),
                ("net/eth0/type", "1\n"),
                ("net/eth0/address", "52:54:00:12:34:56\n"),
            ],
        );
        let devices = Sysfs::new(folder.path().join("class"), folder.path().join("dev")).scan().unwrap().devices;
        assert_eq!(devices.len(), 1);
        let address = |name: &str, ip: &str| (name.to_owned(), ip.parse().unwrap());
        let addresses = Ok(vec![
            address("lo", "127.0.0.1"),
            address("eth0", "192.0.2.1"),
            address("ib0", "10.0.0.1"),
            address("ib0.8001", "10.1.0.1"),
            address("ib1", "10.0.0.2"),
            address("ib0", "fd00::1"),
        ]);
        let lines = Interfaces { class, addresses }.lines(&devices).unwrap();
        assert_eq!(lines, ["10.0.0.1 mlx5_0 1 0xffff", "10.1.0.1 mlx5_0 1 0x8001", "fd00::1 mlx5_0 1 0xffff"]);
    }
}
