//! Providers outside of the core: opening, responding, hanging, and invalid responses.
mod hanging;
mod life;
mod lookups;
mod sa;
mod shared;
