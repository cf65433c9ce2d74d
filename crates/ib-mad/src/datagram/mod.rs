//! Owned datagrams of any class, to be written and sent, and the structure of each class.
mod owned;
mod typed;

pub use owned::Mad;
pub use typed::Datagram;

#[cfg(test)]
mod tests;
