//! The API from the caller's side: its contract, and memory allocations.
mod contracts;
mod no_allocation;
