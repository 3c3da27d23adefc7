//! What of a scenario reaches the mechanisms.

use hitless_mechanisms::afq::config::{
    AfqPort, Charge, DropAhead, FlowKey, HashFamily, RoundSource, Scheduler, SketchConfig, UpdateRule,
};
use hitless_mechanisms::rimm::{self, Again, Neighbour, RimmConfig, WatchedPort};
use hitless_mechanisms::sqr::{Backstop, Caching, Marks, Release, SqrConfig};
use hitless_switch::QueueLimit;
use hitless_wire::{Duration, PortId};

use super::*;
use crate::scenario;

/// sw3 has the ports h, sw4, sw5; sw4 and sw5 are joined too.
const TRIANGLE: &str = r#"
name = "triangle"
duration = "1 ms"
[topology]
kind = "graph"
hosts = ["h", "i"]
switches = ["sw3", "sw4", "sw5"]
links = [
    { ends = ["h", "sw3"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["i", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw5"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw4", "sw5"], rate = "10 Gbps", delay = "1 us" },
]
[[transport]]
name = "tcp"
kind = "tcp"
[[flows]]
name = "long"
kind = "long"
transport = "tcp"
sources = ["h"]
destinations = ["i"]
"#;

fn planner<T>(mechanisms: &str, look: impl FnOnce(&Planner<'_>) -> T) -> T {
    let text = format!("{TRIANGLE}{mechanisms}");
    let scenario = scenario::check(&text, "triangle").unwrap_or_else(|error| panic!("{error}"));
    let topology = scenario.topology.build().expect("the triangle is sound");
    look(&read(&scenario, &topology).expect("the mechanisms can be planned"))
}

const SQR: &str = r#"
[[mechanism]]
kind = "sqr"
links = ["sw3->sw5", "sw3<->sw4"]
classes = [1]
ports = [5001, 80]
vlans = [10]
caching = "delay-queue"
caching_ports = ["sw3->h", "sw3->sw4", "sw4->sw5"]
steady_delay = "40 us"
failure_delay = "900 us"
clock_bits = 24
utilization_window = "100 us"
release = "when-rerouted"
backstop = { pause = "9 MB", resume = "8 MB" }
return_hold = "77 us"
"#;

#[test]
fn every_parameter_of_sqr_reaches_the_switches_at_the_sending_ends() {
    let at_sw3 = SqrConfig {
        protected: vec![PortId(2), PortId(1)],
        line_ports: 3,
        caching_ports: vec![PortId(0), PortId(1)],
        marks: Marks { classes: vec![1], ports: vec![5001, 80], vlans: vec![10] },
        steady_delay: Duration::from_us(40),
        failure_delay: Duration::from_us(900),
        clock_bits: 24,
        utilization_window: Duration::from_us(100),
        caching: Caching::DelayQueue,
        release: Release::WhenRerouted,
        backstop: Some(Backstop { pause_bytes: 9_000_000, resume_bytes: 8_000_000 }),
        return_hold: Duration::from_us(77),
    };
    let at_sw4 = SqrConfig { protected: vec![PortId(1)], caching_ports: vec![PortId(2)], ..at_sw3.clone() };
    let configs = planner(SQR, |planner| planner.drafts.iter().map(|draft| draft.sqr.clone()).collect::<Vec<_>>());
    assert_eq!(configs, [Some(at_sw3), Some(at_sw4), None]);
}

#[test]
fn on_one_switch_sqr_comes_before_linkguardian_and_commands_find_the_right_one() {
    let both = format!(
        "{SQR}\n[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw3->sw5\"\nactivation = [{{ at = \"10 us\", active = true }}]\n"
    );
    let kinds =
        planner(&both, |planner| planner.drafts.iter().map(|draft| draft.kinds().collect()).collect::<Vec<Vec<_>>>());
    assert_eq!(kinds, [vec![Kind::Sqr, Kind::LinkGuardian], vec![Kind::Sqr], vec![Kind::LinkGuardian]]);
    let scenario = scenario::check(&format!("{TRIANGLE}{both}"), "triangle").expect("the scenario is sound");
    let plan = plan(&scenario, &scenario.topology.build().expect("sound")).expect("the mechanisms can be planned");
    let places: Vec<_> = plan
        .commands
        .iter()
        .map(|(_, change)| match change {
            Change::Command { switch, mechanism, .. } => (*switch, *mechanism),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(places, [(0, 1), (2, 0)]);
    let counts: Vec<usize> = plan.mechanisms.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 1, 1]);
}

const AFQ: &str = r#"
[[mechanism]]
kind = "afq"
ports = ["sw3", "sw4->i"]
queues = 12
bytes_per_round = "3 KB"
sketch = { rows = 3, columns = 512, update = "increment", bid_bits = 64 }
scheduler = { kind = "two-groups", period = "20 us", delay = "3 us" }
drop_ahead = "beyond-queues"
ecn_rounds = 5
charge_refused = false
idle_round = "line-rate"
flow_key = "source"
class_weights = [1.0, 4.0]
port_buffer = "400 KB"
measure_estimation = true

[[mechanism]]
kind = "afq"
ports = ["sw4->sw3"]
round = "from-occupancy"
occupancy = { granularity = "80 B", refresh = "1 us" }
sketch = { hash = "checksums" }
"#;

#[test]
fn every_parameter_of_afq_reaches_its_ports() {
    let configs = planner(AFQ, |planner| planner.drafts.iter().map(|draft| draft.afq.clone()).collect::<Vec<_>>());
    let [sw3, sw4, sw5] = configs.as_slice() else { panic!("three switches") };
    let port = |port, bytes, idle_ns: Option<u64>| AfqPort {
        port: PortId(port),
        limit: bytes,
        idle_round_time: idle_ns.map(Duration::from_ns),
    };
    let limit = QueueLimit::Bytes(400_000);
    // 3 KB at 10 Gbps.
    assert_eq!(sw3[0].ports, [0, 1, 2].map(|number| port(number, limit, Some(2_400))));
    let first = &sw3[0];
    let HashFamily::MultiplyShift { seed } = first.sketch.hash else { panic!("{:?}", first.sketch.hash) };
    let hash = HashFamily::MultiplyShift { seed };
    assert_eq!(
        first.sketch,
        SketchConfig { rows: 3, columns: 512, hash, update: UpdateRule::Increment, is_wide: true }
    );
    let (period, delay) = (Duration::from_us(20), Duration::from_us(3));
    assert_eq!(first.scheduler, Scheduler::TwoGroups { period, delay });
    assert_eq!((first.queues, first.bytes_per_round, first.ecn_rounds), (12, 3_000, Some(5)));
    assert_eq!((first.drop_ahead, first.flow_key), (DropAhead::BeyondQueues, FlowKey::Source));
    assert_eq!(first.charges, [1.0, 4.0].map(Charge::for_weight));
    assert!(!first.charge_refused && first.measures_estimation);
    assert_eq!((sw4.len(), sw5.len()), (2, 0));
    let of_sw4 = |place: usize| sw4[place].ports.iter().map(|port| port.port).collect::<Vec<_>>();
    assert_eq!((of_sw4(0), of_sw4(1)), (vec![PortId(0)], vec![PortId(1)]));
    assert_ne!(sw4[0].sketch.hash, hash, "each switch has hash functions of its own");
    assert_eq!(sw4[1].round, RoundSource::Occupancy { granularity_bytes: 80, refresh: Duration::from_us(1) });
    assert_eq!((sw4[1].sketch.hash, sw4[1].ports[0].limit), (HashFamily::Checksums, QueueLimit::Unlimited));
}

const RIMM: &str = r#"
[[mechanism]]
kind = "rimm"
ports = ["sw4->i"]
threshold = "100 KB"
segment = "100 B"
release = "flowlet-gap"
again = "least-loaded"
change = "any-time"
messages = "in-order"
flowlet_gap = "3 ms"
flow_detour_max = "2 ms"
congestion_after = "5 ms"
hash_bits = 7
detours_max = 9
predecessor_timeout = "4 ms"
crossing_lifetime = "7 ms"
telemetry_lifetime = "6 us"
record_choices = true
"#;

#[test]
fn every_parameter_of_rimm_reaches_the_relieved_switch_and_its_neighbours_tell_it_depths() {
    let text =
        RIMM.replace("[[mechanism]]", "[switch]\nbuffer = { kind = \"static\", per_port = \"1 MB\" }\n[[mechanism]]");
    let configs = planner(&text, |planner| planner.drafts.iter().map(|draft| draft.rimm.clone()).collect::<Vec<_>>());
    let [Some(sw3), Some(sw4), Some(sw5)] = configs.as_slice() else { panic!("all three take part") };
    let neighbour =
        |port, is_told| Neighbour { port: PortId(port), full_segments: 1_000, own_full_segments: 1_000, is_told };
    let at_sw4 = RimmConfig {
        origin: 0,
        line_ports: 3,
        recirculation_ports: 1,
        watched: vec![WatchedPort { port: PortId(0), threshold_segments: 1_000 }],
        neighbours: vec![neighbour(1, false), neighbour(2, false)],
        segment_bytes: 100,
        release: rimm::Release::FlowletGap {
            gap: Duration::from_us(3_000),
            detour_max: Some(Duration::from_us(2_000)),
        },
        again: Again::LeastLoaded,
        change: rimm::Change::AnyTime,
        messages_first: false,
        congestion_after: Duration::from_us(5_000),
        hash_bits: 7,
        detours_max: 9,
        predecessor_timeout: Duration::from_us(4_000),
        crossing_lifetime: Duration::from_us(7_000),
        telemetry_lifetime: Some(Duration::from_us(6)),
        records_choices: true,
    };
    assert_eq!(*sw4, at_sw4);
    assert_eq!((sw3.watched.len(), &sw3.neighbours), (0, &vec![neighbour(1, true), neighbour(2, false)]));
    assert_eq!((sw5.watched.len(), &sw5.neighbours), (0, &vec![neighbour(0, false), neighbour(1, true)]));
}
