//! What messages, connections, faults and refusals are.
use ib_mad::code;

code! {
    /// What a message is.
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
    }
}

code! {
    /// What a connection is for.
    pub struct Role(u8) {
        /// Queue pairs, management datagrams and events of one node.
        NODE = 1 "node",
        /// One port's umad device.
        UMAD = 2 "umad",
        /// Commands of whoever runs the simulation.
        CONTROL = 3 "control",
        /// What the kernel says about the devices of the node's host: each message is the sender's port id of netlink
        /// (4 bytes in the machine's order; the kernel's is 0), and what a NETLINK_KOBJECT_UEVENT socket reads.
        UEVENT = 4 "uevent",
    }
}

code! {
    /// Which part of a queue pair broke.
    pub struct Fault(u8) {
        /// The queue pair: it is in error, and what was posted is gone without a completion.
        QUEUE_PAIR = 1 "queue pair",
        /// The completion queue of its receives: nothing that ends is told any more.
        COMPLETION_QUEUE = 2 "completion queue",
    }
}

code! {
    /// Why something was refused.
    pub struct Refusal(u16) {
        /// It was not.
        NONE = 0 "not refused",
        /// The message is too short, or not one that belongs here.
        BAD_MESSAGE = 1 "bad message",
        /// The versions of both sides differ.
        BAD_VERSION = 2 "bad version",
        /// There is no such node, or none is free.
        NO_SUCH_NODE = 3 "no such node",
        /// There is no such port.
        NO_SUCH_PORT = 4 "no such port",
        /// The queue pair is not open in this connection.
        NO_SUCH_QP = 5 "no such queue pair",
        /// The queue pair number is taken or not in the block.
        BAD_QPN = 6 "bad queue pair number",
        /// The port's table has no such P_Key index.
        NO_SUCH_PKEY = 7 "no such P_Key index",
        /// The port's table has no such GID index, or the GID is not a group's where one must be.
        BAD_GID = 8 "bad GID",
        /// The datagram is longer than the MTU.
        TOO_LONG = 9 "datagram too long",
        /// There are too many connections or queue pairs already.
        NO_ROOM = 10 "no room",
        /// The node's device, or the port's MAD interface, was taken away.
        NO_DEVICE = 11 "no device",
    }
}
