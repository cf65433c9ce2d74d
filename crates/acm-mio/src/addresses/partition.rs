//! The partition of an interface, where the kernel's messages do not say it.
use acm_wire::files::addr::read_pkey;
use ib_mad::{Gid, Pkey};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Where an interface's partition can be read.
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

    /// The P_Key of an IPoIB interface.
    pub(super) fn pkey(&self, interface: &str) -> Option<Pkey> {
        // A name is a part of a path here: the kernel refuses these as well.
        if interface.is_empty() || interface.starts_with('.') || interface.contains('/') {
            return None;
        }
        let text = fs::read_to_string(Path::new(&self.0).join(interface).join("pkey")).ok()?;
        read_pkey(text.trim())
    }
}

/// The port that an alias names: `infiniband GID [PKEY]`.
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
