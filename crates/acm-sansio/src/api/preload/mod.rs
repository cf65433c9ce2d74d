//! Tables loaded from files: routes of a path dump, and addresses of hosts.
//!
//! The caller reads the files and fills a builder in any order. [`Input::Preloaded`] passes the finished table to the
//! core. A table never changes; a new table replaces it. Each table is useful without the other: routes resolve LIDs
//! and GIDs, hosts map addresses to GIDs.
//!
//! ```
//! use acm_sansio::{Acm, Config, Input, Time, preload::{Hosts, Preload, Route, Routes}};
//! use acm_wire::Address;
//! use ib_mad::{Guid, Lid, Mtu, Rate, ServiceLevel, id::Lmc};
//!
//! let (here, there) = (Guid::new(0x10), Guid::new(0x20));
//! let mut routes = Routes::builder();
//! routes.port(here, Lid::new(1), Lmc::ZERO);
//! routes.port(there, Lid::new(2), Lmc::ZERO);
//! routes.section(here, Lid::new(1));
//! routes.route(Route { dlid: Lid::new(2), sl: ServiceLevel::ZERO, mtu: Mtu::B4096, rate: Rate::GBPS_100 });
//! let mut hosts = Hosts::builder();
//! hosts.host(&Address::from_text("node2"), "fe80::20".parse().unwrap());
//!
//! let mut acm = Acm::new(Config::default(), 1);
//! acm.handle_input(Time::ZERO, Input::Preloaded(Preload::Routes(routes.finish().into())));
//! acm.handle_input(Time::ZERO, Input::Preloaded(Preload::Hosts(hosts.finish().into())));
//! ```
//!
//! [`Input::Preloaded`]: crate::api::Input::Preloaded
mod builder;
mod hosts;
mod routes;

use alloc::sync::Arc;
pub use builder::RoutesBuilder;
pub use hosts::{Hosts, HostsBuilder};
pub use routes::{Route, RouteCounts, Routes};

/// A finished table. It replaces the previous table of its kind.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Preload {
    /// Routes by LID.
    Routes(Arc<Routes>),
    /// GIDs by name or IP address.
    Hosts(Arc<Hosts>),
}

#[cfg(test)]
mod tests;
