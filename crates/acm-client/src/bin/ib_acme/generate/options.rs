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
        Opt::LogFile(_) => (Set, "Where the log goes: a file, stdout or stderr."),
        Opt::LogLevel(_) => (Set, "How much is logged: 0 what is wrong, 1 also what changes, 2 each step."),
        Opt::UmadDebugLevel(_) => (Set, "How much libibumad says, 0 to 2. acm-mio has no libibumad."),
        Opt::LockFile(_) => (Set, "Holds the process id, and keeps a second daemon away."),
        Opt::AddrProt(_) => (Set, "How an address becomes a GID: acm asks all nodes by multicast."),
        Opt::AddrTimeout(_) => (Set, "Minutes for which an address is remembered; -1: for ever."),
        Opt::RouteProt(_) => (
            Set,
            "How a path is found: sa asks subnet administration, acm takes what the multicast group\n\
             has (MTU, rate, SL) and asks nobody.",
        ),
        Opt::RouteTimeout(_) => (Set, "Minutes for which a path is remembered; -1: as long as its address."),
        Opt::LoopbackProt(_) => {
            (Set, "How this node's own addresses are resolved: local without a question, none as all others.")
        }
        Opt::ServerPort(_) => (Set, "TCP port of the modes loop and open."),
        Opt::ServerMode(_) => (
            Set,
            "Who may ask: unix, programs of this node by a socket in the file system; loop, the same by TCP;\n\
             open, anybody who reaches the TCP port.",
        ),
        Opt::AcmePlusKernelOnly(_) => {
            (Set, "yes: only ib_acme and the kernel are served. Does not count if systemd has the socket.")
        }
        Opt::Timeout(_) => (Set, "Milliseconds to wait for an answer, beyond the subnet's own time-out."),
        Opt::Retries(_) => (Set, "How often a request is sent again that nobody has answered."),
        Opt::ResolveDepth(_) => (Set, "Multicast requests that are under way at a time."),
        Opt::SaDepth(_) => {
            (Comment, "Requests to subnet administration that are under way at a time. ibacm: 1; acm-mio: auto.")
        }
        Opt::SendDepth(_) => (Set, "Answers to other nodes that are under way at a time."),
        Opt::RecvDepth(_) => (Set, "Datagrams that can arrive before the daemon looks."),
        Opt::MinMtu(_) => (Set, "The smallest MTU of the nodes here, in bytes: that of the group that all join."),
        Opt::MinRate(_) => (Set, "The slowest rate of the nodes here, in Gb/s: that of the group that all join."),
        Opt::RoutePreload(_) => {
            (Set, "What paths are read from at the start: none, or opensm_full_v1, OpenSM's dump of all paths.")
        }
        Opt::RouteDataFile(_) => (Comment, "The file of route_preload."),
        Opt::AddrPreload(_) => {
            (Set, "What addresses are read from at the start: none, or acm_hosts, lines `ADDRESS GID`.")
        }
        Opt::AddrDataFile(_) => (Comment, "The file of addr_preload."),
        Opt::SupportIpsInAddrCfg(_) => (Comment, "1: IP addresses in ibacm_addr.cfg count, too."),
        Opt::ProviderLibPath(_) => (Comment, "Where providers are loaded from. acm-mio has its own built in."),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::text;
    use acm_wire::files::opts::{self, Options};

    #[test]
    fn every_line_is_an_option_with_its_default() {
        let (text, mut options) = (text(), Options::default());
        let read: Vec<_> = opts::parse(text.as_bytes()).map(|line| line.unwrap().1).collect();
        read.iter().for_each(|option| options.set(*option));
        assert_eq!((options, read.len()), (Options::default(), 21));
        // The options of rdma-core's file, except sa_depth.
        let theirs = include_bytes!("../../../../../../testdata/config/ibacm_opts.cfg");
        let theirs: Vec<_> = opts::parse(theirs).map(|line| line.unwrap().1).collect();
        let is_sa_depth = |option: &&opts::Opt<'_>| option.to_string().starts_with("sa_depth ");
        assert!(theirs.iter().filter(|option| !is_sa_depth(option)).eq(&read), "{read:?}");
    }
}
