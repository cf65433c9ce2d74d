//! The core as its owner sees it: the contracts of its API, and allocations.
mod contracts;
mod no_allocation;
