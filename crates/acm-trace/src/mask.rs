//! Other names and IP addresses in the place of those that a trace has, the same everywhere.
use crate::{
    Told,
    provider::{Hex, Said},
};
use acm_sansio::{
    Account, Event, Input, Output,
    api::ProviderCall,
    port::InterfaceAddress,
    preload::{Hosts, Preload},
};
use acm_wire::{
    Address, Name,
    client::{Entry, EntryKind, EpHead, Header, Opcode, Reply},
};
use core::{
    hash::Hasher as _,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};
use ib_mad::{Wire, acm::AcmMad, wire::Text};
use serde::Deserialize as _;
use serde_json::Value;
use siphasher::sip::SipHasher24;
use std::sync::Arc;

/// What stands before the address of an entry.
const ENTRY_HEAD: usize = 8;

/// Replaces names and IP addresses, each by the same everywhere; two that differ differ afterwards, too.
///
/// Nothing is kept in a table: each letter or digit, and each bit of an address, is changed by what stands before it and
/// a key. So lengths, letters, digits and upper case stay where they are, and what begins alike begins alike. The first 8
/// bits of an IPv4 address and the first 16 of an IPv6 address stay. GIDs, LIDs, GUIDs and P_Keys stay: they are the
/// fabric's and lead to no name.
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
    /// With a key that nobody knows: whoever has it has the names.
    #[must_use]
    pub const fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// A number for what stands before a place.
    fn number(&self, what: u8, before: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write_u8(what);
        hasher.write(before);
        hasher.finish()
    }

    /// The address in the place of this one.
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
        for (place, byte) in after.iter_mut().enumerate() {
            let number = self.number(0, before.get(..place).unwrap_or_default());
            *byte = match *byte {
                letter @ b'a'..=b'z' => turned(letter, b'a', 26, number),
                letter @ b'A'..=b'Z' => turned(letter, b'A', 26, number),
                digit @ b'0'..=b'9' => turned(digit, b'0', 10, number),
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

    /// Turns each bit behind the first ones, or not, as those before it say.
    fn bits(&self, what: u8, octets: &mut [u8], first: usize) {
        let own = u128::from_be_bytes(core::array::from_fn(|place| octets.get(place).copied().unwrap_or_default()));
        let turn = (first..octets.len() * 8).filter(|place| {
            let before = own.checked_shr(128_u32.saturating_sub(u32::try_from(*place).unwrap_or_default()));
            let before = [&place.to_be_bytes()[..], &before.unwrap_or_default().to_be_bytes()].concat();
            self.number(what, &before) & 1 == 1
        });
        for place in turn.collect::<Vec<_>>() {
            if let Some(octet) = octets.get_mut(place / 8) {
                *octet ^= 0x80 >> (place % 8);
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

    /// What the core is told.
    pub(crate) fn input(&self, input: &Input<'_>) -> Result<Told, serde_json::Error> {
        Ok(match Told::from(input) {
            Told::ClientOpened { client, account } => Told::ClientOpened { client, account: self.account(account) },
            Told::ClientMessage { client, message } => Told::ClientMessage { client, message: self.message(&message) },
            Told::KernelAddressRequest { id, source, dest } => {
                Told::KernelAddressRequest { id, source: self.ip(source), dest: self.ip(dest) }
            }
            Told::SourceSelected { request, source } => {
                Told::SourceSelected { request, source: source.map(|source| self.ip(source)) }
            }
            Told::Datagram { endpoint, source, mut payload } => {
                // One of another length has names all the same.
                let length = payload.len();
                payload.resize(length.max(size_of::<AcmMad>()), 0);
                if let Ok((mad, _)) = AcmMad::parse_prefix(&payload) {
                    let mad = self.mad(mad);
                    payload.iter_mut().zip(ib_mad::as_bytes(&mad)).for_each(|(to, from)| *to = *from);
                }
                payload.truncate(length);
                Told::Datagram { endpoint, source, payload }
            }
            Told::AddressAdded { port, pkey, address } => {
                Told::AddressAdded { port, pkey, address: self.address(&address) }
            }
            Told::AddressRemoved { port, pkey, address } => {
                Told::AddressRemoved { port, pkey, address: self.address(&address) }
            }
            Told::Provider { provider, said: Said::Answered { request, message } } => {
                let message = Hex(self.message(&message.0));
                Told::Provider { provider, said: Said::Answered { request, message } }
            }
            Told::Interfaces(all) => {
                let masked = |own: InterfaceAddress| InterfaceAddress { address: self.ip(own.address), ..own };
                Told::Interfaces(all.into_iter().map(masked).collect())
            }
            Told::Preloaded(Preload::Hosts(hosts)) => Told::Preloaded(Preload::Hosts(Arc::new(self.hosts(&hosts)))),
            // Named one by one, so that a new one does not compile before somebody has looked what is in it.
            other @ (Told::ClientGone(_)
            | Told::KernelRequest { .. }
            | Told::KernelTimeout(_)
            | Told::SaAnswer { .. }
            | Told::SaReport { .. }
            | Told::SaFailed { .. }
            | Told::EndpointOpened { .. }
            | Told::EndpointLost(_)
            | Told::EndpointFailed(_)
            | Told::PortUp { .. }
            | Told::PortDown(_)
            | Told::ClientReregister(_)
            | Told::Preloaded(Preload::Routes(_))
            | Told::Configure(_)
            | Told::Provider { .. }
            | Told::Shutdown) => other,
        })
    }

    /// What the core wants.
    pub(crate) fn output(&self, output: &Output) -> Result<Output, serde_json::Error> {
        Ok(match output {
            Output::Reply { client, reply } => {
                let reply = Reply::from_bytes(&self.message(reply)).unwrap_or(*reply);
                Output::Reply { client: *client, reply }
            }
            Output::LongReply { client, bytes } => Output::LongReply { client: *client, bytes: self.message(bytes) },
            Output::SelectSource { request, dest } => Output::SelectSource { request: *request, dest: self.ip(*dest) },
            Output::Send { endpoint, to, mad } => Output::Send { endpoint: *endpoint, to: *to, mad: self.mad(mad) },
            Output::Log(event) => Output::Log(self.event(event)?),
            Output::Provider { provider, call, what } => {
                Output::Provider { provider: *provider, call: *call, what: self.call(what) }
            }
            Output::KernelReply { .. }
            | Output::CloseClient(_)
            | Output::SaSend(_)
            | Output::SaReply { .. }
            | Output::OpenEndpoint { .. }
            | Output::CloseEndpoint(_)
            | Output::Attach { .. }
            | Output::Detach { .. }
            | Output::ShutdownDone => output.clone(),
        })
    }

    fn call(&self, what: &ProviderCall) -> ProviderCall {
        let mut what = what.clone();
        match &mut what {
            ProviderCall::AddAddress { address, .. } | ProviderCall::RemoveAddress { address, .. } => {
                *address = self.address(address);
            }
            ProviderCall::Resolve { source, message, .. } => {
                *source = self.address(source);
                *message = self.message(message);
            }
            ProviderCall::OpenPort { .. }
            | ProviderCall::ClosePort(_)
            | ProviderCall::OpenEndpoint { .. }
            | ProviderCall::CloseEndpoint(_)
            | ProviderCall::Reregister(_)
            | ProviderCall::QueryCounters { .. }
            | ProviderCall::SaDone { .. } => {}
        }
        what
    }

    fn hosts(&self, hosts: &Hosts) -> Hosts {
        let mut masked = Hosts::builder();
        hosts.iter().for_each(|(address, gid)| masked.host(&self.address(&address), gid));
        masked.left_out(hosts.left_out()).finish()
    }

    /// A client's message or a reply: the addresses that it has, in entries or as text. What is malformed in it is taken
    /// for a name where one could be.
    fn message(&self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = bytes.to_vec();
        let Ok((header, rest)) = Header::parse_prefix(bytes) else { return masked };
        let (opcode, is_answer) = (header.opcode.base(), header.opcode != header.opcode.base());
        let first = bytes.len() - rest.len();
        let Some(body) = masked.get_mut(first..) else { return masked };
        if opcode != Opcode::EP && opcode != Opcode::PERF {
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
        } else if opcode == Opcode::EP && is_answer {
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
        masked
    }

    /// Bytes that may be a name.
    fn text(&self, bytes: &mut [u8]) {
        let other = self.name(&Name::new(bytes));
        bytes.iter_mut().zip(other.as_bytes()).for_each(|(to, from)| *to = *from);
    }

    /// A datagram between daemons, or what is malformed in the place of one.
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

    /// The addresses are found in its text form: it has many variants.
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

/// GIDs and LIDs stay as they are, with all that stands behind them.
const fn is_of_fabric(address: &Address) -> bool {
    matches!(address, Address::Gid(_) | Address::Lid(_))
}

/// Another letter or digit of so many.
fn turned(byte: u8, first: u8, count: u8, number: u64) -> u8 {
    let by = u8::try_from(number % u64::from(count)).unwrap_or_default();
    first + (byte - first + by) % count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn mask() -> Mask {
        Mask::new([7; 16])
    }

    #[test]
    fn names_differ_from_what_they_were_and_from_one_another() {
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
        assert_eq!(others.iter().map(begin).collect::<BTreeSet<_>>().len(), 1, "what begins alike begins alike");
    }

    #[test]
    fn the_case_of_a_name_does_not_count() {
        let of = |text: &str| mask().address(&Address::from_text(text)).canonical();
        assert_eq!(of("Node1"), of("nODE1"));
        assert_ne!(of("node1"), Mask::new([8; 16]).address(&Address::from_text("node1")).canonical());
    }

    #[test]
    fn ip_addresses_keep_their_kind_and_their_nets() {
        let of = |text: &str| mask().address(&Address::from_text(text)).ip().unwrap();
        let own: Vec<String> = (0..200).map(|last| format!("10.77.0.{last}")).collect();
        let others: BTreeSet<IpAddr> = own.iter().map(|ip| of(ip)).collect();
        assert_eq!(others.len(), own.len());
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
