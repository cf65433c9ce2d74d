//! Replaces the names and IP addresses of a trace.
use acm_sansio::{
    Account, Event, Input, Output,
    api::{ProviderCall, ProviderMessage, Publication, SaSend},
    port::InterfaceAddress,
    preload::{Hosts, Preload},
};
use acm_wire::{
    Address, Name,
    client::{Entry, EntryKind, EpHead, Header, Operation, Reply},
};
use core::{
    hash::Hasher as _,
    mem::offset_of,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};
use ib_mad::{
    AttributeId, Wire,
    acm::AcmMad,
    sa::{NodeRecord, SaMad, ServiceRecord},
    wire::Text,
};
use serde::Deserialize as _;
use serde_json::Value;
use siphasher::sip::SipHasher24;
use std::sync::Arc;

/// Bytes of an entry before its address.
const ENTRY_HEAD: usize = 8;

/// Replaces names and IP addresses, also descriptions of nodes and names of services. Equal addresses have equal
/// replacements; different addresses have different replacements.
///
/// The replacement of each letter, digit or bit is computed from a key and from all characters or bits before it.
/// Unchanged are the length of a name, the positions of letters and digits, and the case. Addresses with a common
/// prefix have replacements with a common prefix. The first 8 bits of an IPv4 address and the first 16 bits of an IPv6
/// address are unchanged. GIDs, LIDs, GUIDs and P_Keys are unchanged: they identify ports, but reveal no name.
#[derive(Clone)]
pub struct Mask {
    key: [u8; 16],
}

impl core::fmt::Debug for Mask {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Mask")
    }
}

impl Mask {
    /// Creates a mask. Keep the key secret: with the key, the original names can be computed.
    #[must_use]
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// Returns a pseudo-random number for a prefix.
    fn number(&self, what: u8, before: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write_u8(what);
        hasher.write(before);
        hasher.finish()
    }

    /// Returns the replacement of an address.
    #[must_use]
    pub fn address(&self, address: &Address) -> Address {
        match address {
            Address::Name(name) => Address::Name(self.name(name)),
            Address::Ip4(ip) => Address::Ip4(self.ip4(*ip)),
            Address::Ip6(ip) => Address::Ip6(self.ip6(*ip)),
            Address::Gid(_) | Address::Lid(_) => *address,
        }
    }

    fn name(&self, name: &Name) -> Name {
        // Names are compared without regard to case.
        let before = name.as_bytes().to_ascii_lowercase();
        let mut after = name.as_bytes().to_vec();
        for (index, byte) in after.iter_mut().enumerate() {
            let number = self.number(0, before.get(..index).unwrap_or_default());
            *byte = match *byte {
                letter @ b'a'..=b'z' => rotated(letter, b'a', 26, number),
                letter @ b'A'..=b'Z' => rotated(letter, b'A', 26, number),
                digit @ b'0'..=b'9' => rotated(digit, b'0', 10, number),
                other => other,
            };
        }
        Name::new(&after)
    }

    fn ip4(&self, ip: Ipv4Addr) -> Ipv4Addr {
        let mut octets = ip.octets();
        self.bits(4, &mut octets, 8);
        Ipv4Addr::from(octets)
    }

    fn ip6(&self, ip: Ipv6Addr) -> Ipv6Addr {
        let mut octets = ip.octets();
        self.bits(6, &mut octets, 16);
        Ipv6Addr::from(octets)
    }

    /// Flips some of the bits after the first `first` bits. The preceding bits determine whether a bit is flipped.
    fn bits(&self, what: u8, octets: &mut [u8], first: usize) {
        let original =
            u128::from_be_bytes(core::array::from_fn(|index| octets.get(index).copied().unwrap_or_default()));
        let flipped = (first..octets.len() * 8).filter(|bit| {
            let before = original.checked_shr(128_u32.saturating_sub(u32::try_from(*bit).unwrap_or_default()));
            let before = [&bit.to_be_bytes()[..], &before.unwrap_or_default().to_be_bytes()].concat();
            self.number(what, &before) & 1 == 1
        });
        for bit in flipped.collect::<Vec<_>>() {
            if let Some(octet) = octets.get_mut(bit / 8) {
                *octet ^= 0x80 >> (bit % 8);
            }
        }
    }

    fn ip(&self, ip: IpAddr) -> IpAddr {
        match ip {
            IpAddr::V4(ip) => self.ip4(ip).into(),
            IpAddr::V6(ip) => self.ip6(ip).into(),
        }
    }

