//! Messages between a served subnet and the attached programs, over a unix socket.
//!
//! The socket is `SOCK_SEQPACKET`: one message per packet. An empty packet is read as the end of the connection. Every
//! message of this module starts with its [`Kind`]; numbers are in network byte order.
//!
//! | first | then, by the [`Role`] in [`Hello`] |
//! |---|---|
//! | `Hello` -> | |
//! | <- [`Welcome`] | with a refusal: end of the connection |
//! | [`Role::NODE`] | <- one [`PortInfo`] per port, then -> [`QpOpen`], [`QpClose`], [`QpGroup`], [`DatagramOut`], [`MadOut`] and <- [`DatagramIn`], [`MadIn`], [`ReportIn`], [`PortInfo`] at each change, [`QpGroup`] when a queue pair is attached, [`Refused`] |
//! | [`Role::UMAD`] | frames of `/dev/infiniband/umadN`, both ways, as [`UmadHeader`](ib_mad::umad::UmadHeader) and 256 bytes (a table: more); -> [`UmadServe`], [`UmadForget`] |
//! | [`Role::UEVENT`] | <- messages about the node's device, each as the kernel sends it to a NETLINK_KOBJECT_UEVENT socket |
//! | [`Role::CONTROL`] | -> one command as text, <- its output as text in any number of packets, then the end |
//!
//! A program assigns queue pair numbers from the block in [`Welcome`], so that it need not wait for the server. A
//! program that does not read its messages loses datagrams, like a queue pair without receive buffers.
mod codes;
mod convert;
mod messages;

pub use codes::{Fault, Kind, Refusal, Role};
pub use convert::{kind, port_info, read_port_info};
pub use messages::*;
