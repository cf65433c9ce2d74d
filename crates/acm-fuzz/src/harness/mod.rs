//! A core with everything around it played by operations, and what must hold after each.
mod fabric;
mod providers;
mod run;
mod says;
mod state;
mod values;

pub use run::core;
