//! Attach to a subnet that another process serves (`ib-sim serve`).
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
pub use umad::{forget_umad_agent, open_uevents, open_umad, serve_umad_agent};
