//! State that an event must end: counters, pauses and failures of the time before it.
//!
//! Two worlds live until the same instant, one of them in trouble. Then both have the same event, and no more trouble.
//! The state of their first cores is compared, field by field. [`STATE`] lists every field with the time after which it
//! must be equal. A field that is not in the list fails the test, and so does one that no trouble changes.
use acm_sansio::{Config, Input, Output, PortId, config::Prefetch};
use acm_sim::{World, WorldConfig, name};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, PortState, ServiceId, Status, sa::PathRecord};
use ib_sim::Settings;
use std::collections::{BTreeMap, BTreeSet};

/// The time after the event at which the state is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// With the event.
    Now,
    /// When the requests after the event have ended, within [`SOON`].
    Soon,
    /// The field is not about the time before the event, or may stay.
    Never,
}
use Ends::{Never, Now, Soon};

const SOON: Duration = Duration::from_secs(5);

/// All fields, by the beginning of their path.
const STATE: &[(&str, Ends)] = &[
    // What all share. Counters and random numbers go on.
    ("context.shared.accounts", Never),
    ("context.shared.config", Never),
    ("context.shared.counters", Never),
    ("context.shared.expiry", Never),
    ("context.shared.fabric_size", Never),
    ("context.shared.jitter", Never),
    ("context.shared.latencies", Never),
    ("context.shared.now", Never),
    ("context.shared.outputs", Never),
    ("context.shared.running", Never),
    ("context.shared.stats", Never),
    ("context.shared.timers", Never),
    ("context.shared.transaction_ids", Never),
    ("context.shared.widest", Never),
    ("pending_inputs", Never),
    ("sources", Never),
    // Clients and their requests.
    ("context.clients.conditions", Never),
    ("context.clients.connections", Never),
    ("context.clients.failed", Never),
    ("context.clients.kernel_timeout", Never),
    ("context.clients.requests", Never),
    // Ports and endpoints.
    ("context.ports.addresses", Never),
    ("context.ports.by_address", Never),
    ("context.ports.choices", Never),
    ("context.ports.endpoints", Never),
    ("context.ports.endpoints.chunks.failures", Now),
    ("context.ports.local", Never),
    ("context.ports.order", Never),
    ("context.ports.ports", Never),
    // Subscriptions. A granted one has to be ended, and the budget protects from reports.
    ("context.sa.notices", Never),
    ("context.sa.notices.budget", Never),
    ("context.sa.notices.due", Soon),
    ("context.sa.notices.error", Now),
    ("context.sa.notices.failure_logged", Soon),
    ("context.sa.notices.failures", Now),
    ("context.sa.notices.granted", Never),
    ("context.sa.notices.pending", Soon),
    // The event itself sets it.
    ("context.sa.notices.restart", Never),
    // Queries. What was sent ends by itself, and the window after a second without queries.
    ("context.sa.queues.depth", Never),
    ("context.sa.queues.ports", Never),
    ("context.sa.queues.ports.all", Soon),
    ("context.sa.queues.ports.membership_under_way", Soon),
    ("context.sa.queues.ports.memberships", Never),
    // A storm after the event must not count as calm.
    ("context.sa.queues.ports.pacer.calm", Never),
    ("context.sa.queues.ports.pacer.careful", Now),
    ("context.sa.queues.ports.pacer.failures", Now),
    ("context.sa.queues.ports.pacer.interval", Now),
    ("context.sa.queues.ports.pacer.next", Never),
    ("context.sa.queues.ports.pacer.slow", Now),
    ("context.sa.queues.ports.queue", Never),
    ("context.sa.queues.ports.resume", Never),
    ("context.sa.queues.ports.tables", Never),
    ("context.sa.queues.ports.window", Never),
    ("context.sa.queues.queries", Never),
    ("context.sa.queues.sends", Never),
    // The cache, and what belongs to it.
    ("providers.first.by_tid", Never),
    ("providers.first.cache", Never),
    ("providers.first.confirmations", Never),
    ("providers.first.negatives", Never),
    ("providers.first.preload", Never),
    ("providers.first.renewals", Never),
    ("providers.first.stale_gids", Never),
    ("providers.first.stats", Never),
    ("providers.first.sweep", Never),
    // Endpoints. Their epochs count events, and an estimate of round trips is about the fabric.
    ("providers.first.endpoints.empty", Never),
    ("providers.first.endpoints.intervals", Never),
    ("providers.first.endpoints.lost", Never),
    ("providers.first.endpoints.removed", Never),
    ("providers.first.endpoints.states", Never),
    ("providers.first.endpoints.states.announcement.next", Never),
    ("providers.first.endpoints.states.announcement.not_before", Never),
    ("providers.first.endpoints.states.announcement.qpn", Never),
    ("providers.first.endpoints.states.answered", Never),
    ("providers.first.endpoints.states.defences", Never),
    ("providers.first.endpoints.states.epoch", Never),
    ("providers.first.endpoints.states.failures_epoch", Never),
    ("providers.first.endpoints.states.groups.as_it_is", Now),
    ("providers.first.endpoints.states.groups.failures", Now),
    ("providers.first.endpoints.states.groups.index", Never),
    ("providers.first.endpoints.states.groups.is_attached", Never),
    ("providers.first.endpoints.states.groups.join", Soon),
    ("providers.first.endpoints.states.groups.member", Never),
    ("providers.first.endpoints.states.groups.mgid", Never),
    ("providers.first.endpoints.states.groups.mtu", Never),
    ("providers.first.endpoints.states.groups.rate", Never),
    ("providers.first.endpoints.states.groups.rejoin", Never),
    ("providers.first.endpoints.states.groups.requested_at", Never),
    ("providers.first.endpoints.states.id_rules.sa", Now),
    // An administrator that does not return its capabilities is silent until it does.
    ("providers.first.endpoints.states.id_rules.silent", Never),
    ("providers.first.endpoints.states.id_rules.spaces", Now),
    ("providers.first.endpoints.states.id_rules.undecided", Never),
    ("providers.first.endpoints.states.origin", Never),
    ("providers.first.endpoints.states.prefetch.cold.count", Now),
    ("providers.first.endpoints.states.prefetch.cold.since", Never),
    ("providers.first.endpoints.states.prefetch.failures", Now),
    ("providers.first.endpoints.states.prefetch.query", Now),
    ("providers.first.endpoints.states.prefetch.table", Now),
    ("providers.first.endpoints.states.prefetch.waiting", Never),
    ("providers.first.endpoints.states.queue", Never),
    ("providers.first.endpoints.states.round_trip", Never),
    ("providers.first.endpoints.states.stale_before", Never),
    ("providers.first.endpoints.states.void_before", Never),
    ("providers.first.endpoints.states.window", Never),
    // Other providers: there is none here.
    ("providers.others", Never),
];

