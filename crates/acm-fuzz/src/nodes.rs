//! Three nodes on a simulated subnet with faults. Each core stays consistent, and after the faults end each node finds
//! each node.
use acm_sim::{World, WorldConfig, name};
use acm_wire::client::{EntryFlags, resolve_request};
use arbitrary::{Arbitrary, Unstructured};
use core::time::Duration;
use ib_mad::{Lid, Pkey, PortState};
use ib_sim::{Faults, Probability};

const NODES: u8 = 3;
/// Longest sequence; longer ones cover nothing new.
const MAX_STEPS: usize = 60;

/// An event of one of the three nodes, or of their subnet.
#[derive(Clone, Copy, Debug, Arbitrary)]
enum Step {
    Resolve(u8, u8, bool),
    ResolveAndDisconnect(u8, u8),
    ResolveUnknown(u8, u8),
    Faults(u8, u8),
    SaLoss(u8),
    SaMute(bool),
    RestartSm(Option<u8>),
    Lid(u8, u8),
    Pkeys(u8, bool),
    Bounce(u8),
    LoseEndpoints(u8),
    OpeningFails(u8, bool),
    Restart(u8),
    Reregister(u8),
    Wait(u16),
    Sleep(u8),
}

/// Applies a sequence of steps to three nodes, ends all faults, and resolves each node from each node.
///
/// # Panics
/// If a core is inconsistent after a step, or if a node is not found after the faults have ended.
pub fn nodes(bytes: &[u8]) {
    let mut world = World::new(WorldConfig { nodes: NODES.into(), ..WorldConfig::default() });
    let mut u = Unstructured::new(bytes);
    let mut steps = Vec::new();
    for _ in 0..MAX_STEPS {
        let step = if u.is_empty() { break } else { Step::arbitrary(&mut u) };
        let Ok(step) = step else { break };
        steps.push(step);
        apply(&mut world, step);
        check(&world, &step);
    }
    heal(&mut world);
    for (from, to) in (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to))) {
        let found = world.resolve(from.into(), &name(from.into()), &name(to.into()));
        assert!(found.is_ok(), "{found:?} from node {from} to node {to}, after the faults have ended: {steps:?}");
    }
}

fn check(world: &World, step: &Step) {
    for node in 0..NODES {
        let checked = world.node(node.into()).acm.check();
        assert_eq!(checked, Ok(()), "node {node} after {step:?}");
    }
}

fn heal(world: &mut World) {
    world.subnet.settings_mut().faults = Faults::default();
    world.subnet.settings_mut().sa.loss = Probability::percent(0);
    world.subnet.settings_mut().sa.mute = false;
    for node in 0..usize::from(NODES) {
        world.set_opening_fails(node, false);
        pkeys(world, node, true);
        let _ = world.subnet.set_port_state(World::port_id(node), PortState::ACTIVE);
    }
    world.settle();
    // Joins and opening queue pairs are retried after a minute at most.
    world.run_for(Duration::from_secs(300));
}

fn pkeys(world: &mut World, node: usize, default: bool) {
    let mut port = world.port(node).clone();
    port.pkeys = if default { vec![Pkey::DEFAULT_FULL] } else { vec![Pkey::new(0x8001)] };
    let _ = world.subnet.set_port(World::port_id(node), port);
    world.read_port(node);
}

fn apply(world: &mut World, step: Step) {
    let node = |number: u8| usize::from(number % NODES);
    let name_of = |number: u8| name((number % NODES).into());
    let percent = |number: u8| Probability::percent(u32::from(number) % 101);
    let message =
        |from: u8, dest: &acm_wire::Address, flags| resolve_request(Some(&name_of(from)), dest, flags, [from; 8]);
    match step {
        Step::Resolve(from, to, no_delay) => {
            let flags = if no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
            let _ = world.request(node(from), &message(from, &name_of(to), flags));
        }
        Step::ResolveAndDisconnect(from, to) => {
            let client = world.request(node(from), &message(from, &name_of(to), EntryFlags::empty()));
            world.disconnect(client);
        }
        Step::ResolveUnknown(from, which) => {
            let unknown = acm_wire::Address::from_text(&format!("nobody{which}"));
            let _ = world.request(node(from), &message(from, &unknown, EntryFlags::empty()));
        }
        Step::Faults(loss, jitter) => {
            let jitter = Duration::from_millis(jitter.into());
            let faults = Faults {
                loss: percent(loss),
                duplicate: percent(loss / 2),
                reorder: percent(loss / 2),
                jitter,
                ..Faults::default()
            };
            world.subnet.settings_mut().faults = faults;
        }
        Step::SaLoss(loss) => world.subnet.settings_mut().sa.loss = percent(loss),
        Step::SaMute(mute) => world.subnet.settings_mut().sa.mute = mute,
        Step::RestartSm(base) => {
            world.subnet.restart_sm(base.map(|base| Lid::new(0xc000 | u16::from(base))));
            world.settle();
        }
        Step::Lid(number, lid) => {
            let mut port = world.port(node(number)).clone();
            // The upper byte keeps the LIDs of the nodes apart.
            port.lid = Lid::new(u16::from(number % NODES + 1) << 8 | u16::from(lid));
            let _ = world.subnet.set_port(World::port_id(node(number)), port);
            world.settle();
        }
        Step::Pkeys(number, default) => pkeys(world, node(number), default),
        Step::Bounce(number) => {
            for state in [PortState::DOWN, PortState::ACTIVE] {
                let _ = world.subnet.set_port_state(World::port_id(node(number)), state);
                world.settle();
            }
        }
        Step::LoseEndpoints(number) => world.lose_endpoints(node(number)),
        Step::OpeningFails(number, fails) => world.set_opening_fails(node(number), fails),
        Step::Restart(number) => world.restart(node(number)),
        Step::Reregister(number) => {
            let port = World::port_id(node(number));
            world.subnet.drop_memberships(port);
            let _ = world.subnet.reregister(port);
            world.settle();
        }
        Step::Wait(millis) => world.run_for(Duration::from_millis(millis.into())),
        Step::Sleep(seconds) => world.run_for(Duration::from_secs(seconds.into())),
    }
}
