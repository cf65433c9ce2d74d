//! Two Soft-RoCE devices on a real kernel. Run by `cargo xtask vm-test` only, on one thread.
mod devices;
mod lab;
mod removal;
mod ud;
mod umad;
