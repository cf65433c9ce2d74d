//! Background refreshes of cached paths: before they expire if they are in use, and after events that may have made
//! them wrong. The cache serves the old path until then.
mod asked;
mod moves;
mod pace;
mod paths;
mod shared;
