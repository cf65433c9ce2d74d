//! The core of the InfiniBand communication management assistant: a state machine that never reads a clock, a socket
//! or a file.
//!
//! One door in, one door out. The methods of [`Acm`] are of four kinds:
//!
//! - `handle_*` tell it a fact: [`Acm::handle_input`], [`Acm::handle_timeout`];
//! - `poll_*` take what it wants: [`Acm::poll_output`], to be drained to `None` after each `handle_*`;
//!   [`Acm::poll_timeout`], the next instant at which [`Acm::handle_timeout`] must run; [`Acm::poll_deadline`], the
//!   same with the reason;
//! - [`Acm::drive`] and [`Acm::drain`] are the loop that carries out what is wanted and tells what came of it;
//! - everything else only looks.
//!
//! The same sequence of (time, input) gives the same sequence of outputs, byte for byte.
//!
//! A whole loop, with two cores and a small subnet administration in memory, is `examples/two_cores.rs`; one with
//! sockets and devices is the daemon, acm-mio.
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
//! let mut questions = Vec::new();
//! let mut carry_out = |output| match output {
//!     Output::OpenEndpoint { endpoint, .. } => Some(Input::EndpointOpened { endpoint, qpn: Qpn::of::<2>() }),
//!     Output::SaSend(send) => {
//!         questions.push(send);
//!         None
//!     }
//!     _ => None,
//! };
//! let address = Address::from_text("node1");
//! acm.drive(Time::ZERO, Input::AddressAdded { port: PortId(0), pkey: None, address }, &mut carry_out);
//! acm.drive(Time::ZERO, Input::PortUp { port: PortId(0), attributes: &attributes }, &mut carry_out);
//! assert_eq!(questions.len(), 1, "to join the group");
//! # Ok::<(), ib_mad::ParseIdError>(())
//! ```
//!
//! # What the core counts on
//!
//! | who owns a core | or else | held by |
//! |---|---|---|
//! | drains [`Acm::poll_output`] to `None` before it tells the next fact; [`Acm::drive`] does | a debug build panics | `contracts::outputs_are_drained_before_the_next_fact` |
//! | gives each fact a time that is not before the last one's | a debug build panics; else the last one's counts | `contracts::time_does_not_go_back` |
//! | runs [`Acm::handle_timeout`] at [`Acm::poll_timeout`], which any fact may change | nothing is repeated, and nothing ends | `contracts::a_question_that_its_sender_forgets_ends_all_the_same` |
//! | answers each [`Output::OpenEndpoint`] once, whenever it likes, with [`Input::EndpointOpened`] or [`Input::EndpointFailed`] | the endpoint joins no group, and is not asked for again | `contracts::an_endpoint_is_asked_for_once_and_does_nothing_before_it_is_opened` |
//! | asks for names after [`ibacmp::Event::Joined`] | ENODATA at once: [`Failure::NoGroup`] | `contracts::a_name_is_not_found_before_the_group_is_joined` |
//! | hands over the answer to a join as it came: same attribute, lower half of the transaction id, and MGID, with a multicast LID; the core keeps the record, and goes by its MLID, port GID, P_Key, MTU, rate, SL, flow label, hop limit and traffic class | the join fails ([`sa::SaError::BadAnswer`]) and is repeated after a pause; an answer with another transaction id changes nothing | `contracts::a_join_is_granted_by_the_record_of_its_group` |
//! | uses an id no more after the core closed what it names | it is counted, [`Stats::stale_inputs`](door::Stats::stale_inputs) | `unit::what_is_told_of_an_endpoint_that_is_gone_is_counted` |
//!
//! # What becomes of a wish
//!
//! In the order of [`Acm::poll_output`]:
//!
//! | wish | what to do | what to tell |
//! |---|---|---|
//! | [`Output::Reply`], [`Output::LongReply`] | write it whole, or close the connection | [`Input::ClientGone`] if it was closed |
//! | [`Output::CloseClient`] | close the connection | nothing: the core has forgotten it |
//! | [`Output::KernelReply`] | answer the kernel; each request has one, in time | nothing |
//! | [`Output::SelectSource`] | ask the routing table | [`Input::SourceSelected`], always: the request waits for it without a limit (`contracts::a_request_without_a_source_waits_until_one_is_selected`) |
//! | [`Output::SaSend`] | send it to QP 1, and again after each `timeout`, `retries` times | [`Input::SaAnswer`] or [`Input::SaFailed`], once; without either it ends by itself, later (`contracts::a_question_that_its_sender_forgets_ends_all_the_same`) |
//! | [`Output::SaReply`] | send it once | nothing |
//! | [`Output::OpenEndpoint`] | open a UD queue pair with [`Qkey::GSI`](ib_mad::Qkey::GSI) | [`Input::EndpointOpened`], [`Input::EndpointFailed`]; [`Input::EndpointLost`] later |
//! | [`Output::CloseEndpoint`] | close it | nothing |
//! | [`Output::Attach`], [`Output::Detach`] | attach the queue pair to the group | [`Input::Datagram`] for what comes |
//! | [`Output::Send`] | send it with a global route header; it may be lost | nothing |
//! | [`Output::Provider`] | call that provider, one call after another | [`Input::Provider`]: that the call returned, and what it says |
//! | [`Output::Log`] | write it | nothing |
//! | [`Output::ShutdownDone`] | stop | nothing (`contracts::after_shutdown_the_groups_are_left_or_have_had_their_time`) |
//!
//! # Modules
//!
//! | module | what is in it |
//! |---|---|
//! | [`door`] | inputs, outputs, events, counters |
//! | [`config`] | every option, its unit and default |
//! | [`id`] | what ports, endpoints, clients and requests are called |
//! | [`port`] | ports, local addresses, and the endpoints that follow from them |
//! | [`account`] | who pays for what, and everybody's share |
//! | [`preload`] | routes and addresses that are known from files before anybody asks |
//! | [`failure`] | why a request fails: the client's status, the administrator's phase |
//! | [`sa`] | questions to subnet administration: queue, credits, repetitions |
//! | [`retry`] | every policy by which something is tried again |
//! | [`turns`] | whose turn it is to be read: a fabric's sources, urgent ones first |
//! | [`histogram`] | how long things take |
//! | [`provider`], [`context`] | how a resolution protocol plugs in, and all that it may do |
//! | `external` | the one that stands for a provider outside of the core: calls, answers, and what a hanging one costs |
//! | [`ibacmp`] | the built-in one: multicast requests, or subnet administration, and a cache |
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

pub mod account;
mod acm;
mod arena;
mod check;
mod client;
pub mod config;
mod configure;
pub mod context;
mod credit;
pub mod door;
mod external;
pub mod failure;
mod fair;
mod gauge;
pub mod histogram;
pub mod ibacmp;
pub mod id;
mod kernel;
mod list;
pub mod port;
pub mod preload;
pub mod provider;
mod providers;
mod random;
mod report;
pub mod retry;
pub mod sa;
mod time;
mod timers;
pub mod turns;

pub use account::Account;
pub use acm::Acm;
pub use config::Config;
pub use door::{Event, Input, Output, Stats};
pub use failure::Failure;
pub use histogram::{Histogram, Latencies, Phase};
pub use id::{ClientId, EndpointId, KernelRequestId, PortId, RequestId, SaRequestId};
pub use random::Seed;
pub use report::Report;
pub use time::Time;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
