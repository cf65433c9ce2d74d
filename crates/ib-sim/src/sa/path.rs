//! PathRecord Get.
use crate::{Port, PortId, Subnet};
use ib_mad::{
    Gid, Lid, Mtu, PacketLifeTime, Pkey, Rate, Selected, Selector, Status,
    sa::{FlowHop, PathMask, PathRecord, QosSl, ReversiblePaths},
};

type Answer<T> = Result<T, Status>;

impl Subnet {
    /// The path that was asked for: from the asker's port if the source is not given.
    pub(super) fn find_path(&self, asker: PortId, asked: &PathRecord, mask: u64) -> Answer<PathRecord> {
        let mask = PathMask::from_bits_retain(mask);
        let has = |component| mask.contains(component);
        let from_id = self
            .end(has(PathMask::SGID).then_some(asked.sgid), has(PathMask::SLID).then_some(asked.slid))?
            .unwrap_or(asker);
        let to_id = self
            .end(has(PathMask::DGID).then_some(asked.dgid), has(PathMask::DLID).then_some(asked.dlid))?
            .ok_or(Status::SA_INSUFFICIENT_COMPONENTS)?;
        let from = self.port(from_id).ok_or(Status::SA_NO_RECORDS)?;
        let to = self.port(to_id).ok_or(Status::SA_NO_RECORDS)?;
        if !from.carries() || !to.carries() {
            return Err(Status::SA_NO_RECORDS);
        }
        let pkey = shared_pkey(from, to, has(PathMask::PKEY).then_some(asked.pkey)).ok_or(Status::SA_NO_RECORDS)?;
        let settings = &self.settings().path;
        if has(PathMask::REVERSIBLE) && asked.reversible_paths.reversible() && !settings.reversible {
            return Err(Status::SA_NO_RECORDS);
        }
        let life = if from_id == to_id { PacketLifeTime::ZERO } else { settings.packet_life_time };
        let own = FlowHop::default().with_flow_label(settings.flow_label).with_hop_limit(settings.hop_limit);
        Ok(PathRecord {
            service_id: if has(PathMask::SERVICE_ID) { asked.service_id } else { Default::default() },
            dgid: if has(PathMask::DGID) { asked.dgid } else { to.gid() },
            sgid: if has(PathMask::SGID) { asked.sgid } else { from.gid() },
            dlid: if has(PathMask::DLID) { asked.dlid } else { lid(to, settings.path_bits) },
            slid: if has(PathMask::SLID) { asked.slid } else { lid(from, settings.path_bits) },
            flow_hop: if has(PathMask::FLOW_LABEL) { own.with_flow_label(asked.flow_hop.flow_label()) } else { own },
            traffic_class: if has(PathMask::TRAFFIC_CLASS) { asked.traffic_class } else { settings.traffic_class },
            reversible_paths: ReversiblePaths::default()
                .with_reversible(settings.reversible)
                .with_num_path(settings.num_path),
            pkey,
            qos_sl: QosSl::default()
                .with_qos_class(if has(PathMask::QOS_CLASS) { asked.qos_sl.qos_class() } else { 0 })
                .with_sl(if has(PathMask::SL) { asked.qos_sl.sl() } else { settings.sl }),
            mtu: Selected::exactly(
                pick_mtu(
                    settings.mtu.unwrap_or(from.mtu.min(to.mtu)),
                    mask.contains(PathMask::MTU)
                        .then_some((selector(mask, PathMask::MTU_SELECTOR, asked.mtu.selector()), asked.mtu.value())),
                )
                .ok_or(Status::SA_NO_RECORDS)?,
            ),
            rate: Selected::exactly(
                pick_rate(
                    settings.rate.unwrap_or(slower(from.rate, to.rate)),
                    has(PathMask::RATE).then_some((
                        selector(mask, PathMask::RATE_SELECTOR, asked.rate.selector()),
                        asked.rate.value(),
                    )),
                )
                .ok_or(Status::SA_NO_RECORDS)?,
            ),
            packet_life_time: Selected::exactly(
                pick_life(
                    life,
                    has(PathMask::LIFE).then_some((
                        selector(mask, PathMask::LIFE_SELECTOR, asked.packet_life_time.selector()),
                        asked.packet_life_time.value(),
                    )),
                )
                .ok_or(Status::SA_NO_RECORDS)?,
            ),
            preference: 0,
            ..PathRecord::default()
        })
    }

    /// The port at one end, if the query names it. Its GID and LID must not disagree.
    fn end(&self, gid: Option<Gid>, lid: Option<Lid>) -> Answer<Option<PortId>> {
        let by_gid = match gid {
            Some(gid) => Some(self.port_by_gid(gid).ok_or(self.settings().sa.unknown_gid_status)?),
            None => None,
        };
        let by_lid = match lid {
            Some(lid) => Some(self.port_by_lid(lid).ok_or(Status::SA_NO_RECORDS)?),
            None => None,
        };
        match (by_gid, by_lid) {
            (Some(one), Some(other)) if one != other => Err(Status::SA_NO_RECORDS),
            (one, other) => Ok(one.or(other)),
        }
    }
}

/// One of the port's LIDs.
fn lid(port: &Port, path_bits: u8) -> Lid {
    Lid::new(port.lid.get() | u16::from(path_bits) & port.lmc.mask())
}

/// How to compare a value; a query that gives a value alone means exactly that one.
fn selector(mask: PathMask, component: PathMask, asked: Selector) -> Selector {
    if mask.contains(component) { asked } else { Selector::Exactly }
}

