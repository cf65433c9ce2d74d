//! The file `ibacm_opts.cfg`: ibacm's options with descriptions and defaults.
use acm_wire::files::opts::{Opt, Options};

const HEAD: &str = "\
# Options of ibacm and acm-mio: one on a line, its name and its value. Each has its default here, and a line that is
# gone means the same. acm-mio has more of them: see its docs/options.md.

";

/// The form of a line.
enum Line {
    /// An option.
    Set,
    /// A comment, because the default differs between daemons.
    Comment,
}

/// Returns the file.
pub(super) fn text() -> String {
    let mut text = HEAD.to_owned();
    for option in Options::default().iter() {
        let Some((line, about)) = about(&option) else { continue };
        for words in about.lines() {
            text += &format!("# {words}\n");
        }
        text += &match line {
            Line::Set => format!("{option}\n\n"),
            Line::Comment => format!("# {option}\n\n"),
        };
    }
    text += "# Which provider serves a subnet, by its prefix, or all others.\n\
             # provider ibacmp 0xfe80000000000000\n\
             # provider ibacmp default\n";
    text
}

/// Returns the description of an option; `None` for options that ibacm does not have.
fn about(option: &Opt<'_>) -> Option<(Line, &'static str)> {
    use Line::{Comment, Set};
    Some(match option {
        Opt::LogFile(_) => (Set, "Destination of the log: a file, stdout or stderr."),
        Opt::LogLevel(_) => (Set, "0 logs errors, 1 also changes and failed requests, 2 each step."),
        Opt::UmadDebugLevel(_) => (Set, "Debug level of libibumad, 0 to 2. acm-mio does not use libibumad."),
        Opt::LockFile(_) => (Set, "File with the process id. It prevents a second daemon."),
        Opt::AddrProt(_) => (Set, "How the GID of an address is found: acm sends a multicast request to all nodes."),
        Opt::AddrTimeout(_) => (Set, "Minutes for which an address is cached; -1: without limit."),
        Opt::RouteProt(_) => (
            Set,
            "How a path is found: sa queries subnet administration; acm uses the parameters of the\n\
             multicast group (MTU, rate, SL) and sends no query.",
        ),
        Opt::RouteTimeout(_) => (Set, "Minutes for which a path is cached; -1: as long as its address."),
        Opt::LoopbackProt(_) => {
            (Set, "How local addresses are resolved: local without a request, none like all others.")
        }
        Opt::ServerPort(_) => (Set, "TCP port of the modes loop and open."),
        Opt::ServerMode(_) => (
            Set,
            "Clients: unix, programs of this node, by a socket in the file system; loop, the same by TCP;\n\
             open, every program that reaches the TCP port.",
        ),
        Opt::AcmePlusKernelOnly(_) => {
            (Set, "yes: only ib_acme and the kernel are served. Has no effect if systemd owns the socket.")
        }
        Opt::Timeout(_) => (Set, "Milliseconds to wait for a response, in addition to the time-out of the subnet."),
        Opt::Retries(_) => (Set, "Retries of a request without a response."),
        Opt::ResolveDepth(_) => (Comment, "Maximum number of pending multicast requests. ibacm: 1; acm-mio: auto."),
        Opt::SaDepth(_) => {
            (Comment, "Maximum number of pending requests to subnet administration. ibacm: 1; acm-mio: auto.")
        }
        Opt::SendDepth(_) => (Set, "Maximum number of responses to other nodes that are being sent."),
        Opt::RecvDepth(_) => (Set, "Maximum number of received datagrams that wait for the daemon."),
        Opt::MinMtu(_) => (Set, "The smallest MTU of the nodes here, in bytes: that of the group that all join."),
        Opt::MinRate(_) => (Set, "The slowest rate of the nodes here, in Gb/s: that of the group that all join."),
        Opt::RoutePreload(_) => {
            (Set, "Source of preloaded paths: none, or opensm_full_v1, OpenSM's dump of all paths.")
        }
        Opt::RouteDataFile(_) => (Comment, "The file of route_preload."),
        Opt::AddrPreload(_) => (Set, "Source of preloaded addresses: none, or acm_hosts, lines `ADDRESS GID`."),
        Opt::AddrDataFile(_) => (Comment, "The file of addr_preload."),
        Opt::SupportIpsInAddrCfg(_) => (Comment, "1: IP addresses in ibacm_addr.cfg count, too."),
        Opt::ProviderLibPath(_) => (Comment, "Where providers are loaded from. acm-mio has its own built in."),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::text;
    use acm_wire::files::opts::{self, Opt, Options};

    #[test]
    fn every_line_is_an_option_with_its_default() {
        let (text, mut options) = (text(), Options::default());
        let read: Vec<_> = opts::parse(text.as_bytes()).map(|line| line.unwrap().1).collect();
        read.iter().for_each(|option| options.set(*option));
        assert_eq!((options, read.len()), (Options::default(), 20));
        // The options of rdma-core's file, except those that have another default there.
        let theirs = include_bytes!("../../../../testdata/ibacm_opts.cfg");
        let theirs: Vec<_> = opts::parse(theirs).map(|line| line.unwrap().1).collect();
        let is_comment = |option: &&Opt<'_>| matches!(option, Opt::SaDepth(_) | Opt::ResolveDepth(_));
        assert!(theirs.iter().filter(|option| !is_comment(option)).eq(&read), "{read:?}");
    }
}