/// Returns when the field with this path must be equal; `None` if it is not in the list.
fn ends(path: &str) -> Option<Ends> {
    let is_in =
        |row: &&(&str, Ends)| path.strip_prefix(row.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    STATE.iter().filter(is_in).max_by_key(|(row, _)| row.len()).map(|(_, ends)| *ends)
}

/// All values of a core's state by the path of their fields. Elements of lists have the path of the list.
type Leaves = BTreeMap<String, Vec<String>>;

/// Reads the state of the first core from its `Debug` form, which has every field.
fn leaves(world: &World) -> Leaves {
    let is_name = |name: &&str| name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let (mut path, mut leaves) = (Vec::<&str>::new(), Leaves::new());
    let text = format!("{:#?}", world.node(0).acm);
    for line in text.lines() {
        path.truncate((line.len() - line.trim_start().len()) / 4);
        let line = line.trim().trim_end_matches(',');
        let (name, value) = line.split_once(": ").filter(|(name, _)| is_name(name)).unwrap_or(("", line));
        if value.ends_with(['{', '(', '[']) {
            path.push(name);
        } else if !value.starts_with(['}', ')', ']']) {
            let names: Vec<&str> = path.iter().copied().chain([name]).filter(|name| !name.is_empty()).collect();
            leaves.entry(names.join(".")).or_default().push(value.to_owned());
        }
    }
    leaves
}

type Change = fn(&mut World);

/// Each trouble, with the beginning of the fields that it is about.
const TROUBLES: [(&str, &str, Change); 9] = [
    ("busy", "", |world| {
        refuse(world, Status::BUSY);
        world.run_for(Duration::from_secs(130));
    }),
    ("silent", "", |world| {
        world.subnet.settings_mut().sa.mute = true;
        world.subnet.restart_sm(None);
        world.run_for(Duration::from_secs(130));
    }),
    ("joins as the group is", "", |world| {
        world.subnet.settings_mut().sa.delay = Duration::from_millis(1500);
        refuse(world, Status::SA_REQUEST_INVALID);
        until_not(world, "providers.first.endpoints.states.groups.as_it_is", "false");
    }),
    ("subscription refused", "", |world| {
        world.subnet.settings_mut().sa.delay = Duration::from_millis(300);
        refuse(world, Status::SA_NO_RESOURCES);
        until_not(world, "context.sa.notices.error", "None");
    }),
    ("requests the table", "", |world| {
        world.subnet.settings_mut().sa.delay = Duration::from_secs(1);
        world.subnet.restart_sm(None);
        until_not(world, "providers.first.endpoints.states.prefetch.query", "None");
    }),
    ("lookup without the table", "", |world| {
        world.subnet.restart_sm(None);
        world.run_for(Duration::from_secs(1));
        path(world, 0, 0);
    }),
    ("slow renewal", "", |world| {
        (1..=8).for_each(|traffic_class| path(world, 0, traffic_class));
        world.subnet.settings_mut().sa.delay = Duration::from_millis(50);
        world.subnet.restart_sm(None);
        until_not(world, "context.sa.queues.ports.pacer.slow", "0");
    }),
    ("rules for service ids", "", |world| {
        world.subnet.settings_mut().sa.qos = true;
        path(world, 0x0106_9000, 0);
    }),
    ("no queue pair", "context.ports.", |world| {
        world.set_opening_fails(0, true);
        world.lose_endpoints(0);
        world.run_for(Duration::from_secs(130));
    }),
];

fn refuse(world: &mut World, status: Status) {
    world.subnet.settings_mut().sa.status = Some(status);
    world.subnet.restart_sm(None);
}

/// Requests a path by LID.
fn path(world: &mut World, service_id: u64, traffic_class: u8) {
    let (dlid, service_id) = (world.port(2).lid, ServiceId::new(service_id));
    world.route(0, &PathRecord { dlid, service_id, traffic_class, ..PathRecord::default() }).unwrap();
}

/// Runs until a field has another value than `value`.
fn until_not(world: &mut World, path: &str, value: &str) {
    let end = world.now() + Duration::from_secs(130);
    while leaves(world).get(path).is_none_or(|values| values.iter().all(|other| other == value)) {
        assert!(world.now() < end, "{path} is {value}");
        world.run_for(Duration::from_millis(500));
    }
}

/// Each event, with the beginning of the fields that it is about.
const EVENTS: [(&str, &str, Change); 5] = [
    ("other manager", "", |world| {
        let mut port = world.port(0).clone();
        port.sm_lid = Lid::new(2);
        world.subnet.set_port(World::port_id(0), port).unwrap();
    }),
    ("lost memberships", "", |world| world.subnet.reregister(World::port_id(0)).unwrap()),
    ("port down and up", "", down_and_up),
    ("device gone and back", "", |world| {
        world.lose_endpoints(0);
        down_and_up(world);
    }),
    ("addresses gone and back", "providers.first.endpoints.", |world| {
        let (port, pkey) = (PortId(0), None);
        for address in World::addresses(0) {
            world.input(0, Input::AddressRemoved { port, pkey, address });
        }
        for address in World::addresses(0) {
            world.input(0, Input::AddressAdded { port, pkey, address });
        }
    }),
];

fn down_and_up(world: &mut World) {
    for state in [PortState::DOWN, PortState::ACTIVE] {
        world.subnet.set_port_state(World::port_id(0), state).unwrap();
        world.settle();
    }
}

/// Returns a world of some minutes, in which the first node has all paths and uses one.
fn world() -> World {
    let core = Config { prefetch: Prefetch::On, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(150));
    world.resolve(0, &name(0), &name(1)).unwrap();
    world
}

/// Ends all trouble, and lets the event happen.
fn happen(world: &mut World, event: Change) {
    *world.subnet.settings_mut() = Settings::default();
    world.set_opening_fails(0, false);
    world.transcript.clear();
    event(world);
    world.settle();
}

/// Returns the kinds of the first core's requests and orders, without queries for paths, which depend on the cache.
fn outputs(world: &World) -> BTreeSet<String> {
    let kind = |output: &Output| match output {
        Output::SaSend(send) => Some((send.mad.header.attribute_id, send.mad.header.method))
            .filter(|(attribute, _)| *attribute != AttributeId::PATH_RECORD)
            .map(|(attribute, method)| format!("{attribute} {method}")),
        Output::Attach { .. } => Some("attach".to_owned()),
        _ => None,
    };
    world.transcript.iter().filter(|(_, node, _)| *node == 0).filter_map(|(.., output)| kind(output)).collect()
}

/// Returns the fields that differ.
fn differences(worlds: [&World; 2]) -> Vec<String> {
    let [one, other] = worlds.map(leaves);
    let all: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    all.into_iter().filter(|path| one.get(*path) != other.get(*path)).cloned().collect()
}

#[test]
fn state_of_the_time_before_an_event_ends_with_it() {
    let (mut changed, mut problems) = (BTreeSet::new(), Vec::new());
    for (trouble, about, begin) in TROUBLES {
        for (event, of_event, change) in EVENTS {
            // A queue pair is requested again when the port comes up.
            if trouble == "no queue pair" && !event.contains("back") && !event.contains("up") {
                continue;
            }
            let (mut calm, mut troubled) = (world(), world());
            begin(&mut troubled);
            calm.run_until(troubled.now());
            changed.extend(differences([&calm, &troubled]));
            happen(&mut calm, change);
            happen(&mut troubled, change);
            let mut compare = |worlds: [&World; 2], when: &str, expected: Ends| {
                let rest = differences(worlds).into_iter().filter(|path| {
                    path.starts_with(about) && path.starts_with(of_event) && ends(path) == Some(expected)
                });
                problems.extend(rest.map(|path| format!("{event} after {trouble}: {path} differs {when}")));
            };
            compare([&calm, &troubled], "at once", Now);
            calm.run_for(SOON);
            troubled.run_for(SOON);
            compare([&calm, &troubled], "soon", Soon);
            let [calm, troubled] = [&calm, &troubled].map(outputs);
            if calm != troubled && about.is_empty() && of_event.is_empty() {
                problems.push(format!("{event} after {trouble}: {troubled:?} instead of {calm:?}"));
            }
        }
    }
    let is_reached = |row: &str| changed.iter().any(|path: &String| path.starts_with(row));
    let unreached = STATE.iter().filter(|(row, ends)| *ends != Never && !is_reached(row));
    problems.extend(unreached.map(|(row, _)| format!("no trouble changes {row}")));
    let all: BTreeSet<String> = changed.iter().cloned().chain(leaves(&world()).into_keys()).collect();
    problems.extend(all.into_iter().filter(|path| ends(path).is_none()).map(|path| format!("{path} is not listed")));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
