//! Resources stated by mechanisms, compared with figures computed by hand from the papers' configurations.

use hitless_core::wire::{Duration, PortId};
use hitless_mechanisms::afq::{AfqPort, AfqSettings, AfqSketch};
use hitless_mechanisms::rimm::{Neighbour, RimmConfig, RimmRelease, RimmSettings, WatchedPort};
use hitless_mechanisms::sqr::{SqrConfig, SqrSettings};
use hitless_mechanisms::{Afq, LinkLayerRetry, Rimm, Sqr, Wharf};
use hitless_switch::{Budget, Footprint, Mechanism, QueueLimit, Resources};

fn stated(mechanism: &mut impl Mechanism, ports: usize) -> (Resources, Footprint) {
    mechanism.needs(&vec![1; ports]);
    let resources = mechanism.resources();
    let footprint = Footprint::of(&resources, &Budget::tofino_like());
    (resources, footprint)
}

fn afq(ports: u16, rows: u8, columns: u32) -> Afq {
    let port = |number| AfqPort::new(PortId(number), QueueLimit::Unlimited);
    let sketch = AfqSketch { rows, columns, ..AfqSketch::default() };
    Afq::new((0..ports).map(port).collect(), AfqSettings { sketch, ..AfqSettings::default() }, 1)
}

/// 32 bits per cell: the sketches of table 1, and of the simulations, whose rows of 36 x 16,384 take 144 blocks and
/// one.
#[test]
fn the_sketches_of_afq() {
    let round = |ports: u64| 32 * ports;
    for (ports, rows, columns, blocks_of_row) in [(1, 2, 2_048, 2), (1, 3, 16_384, 5), (36, 2, 16_384, 145)] {
        let (_, found) = stated(&mut afq(ports, rows, columns), usize::from(ports));
        let (ports, rows, columns) = (u64::from(ports), u64::from(rows), u64::from(columns));
        assert_eq!(found.bits, ports * rows * columns * 32 + round(ports));
        assert_eq!(found.bits_outside, round(ports));
        assert_eq!((found.blocks, found.blocks_of_largest), (rows * blocks_of_row + 2, blocks_of_row));
        assert_eq!(found.stateful_alus_of, [rows + 1, 0]);
    }
}

/// Section V: two depths of two bytes for each neighbour, two numbers of four bytes for each of 4,096 slots.
#[test]
fn the_depths_and_numbers_of_rimm() {
    let neighbour =
        |port| Neighbour { port: PortId(port), full_segments: 20_000, own_full_segments: 20_000, is_told: true };
    let config = RimmConfig {
        line_ports: 6,
        watched: vec![WatchedPort { port: PortId(0), threshold_segments: 20_000 }],
        neighbours: [2, 3, 4, 5].map(neighbour).to_vec(),
        settings: RimmSettings { release: RimmRelease::Exact, ..RimmSettings::default() },
        ..RimmConfig::default()
    };
    let (resources, found) = stated(&mut Rimm::new(config), 6);
    let field_bits = |array: &str, field: &str| -> u64 {
        let arrays = resources.registers.iter().filter(|register| register.name.starts_with(array));
        let bits = |fields: &[(&str, u32)]| fields.iter().find(|(name, _)| *name == field).map_or(0, |(_, bits)| *bits);
        arrays.map(|register| register.cells * u64::from(bits(register.fields))).sum()
    };
    assert_eq!(field_bits("QDM", "depth_segments") + field_bits("QDM", "own_segments"), 8 * 4 * 4);
    let numbers = resources.registers.iter().find(|register| register.name == "S_a").unwrap();
    assert_eq!(field_bits("S_f", "number") + numbers.bits(), 8 * 8 * 4_096);
    // An alarm of 2 + 48 + 48 + 49 bits, S_f, S_a, the neighbour, and four entries of 128 bits; in egress the depth, of
    // 64.
    assert_eq!(found.stateful_alus_of, [3 + 1 + 1 + 1 + 4 * 2, 1]);
    assert_eq!(found.mirror_sessions, 4);
}

/// Tables of section III-F: five stages in egress, and a queue for copies at each of ten ports.
#[test]
fn the_registers_of_sqr() {
    let config = SqrConfig {
        protected: vec![PortId(1), PortId(2)],
        line_ports: 10,
        caching_ports: (0..10).map(PortId).collect(),
        ring_shares: Vec::new(),
        settings: SqrSettings {
            steady_delay: Some(Duration::from_us(30)),
            failure_delay: Some(Duration::from_us(760)),
            ..SqrSettings::default()
        },
    };
    let (_, found) = stated(&mut Sqr::new(config), 10);
    let of_port = (32 + 32) + (1 + 9) + (32 + 32) + (32 + 32) + 32 + 32 + 32 + 1_024 * 32;
    assert_eq!(found.bits, 10 * of_port + (9 + 32) + 2 * 32);
    assert_eq!((found.stages, found.register_arrays), ([0, 5], 10));
    // Ten caching queues, eight home queues for each of two ports, ten queues of possible backup ports.
    assert_eq!(found.mirror_sessions, 10 + 2 * 8 + 10);
}

#[test]
fn what_sits_at_the_mac_takes_nothing_of_the_pipeline() {
    let found = [stated(&mut Wharf::default(), 2), stated(&mut LinkLayerRetry::default(), 2)];
    for (resources, footprint) in found {
        assert_eq!(footprint, Footprint::default());
        assert!(resources.not_counted[0].contains("MAC"), "{:?}", resources.not_counted);
    }
}
