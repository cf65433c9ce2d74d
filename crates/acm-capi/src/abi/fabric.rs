//! Functions for the fabric, without a daemon: multicast groups, paths of services, and attributes of address handles.
use super::{
    guard::guard,
    read,
    types::{AhAttr, Gid, Group, Join, LocalPort, PathRecord},
    write,
};
use crate::errno::Result;
use acm_client::{
    errno,
    fabric::{self, Administration, FabricError, GroupName},
};
use core::{
    ffi::{c_char, c_int},
    ptr,
};
use ib_mad::{
    Mtu, Pkey, Qkey, Rate, ServiceLevel,
    id::ServiceRange,
    sa::{JoinState, McMemberRecord, Query},
};
use nix::errno::Errno;

/// Packets with a higher hop limit have a global route header.
const LOCAL_HOPS: u8 = 1;

fn failed(error: &FabricError) -> Errno {
    Errno::from_raw(errno::of_fabric(error))
}

/// Opens a local port.
///
/// # Safety
/// `device` is NULL, or a string.
unsafe fn open(device: *const c_char, port: u8) -> Result<Administration> {
    // SAFETY: by contract of this function.
    let device = unsafe { read::text(device) }.map(core::str::from_utf8).transpose().map_err(|_| Errno::ENODEV)?;
    let found = fabric::LocalPort::find(device, Some(port).filter(|port| *port != 0));
    found.and_then(Administration::open).map_err(|error| failed(&error))
}

/// Joins a multicast group through the subnet administrator (SA). The membership belongs to the port, whichever program
/// joined: it does not end with the process, and a queue pair must be attached to the group, too (ibv_attach_mcast).
///
/// On success, returns 0 and writes the group to `group`, unless it is NULL. On failure, returns -1 and sets `errno`:
/// ENODEV without such an active port, ENOENT if the group does not exist and `create` is 0, EINVAL for an invalid
/// request or if the SA refuses it, EACCES or EPERM without access to umad, ETIMEDOUT if the SA does not respond.
///
/// # Safety
/// `request` is readable, and its members are NULL or strings; `group` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_join_group(request: *const Join, group: *mut Group) -> c_int {
    guard(-1, || {
        if request.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: it is not NULL, and readable through this call (libacm.h).
        let request = unsafe { request.read_unaligned() };
        // SAFETY: `group` is NULL or a string (libacm.h).
        let name = unsafe { read::text(request.group) }.and_then(|name| core::str::from_utf8(name).ok());
        let name: GroupName = name.and_then(|name| name.parse().ok()).ok_or(Errno::EINVAL)?;
        let sl = Some(request.sl).filter(|sl| *sl != 0);
        let join = fabric::Join {
            pkey: if request.pkey == 0 { Pkey::DEFAULT_FULL } else { Pkey::new(request.pkey) },
            join_state: state(request.join_state)?,
            create: request.create != 0,
            qkey: Some(request.qkey).filter(|qkey| *qkey != 0).map(Qkey::new),
            mtu: Some(request.mtu).filter(|mtu| *mtu != 0).map(Mtu::new),
            rate: Some(request.rate).filter(|rate| *rate != 0).map(Rate::new),
            sl: sl.map(|sl| ServiceLevel::checked(sl).ok_or(Errno::EINVAL)).transpose()?,
            member: Some(ib_mad::Gid::new(request.port_gid.0)).filter(|gid| !gid.is_zero()),
            ..fabric::Join::new(name)
        };
        // SAFETY: `device` is NULL or a string (libacm.h).
        let mut administration = unsafe { open(request.device, request.port) }?;
        let joined = join.join(&mut administration).map_err(|error| failed(&error))?.record;
        if !group.is_null() {
            // SAFETY: it is not NULL, and writable (libacm.h).
            unsafe { group.write_unaligned(to_c(&joined, joined.scope_state.join_state())) };
        }
        Ok(0)
    })
}

/// Returns the membership that a number stands for.
fn state(number: u8) -> Result<JoinState> {
    match number {
        0 => Ok(JoinState::FULL_MEMBER),
        1..=7 => Ok(JoinState::from_bits_retain(number)),
        _ => Err(Errno::EINVAL),
    }
}

