//! Target that compares the core's reaction to a client's message with a second, simple model of the protocol: a table
//! of cases over plain bytes.
//!
//! The model shares no code with the codec or the core. It describes a daemon that serves no address and therefore has
//! no state: each message causes at most one reaction, at once.
use acm_sansio::{Account, Acm, ClientId, Config, Input, Output, Time};
use arbitrary::Unstructured;

/// The reaction of a daemon without addresses to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// No reaction: the message is incomplete.
    Nothing,
    /// The daemon closes the connection.
    Close,
    /// The daemon queries the routing table for the source address.
    SelectSource,
    /// The daemon responds: opcode, status, length.
    Reply(u8, u8, usize),
}

const SUCCESS: u8 = 0;
const EINVAL: u8 = 2;
const ESRCADDR: u8 = 7;
const ESRCTYPE: u8 = 8;
const EDESTADDR: u8 = 9;
const EDESTTYPE: u8 = 10;

const SOURCE: u32 = 1;
const DEST: u32 = 2;
const QUERY_SA: u32 = 1 << 31;
/// Type of an entry with a path record.
const PATH: u16 = 16;

/// A message, read by byte offsets.
struct Message<'a> {
    bytes: &'a [u8],
}

struct Entry<'a> {
    flags: u32,
    kind: u16,
    info: &'a [u8],
}

impl Entry<'_> {
    fn is_address(&self) -> bool {
        (1..=5).contains(&self.kind)
    }
}

