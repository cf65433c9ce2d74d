//! Client of a subnet that another process serves (`ib-sim serve`).
mod control;
mod error;
mod hello;
mod message;
mod node;
mod umad;

pub use control::control;
pub use error::ClientError;
pub use message::Message;
pub use node::Client;
pub use umad::{open_uevents, open_umad, register_umad_agent, unregister_umad_agent};