/// Ends the membership `join_state` (0 stands for 1, full) of a local port, or of the port with the GID `port_gid` if
/// that is not NULL, **also for the kernel and other programs**. `device` and `port` are as in `struct ib_acm_join`.
///
/// Returns 0. On failure returns -1 and sets `errno`: ENOENT if the port has no such membership, otherwise as
/// ib_acm_join_group.
///
/// # Safety
/// `device` is NULL or a string; `mgid` is readable, NULL is EINVAL; `port_gid` is NULL or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_leave_group(
    device: *const c_char,
    port: u8,
    mgid: *const Gid,
    join_state: u8,
    port_gid: *const Gid,
) -> c_int {
    guard(-1, || {
        if mgid.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: it is not NULL, and readable (libacm.h).
        let Gid(mgid) = unsafe { mgid.read_unaligned() };
        let kind = state(join_state)?;
        let member = (!port_gid.is_null()).then(|| {
            // SAFETY: it is not NULL, and readable (libacm.h).
            let Gid(gid) = unsafe { port_gid.read_unaligned() };
            ib_mad::Gid::new(gid)
        });
        // SAFETY: `device` is NULL or a string (libacm.h).
        let mut administration = unsafe { open(device, port) }?;
        match fabric::leave(&mut administration, ib_mad::Gid::new(mgid), kind, member) {
            Ok(true) => Ok(0),
            Ok(false) => Err(Errno::ENOENT),
            Err(error) => Err(failed(&error)),
        }
    })
}

/// Lists the multicast groups of the subnet, in the order of their GIDs.
///
/// On success, returns 0 and sets `groups` and `count`. The caller releases `groups` with ib_acm_free_groups. On
/// failure, returns -1, sets `errno` as ib_acm_join_group, and writes nothing.
///
/// # Safety
/// `device` is NULL or a string; `groups` and `count` are writable. NULL is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_list_groups(
    device: *const c_char,
    port: u8,
    groups: *mut *mut Group,
    count: *mut c_int,
) -> c_int {
    guard(-1, || {
        if groups.is_null() || count.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: `device` is NULL or a string (libacm.h).
        let mut administration = unsafe { open(device, port) }?;
        let found = fabric::groups(&mut administration, &Query::<McMemberRecord>::new());
        let found = found.map_err(|error| failed(&error))?;
        if found.is_cut {
            return Err(Errno::ENOBUFS);
        }
        let all: Vec<Group> = found
            .groups
            .iter()
            .map(|group| {
                let states = group.members.iter().map(|member| member.join_state);
                to_c(&group.record, states.fold(JoinState::empty(), JoinState::union))
            })
            .collect();
        let number = c_int::try_from(all.len()).map_err(|_| Errno::ENOBUFS)?;
        let memory = write::new_array(&all)?;
        // SAFETY: neither is NULL, and both are writable (libacm.h).
        unsafe {
            groups.write_unaligned(memory);
            count.write_unaligned(number);
        }
        Ok(0)
    })
}

/// Releases the groups of ib_acm_list_groups, as `free` does. NULL is ignored.
///
/// # Safety
/// `groups` is NULL or from ib_acm_list_groups, and is not used after the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_free_groups(groups: *mut Group) {
    // SAFETY: by contract of this function.
    unsafe { write::free_memory(groups) };
}

fn to_c(record: &McMemberRecord, join_state: JoinState) -> Group {
    Group {
        mgid: Gid(record.mgid.get()),
        qkey: record.qkey.get(),
        flow_label: record.sl_flow_hop.flow_label().get(),
        mlid: record.mlid.get(),
        pkey: record.pkey.get(),
        sl: record.sl_flow_hop.sl().get(),
        mtu: record.mtu.value().get(),
        rate: record.rate.value().get(),
        packet_life_time: record.packet_life_time.value().get(),
        traffic_class: record.traffic_class,
        hop_limit: record.sl_flow_hop.hop_limit(),
        join_state: join_state.bits(),
        reserved: 0,
    }
}

/// Returns the service id of a text: a number, `tcp:PORT`, `udp:PORT`, `ib:PORT`, `lustre`, `storage-scale`, `iser`,
/// `nfs-rdma`, or `rdma` (the first of all services of rdma_cm).
///
/// On success, returns 0 and writes the id to `service_id`, in host byte order. On failure, returns -1 and sets `errno`
/// to EINVAL.
///
/// # Safety
/// `text` is a string, `service_id` is writable. NULL is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_service_id(text: *const c_char, service_id: *mut u64) -> c_int {
    guard(-1, || {
        // SAFETY: `text` is NULL or a string (libacm.h).
        let text = unsafe { read::text(text) }.and_then(|text| core::str::from_utf8(text).ok());
        let range = text.and_then(|text| text.parse::<ServiceRange>().ok());
        let id = range.and_then(ServiceRange::for_query).ok_or(Errno::EINVAL)?;
        if service_id.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: it is not NULL, and writable (libacm.h).
        unsafe { service_id.write_unaligned(id.get()) };
        Ok(0)
    })
}

