//! Many clients, hostile users and bursts. These tests measure times, so no other tests run at the same time.
mod bursts;
mod generator;
mod hostile;
mod many_clients;