/// The partition of a path: both ends are in it, and not both as limited members.
fn shared_pkey(from: &Port, to: &Port, asked: Option<Pkey>) -> Option<Pkey> {
    let wanted = |own: &&Pkey| asked.is_none_or(|asked| asked.same_partition(**own));
    let usable = |own: &&Pkey| own.is_valid() && to.pkeys.iter().any(|other| own.matches(*other));
    let own = from.pkeys.iter().filter(wanted).find(usable)?;
    Some(asked.unwrap_or(*own))
}

/// The MTU that meets the query on a path that carries up to `most`: a smaller packet also passes.
pub(super) fn pick_mtu(most: Mtu, asked: Option<(Selector, Mtu)>) -> Option<Mtu> {
    match asked {
        None | Some((Selector::Best, _)) => Some(most),
        Some((Selector::GreaterThan, value)) => (most > value).then_some(most),
        Some((Selector::Exactly, value)) => (most >= value).then_some(value),
        Some((Selector::LessThan, value)) if most < value => Some(most),
        Some((Selector::LessThan, value)) => {
            Some(Mtu::new(value.get().checked_sub(1)?)).filter(|mtu| *mtu >= Mtu::B256)
        }
    }
}

/// The rate that meets the query on a path with up to `most`.
pub(super) fn pick_rate(most: Rate, asked: Option<(Selector, Rate)>) -> Option<Rate> {
    let Some((selector, value)) = asked else { return Some(most) };
    if selector == Selector::Best {
        return Some(most);
    }
    let (most_mbps, mbps) = (most.mbps()?, value.mbps()?);
    match selector {
        Selector::GreaterThan => (most_mbps > mbps).then_some(most),
        Selector::Exactly => (most_mbps >= mbps).then_some(value),
        Selector::LessThan if most_mbps < mbps => Some(most),
        _ => {
            let less = Rate::KNOWN.iter().map(|(rate, _)| *rate).filter(|rate| rate.mbps() < Some(mbps));
            less.max_by_key(|rate| rate.mbps())
        }
    }
}

/// The lifetime that meets the query on a path that takes at least `least`: to wait longer is allowed.
fn pick_life(least: PacketLifeTime, asked: Option<(Selector, PacketLifeTime)>) -> Option<PacketLifeTime> {
    match asked {
        None | Some((Selector::Best, _)) => Some(least),
        Some((Selector::LessThan, value)) => (least < value).then_some(least),
        Some((Selector::Exactly, value)) => (least <= value).then_some(value),
        Some((Selector::GreaterThan, value)) if least > value => Some(least),
        Some((Selector::GreaterThan, value)) => PacketLifeTime::new(value.get() + 1),
    }
}

pub(super) fn slower(one: Rate, other: Rate) -> Rate {
    if other.mbps() < one.mbps() { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Selector::{Best, Exactly, GreaterThan, LessThan};

    #[test]
    fn mtu_selectors() {
        let most = Mtu::B2048;
        for (asked, picked) in [
            (None, Some(Mtu::B2048)),
            (Some((GreaterThan, Mtu::B1024)), Some(Mtu::B2048)),
            (Some((GreaterThan, Mtu::B2048)), None),
            (Some((LessThan, Mtu::B4096)), Some(Mtu::B2048)),
            (Some((LessThan, Mtu::B2048)), Some(Mtu::B1024)),
            (Some((LessThan, Mtu::B256)), None),
            (Some((Exactly, Mtu::B512)), Some(Mtu::B512)),
            (Some((Exactly, Mtu::B4096)), None),
            (Some((Best, Mtu::B256)), Some(Mtu::B2048)),
        ] {
            assert_eq!(pick_mtu(most, asked), picked, "{asked:?}");
        }
    }

    #[test]
    fn rate_selectors_go_by_speed() {
        let most = Rate::GBPS_100;
        for (asked, picked) in [
            (Some((GreaterThan, Rate::GBPS_56)), Some(Rate::GBPS_100)),
            (Some((GreaterThan, Rate::GBPS_120)), None),
            // 80 Gb/s has code 9 and 100 Gb/s code 16, but 5 Gb/s has code 5 and 10 Gb/s code 3.
            (Some((LessThan, Rate::GBPS_10)), Some(Rate::GBPS_5)),
            (Some((LessThan, Rate::GBPS_2_5)), None),
            (Some((LessThan, Rate::GBPS_200)), Some(Rate::GBPS_100)),
            (Some((Exactly, Rate::GBPS_40)), Some(Rate::GBPS_40)),
            (Some((Exactly, Rate::GBPS_200)), None),
            (Some((Best, Rate::new(0))), Some(Rate::GBPS_100)),
            (Some((Exactly, Rate::new(0))), None),
        ] {
            assert_eq!(pick_rate(most, asked), picked, "{asked:?}");
        }
    }

    #[test]
    fn lifetime_selectors() {
        let life = PacketLifeTime::masked;
        for (asked, picked) in [
            (Some((GreaterThan, life(18))), Some(life(19))),
            (Some((GreaterThan, life(63))), None),
            (Some((LessThan, life(18))), None),
            (Some((LessThan, life(19))), Some(life(18))),
            (Some((Exactly, life(20))), Some(life(20))),
            (Some((Best, life(0))), Some(life(18))),
        ] {
            assert_eq!(pick_life(life(18), asked), picked, "{asked:?}");
        }
    }
}
