//! What goes wrong is counted once and told, and what is nothing new does nothing.
mod answers;
mod clients;
mod ports;
mod shared;
mod told;
