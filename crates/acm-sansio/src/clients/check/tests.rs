//! Broken states: each test breaks one invariant of a valid state.
use super::*;
use crate::{
    api::{
        Time,
        account::{Account, KERNEL},
        config::Config,
        id::{ClientId, EndpointId, KernelRequestId, RequestId, Token},
    },
    clients::OpenRequest,
};
use acm_wire::{Address, client::Entry};
use ib_mad::sa::PathRecord;

const USER: AccountId = AccountId::new(3, 0);

fn empty() -> (Shared, Clients) {
    let mut shared = Shared::new(Config::default(), 1.into());
    assert_eq!(shared.accounts.id(Account::User(7)), USER);
    (shared, Clients::new())
}

fn check(shared: &Shared, clients: &Clients) -> Result<(), String> {
    clients.check(shared, |_| true)
}

fn fails(shared: &Shared, clients: &Clients, with: &str) {
    assert!(check(shared, clients).is_err_and(|what| what.contains(with)), "{:?}, not {with}", check(shared, clients));
}

fn client(shared: &mut Shared, clients: &mut Clients, index: u32) -> ClientId {
    let id = ClientId::new(index, 0);
    shared.accounts.take(USER, Holding::Connections);
    clients.connections.open(Time::ZERO, id, USER);
    id
}

fn lookup() -> WaitingFor {
    let token = Token { provider: crate::api::ProviderId::BUILT_IN, kind: 1, index: 2, generation: 3 };
    let (endpoint, dest) = (EndpointId::new(0, 0), Address::from_text("a"));
    WaitingFor::Lookup { endpoint, token, dest, chosen_source: None, conditional: false }
}

fn of_client(shared: &mut Shared, clients: &mut Clients, client: ClientId, waiting: WaitingFor) -> RequestId {
    clients.keep_request(shared, OpenRequest::new(Requester::Client { id: client, tid: [0; 8] }, USER, waiting))
}

fn of_kernel(shared: &mut Shared, clients: &mut Clients) -> RequestId {
    let id = clients.keep_request(shared, OpenRequest::new(Requester::Kernel(KernelRequestId(1)), KERNEL, lookup()));
    shared.timers.set(TimerKey::Kernel(id), shared.now);
    id
}

#[test]
fn request_has_a_client_or_a_deadline() {
    let (mut shared, mut clients) = empty();
    let client = client(&mut shared, &mut clients, 0);
    of_client(&mut shared, &mut clients, client, lookup());
    let kernel = of_kernel(&mut shared, &mut clients);
    assert_eq!(check(&shared, &clients), Ok(()));
    shared.timers.clear(TimerKey::Kernel(kernel));
    fails(&shared, &clients, "of the kernel has no deadline");
    shared.timers.set(TimerKey::Kernel(kernel), shared.now);
    of_client(&mut shared, &mut clients, ClientId::new(9, 0), lookup());
    fails(&shared, &clients, "which is closed");
}

#[test]
fn requests_of_a_client_are_within_its_limit() {
    let (mut shared, mut clients) = empty();
    shared.widest.limits.requests_per_client = 2;
    let client = client(&mut shared, &mut clients, 0);
    of_client(&mut shared, &mut clients, client, lookup());
    of_client(&mut shared, &mut clients, client, lookup());
    assert_eq!(check(&shared, &clients), Ok(()));
    let last = of_client(&mut shared, &mut clients, client, lookup());
    fails(&shared, &clients, "has 3 requests");
    // Not in its client's list: it would not end when the client disconnects.
    clients.take_request(&mut shared, last);
    clients.connections.with_requests(Time::ZERO, client, |list| {
        while let Some(id) = list.first() {
            list.remove(&mut clients.requests.all, id);
        }
    });
    fails(&shared, &clients, "has 0 requests");
}

#[test]
fn charges_match_what_is_held() {
    let (mut shared, mut clients) = empty();
    let client = client(&mut shared, &mut clients, 0);
    let source = WaitingFor::Source { dest: Address::from_text("a"), no_delay: false };
    of_client(&mut shared, &mut clients, client, source);
    assert_eq!(check(&shared, &clients), Ok(()), "what the owner of the core answers at once is not charged");
    of_client(&mut shared, &mut clients, client, lookup());
    of_client(&mut shared, &mut clients, client, lookup());
    assert_eq!(check(&shared, &clients), Ok(()));
    shared.accounts.take(USER, Holding::Requests);
    fails(&shared, &clients, "user 7 is charged 3 of 2 requests");
}

#[test]
fn conditions_end_with_their_request() {
    let (mut shared, mut clients) = empty();
    let client = client(&mut shared, &mut clients, 0);
    let id = of_client(&mut shared, &mut clients, client, lookup());
    clients.conditions.keep(id, Some(&PathRecord::default()));
    clients.take_request(&mut shared, id);
    assert_eq!(check(&shared, &clients), Ok(()));
    clients.conditions.keep(id, Some(&PathRecord::default()));
    fails(&shared, &clients, "which does not exist");
}

#[test]
fn query_sa_request_has_an_open_query() {
    let (mut shared, mut clients) = empty();
    let client = client(&mut shared, &mut clients, 0);
    let entry = Entry::path(0, &PathRecord::default());
    let query = SaQueryId::new(1, 1);
    of_client(&mut shared, &mut clients, client, WaitingFor::Query { query: Some(query), entry, dest: None });
    assert_eq!(clients.check(&shared, |id| id == query), Ok(()));
    assert!(clients.check(&shared, |_| false).is_err_and(|what| what.contains("which does not exist")));
}