    fn account(&self, account: Account) -> Account {
        match account {
            Account::Peer(ip) => Account::Peer(self.ip(ip)),
            Account::Daemon | Account::Kernel | Account::User(_) | Account::Remote => account,
        }
    }

    /// Returns the masked input. A masked message or datagram is stored in `bytes`.
    pub(crate) fn input<'a>(&self, input: &Input<'a>, bytes: &'a mut Vec<u8>) -> Input<'a> {
        match input {
            Input::ClientOpened { client, account } => {
                Input::ClientOpened { client: *client, account: self.account(*account) }
            }
            Input::ClientMessage { client, message } => {
                *bytes = self.message(message);
                Input::ClientMessage { client: *client, message: bytes }
            }
            Input::KernelAddressRequest { id, source, dest } => {
                Input::KernelAddressRequest { id: *id, source: self.ip(*source), dest: self.ip(*dest) }
            }
            Input::SourceSelected { request, source } => {
                Input::SourceSelected { request: *request, source: source.map(|source| self.ip(source)) }
            }
            Input::Datagram { endpoint, source, payload } => {
                // A datagram of another length may contain names, too.
                bytes.extend_from_slice(payload);
                bytes.resize(payload.len().max(size_of::<AcmMad>()), 0);
                if let Ok((mad, _)) = AcmMad::parse_prefix(bytes) {
                    let mad = self.mad(mad);
                    bytes.iter_mut().zip(ib_mad::as_bytes(&mad)).for_each(|(to, from)| *to = *from);
                }
                bytes.truncate(payload.len());
                Input::Datagram { endpoint: *endpoint, source: *source, payload: bytes }
            }
            Input::AddressAdded { port, pkey, address } => {
                Input::AddressAdded { port: *port, pkey: *pkey, address: self.address(address) }
            }
            Input::AddressRemoved { port, pkey, address } => {
                Input::AddressRemoved { port: *port, pkey: *pkey, address: self.address(address) }
            }
            Input::Provider { provider, message: ProviderMessage::ResolveResponse { request, message } } => {
                let message = ProviderMessage::ResolveResponse { request: *request, message: self.message(message) };
                Input::Provider { provider: *provider, message }
            }
            Input::Provider { provider, message: ProviderMessage::SaRequest { id, endpoint, mad } } => {
                let message = ProviderMessage::SaRequest { id: *id, endpoint: *endpoint, mad: self.sa(mad) };
                Input::Provider { provider: *provider, message }
            }
            Input::SaResponse { id, mad } => {
                *bytes = self.sa(mad);
                Input::SaResponse { id: *id, mad: bytes }
            }
            Input::SaReport { port, lid, qpn, mad } => {
                *bytes = self.sa(mad);
                Input::SaReport { port: *port, lid: *lid, qpn: *qpn, mad: bytes }
            }
            Input::Interfaces(all) => {
                let masked = |interface: &InterfaceAddress| InterfaceAddress {
                    address: self.ip(interface.address),
                    ..*interface
                };
                Input::Interfaces(all.iter().map(masked).collect())
            }
            Input::Preloaded(Preload::Hosts(hosts)) => Input::Preloaded(Preload::Hosts(Arc::new(self.hosts(hosts)))),
            // Every variant is listed, so that the compiler requires a decision for a new variant.
            Input::ClientClosed(_)
            | Input::KernelRequest { .. }
            | Input::KernelTimeout(_)
            | Input::SaFailed { .. }
            | Input::EndpointOpened { .. }
            | Input::EndpointLost(_)
            | Input::EndpointFailed(_)
            | Input::Attached { .. }
            | Input::PortUp { .. }
            | Input::PortDown(_)
            | Input::ClientReregister(_)
            | Input::Preloaded(Preload::Routes(_))
            | Input::Configure(_)
            | Input::Provider { .. }
            | Input::Flush(_)
            | Input::Shutdown => input.clone(),
        }
    }

