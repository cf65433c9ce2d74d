//! The partition of an interface whose P_Key is not in the kernel's messages.
use acm_wire::files::addr::read_pkey;
use ib_mad::{Gid, Pkey};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The directory in which the kernel describes network interfaces.
#[derive(Debug)]
pub(super) struct Sysfs(PathBuf);

impl Default for Sysfs {
    fn default() -> Self {
        Self("/sys/class/net".into())
    }
}

impl Sysfs {
    #[cfg(test)]
    pub(super) fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Reads the P_Key of an IPoIB interface.
    pub(super) fn pkey(&self, interface: &str) -> Option<Pkey> {
        // The name becomes part of a path. The kernel does not permit these names either.
        if interface.is_empty() || interface.starts_with('.') || interface.contains('/') {
            return None;
        }
        let text = fs::read_to_string(Path::new(&self.0).join(interface).join("pkey")).ok()?;
        read_pkey(text.trim())
    }
}

/// Parses an alias that assigns an interface to a port: `infiniband GID [PKEY]`.
pub(super) fn from_alias(alias: &str) -> Option<(Gid, Option<Pkey>)> {
    let mut words = alias.split_ascii_whitespace();
    if words.next()? != "infiniband" {
        return None;
    }
    let gid = words.next()?.parse().ok().filter(|gid: &Gid| !gid.is_zero())?;
    match words.next() {
        None => Some((gid, None)),
        Some(pkey) => Some((gid, Some(read_pkey(pkey)?))),
    }
}
