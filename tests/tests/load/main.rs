//! Many clients, hostile users and bursts. Each test measures; no other tests run meanwhile.
mod bursts;
mod hostile;
mod many_clients;
