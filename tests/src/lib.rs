//! Shared parts of the end-to-end tests: real processes, each in its own directories.
//!
//! A test starts a [`Fabric`] (`ib-sim serve`) and one [`Node`] for each daemon, and sends requests with [`ib_acme`] or
//! over the socket. All processes end with their test, and a failed test prints their output. Tests run concurrently,
//! so nothing here has a fixed port or a global name.
//!
//! Each module of the programs in `tests/` tests one topic.
#![forbid(unsafe_code)]
mod acme;
mod binaries;
mod cgroup;
mod daemons;
mod documents;
mod fabric;
pub mod hostile;
mod interfaces;
mod lab;
mod message;
mod node;
mod opensm;
mod poll;
mod port;
mod process;
mod program;

pub use acme::{Acme, AcmeResult, CounterRow, EndpointRow, Path, Verification, ib_acme};
pub use binaries::{Binary, acmrs, binary, c_library, example, preload, provider_hosts, xtask};
pub use cgroup::ControlGroup;
pub use daemons::{Daemon, Daemons, Sign, moves, refreshes};
pub use documents::{Report, check};
pub use fabric::{Fabric, Group, Port};
pub use interfaces::interfaces;
pub use lab::{Kind, Lab, LabNode, Packet};
pub use message::{Connection, Entry, Header, Received, request};
pub use node::{Node, NodeBuilder, UNIX_SOCKET};
pub use opensm::{OpenSm, Record};
pub use poll::{LIMIT, until};
pub use port::TcpPort;
pub use process::{Finished, Process, run};
pub use program::{library, program, write_script};
