//! Facts about a cache entry in the units of administrators: names instead of ids, seconds instead of instants.
use acm_sansio::{
    Time,
    api::{CacheEntry, CachedPath, DisplayWith, Names},
    failure::Attempt,
};
use ib_mad::sa::PathRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The state of an entry that is ready, and whose path an event may have made wrong.
pub(super) const STALE: &str = "stale";

/// One cache entry, as JSON has it. Times are seconds before or after the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) endpoint: String,
    pub(crate) dest: String,
    pub(crate) state: String,
    pub(crate) cause: String,
    pub(crate) gid: Option<String>,
    /// Origin of the peer's location; `None` for a LID or a GID, or without a location.
    pub(crate) address_source: Option<String>,
    /// `None` if the address does not expire, or has no cached location.
    pub(crate) address_expires_in: Option<f64>,
    pub(crate) path: Option<Path>,
    pub(crate) failure: Option<Failed>,
    /// The last time at which another host had the address, too.
    #[serde(default)]
    pub(crate) contradicted: Option<Contradicted>,
}

/// A contradiction of an entry's address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contradicted {
    pub(crate) ago: f64,
    /// The GID of the host whose path was served.
    pub(crate) used: String,
    /// The GID of the other host.
    pub(crate) other: String,
}

/// The path of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Path {
    pub(crate) source: String,
    pub(crate) found_ago: f64,
    pub(crate) confirmed_ago: f64,
    /// `None` if the path does not expire before its address.
    pub(crate) expires_in: Option<f64>,
    pub(crate) stale: bool,
    pub(crate) uses: u32,
    pub(crate) last_user: Option<String>,
    pub(crate) last_used_ago: Option<f64>,
    /// Its LIDs, P_Key, SL, MTU and rate.
    pub(crate) summary: String,
    /// All its fields.
    pub(crate) record: Value,
}

/// The cached failure of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub(crate) reason: String,
    pub(crate) expires_in: f64,
}

fn seconds(from: Time, to: Time) -> f64 {
    // Milliseconds are enough, and keep the text short.
    (to.since(from).as_secs_f64() * 1000.0).round() / 1000.0
}

fn summary(record: &PathRecord) -> String {
    let PathRecord { slid, dlid, pkey, qos_sl, mtu, rate, .. } = record;
    format!("LID {slid} to LID {dlid}, P_Key {pkey}, SL {}, MTU {}, rate {}", qos_sl.sl(), mtu.value(), rate.value())
}

impl Entry {
    /// Returns the facts at a time, with names of endpoints.
    pub(crate) fn new(entry: &CacheEntry, now: Time, names: &dyn Names) -> Self {
        Self {
            id: format!("{}.{}", entry.id.index(), entry.id.generation()),
            endpoint: entry.endpoint.named(names).to_string(),
            dest: entry.dest.to_string(),
            state: if entry.path.as_ref().is_some_and(|path| path.is_stale) { STALE } else { entry.state }.to_owned(),
            cause: entry.cause.to_owned(),
            gid: entry.gid.map(|gid| gid.to_string()),
            address_source: entry.address_source.map(|source| source.name().to_owned()),
            address_expires_in: entry.address_until.map(|until| seconds(now, until)),
            path: entry.path.as_ref().map(|path| Path::new(path, now)),
            failure: entry
                .failure
                .as_ref()
                .map(|(attempt, until)| Failed { reason: reason(attempt), expires_in: seconds(now, *until) }),
            contradicted: entry.conflict.map(|conflict| Contradicted {
                ago: seconds(conflict.at, now),
                used: conflict.used.to_string(),
                other: conflict.other.to_string(),
            }),
        }
    }
}

/// Returns why a lookup failed, and what was tried.
fn reason(attempt: &Attempt) -> String {
    format!("{}{}", attempt.failure, attempt.details)
}

impl Path {
    fn new(path: &CachedPath, now: Time) -> Self {
        Self {
            source: path.source.name().to_owned(),
            found_ago: seconds(path.found, now),
            confirmed_ago: seconds(path.confirmed, now),
            expires_in: path.until.map(|until| seconds(now, until)),
            stale: path.is_stale,
            uses: path.uses,
            last_user: path.last_use.map(|last| last.account.to_string()),
            last_used_ago: path.last_use.map(|last| seconds(last.at, now)),
            summary: summary(&path.record),
            // Only a map with keys that are no strings cannot be written.
            record: serde_json::to_value(path.record).unwrap_or_default(),
        }
    }
}