impl Message<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    /// Returns the length field. RESOLVE has it in host byte order, the other opcodes in network byte order.
    fn length(&self) -> usize {
        let bytes = [self.byte(6), self.byte(7)];
        usize::from(if self.byte(1) == 1 { u16::from_ne_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        let body = self.bytes.get(16..self.length()).unwrap_or_default();
        body.chunks_exact(72)
            .filter_map(|bytes| {
                let &[a, b, c, d, e, f, _, _, ref info @ ..] = bytes else { return None };
                Some(Entry { flags: u32::from_ne_bytes([a, b, c, d]), kind: u16::from_ne_bytes([e, f]), info })
            })
            .collect()
    }

    /// Returns the status for the first error in the address entries.
    fn address_error(&self) -> Option<u8> {
        let entries = self.entries();
        let with = |flag: u32| entries.iter().enumerate().filter(move |(_, entry)| entry.flags & flag != 0);
        let error = |flag: u32, order: usize, twice: u8, unknown: u8| {
            let unknown =
                with(flag).take(1).filter(|(_, entry)| !entry.is_address()).map(move |(at, _)| (at, order, unknown));
            let twice = with(flag).skip(1).take(1).map(move |(at, _)| (at, order, twice));
            unknown.chain(twice).min()
        };
        let source = error(SOURCE, 0, ESRCADDR, ESRCTYPE);
        let dest = error(DEST, 1, EDESTADDR, EDESTTYPE);
        source.into_iter().chain(dest).min().map(|(_, _, status)| status)
    }

    fn kind_of(&self, flag: u32) -> Option<u16> {
        self.entries().iter().find(|entry| entry.flags & flag != 0).map(|entry| entry.kind)
    }

    fn first(&self, test: impl Fn(&Entry<'_>) -> bool) -> bool {
        self.entries().first().is_some_and(test)
    }
}

type Case = (&'static str, fn(&Message<'_>) -> bool, fn(&Message<'_>) -> Reaction);

/// The cases of the model; the first match determines the reaction.
const CASES: &[Case] = &[
    ("no bytes", |m| m.bytes.is_empty(), |_| Reaction::Nothing),
    ("another version", |m| m.byte(0) != 1, |_| Reaction::Close),
    ("only the version", |m| m.bytes.len() == 1, |_| Reaction::Nothing),
    ("another opcode", |m| !(1..=3).contains(&m.byte(1)), |_| Reaction::Close),
    ("an incomplete header", |m| m.bytes.len() < 16, |_| Reaction::Nothing),
    ("an invalid length", |m| !(16..=592).contains(&m.length()), |_| Reaction::Close),
    ("an incomplete message", |m| m.bytes.len() < m.length(), |_| Reaction::Nothing),
    ("PERF with an endpoint", |m| m.byte(1) == 2 && m.byte(4) > 0, |_| Reaction::Reply(0x82, ESRCADDR, 16)),
    (
        "PERF with an address",
        |m| m.byte(1) == 2 && m.first(|entry| entry.flags & SOURCE != 0),
        |_| Reaction::Reply(0x82, ESRCADDR, 16),
    ),
    ("PERF", |m| m.byte(1) == 2, |_| Reaction::Reply(0x82, SUCCESS, 72)),
    ("EP", |m| m.byte(1) == 3, |_| Reaction::Reply(0x83, EINVAL, 16)),
    (
        "a path query as the only entry",
        |m| m.length() == 88 && m.first(|entry| entry.kind == PATH && entry.flags & QUERY_SA != 0),
        |_| Reaction::Reply(0x81, ESRCADDR, 88),
    ),
    (
        "a path query with other entries",
        |m| m.first(|entry| entry.kind == PATH && entry.flags & QUERY_SA != 0),
        |_| Reaction::Reply(0x81, EINVAL, 16),
    ),
    (
        // DGID and DLID: bytes 8 to 23 and 40 to 41 of the record.
        "a path without DGID and DLID",
        |m| {
            m.first(|entry| {
                let zero = |from: usize, to: usize| {
                    entry.info.get(from..to).is_some_and(|all| all.iter().all(|byte| *byte == 0))
                };
                entry.kind == PATH && zero(8, 24) && zero(40, 42)
            })
        },
        |_| Reaction::Reply(0x81, EDESTADDR, 16),
    ),
    ("a path", |m| m.first(|entry| entry.kind == PATH), |_| Reaction::Reply(0x81, ESRCADDR, 16)),
    (
        "a wrong address entry",
        |m| m.address_error().is_some(),
        |m| Reaction::Reply(0x81, m.address_error().unwrap_or_default(), 16),
    ),
    ("no destination", |m| m.kind_of(DEST).is_none(), |_| Reaction::Reply(0x81, EDESTTYPE, 16)),
    ("a source address that is not served", |m| m.kind_of(SOURCE).is_some(), |_| Reaction::Reply(0x81, ESRCADDR, 16)),
    (
        "a destination IP address",
        |m| m.kind_of(DEST).is_some_and(|kind| kind == 2 || kind == 3),
        |_| Reaction::SelectSource,
    ),
    ("a destination name without a source", |_| true, |_| Reaction::Reply(0x81, EDESTTYPE, 16)),
];

/// Returns the name of the message's case and the model's reaction.
pub(crate) fn expected(bytes: &[u8]) -> (&'static str, Reaction) {
    let message = Message { bytes };
    let case = CASES.iter().find(|(_, matches, _)| matches(&message));
    case.map_or(("no case", Reaction::Nothing), |(name, _, reaction)| (name, reaction(&message)))
}

/// Returns the core's reaction.
fn actual(bytes: &[u8]) -> Reaction {
    let mut acm = Acm::new(Config::default(), 7);
    let client = ClientId::new(0, 0);
    acm.handle_input(Time::ZERO, Input::ClientOpened { client, account: Account::User(1) });
    acm.handle_input(Time::ZERO, Input::ClientMessage { client, message: bytes });
    let mut reaction = Reaction::Nothing;
    while let Some(output) = acm.poll_output() {
        let next = match output {
            Output::Log(_) => continue,
            Output::CloseClient(_) => Reaction::Close,
            Output::SelectSource { .. } => Reaction::SelectSource,
            Output::Reply { reply, .. } => {
                let byte = |at: usize| reply.get(at).copied().unwrap_or_default();
                assert_eq!(reply.get(8..16), bytes.get(8..16), "another transaction id");
                Reaction::Reply(byte(1), byte(2), reply.len())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(reaction, Reaction::Nothing, "two reactions: {next:?}");
        reaction = next;
    }
    reaction
}

/// Compares the reactions of core and model to `bytes`, and to a plausible message drawn from `bytes`.
///
/// # Panics
/// If the reactions differ.
pub fn answers(bytes: &[u8]) {
    compare(bytes);
    if let Ok(message) = plausible(&mut Unstructured::new(bytes)) {
        compare(&message);
    }
}

fn compare(bytes: &[u8]) {
    let (case, expected) = expected(bytes);
    assert_eq!(actual(bytes), expected, "{case}: {bytes:02x?}");
}

/// Returns a message that is valid or has few errors.
fn plausible(u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    let opcode = if u.ratio(3, 4)? { 1 } else { u.int_in_range(0..=4)? };
    let mut body = Vec::new();
    for _ in 0..u.int_in_range(0..=4)? {
        let flags = [0, SOURCE, DEST, SOURCE | DEST, QUERY_SA, QUERY_SA | DEST, 1 << 30 | DEST, u.arbitrary()?];
        body.extend(u.choose(&flags)?.to_ne_bytes());
        let kind = if u.ratio(1, 4)? { PATH } else { u.int_in_range(0..=6)? };
        body.extend(kind.to_ne_bytes());
        body.extend([0, 0]);
        let mut info = [0; 64];
        if u.ratio(1, 2)? {
            u.fill_buffer(&mut info)?;
        }
        body.extend(info);
    }
    let length = u16::try_from(body.len() + 16).unwrap_or_default().wrapping_add(u.int_in_range(0..=2)?);
    let length = if u.ratio(1, 40)? { u.arbitrary()? } else { length };
    let length = if opcode == 1 { length.to_ne_bytes() } else { length.to_be_bytes() };
    let [index, port] = u.arbitrary::<[u8; 2]>()?;
    let tid: [u8; 8] = u.arbitrary()?;
    let version = if u.ratio(1, 30)? { 2 } else { 1 };
    let mut message = vec![version, opcode, 0, index & 1, port & 1, 0, length[0], length[1]];
    message.extend(tid);
    message.extend(body);
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn random_messages_reach_every_case_of_the_model() {
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        };
        let mut seen = BTreeSet::new();
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..400).map(|_| byte()).collect();
            let message = plausible(&mut Unstructured::new(&bytes)).unwrap();
            let cut = &message[..message.len().min(usize::from(byte()))];
            for message in [&message[..], cut] {
                seen.insert(expected(message).0);
                compare(message);
            }
        }
        let all: BTreeSet<&str> = CASES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(seen, all);
    }
}
