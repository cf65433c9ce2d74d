//! Three nodes on a simulated subnet: whatever happens, each core fits together, each client is answered, and in the end
//! everybody finds everybody.
use acm_sim::{World, WorldConfig, name};
use acm_wire::client::{EntryFlags, resolve_request};
use arbitrary::{Arbitrary, Unstructured};
use core::time::Duration;
use ib_mad::{Lid, Pkey, PortState};
use ib_sim::{Faults, Probability};

const NODES: u8 = 3;
/// A sequence is as long as says something new.
const MOST: usize = 60;

/// What happens to one of three nodes, or to their subnet.
#[derive(Clone, Copy, Debug, Arbitrary)]
enum Happening {
    Ask(u8, u8, bool),
    AskAndGo(u8, u8),
    AskForNobody(u8, u8),
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

/// A sequence of happenings.
///
/// # Panics
/// If a core does not fit together, or somebody is not found once all is well.
pub fn nodes(bytes: &[u8]) {
    let mut world = World::new(WorldConfig { nodes: NODES.into(), ..WorldConfig::default() });
    let mut u = Unstructured::new(bytes);
    let mut happened = Vec::new();
    for _ in 0..MOST {
        let happening = if u.is_empty() { break } else { Happening::arbitrary(&mut u) };
        let Ok(happening) = happening else { break };
        happened.push(happening);
        happen(&mut world, happening);
        fits(&world, &happening);
    }
    heal(&mut world);
    for (from, to) in (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to))) {
        let found = world.resolve(from.into(), &name(from.into()), &name(to.into()));
        assert!(found.is_ok(), "{found:?} from node {from} to node {to}, though all is well: {happened:?}");
    }
}

fn fits(world: &World, happening: &Happening) {
    for node in 0..NODES {
        let fits = world.node(node.into()).acm.check();
        assert_eq!(fits, Ok(()), "node {node} after {happening:?}");
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
    // Joins are tried again after a minute at most, queue pairs too.
    world.run_for(Duration::from_secs(300));
}

fn pkeys(world: &mut World, node: usize, default: bool) {
    let mut port = world.port(node).clone();
    port.pkeys = if default { vec![Pkey::DEFAULT_FULL] } else { vec![Pkey::new(0x8001)] };
    let _ = world.subnet.set_port(World::port_id(node), port);
    world.read_port(node);
}

fn happen(world: &mut World, happening: Happening) {
    let node = |number: u8| usize::from(number % NODES);
    let of = |number: u8| name((number % NODES).into());
    let some = |number: u8| Probability::percent(u32::from(number) % 101);
    let message = |from: u8, dest: &acm_wire::Address, flags| resolve_request(Some(&of(from)), dest, flags, [from; 8]);
    match happening {
        Happening::Ask(from, to, no_delay) => {
            let flags = if no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
            let _ = world.ask(node(from), &message(from, &of(to), flags));
        }
        Happening::AskAndGo(from, to) => {
            let ask = world.ask(node(from), &message(from, &of(to), EntryFlags::empty()));
            world.hang_up(ask);
        }
        Happening::AskForNobody(from, which) => {
            let nobody = acm_wire::Address::from_text(&format!("nobody{which}"));
            let _ = world.ask(node(from), &message(from, &nobody, EntryFlags::empty()));
        }
        Happening::Faults(loss, jitter) => {
            let jitter = Duration::from_millis(jitter.into());
            let faults = Faults {
                loss: some(loss),
                duplicate: some(loss / 2),
                reorder: some(loss / 2),
                jitter,
                ..Faults::default()
            };
            world.subnet.settings_mut().faults = faults;
        }
        Happening::SaLoss(loss) => world.subnet.settings_mut().sa.loss = some(loss),
        Happening::SaMute(mute) => world.subnet.settings_mut().sa.mute = mute,
        Happening::RestartSm(base) => {
            world.subnet.restart_sm(base.map(|base| Lid::new(0xc000 | u16::from(base))));
            world.settle();
        }
        Happening::Lid(number, lid) => {
            let mut port = world.port(node(number)).clone();
            // Each node has LIDs of its own.
            port.lid = Lid::new(u16::from(number % NODES + 1) << 8 | u16::from(lid));
            let _ = world.subnet.set_port(World::port_id(node(number)), port);
            world.settle();
        }
        Happening::Pkeys(number, default) => pkeys(world, node(number), default),
        Happening::Bounce(number) => {
            for state in [PortState::DOWN, PortState::ACTIVE] {
                let _ = world.subnet.set_port_state(World::port_id(node(number)), state);
                world.settle();
            }
        }
        Happening::LoseEndpoints(number) => world.lose_endpoints(node(number)),
        Happening::OpeningFails(number, fails) => world.set_opening_fails(node(number), fails),
        Happening::Restart(number) => world.restart(node(number)),
        Happening::Reregister(number) => {
            let port = World::port_id(node(number));
            world.subnet.forget_memberships(port);
            let _ = world.subnet.reregister(port);
            world.settle();
        }
        Happening::Wait(millis) => world.run_for(Duration::from_millis(millis.into())),
        Happening::Sleep(seconds) => world.run_for(Duration::from_secs(seconds.into())),
    }
}
