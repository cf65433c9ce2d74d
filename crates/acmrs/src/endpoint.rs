//! An endpoint's queue pair, and what waits to be sent from it.
use acm_sansio::api::SendTo;
use ib_device::{Error, verbs::UdQueuePair};
use ib_mad::acm::AcmMad;
use std::collections::VecDeque;

/// The most that wait at one endpoint; more is lost, as datagrams may be.
const LONGEST: usize = 4096;

#[derive(Debug)]
pub(crate) struct QueuePair {
    /// Place of its device.
    pub(crate) device: usize,
    pub(crate) pair: UdQueuePair,
    waiting: VecDeque<(SendTo, AcmMad)>,
}

impl QueuePair {
    pub(crate) const fn new(device: usize, pair: UdQueuePair) -> Self {
        Self { device, pair, waiting: VecDeque::new() }
    }

    /// Sends a datagram behind those that wait.
    pub(crate) fn send(&mut self, to: &SendTo, mad: &AcmMad) {
        if self.waiting.len() < LONGEST {
            self.waiting.push_back((*to, *mad));
            self.send_waiting();
        }
    }

    /// Sends what waits, as far as there is room. What the device refuses for another reason is lost.
    pub(crate) fn send_waiting(&mut self) {
        while let Some((to, mad)) = self.waiting.front() {
            let sent = self.pair.send(&to.way, to.qpn, to.qkey, ib_mad::as_bytes(mad));
            if matches!(sent, Err(Error::SendQueueFull { .. })) {
                return;
            }
            self.waiting.pop_front();
        }
    }
}
