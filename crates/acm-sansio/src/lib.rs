//! The protocol core of ibacm, the InfiniBand communication management assistant, as a state machine without I/O.
//!
//! The core never reads a clock, a socket or a file. The caller passes in each event with the time at which it
//! happened, and carries out the outputs that the core returns. The methods of [`Acm`] are of four kinds:
//!
//! - `handle_*` pass in an event: [`Acm::handle_input`], [`Acm::handle_timeout`];
//! - `poll_*` return what to do next: [`Acm::poll_output`], to be drained to `None` after each `handle_*`;
//!   [`Acm::poll_timeout`], the next instant at which [`Acm::handle_timeout`] must run; [`Acm::poll_deadline`], the
//!   same instant with its reason;
//! - [`Acm::drive`] and [`Acm::drain`] are the event loop: they carry out outputs and pass the results back in;
//! - all other methods only read.
//!
//! The same sequence of (time, input) gives the same sequence of outputs, byte for byte.
//!
//! `examples/two_cores.rs` shows a complete loop with two cores and a small subnet administrator (SA) in memory. The
//! daemon, acm-mio, is a loop with sockets and devices.
//!
//! ```
//! use acm_sansio::{Acm, Config, Input, Output, PortId, Time, port::PortAttributes};
//! use acm_wire::Address;
//! use ib_mad::{Lid, Pkey, Qpn};
//!
//! let mut acm = Acm::new(Config::default(), 1);
//! let attributes = PortAttributes {
//!     lid: Lid::new(1),
//!     gids: vec!["fe80::1".parse()?],
//!     pkeys: vec![Pkey::DEFAULT_FULL],
//!     ..PortAttributes::default()
//! };
//! let mut queries = Vec::new();
//! let mut carry_out = |output| match output {
//!     Output::OpenEndpoint { endpoint, .. } => Some(Input::EndpointOpened { endpoint, qpn: Qpn::of::<2>() }),
//!     Output::SaSend(send) => {
//!         queries.push(send);
//!         None
//!     }
//!     _ => None,
//! };
//! let address = Address::from_text("node1");
//! acm.drive(Time::ZERO, Input::AddressAdded { port: PortId(0), pkey: None, address }, &mut carry_out);
//! acm.drive(Time::ZERO, Input::PortUp { port: PortId(0), attributes }, &mut carry_out);
//! assert_eq!(queries.len(), 1, "a join of the group");
//! # Ok::<(), ib_mad::ParseIdError>(())
//! ```
//!
//! # Contract with the caller
//!
//! | the caller | otherwise | test |
//! |---|---|---|
//! | drains [`Acm::poll_output`] to `None` before the next input; [`Acm::drive`] does so | a debug build panics | `contracts::outputs_must_be_drained_before_the_next_input` |
//! | never passes in a time before that of the previous input | a debug build panics; a release build uses the previous time | `contracts::time_must_not_go_back` |
//! | runs [`Acm::handle_timeout`] at [`Acm::poll_timeout`], which may change with every input | no retry happens, and no request times out | `contracts::sa_query_without_response_times_out` |
//! | answers each [`Output::OpenEndpoint`] once, at any time, with [`Input::EndpointOpened`] or [`Input::EndpointFailed`] | the endpoint joins no group, and the core does not ask again | `contracts::endpoint_is_opened_once_and_idle_until_then` |
//! | answers the first join of an endpoint, with a response or a failure | lookups of names wait for it; after a failure they get ENODATA ([`Failure::NoGroup`]) until a join succeeds | `contracts::name_lookup_waits_for_the_first_join`, `contracts::name_lookup_fails_with_the_first_join` |
//! | passes in the response to a join unchanged: same attribute, same lower half of the transaction id, same MGID, a multicast LID; the core keeps the record and uses its MLID, port GID, P_Key, MTU, rate, SL, flow label, hop limit and traffic class | the join fails ([`api::SaError::BadResponse`]) and is retried after a pause; a response with another transaction id is ignored | `contracts::join_succeeds_only_with_the_record_of_its_group` |
//! | does not use an id after the core closed the object | the input is ignored and counted in [`Stats::stale_inputs`](api::Stats::stale_inputs) | `unit::input_for_removed_endpoint_is_counted_as_stale` |
//!
//! # Outputs and their results
//!
//! In the order of [`Acm::poll_output`]:
//!
//! | output | what to do | input that follows |
//! |---|---|---|
//! | [`Output::Publish`] | change what clients may read without a request, before the outputs that follow | none |
//! | [`Output::Reply`], [`Output::LongReply`] | write the whole message, or close the connection | [`Input::ClientClosed`] if the connection was closed |
//! | [`Output::CloseClient`] | close the connection | [`Input::ClientClosed`] once it is closed: it is charged to its account until then |
//! | [`Output::KernelReply`] | answer the kernel; each request gets one reply before its deadline | none |
//! | [`Output::SelectSource`] | query the routing table | [`Input::SourceSelected`], always: the request waits for it without a time-out (`contracts::request_without_source_waits_until_one_is_selected`) |
//! | [`Output::SaSend`] | send the MAD to QP 1, and again after each `timeout`, up to `retries` times | [`Input::SaResponse`] or [`Input::SaFailed`], once; without either the query times out later (`contracts::sa_query_without_response_times_out`) |
//! | [`Output::SaReply`] | send the MAD once | none |
//! | [`Output::OpenEndpoint`] | open a UD queue pair with [`Qkey::GSI`](ib_mad::Qkey::GSI) | [`Input::EndpointOpened`] or [`Input::EndpointFailed`]; [`Input::EndpointLost`] later |
//! | [`Output::CloseEndpoint`] | close the queue pair | none |
//! | [`Output::Attach`] | attach the queue pair to the group, again until it works | [`Input::Attached`] when it works, and [`Input::Datagram`] for each datagram to the group; without it the group does not count as joined |
//! | [`Output::Detach`] | detach the queue pair from the group | none |
//! | [`Output::Send`] | send the datagram with a global route header; it may be lost | none |
//! | [`Output::Provider`] | call that provider, one call after another | [`Input::Provider`]: the return of the call, and the provider's messages |
//! | [`Output::Log`] | write the event to the log | none |
//! | [`Output::ShutdownDone`] | stop | none (`contracts::shutdown_ends_when_groups_are_left_or_after_its_time_out`) |
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`api`] | inputs, outputs, events, counters, options, ids, failures: plain data |
//! | `collections`, `accounts` | arenas and lists; accounts, shares, [fair queues](fair), credits, windows |
//! | `shared` | what all components share: time, options, random numbers, timers, outputs, counters |
//! | `ports` | ports, local addresses, and the endpoints that follow from them |
//! | [`sa`] | queries to the subnet administrator: queue, credits, retries, subscriptions |
//! | `clients` | connections, open requests, responses |
//! | [`provider`] | the interface of a resolution protocol, and everything that a provider may do |
//! | [`resolver`] | the built-in provider: cache, multicast protocol, groups, paths, refresh |
//! | `external` | adapter for a provider outside of the core: calls, responses, and a provider that hangs |
//! | `acm` | the mediator: takes an input, calls components and providers |
//! | [`retry`] | every retry policy |
//! | [`turns`] | the order in which a fabric's event sources are read, urgent ones first |
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
extern crate alloc;

mod accounts;
mod acm;
pub mod api;
mod clients;
mod collections;
mod external;
mod ports;
pub mod provider;
pub mod resolver;
pub mod retry;
pub mod sa;
mod shared;
pub mod turns;

pub use acm_wire;
pub use ib_mad;

pub use accounts::fair;
pub use acm::{Acm, Report, metric_help};
pub use api::{Event, Input, Output, Stats, Time};
pub use api::{
    account::{self, Account},
    config::{self, Config, Depth},
    failure::{self, Failure},
    histogram::{self, Histogram, Latencies, Phase},
    id::{self, ClientId, EndpointId, KernelRequestId, PortId, RequestId, SaRequestId},
    port, preload,
};
pub use shared::random::Seed;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
