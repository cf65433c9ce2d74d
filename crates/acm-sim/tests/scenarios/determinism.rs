//! The same seed and the same calls give the same outputs, byte for byte. Arbitrary inputs do not break a node.
use acm_sansio::{ClientId, EndpointId, Input, SaRequestId, api::DatagramSource};
use acm_sim::{TranscriptEntry, World, WorldConfig};
use core::time::Duration;
use ib_mad::{Lid, Qpn};
use ib_sim::{Faults, Probability};
use proptest::prelude::*;

fn run(seed: u64) -> Vec<TranscriptEntry> {
    let mut world = World::new(WorldConfig { nodes: 5, seed, ..WorldConfig::default() });
    world.subnet.settings_mut().faults = Faults {
        loss: Probability::percent(20),
        duplicate: Probability::percent(20),
        reorder: Probability::percent(20),
        jitter: Duration::from_millis(5),
        ..Faults::default()
    };
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 3)] {
        let _ = world.resolve(from as usize, &World::addresses(from)[0], &World::addresses(to)[1]);
    }
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(100));
    world.transcript
}

#[test]
fn same_seed_gives_same_outputs() {
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[derive(Clone, Debug)]
enum Step {
    Message(Vec<u8>),
    Datagram(Vec<u8>, Option<u8>),
    SaResponse(u32, Vec<u8>),
    Gone,
    Wait(u16),
}

fn steps() -> impl Strategy<Value = Step> {
    let bytes = |max| proptest::collection::vec(any::<u8>(), 0..max);
    prop_oneof![
        bytes(700).prop_map(Step::Message),
        // Requests with a valid header.
        (1_u8..4, bytes(576)).prop_map(|(opcode, body)| {
            let length = u16::try_from(body.len() + 16).unwrap();
            let order = if opcode == 1 { length.to_ne_bytes() } else { length.to_be_bytes() };
            let mut message = vec![1, opcode, 0, 0, 0, 0, order[0], order[1], 0, 0, 0, 0, 0, 0, 0, 0];
            message.extend(body);
            Step::Message(message)
        }),
        (bytes(300), any::<Option<u8>>()).prop_map(|(bytes, gid)| Step::Datagram(bytes, gid)),
        (bytes(256), any::<Option<u8>>()).prop_map(|(mut bytes, gid)| {
            bytes.resize(256, 0);
            let method = bytes[3] & 0x81;
            bytes[..8].copy_from_slice(&[1, 0x2c, 1, method, 0, 0, 0, 1]);
            Step::Datagram(bytes, gid)
        }),
        (0_u32..4, bytes(300)).prop_map(|(id, bytes)| Step::SaResponse(id, bytes)),
        Just(Step::Gone),
        any::<u16>().prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn node_still_resolves_after_arbitrary_inputs(steps in proptest::collection::vec(steps(), 1..60)) {
        let mut world = World::new(WorldConfig::default());
        let client = ClientId::new(77, 3);
        world.input(0, Input::ClientOpened { client, account: acm_sansio::Account::User(0) });
        for step in steps {
            match step {
                Step::Message(message) => world.input(0, Input::ClientMessage { client, message: &message }),
                Step::Datagram(payload, gid) => {
                    let gid = gid.map(|last| ib_mad::Gid::new([last; 16]));
                    let source = DatagramSource { lid: Lid::new(9), path_bits: 0, qpn: Qpn::of::<77>(), gid, group: gid.filter(|gid| gid.is_multicast()) };
                    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload: &payload });
                }
                Step::SaResponse(id, mad) => {
                    world.input(0, Input::SaResponse { id: SaRequestId::new(id, 0), mad: &mad });
                }
                Step::Gone => {
                    world.input(0, Input::ClientClosed(client));
                    world.input(0, Input::ClientOpened { client, account: acm_sansio::Account::User(0) });
                }
                Step::Wait(millis) => world.run_for(Duration::from_millis(millis.into())),
            }
        }
        world.run_for(Duration::from_secs(60));
        prop_assert!(world.resolve(0, &World::addresses(0)[0], &World::addresses(1)[0]).is_ok());
    }
}
