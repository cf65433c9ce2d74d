//! A core whose environment is played by operations, and checks of its outputs after each operation.
mod fabric;
mod provider_actions;
mod providers;
mod run;
mod state;
mod values;

pub use run::core;
