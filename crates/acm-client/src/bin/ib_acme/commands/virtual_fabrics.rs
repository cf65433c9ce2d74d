//! Virtual fabrics, which the fabric manager of Omni-Path lists by name.
use super::failure::Failure;
use crate::output::Output;
use acm_client::{
    fabric::{Administration, FabricError},
    ib_mad::{opa::OpaVirtualFabric, sa::Query},
};
use serde_json::{Value, json};

/// Returns the virtual fabrics of the subnet.
fn all(administration: &mut Administration) -> Result<Vec<OpaVirtualFabric>, Failure> {
    match administration.table("virtual fabrics", &Query::<OpaVirtualFabric>::new()) {
        Ok(table) => Ok(table.records),
        Err(error @ (FabricError::NoAnswer { .. } | FabricError::Refused { .. })) => {
            Err(Failure::Text(format!("only the fabric manager of Omni-Path lists virtual fabrics: {error}")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the virtual fabric with this name.
pub(super) fn named(administration: &mut Administration, name: &str) -> Result<OpaVirtualFabric, Failure> {
    let all = all(administration)?;
    all.iter().find(|found| found.name.as_text() == name.as_bytes()).copied().ok_or_else(|| {
        let names: Vec<String> = all.iter().map(text).collect();
        Failure::Text(format!("no virtual fabric is called {name}; there are: {}", names.join(", ")))
    })
}

/// Prints the virtual fabrics.
pub(super) fn list(administration: &mut Administration, is_json: bool, out: &mut Output) -> Result<(), Failure> {
    let all = all(administration)?;
    if is_json {
        let document: Vec<Value> = all.iter().map(fabric_json).collect();
        out.line(format_args!("{:#}", json!({ "virtual_fabrics": document })))?;
        return Ok(());
    }
    let width = all.iter().map(|found| text(found).chars().count()).chain([4]).max().unwrap_or_default();
    out.line(format_args!("{:width$}  INDEX  P_KEY   SL  MULTICAST_SL  MTU    RATE", "NAME"))?;
    for found in &all {
        let (sl, multicast) = levels(found);
        let mtu = found.max_mtu;
        let mtu = if mtu.is_limited() { mtu.mtu().to_string() } else { "any".to_owned() };
        let rate = found.max_rate;
        let rate = if rate.is_limited() { rate.rate().to_string() } else { "any".to_owned() };
        let (name, index, pkey) = (text(found), found.index.get(), found.pkey);
        out.line(format_args!("{name:width$}  {index:<5}  {pkey}  {sl:<2}  {multicast:<12}  {mtu:<5}  {rate}"))?;
    }
    Ok(())
}

fn text(found: &OpaVirtualFabric) -> String {
    String::from_utf8_lossy(found.name.as_text()).into_owned()
}

/// Returns the service level, and that of multicasts.
fn levels(found: &OpaVirtualFabric) -> (u8, u8) {
    let (base, multicast) = (found.base_sl.sl(), found.multicast_sl);
    (base, if multicast.is_given() { multicast.sl() } else { base })
}

fn fabric_json(found: &OpaVirtualFabric) -> Value {
    let (sl, multicast) = levels(found);
    let (mtu, rate) = (found.max_mtu, found.max_rate);
    json!({
        "name": text(found),
        "index": found.index.get(),
        "pkey": found.pkey.to_string(),
        "sl": sl,
        "multicast_sl": multicast,
        "mtu_bytes": mtu.is_limited().then(|| mtu.mtu().bytes()),
        "rate_mbps": rate.is_limited().then(|| rate.rate().mbps()),
    })
}
