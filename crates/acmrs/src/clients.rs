//! Converts ibacm's requests to requests of the core's clients. Each request gets a unique transaction id, by which
//! replies are matched.
use acm_provider::plugin::Request;
use acm_sansio::{Account, ClientId, Input};
use core::net::IpAddr;
use std::collections::BTreeMap;

/// Maximum number of the core's clients. C ibacm numbers its connections from 0 (the kernel) to 1022, and reuses the
/// numbers. acm-mio numbers requests, which share these clients.
const CLIENTS: u64 = 1024;
/// The account of all programs, because ibacm does not report their users. A program may have many connections.
const PROGRAMS: Account = Account::User(65_534);
/// Position of the transaction id in a message.
const TID: core::ops::Range<usize> = 8..16;

#[derive(Debug, Default)]
pub(crate) struct Clients {
    open: BTreeMap<u32, ClientId>,
    generation: u32,
    waiting: BTreeMap<u64, (ClientId, Request)>,
    next: u64,
    /// The source that ibacm chose for the request that the core is currently handling.
    chosen_source: Option<IpAddr>,
    /// Replies, which are sent after the counters are published: the next request of a client may be for the counters.
    replies: Vec<(Request, Vec<u8>)>,
}

impl Clients {
    /// Returns the core's client for a request, and the input that opens the client if it is new.
    pub(crate) fn client_of(&mut self, request: &Request) -> (ClientId, Option<Input<'static>>) {
        let index = u32::try_from(request.client() % CLIENTS).unwrap_or_default();
        if let Some(client) = self.open.get(&index) {
            return (*client, None);
        }
        self.generation = self.generation.wrapping_add(1);
        let client = ClientId::new(index, self.generation);
        self.open.insert(index, client);
        let account = if index == 0 { Account::Kernel } else { PROGRAMS };
        (client, Some(Input::ClientOpened { client, account }))
    }

    /// Stores a request until its reply. Returns the message for the core.
    pub(crate) fn store(&mut self, client: ClientId, request: Request) -> Vec<u8> {
        self.next = self.next.wrapping_add(1);
        let mut message = request.to_bytes();
        if let Some(field) = message.get_mut(TID) {
            field.copy_from_slice(&self.next.to_be_bytes());
        }
        self.chosen_source = request.source().filter(|_| request.chose_source()).and_then(|source| source.ip());
        self.waiting.insert(self.next, (client, request));
        message
    }

    /// Returns the source that ibacm chose.
    pub(crate) const fn chosen_source(&self) -> Option<IpAddr> {
        self.chosen_source
    }

    /// Queues the core's reply to a request.
    pub(crate) fn reply(&mut self, message: &[u8]) {
        let tid = message.get(TID).and_then(|tid| tid.try_into().ok()).map(u64::from_be_bytes);
        if let Some((_, request)) = tid.and_then(|tid| self.waiting.remove(&tid)) {
            self.replies.push((request, message.to_vec()));
        }
    }

    /// Closes a client and drops its open requests. A dropped request gets the response ENODATA.
    pub(crate) fn close(&mut self, client: ClientId) {
        self.open.retain(|_, open| *open != client);
        self.waiting.retain(|_, (of, _)| *of != client);
    }

    /// Sends the queued replies.
    pub(crate) fn send_replies(&mut self) {
        for (request, reply) in self.replies.drain(..) {
            request.answer_with_message(&reply);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_provider::testing::{request, responses};
    use acm_wire::client::header::HEADER_SIZE;

    /// A message with this transaction id.
    fn message(tid: u64) -> Vec<u8> {
        let mut message = vec![0; HEADER_SIZE];
        message[6..8].copy_from_slice(&16_u16.to_ne_bytes());
        message[TID].copy_from_slice(&tid.to_ne_bytes());
        message
    }

    #[test]
    fn connection_0_is_the_kernel_and_all_others_are_one_account() {
        let mut clients = Clients::default();
        let mut account = |index| match clients.client_of(&request(index, &message(1)).0).1 {
            Some(Input::ClientOpened { account, client }) => (account, u64::from(client.index())),
            other => panic!("{other:?}"),
        };
        assert_eq!([0, 1, 1022].map(&mut account), [(Account::Kernel, 0), (PROGRAMS, 1), (PROGRAMS, 1022)]);
    }

    #[test]
    fn client_is_opened_once_and_has_another_id_after_it_was_closed() {
        let mut clients = Clients::default();
        let client_of = |clients: &mut Clients| clients.client_of(&request(7, &message(1)).0);
        let (first, opened) = client_of(&mut clients);
        assert!(opened.is_some());
        assert!(matches!(client_of(&mut clients), (client, None) if client == first));
        clients.close(first);
        let (second, opened) = client_of(&mut clients);
        assert!(opened.is_some() && second != first);
    }

    #[test]
    fn replies_reach_their_requests_although_clients_use_one_transaction_id() {
        let mut clients = Clients::default();
        let stored = [4, 5].map(|index| {
            let (request, id) = request(index, &message(77));
            let (client, _) = clients.client_of(&request);
            (clients.store(client, request), id)
        });
        // The second request is answered first, with status 9.
        for ((message, _), status) in stored.iter().rev().zip([9, 8]) {
            let mut reply = message.clone();
            reply[2] = status;
            clients.reply(&reply);
        }
        assert!(
            stored.iter().all(|(_, id)| responses(*id).is_empty()),
            "replies wait until the counters are published"
        );
        clients.send_replies();
        let answered = stored.map(|(_, id)| {
            let [response] = responses(id)[..] else { panic!("one response") };
            (response.message.header.status, response.message.header.tid)
        });
        assert_eq!(answered, [(8, 77), (9, 77)]);
        assert!(clients.waiting.is_empty());
    }

    #[test]
    fn requests_of_a_closed_client_get_enodata() {
        let mut clients = Clients::default();
        let ids = [4, 5].map(|index| {
            let (request, id) = request(index, &message(1));
            let (client, _) = clients.client_of(&request);
            clients.store(client, request);
            (client, id)
        });
        clients.close(ids[0].0);
        assert_eq!(responses(ids[0].1)[0].message.header.status, 3);
        assert!(responses(ids[1].1).is_empty(), "the other client is open");
    }
}
