//! `--json`: prints all results as one document.
use crate::{
    args::{Args, Perf},
    output::{Output, fields, strerror},
    path_request, perf,
    ranges::Names,
    run_state::RunState,
    server::Server,
};
use acm_client::{Counters, Endpoint, PerfTarget, Request, ib_mad::sa::PathRecord};
use serde_json::{Map, Value, json};
use std::io;

/// Queries all daemons and prints the results. Returns 0 if all requests succeeded.
pub(crate) fn report(args: &Args, out: &mut Output) -> io::Result<i32> {
    let Some(services) = Names::parse(&args.services) else {
        out.line(format_args!("Unable to parse service list argument"))?;
        return Ok(-1);
    };
    let mut state = RunState::new(args, out);
    let (mut documents, mut good) = (Vec::new(), true);
    for service in services {
        let mut document = Map::from_iter([("service".to_owned(), json!(service))]);
        match Server::connect(&service, state.errno, state.out)? {
            Ok(mut server) => good &= ask(&mut state, &mut server, &mut document),
            Err(refused) => {
                document.insert("error".to_owned(), json!(strerror(refused.errno)));
                good = false;
            }
        }
        documents.push(Value::Object(document));
    }
    out.line(format_args!("{:#}", json!({ "services": documents })))?;
    Ok(if good { 0 } else { -1 })
}

/// Queries one daemon. Returns `true` if all requests succeeded.
fn ask(state: &mut RunState<'_>, server: &mut Server, document: &mut Map<String, Value>) -> bool {
    let mut good = true;
    if let Some(dests) = state.args.dest.as_deref() {
        let paths = paths(state, server, dests);
        good &= paths.iter().all(|path| path.get("error").is_none());
        document.insert("paths".to_owned(), Value::Array(paths));
    }
    if let Some(which) = state.args.perf() {
        let rows = counters(state, server, which);
        good &= !rows.is_empty();
        document.insert("counters".to_owned(), Value::Array(rows));
    }
    if let Some(index) = state.args.endpoint() {
        let rows = endpoints(server, index);
        good &= index == 0 || !rows.is_empty();
        document.insert("endpoints".to_owned(), Value::Array(rows));
    }
    good
}

fn paths(state: &mut RunState<'_>, server: &mut Server, dests: &str) -> Vec<Value> {
    let (Some(dests), Some(sources)) = (Names::parse(dests), state.sources()) else {
        return vec![json!({ "error": "no address in the list" })];
    };
    let mut paths = Vec::new();
    for dest in dests {
        let (format, dest) = state.classify(dest);
        for source in &sources {
            let mut one = Map::from_iter([("destination".to_owned(), json!(dest))]);
            one.extend(source.as_ref().map(|source| ("source".to_owned(), json!(source))));
            let found = match path_request::path_request(state.args, format, source.as_deref(), &dest) {
                Ok(request) => path_request::path(server, state.args, &request).map_err(strerror),
                Err(fault) => Err(fault.into()),
            };
            match found {
                Ok(found) => {
                    one.extend(found.source.map(|source| ("source".to_owned(), json!(source.to_string()))));
                    one.insert("path".to_owned(), Value::Object(fields(&found.path)));
                    if let Some(most) = state.args.alternates {
                        let conditions = state.args.requirements.apply_to(PathRecord::default());
                        let found = server.alternates(&found.path, &conditions, most).map_err(strerror);
                        let rows = found.iter().flatten().map(|path| Value::Object(fields(path))).collect();
                        one.insert("alternates".to_owned(), Value::Array(rows));
                        one.extend(found.err().map(|why| ("error".to_owned(), json!(why))));
                    }
                    if state.args.verify {
                        let verified = server.ask(&Request::QuerySa { path: found.path }).map_err(strerror);
                        one.insert("verified".to_owned(), json!(verified.is_ok()));
                        one.extend(verified.err().map(|why| ("error".to_owned(), json!(why))));
                    }
                }
                Err(why) => {
                    one.insert("error".to_owned(), json!(why));
                }
            }
            paths.push(Value::Object(one));
        }
    }
    paths
}

fn counters(state: &mut RunState<'_>, server: &mut Server, which: Perf) -> Vec<Value> {
    let mut of = |target| server.counters(target).ok();
    let row = |index: Option<u8>, counters: Counters| {
        let named = Counters::NAMES.iter().zip(counters.0);
        let named = named.map(|(name, value)| (name.to_lowercase().replace(' ', "_"), json!(value)));
        let mut row: Map<String, Value> = named.collect();
        row.extend(index.map(|index| ("endpoint".to_owned(), json!(index))));
        Value::Object(row)
    };
    match which {
        Perf::Row | Perf::Column => of(PerfTarget::Total).map(|counters| row(None, counters)).into_iter().collect(),
        Perf::Endpoint(index) => {
            let index = u8::try_from(index).ok();
            let found = index.and_then(|index| of(PerfTarget::Endpoint(index)));
            found.map(|counters| row(index, counters)).into_iter().collect()
        }
        Perf::All => (1..=u8::MAX)
            .map_while(|index| of(PerfTarget::Endpoint(index)).map(|counters| row(Some(index), counters)))
            .collect(),
        Perf::Source => {
            let (format, source) = state.classify(state.args.source.clone().unwrap_or_default());
            let address = perf::address(format, &source);
            let found = address.and_then(|address| of(PerfTarget::Address(Some(address))));
            found.map(|counters| row(None, counters)).into_iter().collect()
        }
    }
}

fn endpoints(server: &mut Server, index: i32) -> Vec<Value> {
    let mut one = |index| server.endpoint(index, 0).ok().map(|endpoint| row(index, &endpoint));
    match u8::try_from(index) {
        Ok(0) => (1..=u8::MAX).map_while(one).collect(),
        Ok(index) => one(index).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

fn row(index: u8, endpoint: &Endpoint) -> Value {
    json!({
        "endpoint": index,
        "device_guid": endpoint.device.to_string(),
        "port": endpoint.port,
        "pkey": endpoint.pkey.to_string(),
        "provider": endpoint.provider,
        "addresses": endpoint.addresses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_client::ib_mad::{Guid, Pkey};

    #[test]
    fn each_member_of_an_endpoint_has_its_own_value() {
        let endpoint = Endpoint {
            device: Guid::new(1),
            port: 2,
            ports: 3,
            pkey: Pkey::new(0x8004),
            provider: "ibacmp".to_owned(),
            addresses: vec!["node1".to_owned()],
        };
        let expected = json!({
            "endpoint": 5,
            "device_guid": "0x0000000000000001",
            "port": 2,
            "pkey": "0x8004",
            "provider": "ibacmp",
            "addresses": ["node1"],
        });
        assert_eq!(row(5, &endpoint), expected);
    }
}
