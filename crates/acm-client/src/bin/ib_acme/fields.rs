//! A path by field, for people and for programs.
use acm_client::ib_mad::{PacketLifeTime, sa::PathRecord};
use serde_json::{Map, Value, json};

/// How long a datagram may be under way, for programs.
pub(crate) fn nanoseconds(time: PacketLifeTime) -> Option<u64> {
    u64::try_from(time.duration().as_nanos()).ok()
}

/// Names and values. Partitions are as a port has them; a code without a meaning is null.
pub(crate) fn fields(path: &PathRecord) -> Map<String, Value> {
    let values = json!({
        "service_id": path.service_id.to_string(),
        "dgid": path.dgid.to_string(),
        "sgid": path.sgid.to_string(),
        "dlid": path.dlid.get(),
        "slid": path.slid.get(),
        "flow_label": path.flow_hop.flow_label().get(),
        "hop_limit": path.flow_hop.hop_limit(),
        "traffic_class": path.traffic_class,
        "reversible": path.reversible_paths.reversible(),
        "pkey": path.pkey.to_string(),
        "qos_class": path.qos_sl.qos_class(),
        "sl": path.qos_sl.sl().get(),
        "mtu_bytes": path.mtu.value().bytes(),
        "rate_mbps": path.rate.value().mbps(),
        "packet_life_time_ns": nanoseconds(path.packet_life_time.value()),
    });
    match values {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
