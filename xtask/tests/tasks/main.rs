//! The tasks as programs, and the rules of this project.
mod install;
mod packages;
mod rules;
