//! Clients of many nodes that use one address all the time.
use super::{Report, lab::Lab};
use crate::{Client, World};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use core::time::Duration;
use ib_mad::Lid;
use std::collections::BTreeSet;

/// Time between two requests of a user.
const PERIOD: Duration = Duration::from_millis(100);

/// A client on each of many nodes.
pub(super) struct Users {
    clients: Vec<Client>,
    address: Address,
}

impl Users {
    /// Connects clients on all nodes but the first. Each resolves the IPv4 address of the first node once.
    pub(super) fn new(lab: &mut Lab, nodes: u32) -> Self {
        let [_, address, _] = World::addresses(0);
        // All nodes receive this request and learn its source.
        let [_, peer, _] = World::addresses(1);
        lab.world.resolve(0, &address, &peer).expect("the nodes have joined their group");
        let clients = (1..nodes).map(|node| lab.connect(node)).collect();
        let users = Self { clients, address };
        for client in users.clients.clone() {
            users.request(lab, client);
            lab.run_for(Duration::from_millis(1));
        }
        lab.run_for(Duration::from_secs(10));
        users
    }

    pub(super) fn address(&self) -> Address {
        self.address
    }

    fn request(&self, lab: &mut Lab, client: Client) {
        let [_, source, _] = World::addresses(client.node as u32);
        lab.send(client, &resolve_request(Some(&source), &self.address, EntryFlags::empty(), [1; 8]));
    }

    /// Resolves the address on all nodes again and again. The right path leads to `right`. `beside` runs before each
    /// round of requests.
    pub(super) fn resolve_for(
        &self,
        lab: &mut Lab,
        time: Duration,
        right: Lid,
        mut beside: impl FnMut(&mut Lab),
    ) -> Answers {
        let (end, mut answers) = (lab.world.now() + time, Answers::default());
        while lab.world.now() < end {
            beside(lab);
            for client in self.clients.clone() {
                if !lab.is_open(client) {
                    self.request(lab, client);
                }
            }
            let next = lab.world.now() + PERIOD;
            loop {
                let replies = lab.replies(next);
                if replies.is_empty() {
                    break;
                }
                for reply in replies {
                    answers.add(lab, reply.client, right);
                }
            }
        }
        answers
    }
}

/// The answers to all users.
#[derive(Default)]
pub(super) struct Answers {
    wrong_since: BTreeSet<Client>,
    misled: BTreeSet<Client>,
    failed: u64,
    last_change: Duration,
}

impl Answers {
    fn add(&mut self, lab: &Lab, client: Client, right: Lid) {
        match lab.world.path(client) {
            Some(Ok(path)) if path.dlid == right => {
                if self.wrong_since.remove(&client) {
                    self.last_change = lab.elapsed();
                }
            }
            Some(Ok(_)) => {
                self.misled.insert(client);
                self.wrong_since.insert(client);
            }
            _ => {
                self.failed += 1;
                self.wrong_since.insert(client);
            }
        }
    }

    pub(super) fn report(self, report: &mut Report, event: &str) {
        report.count(format!("{event}: nodes with another path"), self.misled.len() as u64);
        report.count(format!("{event}: failed requests"), self.failed);
        report.seconds(&format!("{event}: right path everywhere after"), self.last_change);
        report.count(format!("{event}: nodes without the right path at the end"), self.wrong_since.len() as u64);
    }
}
