//! The tasks as programs, and the rules of this project.
mod built;
mod dist;
mod install;
mod packages;
mod rules;
