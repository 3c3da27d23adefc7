use hitless_core::wire::{Duration, UetData, UetHeader};
use proptest::prelude::*;

use super::*;

const RATE: BitRate = BitRate::from_gbps(100);

fn port(plane: u32) -> PortConfig {
    PortConfig { network_card: NetworkCardConfig::at_rate(RATE), plane, line_changes: false, highest_rate: RATE }
}

/// The ports of a host in these planes, with a destination in the planes of each set.
fn ports(planes: &[u32], destinations: &[u64]) -> Ports {
    Ports::new(&planes.iter().map(|&plane| port(plane)).collect::<Vec<_>>(), destinations.into())
}

fn packet(entropy: u16) -> Packet {
    let data = UetData {
        sequence: 0,
        credit_target: 0,
        payload_bytes: 1_000,
        entropy,
        is_retransmission: false,
        acknowledge_now: false,
    };
    Packet { transport: Transport::Uet(UetHeader::Data(data)), ..Packet::default() }
}

#[test]
fn consecutive_entropy_values_take_all_ports_in_turn_and_those_of_a_failed_port_spread_evenly() {
    let mut ports = ports(&[0, 1, 2, 3], &[0b1111]);
    let taken = |ports: &Ports| (0..240).map(|entropy| ports.choose_for(&packet(entropy)).0).collect::<Vec<_>>();
    let before = taken(&ports);
    assert_eq!(before[..6], [0, 1, 2, 3, 0, 1]);
    ports.ports[2].is_up = false;
    let after = taken(&ports);
    assert!(before.iter().zip(&after).all(|(before, after)| *before == 2 || before == after), "others have moved");
    let counts = [0, 1, 2, 3].map(|port| after.iter().filter(|&&taken| taken == port).count());
    assert_eq!(counts, [80, 80, 0, 80]);
}

#[test]
fn a_port_whose_plane_does_not_reach_the_destination_is_not_taken() {
    let (everywhere, in_plane_1) = (HostId(0), HostId(1));
    let mut ports = ports(&[0, 1, 1], &[0b11, 0b10]);
    let found =
        |ports: &Ports, to| (0..999).map(|key| ports.choose(to, key).0).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(found(&ports, everywhere), [0, 1, 2].into());
    assert_eq!(found(&ports, in_plane_1), [1, 2].into());
    ports.set_lost(everywhere, 0b10);
    assert_eq!(found(&ports, everywhere), [0].into());
    ports.set_lost(everywhere, 0);
    assert_eq!(found(&ports, everywhere), [0, 1, 2].into());
    // Without any usable port packets leave as if all were usable.
    ports.set_lost(everywhere, 0b11);
    assert_eq!(found(&ports, everywhere), [0, 1, 2].into());
}

#[test]
fn a_plane_is_lost_with_the_last_port_in_it() {
    let mut ports = ports(&[0, 1, 1], &[0b11]);
    let table = [((1, false), 0), ((2, false), 0b10), ((0, false), 0b11), ((1, true), 0b01), ((0, true), 0)];
    for ((port, is_reachable), lost) in table {
        assert_eq!(ports.set_reachable(PortId(port), is_reachable), lost, "port {port}: {is_reachable}");
    }
}

#[test]
fn a_spraying_connection_waits_for_the_fullest_port_that_is_up() {
    let mut ports = ports(&[0, 1], &[0b11]);
    let limit = ports.ports[0].card.serialisation(16_000);
    ports.card_mut(PortId(1)).commit(Time::ZERO, 32_000);
    assert!(ports.has_room(Lane(0), Time::ZERO) && !ports.has_room(Lane(1), Time::ZERO));
    assert!(!ports.has_room(Lane::ALL, Time::ZERO));
    assert!(ports.has_room(Lane::ALL, Time::ZERO + limit + Duration::from_us(1)));
    ports.ports[1].is_up = false;
    assert!(ports.has_room(Lane::ALL, Time::ZERO));
}

proptest! {
    #[test]
    fn flows_of_usable_ports_never_move(
        count in 2_u32..9, down in any::<u64>(), keys in proptest::collection::vec(any::<u32>(), 1..50),
    ) {
        let mut ports = ports(&(0..count).collect::<Vec<_>>(), &[u64::MAX]);
        let before: Vec<PortId> = keys.iter().map(|&key| ports.choose(HostId(0), key)).collect();
        (0..count as usize).for_each(|port| ports.ports[port].is_up = down >> port & 1 == 0);
        for (key, before) in keys.iter().zip(before) {
            let after = ports.choose(HostId(0), *key);
            let is_up = |port: PortId| ports.ports[usize::from(port.0)].is_up;
            prop_assert_eq!(after == before, is_up(before) || !ports.ports.iter().any(|port| port.is_up));
            prop_assert!(is_up(after) || after == before);
        }
    }
}