    /// Returns the masked output.
    pub(crate) fn output(&self, output: &Output) -> Result<Output, serde_json::Error> {
        Ok(match output {
            Output::Reply { client, reply } => {
                let reply = Reply::from_bytes(&self.message(reply)).unwrap_or(*reply);
                Output::Reply { client: *client, reply }
            }
            Output::LongReply { client, bytes } => Output::LongReply { client: *client, bytes: self.message(bytes) },
            Output::SelectSource { request, dest } => Output::SelectSource { request: *request, dest: self.ip(*dest) },
            Output::Send { endpoint, to, mad } => Output::Send { endpoint: *endpoint, to: *to, mad: self.mad(mad) },
            Output::SaSend(send) => Output::SaSend(SaSend { mad: self.sa_mad(&send.mad), ..*send }),
            Output::SaReply { port, to, mad } => Output::SaReply { port: *port, to: *to, mad: self.sa_mad(mad) },
            Output::Log(event) => Output::Log(self.event(event)?),
            Output::Provider { provider, call, what } => {
                Output::Provider { provider: *provider, call: *call, what: self.call(what) }
            }
            Output::Publish(publication) => Output::Publish(self.publication(publication)),
            Output::KernelReply { .. }
            | Output::CloseClient(_)
            | Output::OpenEndpoint { .. }
            | Output::CloseEndpoint(_)
            | Output::Attach { .. }
            | Output::Detach { .. }
            | Output::ShutdownDone => output.clone(),
        })
    }

    fn publication(&self, publication: &Publication) -> Publication {
        let mut publication = publication.clone();
        match &mut publication {
            Publication::Source { address, .. }
            | Publication::Path { dest: address, .. }
            | Publication::Withdrawn { dest: address, .. } => *address = self.address(address),
            Publication::AllWithdrawn(_) => {}
        }
        publication
    }

    fn call(&self, what: &ProviderCall) -> ProviderCall {
        let mut what = what.clone();
        match &mut what {
            ProviderCall::AddAddress { address, .. } | ProviderCall::RemoveAddress { address, .. } => {
                *address = self.address(address);
            }
            ProviderCall::Resolve { source, message, .. } | ProviderCall::Query { source, message, .. } => {
                *source = self.address(source);
                *message = self.message(message);
            }
            ProviderCall::SaResponse { mad, .. } => **mad = self.sa_mad(mad),
            ProviderCall::OpenPort { .. }
            | ProviderCall::ClosePort(_)
            | ProviderCall::OpenEndpoint { .. }
            | ProviderCall::CloseEndpoint(_)
            | ProviderCall::Reregister(_)
            | ProviderCall::ManagerChanged(_)
            | ProviderCall::QueryCounters { .. }
            | ProviderCall::SaFailed { .. } => {}
        }
        what
    }

    fn hosts(&self, hosts: &Hosts) -> Hosts {
        let mut masked = Hosts::builder();
        hosts.iter().for_each(|(address, gid)| masked.host(&self.address(&address), gid));
        masked.left_out(hosts.left_out()).finish()
    }

    /// Masks the addresses in a client's message or a reply, in entries or as text. Malformed bytes at the position of
    /// an address are masked as a name.
    fn message(&self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = bytes.to_vec();
        let Ok((header, rest)) = Header::parse_prefix(bytes) else { return masked };
        let (opcode, is_response) = (header.opcode.base(), header.opcode != header.opcode.base());
        let first = bytes.len() - rest.len();
        let Some(body) = masked.get_mut(first..) else { return masked };
        match Operation::of(opcode) {
            // An unknown opcode may be a damaged RESOLVE. PERF may request the counters of an address.
            Some(Operation::Perf) if is_response => {}
            Some(Operation::Resolve | Operation::Perf) | None => {
                let mut entries = body.chunks_exact_mut(size_of::<Entry>());
                for chunk in &mut entries {
                    let Ok(entry) = Entry::parse_mut(chunk) else { continue };
                    match entry.kind() {
                        EntryKind::Address(address) if !is_of_fabric(&address) => {
                            *entry = Entry::address(entry.request_flags(), &self.address(&address));
                        }
                        EntryKind::Address(_) | EntryKind::Path(_) => {}
                        EntryKind::Unknown(_) => self.text(&mut entry.info.0),
                    }
                }
                self.text(entries.into_remainder().get_mut(ENTRY_HEAD..).unwrap_or_default());
            }
            Some(Operation::Endpoint) if is_response => {
                let addresses = body.get_mut(size_of::<EpHead>()..).unwrap_or_default();
                for chunk in addresses.chunks_exact_mut(64) {
                    if let Ok(text) = Text::<64>::parse(chunk)
                        && let Ok(words) = core::str::from_utf8(text.as_text())
                    {
                        let other = self.address(&Address::from_text(words)).to_string();
                        chunk.copy_from_slice(&Text::<64>::new(other.as_bytes()).0);
                    }
                }
            }
            Some(Operation::Endpoint) => {}
        }
        masked
    }

