//! A generator of hostile users: random steps of many users beside an honest one, with checks all the time.
//!
//! [`attack()`] draws steps from a seed, the program `acm-hostile` takes them, and [`Scene`] checks the daemon
//! meanwhile. After a failure, [`attack()`] leaves out the steps that do not matter.
mod attack;
mod calls;
mod gifts;
mod honest;
mod kernel;
mod older;
mod requests;
mod scene;
mod service;
mod shrink;
mod steps;
mod user;

pub use attack::{Attack, Failure, attack};
pub use honest::honest_user;
pub use scene::{Amounts, Round, Scene, Setting};
pub use service::resume;
pub use steps::{Kind, Step};
pub use user::{Sockets, hostile_users, keeper};
