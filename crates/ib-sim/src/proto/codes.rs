//! Kinds of messages, roles of connections, faults and reasons of refusals.
use ib_mad::code;

code! {
    /// The kind of a message.
    pub struct Kind(u16) {
        /// [`Hello`](super::Hello).
        HELLO = 1 "hello",
        /// [`Welcome`](super::Welcome).
        WELCOME = 2 "welcome",
        /// [`PortInfo`](super::PortInfo).
        PORT_INFO = 3 "port info",
        /// [`QpOpen`](super::QpOpen).
        QP_OPEN = 4 "open queue pair",
        /// [`QpClose`](super::QpClose).
        QP_CLOSE = 5 "close queue pair",
        /// [`QpGroup`](super::QpGroup).
        ATTACH = 6 "attach",
        /// [`QpGroup`](super::QpGroup).
        DETACH = 7 "detach",
        /// [`DatagramOut`](super::DatagramOut).
        DATAGRAM_OUT = 8 "send datagram",
        /// [`DatagramIn`](super::DatagramIn).
        DATAGRAM_IN = 9 "datagram",
        /// [`MadOut`](super::MadOut).
        MAD_OUT = 10 "send management datagram",
        /// [`MadIn`](super::MadIn).
        MAD_IN = 11 "management datagram",
        /// [`Refused`](super::Refused).
        REFUSED = 12 "refused",
        /// [`UmadForget`](super::UmadForget).
        UMAD_FORGET = 13 "forget an agent",
        /// [`ReportIn`](super::ReportIn).
        REPORT_IN = 14 "report",
        /// [`UmadServe`](super::UmadServe).
        UMAD_SERVE = 15 "requests for an agent",
        /// [`QpFault`](super::QpFault).
        QP_FAULT = 16 "fault",
        /// [`QpGroup`](super::QpGroup).
        ATTACHED = 17 "attached",
    }
}

code! {
    /// The role of a connection.
    pub struct Role(u8) {
        /// Queue pairs, management datagrams and events of one node.
        NODE = 1 "node",
        /// One port's umad device.
        UMAD = 2 "umad",
        /// Commands of the operator of the simulation.
        CONTROL = 3 "control",
        /// The kernel's messages about the devices of the node's host. Each message consists of the sender's netlink
        /// port id (4 bytes in host byte order; 0 for the kernel) and of the bytes that a NETLINK_KOBJECT_UEVENT socket
        /// would read.
        UEVENT = 4 "uevent",
    }
}

code! {
    /// The failed part of a queue pair.
    pub struct Fault(u8) {
        /// The queue pair is in error, and posted work is lost without completions.
        QUEUE_PAIR = 1 "queue pair",
        /// The completion queue of receives has failed, and there are no further completions.
        COMPLETION_QUEUE = 2 "completion queue",
    }
}

code! {
    /// The reason of a refusal.
    pub struct Refusal(u16) {
        /// Not refused.
        NONE = 0 "not refused",
        /// The message is too short, or is invalid in the role of the connection.
        BAD_MESSAGE = 1 "bad message",
        /// The versions of both sides differ.
        BAD_VERSION = 2 "bad version",
        /// The node does not exist, or no node is free.
        NO_SUCH_NODE = 3 "no such node",
        /// The port does not exist.
        NO_SUCH_PORT = 4 "no such port",
        /// The queue pair is not open in this connection.
        NO_SUCH_QP = 5 "no such queue pair",
        /// The queue pair number is in use or not in the block.
        BAD_QPN = 6 "bad queue pair number",
        /// The port's table has no such P_Key index.
        NO_SUCH_PKEY = 7 "no such P_Key index",
        /// The port's table has no such GID index, or the GID is not that of a multicast group.
        BAD_GID = 8 "bad GID",
        /// The datagram is longer than the MTU.
        TOO_LONG = 9 "datagram too long",
        /// There are too many connections or queue pairs.
        NO_ROOM = 10 "no room",
        /// The node's device or the port's MAD interface is removed.
        NO_DEVICE = 11 "no device",
    }
}
