//! What the end-to-end tests share: real processes, each in directories of its own.
//!
//! A test starts a [`Fabric`] (`ib-sim serve`), one [`Node`] for each daemon, and asks them with [`ib_acme`] or over the
//! socket. Everything ends with the test that started it; a test that fails prints what its processes said. Tests run
//! at the same time: nothing here has a fixed port or a global name.
//!
//! The modules of the programs in `tests/` hold one behaviour each.
#![forbid(unsafe_code)]
mod acme;
mod binaries;
mod daemons;
mod documents;
mod fabric;
mod lab;
mod message;
mod node;
mod opensm;
mod poll;
mod process;
mod program;

pub use acme::{Acme, AcmeAnswer, CounterRow, EndpointRow, Path, Verification, ib_acme};
pub use binaries::{Binary, acmrs, binary, c_library, example, preload, provider_hosts, xtask};
pub use daemons::{Daemon, Daemons, Sign, moves, renews};
pub use documents::{Report, check};
pub use fabric::{Fabric, Group, Port};
pub use lab::{Kind, Lab, LabNode, Packet};
pub use message::{Connection, Entry, Header, Received, request};
pub use node::{Node, NodeBuilder, UNIX_SOCKET};
pub use opensm::{OpenSm, Record};
pub use poll::{LIMIT, until};
pub use process::{Finished, Process, run};
pub use program::{library, program};