/// Queries the SA for the path with the fields of `path` that are not zero, for example `service_id` and `dgid`. If the
/// path has neither `sgid` nor `slid`, it begins at the local port. The SA chooses what is zero: with `pkey` and `sl`
/// zero, the partition and the service level of the service.
///
/// On success, returns 0 and writes the path to `path`. On failure, returns -1 and sets `errno`: ENODATA if there is no
/// such path, otherwise as ib_acm_join_group.
///
/// # Safety
/// `device` is NULL or a string; `path` is readable and writable. NULL is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_query_path(device: *const c_char, port: u8, path: *mut PathRecord) -> c_int {
    guard(-1, || {
        // SAFETY: `path` is NULL, or readable (libacm.h).
        let mut known = unsafe { read::path(path) }?.ok_or(Errno::EINVAL)?;
        // SAFETY: `device` is NULL or a string (libacm.h).
        let mut administration = unsafe { open(device, port) }?;
        if known.sgid.is_zero() && known.slid.get() == 0 {
            known.sgid = administration.port().gid();
        }
        known.reversible_paths = known.reversible_paths.with_reversible(true).with_num_path(1);
        let found = administration.get("the path", &Query::from_non_zero(known)).map_err(|error| failed(&error))?;
        // SAFETY: it is not NULL, and writable (libacm.h).
        unsafe { path.write_unaligned(write::path(&found)) };
        Ok(0)
    })
}

/// Finds the local port at which a path begins, by its `sgid`, and the attributes of an address handle for the path.
/// For both, `port` and `attributes` may be NULL. `path_mtu` of a queue pair is the code in the path's `mtu`.
///
/// On success, returns 0. On failure, returns -1 and sets `errno`: ENODEV if no local port has the `sgid`, ENOENT if
/// the port's table has no P_Key of the path's partition.
///
/// # Safety
/// `path` is readable; `port` and `attributes` are NULL or writable. If `path` is NULL, `errno` is EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ib_acm_path_to_ah(
    path: *const PathRecord,
    port: *mut LocalPort,
    attributes: *mut AhAttr,
) -> c_int {
    guard(-1, || {
        // SAFETY: `path` is NULL, or readable (libacm.h).
        let path = unsafe { read::path(path) }?.ok_or(Errno::EINVAL)?;
        let (device, local) = fabric::LocalPort::with_gid(path.sgid).ok_or(Errno::ENODEV)?;
        let pkey_index = fabric::LocalPort::index_for(&local, path.pkey).ok_or(Errno::ENOENT)?;
        let sgid_index = local.gid_index(path.sgid).and_then(|index| u8::try_from(index).ok()).ok_or(Errno::ENODEV)?;
        let hop_limit = path.flow_hop.hop_limit();
        let [_, low] = (path.slid.get() & local.lmc.mask()).to_be_bytes();
        let found = AhAttr {
            dgid: Gid(path.dgid.get()),
            flow_label: path.flow_hop.flow_label().get(),
            sgid_index,
            hop_limit,
            traffic_class: path.traffic_class,
            dlid: path.dlid.get(),
            sl: path.qos_sl.sl().get(),
            src_path_bits: low,
            static_rate: path.rate.value().get(),
            is_global: (hop_limit > LOCAL_HOPS || path.dgid.is_multicast()).into(),
            port_num: local.number,
        };
        let mut name = [0; 64];
        let [head @ .., _] = &mut name;
        for (to, from) in head.iter_mut().zip(device.bytes()) {
            *to = c_char::from_ne_bytes([from]);
        }
        // SAFETY: each is NULL or writable (libacm.h).
        unsafe {
            if let Some(port) = ptr::NonNull::new(port) {
                port.write_unaligned(LocalPort { device: name, pkey_index, port: local.number, reserved: 0 });
            }
            if let Some(attributes) = ptr::NonNull::new(attributes) {
                attributes.write_unaligned(found);
            }
        }
        Ok(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{
        FlowLabel, Lid, PacketLifeTime,
        code::Selected,
        sa::{ScopeState, SlFlowHop},
    };

    #[test]
    fn each_member_of_a_group_has_its_own_value() {
        let record = McMemberRecord {
            mgid: ib_mad::Gid::new([1; 16]),
            qkey: Qkey::new(2),
            mlid: Lid::new(0xc003),
            mtu: Selected::exactly(Mtu::new(4)),
            traffic_class: 5,
            pkey: Pkey::new(0x8006),
            rate: Selected::exactly(Rate::new(7)),
            packet_life_time: Selected::exactly(PacketLifeTime::of::<8>()),
            sl_flow_hop: SlFlowHop::default()
                .with_sl(ServiceLevel::of::<9>())
                .with_flow_label(FlowLabel::of::<10>())
                .with_hop_limit(11),
            scope_state: ScopeState::default().with_join_state(JoinState::FULL_MEMBER),
            ..McMemberRecord::default()
        };
        let group = to_c(&record, JoinState::SEND_ONLY_NON_MEMBER);
        assert_eq!((group.mgid.0, group.qkey, group.flow_label), ([1; 16], 2, 10));
        assert_eq!((group.mlid, group.pkey, group.join_state), (0xc003, 0x8006, 4));
        assert_eq!((group.mtu, group.rate, group.packet_life_time, group.sl), (4, 7, 8, 9));
        assert_eq!((group.traffic_class, group.hop_limit, group.reserved), (5, 11, 0));
    }
}
