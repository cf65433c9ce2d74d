//! Open requests, by client and by the operation that they wait for.
use crate::{
    api::{
        Time,
        account::AccountId,
        id::{ClientId, EndpointId, KernelRequestId, RequestId, SaQueryId, Token},
    },
    collections::{
        arena::Arena,
        list::{Linked, Links, List},
    },
};
use acm_wire::{Address, client::Entry};
use alloc::collections::BTreeMap;

const BY_CLIENT: usize = 0;
const BY_TOKEN: usize = 1;

/// The requests of one client, oldest first.
pub(crate) type RequestList = List<RequestId, BY_CLIENT>;

/// The party that gets the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    /// A client, with its transaction id.
    Client { id: ClientId, tid: [u8; 8] },
    /// The kernel, with the id of its request.
    Kernel(KernelRequestId),
}

/// The operation that a request waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitingFor {
    /// The selection of the local address for a path to `dest`. The caller answers it at once, so that it is not
    /// charged.
    Source { dest: Address, no_delay: bool },
    /// A lookup of the provider. `conditional` is true if the lookup has the conditions of the request.
    Lookup { endpoint: EndpointId, token: Token, dest: Address, chosen_source: Option<Address>, conditional: bool },
    /// The counters of an endpoint, from its provider.
    Counters { endpoint: EndpointId, token: Token },
    /// A QUERY_SA request's query to the subnet administrator.
    Query { query: Option<SaQueryId>, entry: Entry, dest: Option<Address> },
    /// A QUERY_SA request's query by a provider outside of the core.
    ProviderQuery { endpoint: EndpointId, token: Token, entry: Entry, dest: Option<Address> },
}

impl WaitingFor {
    /// Returns the token of the provider's operation.
    const fn token(&self) -> Option<Token> {
        match self {
            Self::Lookup { token, .. } | Self::Counters { token, .. } | Self::ProviderQuery { token, .. } => {
                Some(*token)
            }
            Self::Source { .. } | Self::Query { .. } => None,
        }
    }
}

/// An open request.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    pub(crate) requester: Requester,
    pub(crate) account: AccountId,
    pub(crate) waiting: WaitingFor,
    /// The time since which it waits.
    pub(crate) since: Time,
    pub(crate) by_client: Links<RequestId>,
    by_token: Links<RequestId>,
}

impl Linked<RequestId, BY_CLIENT> for OpenRequest {
    fn links(&mut self) -> &mut Links<RequestId> {
        &mut self.by_client
    }
}

impl Linked<RequestId, BY_TOKEN> for OpenRequest {
    fn links(&mut self) -> &mut Links<RequestId> {
        &mut self.by_token
    }
}

impl OpenRequest {
    pub(crate) fn new(requester: Requester, account: AccountId, waiting: WaitingFor) -> Self {
        let (by_client, by_token) = (Links::default(), Links::default());
        Self { requester, account, waiting, since: Time::ZERO, by_client, by_token }
    }

    /// Reports whether the request is charged to its account. Requests that wait only for their source are not.
    pub(crate) const fn is_charged(&self) -> bool {
        !matches!(self.waiting, WaitingFor::Source { .. })
    }

    /// Reports whether the request is charged as a lookup, too: its query takes turns with those of lookups.
    pub(crate) const fn is_lookup(&self) -> bool {
        matches!(self.waiting, WaitingFor::Query { .. })
    }
}

/// All open requests.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(crate) all: Arena<RequestId, OpenRequest>,
    waiting: BTreeMap<(Token, AccountId), List<RequestId, BY_TOKEN>>,
}

impl Requests {
    pub(crate) const fn new() -> Self {
        Self { all: Arena::new(), waiting: BTreeMap::new() }
    }

    /// Adds a request after those of its account that wait for the same token.
    pub(crate) fn insert(&mut self, request: OpenRequest) -> RequestId {
        let (token, account) = (request.waiting.token(), request.account);
        let id = self.all.insert(request);
        if let Some(token) = token {
            self.waiting.entry((token, account)).or_default().push_last(&mut self.all, id);
        }
        id
    }

    /// Removes a request, whatever it waits for.
    pub(crate) fn remove(&mut self, id: RequestId) -> Option<OpenRequest> {
        let request = self.all.get(id)?;
        if let Some(key) = request.waiting.token().map(|token| (token, request.account))
            && let Some(list) = self.waiting.get_mut(&key)
        {
            list.remove(&mut self.all, id);
            if list.len() == 0 {
                self.waiting.remove(&key);
            }
        }
        self.all.remove(id)
    }

    /// Returns the first request that waits for a token, by account.
    pub(crate) fn first(&self, token: Token) -> Option<RequestId> {
        self.of_token(token).find_map(List::first)
    }

    /// Returns the first request of an account that waits for a token.
    pub(crate) fn first_of(&self, token: Token, account: AccountId) -> Option<RequestId> {
        self.waiting.get(&(token, account))?.first()
    }

    /// Returns the number of requests that wait for a token.
    pub(crate) fn waiting_for(&self, token: Token) -> usize {
        self.of_token(token).map(List::len).sum()
    }

    fn of_token(&self, token: Token) -> impl Iterator<Item = &List<RequestId, BY_TOKEN>> {
        let all = (token, AccountId::new(0, 0))..=(token, AccountId::new(u32::MAX, u32::MAX));
        self.waiting.range(all).map(|(_, list)| list)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::api::account::KERNEL;
    use alloc::vec::Vec;

    const TOKEN: Token = Token { provider: crate::api::ProviderId::BUILT_IN, kind: 1, index: 2, generation: 3 };

    pub(crate) fn request(client: ClientId) -> OpenRequest {
        let waiting = WaitingFor::Lookup {
            endpoint: EndpointId::new(0, 0),
            token: TOKEN,
            dest: Address::from_text("a"),
            chosen_source: None,
            conditional: false,
        };
        OpenRequest::new(Requester::Client { id: client, tid: [0; 8] }, KERNEL, waiting)
    }

    #[test]
    fn requests_for_one_token_keep_their_order() {
        let mut requests = Requests::new();
        let ids: Vec<RequestId> = (0..4).map(|index| requests.insert(request(ClientId::new(index, 0)))).collect();
        assert_eq!((requests.first(TOKEN), requests.waiting_for(TOKEN)), (Some(ids[0]), 4));
        requests.remove(ids[0]);
        requests.remove(ids[2]);
        assert!(requests.remove(ids[2]).is_none());
        assert_eq!((requests.first(TOKEN), requests.waiting_for(TOKEN)), (Some(ids[1]), 2));
        requests.remove(ids[1]);
        requests.remove(ids[3]);
        assert_eq!((requests.first(TOKEN), requests.waiting_for(TOKEN)), (None, 0));
        assert!(requests.waiting.is_empty());
    }

    #[test]
    fn requests_for_one_token_are_found_by_account() {
        let mut requests = Requests::new();
        let other = AccountId::new(7, 3);
        let ids = [other, KERNEL, other]
            .map(|account| requests.insert(OpenRequest { account, ..request(ClientId::new(0, 0)) }));
        assert_eq!((requests.first(TOKEN), requests.waiting_for(TOKEN)), (Some(ids[1]), 3));
        assert_eq!([KERNEL, other].map(|account| requests.first_of(TOKEN, account)), [Some(ids[1]), Some(ids[0])]);
        let next = Token { generation: 4, ..TOKEN };
        assert_eq!((requests.first(next), requests.waiting_for(next), requests.first_of(next, other)), (None, 0, None));
    }
}
