//! Formats groups as text and JSON.
use crate::output::Output;
use acm_client::{
    fabric::{Group, Member},
    ib_mad::{PacketLifeTime, id::GroupUse, sa::McMemberRecord},
};
use serde_json::{Value, json};
use std::io;

/// Prints a group and its members.
pub(super) fn group(out: &mut Output, group: &Group) -> io::Result<()> {
    let mgid = group.record.mgid;
    match GroupUse::of(mgid) {
        Some(of) => out.line(format_args!("{mgid}  {of}"))?,
        None => out.line(format_args!("{mgid}"))?,
    }
    out.line(format_args!("  {}", parameters(&group.record)))?;
    for Member { port_gid, join_state, node } in &group.members {
        let node = node.as_deref().unwrap_or("?");
        let kind = if join_state.is_empty() { "member".to_owned() } else { join_state.to_string() };
        out.line(format_args!("  {node}  {port_gid}  {kind}"))?;
    }
    Ok(())
}

/// Formats the parameters of a group in one line.
pub(super) fn parameters(record: &McMemberRecord) -> String {
    let McMemberRecord { qkey, pkey, .. } = record;
    let (mtu, rate, life) = (record.mtu.value(), record.rate.value(), lifetime(record.packet_life_time.value()));
    let (sl, scope) = (record.sl_flow_hop.sl(), scope(record.mgid.multicast_scope()));
    let mlid = record.mlid.get();
    format!("MLID {mlid:#06x}, P_Key {pkey}, Q_Key {qkey}, SL {sl}, MTU {mtu}, {rate}, lifetime {life}, scope {scope}")
}

/// Formats a lifetime, rounded: `1.07s`, `4.10us`.
pub(super) fn lifetime(life: PacketLifeTime) -> String {
    format!("{:.2?}", life.duration()).replace('\u{b5}', "u")
}

/// Returns the name of a scope.
fn scope(scope: u8) -> String {
    match scope {
        2 => "link".to_owned(),
        5 => "site".to_owned(),
        8 => "organization".to_owned(),
        14 => "global".to_owned(),
        other => other.to_string(),
    }
}

/// Returns a group as JSON. A code without a meaning is null.
pub(super) fn group_json(group: &Group) -> Value {
    let record = &group.record;
    let lifetime = u64::try_from(record.packet_life_time.value().duration().as_nanos()).ok();
    let members: Vec<Value> = group
        .members
        .iter()
        .map(|member| {
            json!({
                "node": member.node,
                "port_gid": member.port_gid.to_string(),
                "join_state": member.join_state.to_string(),
            })
        })
        .collect();
    json!({
        "mgid": record.mgid.to_string(),
        "use": GroupUse::of(record.mgid).map(|of| of.to_string()),
        "mlid": record.mlid.get(),
        "pkey": record.pkey.to_string(),
        "qkey": record.qkey.to_string(),
        "sl": record.sl_flow_hop.sl().get(),
        "mtu_bytes": record.mtu.value().bytes(),
        "rate_mbps": record.rate.value().mbps(),
        "packet_life_time_ns": lifetime,
        "traffic_class": record.traffic_class,
        "flow_label": record.sl_flow_hop.flow_label().get(),
        "hop_limit": record.sl_flow_hop.hop_limit(),
        "scope": record.mgid.multicast_scope(),
        "members": members,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_client::ib_mad::{
        FlowLabel, Lid, Mtu, Pkey, Qkey, Rate, ServiceLevel,
        code::Selected,
        sa::{JoinState, SlFlowHop},
    };

    #[test]
    fn each_member_of_a_group_has_its_own_value() {
        let record = McMemberRecord {
            mgid: "ff15:401b:8009::f01:203".parse().unwrap(),
            qkey: Qkey::new(1),
            mlid: Lid::new(0xc002),
            mtu: Selected::exactly(Mtu::B1024),
            traffic_class: 3,
            pkey: Pkey::new(0x8009),
            rate: Selected::exactly(Rate::GBPS_40),
            packet_life_time: Selected::exactly(PacketLifeTime::of::<3>()),
            sl_flow_hop: SlFlowHop::default()
                .with_sl(ServiceLevel::of::<4>())
                .with_flow_label(FlowLabel::of::<6>())
                .with_hop_limit(7),
            ..McMemberRecord::default()
        };
        let port_gid = "fe80::8".parse().unwrap();
        let member = Member { port_gid, join_state: JoinState::FULL_MEMBER, node: Some("node1".to_owned()) };
        let group = Group { record, members: vec![member] };
        let expected = json!({
            "mgid": "ff15:401b:8009::f01:203",
            "use": "IP 239.1.2.3",
            "mlid": 0xc002,
            "pkey": "0x8009",
            "qkey": "0x00000001",
            "sl": 4,
            "mtu_bytes": 1024,
            "rate_mbps": 40_000,
            "packet_life_time_ns": 4096 << 3,
            "traffic_class": 3,
            "flow_label": 6,
            "hop_limit": 7,
            "scope": 5,
            "members": [{ "node": "node1", "port_gid": "fe80::8", "join_state": "full member" }],
        });
        assert_eq!(group_json(&group), expected);
        let text = "MLID 0xc002, P_Key 0x8009, Q_Key 0x00000001, SL 4, MTU 1024, 40 Gb/s, lifetime 32.77us, scope site";
        assert_eq!(parameters(&group.record), text);
    }
}
