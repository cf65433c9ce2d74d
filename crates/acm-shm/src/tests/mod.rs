//! Tests of the writer and the reader together.
mod faults;
mod model;
mod table;
mod threads;

use crate::{Identity, Key, Reader, Time, Writer, sync::AtomicU64};
use acm_wire::{Address, Name};
use core::{net::Ipv4Addr, num::NonZeroU64};
use ib_mad::{Gid, Lid, ServiceId, sa::PathRecord};
use std::sync::Arc;

pub(crate) const NOW: Time = Time::from_nanos(1_000_000_000_000);
pub(crate) const LATER: Time = Time::from_nanos(2_000_000_000_000);

type Local = Arc<[AtomicU64]>;

pub(crate) fn identity(generation: u64) -> Identity {
    Identity { generation: NonZeroU64::new(generation).unwrap(), seed: [3, 5] }
}

fn pair(room: usize) -> (Writer<Local>, Reader<Local>) {
    let (writer, memory) = Writer::in_process(room, identity(1), NOW).unwrap();
    (writer, Reader::new(memory).unwrap())
}

/// A key of each kind by turns, of one of three endpoints. Long names differ in their last byte, queries in a service.
pub(crate) fn key(number: u8) -> Key {
    let long = [&[b'n'; 63][..], &[b'a' + number / 21]].concat();
    let address = match number / 3 % 7 {
        0 => Address::Name(Name::new(&long[usize::from(number) + 1..])),
        1 => Address::Name(Name::new(&long)),
        2 => Address::Ip4(Ipv4Addr::new(10, 0, 0, number)),
        3 => Address::Ip6(Ipv4Addr::new(10, 0, 0, number).to_ipv6_mapped()),
        4 => Address::Gid(Gid::new([number; 16])),
        5 => Address::Lid(Lid::new(u16::from(number))),
        _ => {
            let service_id = ServiceId::new(u64::from(number / 21) << 56);
            let query = PathRecord { dlid: Lid::new(7), service_id, ..PathRecord::ZERO };
            return Key::query(u32::from(number % 3), &query);
        }
    };
    Key::new(u32::from(number % 3), &address)
}

/// A path record of equal bytes.
pub(crate) fn path(byte: u8) -> PathRecord {
    zerocopy::transmute!([byte; 64])
}
