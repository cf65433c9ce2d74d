//! The host of C providers, with a provider compiled from `../c/provider.c`.
mod calls;
mod common;
mod crashes;
mod loading;
mod mads;
