//! Many [`Acm`](acm_sansio::Acm) cores on one [`ib_sim::Subnet`] in virtual time.
//!
//! A [`World`] is deterministic: the same configuration, seed and calls give the same transcript, byte for byte. The
//! tests of the crate are scenarios of this project's daemon, one behaviour per file.
//!
//! ```
//! use acm_sim::{World, WorldConfig, acm_wire::Address};
//!
//! let mut world = World::new(WorldConfig::default());
//! let path = world.resolve(0, &Address::from_text("node1"), &Address::from_text("node2")).unwrap();
//! assert_eq!(path.dlid, world.port(1).lid);
//! ```
#![forbid(unsafe_code)]
mod addresses;
mod clients;
mod daemons;
mod deadlines;
mod foreign;
mod held;
mod inbox;
mod node;
mod preload;
mod published;
mod random;
mod remote;
pub mod sessions;
pub mod study;
pub mod truth;
mod world;

pub use acm_sansio;
pub use acm_wire;
pub use ib_mad;
pub use ib_sim;

pub use clients::{Client, name, unknown_name_request};
pub use inbox::Handling;
pub use node::{Host, Node};
pub use published::Published;
pub use remote::RemoteHost;
pub use world::{TranscriptEntry, World, WorldConfig};

/// Runs the code in `docs/recipes.md`.
#[cfg(doctest)]
#[doc = include_str!("../docs/recipes.md")]
struct Recipes;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
