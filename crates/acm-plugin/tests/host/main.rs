//! Tests of acm-plugin with a provider in C, compiled from `../c/provider.c`.
mod calls;
mod common;
mod crashes;
mod loading;
mod mads;