    /// Masks bytes that may be names: each part between zeros is a name.
    fn text(&self, bytes: &mut [u8]) {
        for part in bytes.split_mut(|byte| *byte == 0) {
            let other = self.name(&Name::new(part));
            part.iter_mut().zip(other.as_bytes()).for_each(|(to, from)| *to = *from);
        }
    }

    /// Masks the text in the records of a datagram of subnet administration: descriptions of nodes and names of
    /// services. The data of services is removed, because it may contain IP addresses.
    fn sa(&self, bytes: &[u8]) -> Vec<u8> {
        // A datagram of another length may contain names, too.
        let mut masked = bytes.to_vec();
        masked.resize(bytes.len().max(size_of::<SaMad>()), 0);
        let Ok((mad, _)) = SaMad::parse_prefix(&masked) else { return bytes.to_vec() };
        let (text, size) = match mad.header.attribute_id {
            AttributeId::NODE_RECORD => (offset_of!(NodeRecord, node_description), size_of::<NodeRecord>()),
            AttributeId::SERVICE_RECORD => (offset_of!(ServiceRecord, service_name), size_of::<ServiceRecord>()),
            _ => return bytes.to_vec(),
        };
        let distance = size.max(usize::from(mad.sa.attribute_offset.get()) * 8);
        let records = masked.get_mut(offset_of!(SaMad, data)..).unwrap_or_default();
        for record in records.chunks_mut(distance) {
            let (name, data) = record.get_mut(text..).unwrap_or_default().split_at_mut_checked(64).unwrap_or_default();
            self.text(name);
            data.fill(0);
        }
        masked.truncate(bytes.len());
        masked
    }

    fn sa_mad(&self, mad: &SaMad) -> SaMad {
        <SaMad as Wire>::parse(&self.sa(ib_mad::as_bytes(mad))).map_or(*mad, |mad| *mad)
    }

    /// Masks a datagram between daemons. Malformed addresses are masked as names.
    fn mad(&self, mad: &AcmMad) -> AcmMad {
        let mut masked = *mad;
        for (kind, bytes) in [(mad.dest_type, &mut masked.dest), (mad.src_type, &mut masked.src)] {
            match Address::decode(kind, &bytes.0) {
                Some(address) if is_of_fabric(&address) => {}
                Some(address) => bytes.0 = self.address(&address).encode().1,
                None => self.text(&mut bytes.0),
            }
        }
        masked
    }

    /// Masks the addresses in an event. Works on the JSON form of the event, because events have many variants.
    fn event(&self, event: &Event) -> Result<Event, serde_json::Error> {
        let mut value = serde_json::to_value(event)?;
        self.value(&mut value)?;
        serde_json::from_value(value)
    }

