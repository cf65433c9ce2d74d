//! Paths of the node's devices.

/// Returns the device and the port of `/dev/infiniband/umadN`.
pub(crate) fn umad_port(path: &[u8]) -> Option<(u8, u8)> {
    let path = without_repeated_slashes(path);
    let number = path.strip_prefix(b"/dev/infiniband/umad")?;
    ib_sim::umad_port(core::str::from_utf8(number).ok().filter(|text| !text.starts_with('+'))?.parse().ok()?)
}

/// Returns the path in the node's tree, or `None` if the path is not one of the node's devices.
pub(crate) fn redirected(path: &[u8], tree: &[u8]) -> Option<Vec<u8>> {
    // Most paths are rejected here, before anything is allocated.
    if !matches!(path, [b'/', ..]) {
        return None;
    }
    let path = without_repeated_slashes(path);
    let is_below = |class: &[u8]| path.strip_prefix(class).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
    let classes: [&[u8]; 4] =
        [b"/sys/class/infiniband", b"/sys/class/infiniband_mad", b"/sys/class/infiniband_verbs", b"/dev/infiniband"];
    classes.into_iter().any(is_below).then(|| [tree, &path].concat())
}

/// Removes repeated slashes. C programs that join paths produce them.
fn without_repeated_slashes(path: &[u8]) -> Vec<u8> {
    let mut path = path.to_vec();
    path.dedup_by(|a, b| *a == b'/' && *b == b'/');
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_infiniband_devices_are_redirected() {
        let to = |path: &str| redirected(path.as_bytes(), b"/t").map(|path| String::from_utf8(path).unwrap());
        assert_eq!(to("/sys/class/infiniband"), Some("/t/sys/class/infiniband".into()));
        assert_eq!(to("//sys/class//infiniband_mad/umad0"), Some("/t/sys/class/infiniband_mad/umad0".into()));
        assert_eq!(to("/dev/infiniband/issm0"), Some("/t/dev/infiniband/issm0".into()));
        for other in ["sys/class/infiniband", "/sys/class/infiniband2", "/sys/class/net", "/", ""] {
            assert_eq!(to(other), None, "{other}");
        }
    }

    #[test]
    fn umad_path_gives_device_and_port() {
        let port = |path: &str| umad_port(path.as_bytes());
        assert_eq!((port("/dev/infiniband/umad0"), port("/dev//infiniband/umad14")), (Some((0, 1)), Some((0, 15))));
        assert_eq!(port("/dev/infiniband/umad33"), Some((2, 2)));
        for other in ["/dev/infiniband/umad", "/dev/infiniband/umad+1", "/dev/infiniband/umad0x", "umad0"] {
            assert_eq!(port(other), None, "{other}");
        }
    }
}
