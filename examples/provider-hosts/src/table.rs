//! The file of addresses.
use acm_provider::{
    daemon,
    ib_mad::{Gid, Lid},
    plugin::Address,
};
use std::{collections::BTreeMap, fs, path::PathBuf};

#[derive(Clone, Copy)]
pub(crate) struct Host {
    pub(crate) gid: Gid,
    pub(crate) lid: Lid,
}

#[derive(Default)]
pub(crate) struct Table(BTreeMap<Address, Host>);

impl Table {
    pub(crate) fn read() -> Result<Self, String> {
        let path = file_path();
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut hosts = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (address, host) =
                host(line).ok_or_else(|| format!("{}:{}: not ADDRESS GID LID", path.display(), number + 1))?;
            hosts.insert(address, host);
        }
        Ok(Self(hosts))
    }

    /// Returns the host with an address. Names are compared without regard to case.
    pub(crate) fn get(&self, address: Address) -> Option<Host> {
        self.0.get(&address.canonical()).copied()
    }

    pub(crate) fn find(&self, is: impl Fn(&Host) -> bool) -> Option<Host> {
        self.0.values().find(|host| is(host)).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

fn host(line: &str) -> Option<(Address, Host)> {
    let mut words = line.split_whitespace();
    let address = Address::from_text(words.next()?).canonical();
    let host = Host { gid: words.next()?.parse().ok()?, lid: words.next()?.parse().ok()? };
    Some((address, host))
}

/// Returns the path of the file, from the daemon's options.
fn file_path() -> PathBuf {
    let options = fs::read_to_string(daemon::options_file()).unwrap_or_default();
    let path = options.lines().find_map(|line| line.strip_prefix("hosts_file")).map(str::trim);
    path.unwrap_or("/etc/rdma/hosts.data").into()
}
