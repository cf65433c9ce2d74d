//! Which paths are the node's.

/// The device and the port of `/dev/infiniband/umadN`.
pub(crate) fn umad_place(path: &[u8]) -> Option<(u8, u8)> {
    let path = simple(path);
    let number = path.strip_prefix(b"/dev/infiniband/umad")?;
    ib_sim::umad_place(core::str::from_utf8(number).ok().filter(|text| !text.starts_with('+'))?.parse().ok()?)
}

/// The path below the node's tree; `None`: not ours.
pub(crate) fn redirected(path: &[u8], tree: &[u8]) -> Option<Vec<u8>> {
    // Programs look for devices all the time, for others' files more often.
    if !matches!(path, [b'/', ..]) {
        return None;
    }
    let path = simple(path);
    let ours = |class: &[u8]| path.strip_prefix(class).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
    let classes: [&[u8]; 4] =
        [b"/sys/class/infiniband", b"/sys/class/infiniband_mad", b"/sys/class/infiniband_verbs", b"/dev/infiniband"];
    classes.into_iter().any(ours).then(|| [tree, &path].concat())
}

/// Without repeated slashes, as C programs put paths together.
fn simple(path: &[u8]) -> Vec<u8> {
    let mut simple = path.to_vec();
    simple.dedup_by(|a, b| *a == b'/' && *b == b'/');
    simple
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_node() {
        let to = |path: &str| redirected(path.as_bytes(), b"/t").map(|path| String::from_utf8(path).unwrap());
        assert_eq!(to("/sys/class/infiniband"), Some("/t/sys/class/infiniband".into()));
        assert_eq!(to("//sys/class//infiniband_mad/umad0"), Some("/t/sys/class/infiniband_mad/umad0".into()));
        assert_eq!(to("/dev/infiniband/issm0"), Some("/t/dev/infiniband/issm0".into()));
        for other in ["sys/class/infiniband", "/sys/class/infiniband2", "/sys/class/net", "/", ""] {
            assert_eq!(to(other), None, "{other}");
        }
    }

    #[test]
    fn umad_devices() {
        let port = |path: &str| umad_place(path.as_bytes());
        assert_eq!((port("/dev/infiniband/umad0"), port("/dev//infiniband/umad14")), (Some((0, 1)), Some((0, 15))));
        assert_eq!(port("/dev/infiniband/umad33"), Some((2, 2)));
        for other in ["/dev/infiniband/umad", "/dev/infiniband/umad+1", "/dev/infiniband/umad0x", "umad0"] {
            assert_eq!(port(other), None, "{other}");
        }
    }
}