    fn value(&self, value: &mut Value) -> Result<(), serde_json::Error> {
        if let Ok(address) = Address::deserialize(&*value) {
            *value = serde_json::to_value(self.address(&address))?;
        } else if let Ok(account @ Account::Peer(_)) = Account::deserialize(&*value) {
            *value = serde_json::to_value(self.account(account))?;
        } else {
            match value {
                Value::Array(all) => all.iter_mut().try_for_each(|one| self.value(one))?,
                Value::Object(all) => all.values_mut().try_for_each(|one| self.value(one))?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Reports whether an address is a GID or a LID. A GID or LID is unchanged, including the bytes after it.
const fn is_of_fabric(address: &Address) -> bool {
    matches!(address, Address::Gid(_) | Address::Lid(_))
}

/// Rotates a letter or digit by `number` positions in the alphabet of `count` characters that starts with `first`.
fn rotated(byte: u8, first: u8, count: u8, number: u64) -> u8 {
    let by = u8::try_from(number % u64::from(count)).unwrap_or_default();
    first + (byte - first + by) % count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn mask() -> Mask {
        Mask::new([7; 16])
    }

    #[test]
    fn masked_names_are_unique_and_keep_their_shape() {
        let names: Vec<String> = (0..300).map(|number| format!("Rack7-node{number}.example")).collect();
        let others: BTreeSet<String> =
            names.iter().map(|name| mask().address(&Address::from_text(name)).to_string()).collect();
        assert_eq!(others.len(), names.len());
        assert!(names.iter().all(|name| !others.contains(name)));
        let shape = |text: &str| -> String {
            let letter = |letter: char| match letter {
                'a'..='z' => 'a',
                'A'..='Z' => 'A',
                '0'..='9' => '0',
                other => other,
            };
            text.chars().map(letter).collect()
        };
        let shapes: BTreeSet<String> = others.iter().map(|name| shape(name)).collect();
        assert_eq!(shapes, names.iter().map(|name| shape(name)).collect());
        let begin = |text: &String| text[..10].to_owned();
        assert_eq!(others.iter().map(begin).collect::<BTreeSet<_>>().len(), 1, "a common prefix stays a common prefix");
    }

    #[test]
    fn masking_ignores_the_case_of_a_name() {
        let of = |text: &str| mask().address(&Address::from_text(text)).canonical();
        assert_eq!(of("Node1"), of("nODE1"));
        assert_ne!(of("node1"), Mask::new([8; 16]).address(&Address::from_text("node1")).canonical());
    }

    /// A part that no key changes would stay in every copy.
    #[test]
    fn key_decides_on_each_character_and_on_each_bit_after_those_that_stay() {
        let originals = ["Rack7-node", "10.77.0.200", "2001:db8:77:66::dead:beef"].map(Address::from_text);
        for original in originals {
            let of_octets =
                |octets: &[u8]| octets.iter().flat_map(|octet| (0..8).rev().map(move |bit| octet >> bit & 1)).collect();
            let bits = |address: &Address| match address.ip() {
                Some(IpAddr::V4(ip)) => of_octets(&ip.octets()),
                Some(IpAddr::V6(ip)) => of_octets(&ip.octets()),
                None => address.to_string().into_bytes(),
            };
            let before: Vec<u8> = bits(&original);
            let mut changes = vec![0; before.len()];
            for key in 0..64 {
                let after = bits(&Mask::new([key; 16]).address(&original));
                changes
                    .iter_mut()
                    .zip(before.iter().zip(&after))
                    .for_each(|(count, (old, new))| *count += usize::from(old != new));
            }
            let stays = |place: usize| match original {
                Address::Ip4(_) => place < 8,
                Address::Ip6(_) => place < 16,
                _ => before[place] == b'-',
            };
            // Half of 64 keys change a bit, and most of them a character.
            for (place, count) in changes.into_iter().enumerate() {
                assert_eq!(stays(place), count < 16, "{original}: {count} keys change part {place}");
                assert!(!stays(place) || count == 0, "{original}: {count} keys change part {place}");
            }
        }
    }

    proptest! {
        /// Common beginnings stay, so that a replay finds the same subnets and the same order, and no more than these.
        #[test]
        fn masked_addresses_begin_alike_exactly_as_far_as_the_original_ones(a: u128, b: u128, shift in 0_u32..128) {
            let common = |[a, b]: [Ipv6Addr; 2]| (a.to_bits() ^ b.to_bits()).leading_zeros();
            let pair = [a, a ^ (b >> shift)].map(Ipv6Addr::from_bits);
            prop_assert_eq!(common(pair.map(|ip| mask().ip6(ip))), common(pair));
            let common = |[a, b]: [Ipv4Addr; 2]| (a.to_bits() ^ b.to_bits()).leading_zeros();
            let pair = pair.map(|ip| Ipv4Addr::from(*ip.octets().first_chunk::<4>().unwrap()));
            prop_assert_eq!(common(pair.map(|ip| mask().ip4(ip))), common(pair));
        }
    }

    #[test]
    fn masked_ip_addresses_keep_their_family_and_subnet() {
        let of = |text: &str| mask().address(&Address::from_text(text)).ip().unwrap();
        let originals: Vec<String> = (0..200).map(|last| format!("10.77.0.{last}")).collect();
        let others: BTreeSet<IpAddr> = originals.iter().map(|ip| of(ip)).collect();
        assert_eq!(others.len(), originals.len());
        let net = |ip: &IpAddr| ip.to_string().rsplit_once('.').unwrap().0.to_owned();
        let nets: BTreeSet<String> = others.iter().map(net).collect();
        assert_eq!(nets.len(), 1);
        let net = nets.first().unwrap();
        assert!(net.starts_with("10.") && *net != "10.77.0", "{net}");
        assert!(of("fe80::17").to_string().starts_with("fe80:"));
        assert_ne!(of("fe80::17"), of("fe80::16"));
        let gid = Address::Gid("fe80::17".parse().unwrap());
        assert_eq!(mask().address(&gid), gid);
    }
}
