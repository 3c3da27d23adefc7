use std::collections::BTreeSet;

use hitless_core::engine::RandomStreams;
use hitless_core::wire::BitRate;
use proptest::prelude::*;

use super::*;
use crate::network::topology::{LeafSpine, LinkSpec, Topology, TopologySettings};
use crate::workload::size::SizeSampler;

fn fabric() -> Topology {
    let link = LinkSpec::ethernet(BitRate::from_gbps(10), Duration::from_us(1));
    let shape = LeafSpine {
        leaves: 4,
        spines: 2,
        hosts_per_leaf: 4,
        leaves_per_host: 1,
        planes: 1,
        host_link: link,
        core_link: link,
    };
    TopologySettings::LeafSpine(shape).build().unwrap()
}

fn hosts() -> Vec<HostId> {
    fabric().host_ids().collect()
}

fn template(group: usize) -> Template {
    Template { start: Time(5_000), stop: Some(Time(1_000_000_000_000)), transport: 2, class: 1, group }
}

fn poisson(per_second: f64, count: Option<u64>, across: bool, seed: u64) -> PairGenerator {
    let pairs = PairSampler::new(&fabric(), hosts(), hosts(), across).unwrap();
    let stream = RandomStreams::new(seed).stream("flows test");
    let starts = Starts::new(template(0), Arrivals::Poisson { per_second }, count);
    PairGenerator { starts, pairs, sizes: SizeSampler::Fixed(10), stream, connections: None, asking: None }
}

fn incast(fan_in: u32, arrivals: Arrivals, count: Option<u64>) -> Option<IncastGenerator> {
    incast_of(Answers { fan_in, bytes: 40_000, servers_repeat: false }, arrivals, count)
}

fn incast_of(answers: Answers, arrivals: Arrivals, count: Option<u64>) -> Option<IncastGenerator> {
    let stream = RandomStreams::new(1).stream("flows queries");
    IncastGenerator::new(Starts::new(template(1), arrivals, count), hosts(), hosts(), answers, stream, None)
}

#[test]
fn poisson_flows_come_at_their_rate_and_end_with_the_group() {
    let flows: Vec<FlowSpec> = poisson(20_000.0, None, false, 1).collect();
    assert!((19_000..21_000).contains(&flows.len()), "{}", flows.len());
    assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
    assert!(flows.iter().all(|flow| flow.source != flow.destination && flow.start.as_ps() < 1_000_000_000_000));
    assert_eq!(poisson(20_000.0, Some(7), false, 1).count(), 7);
    assert_eq!(flows[..7], poisson(20_000.0, Some(7), false, 1).collect::<Vec<_>>());
}

#[test]
fn scheduled_flows_come_one_each_period() {
    let starts = Starts::new(template(0), Arrivals::Every(Duration::from_ps(700)), Some(4));
    let flows = PairGenerator { starts, ..poisson(1.0, None, false, 1) };
    assert_eq!(flows.map(|flow| flow.start.as_ps()).collect::<Vec<_>>(), [5_000, 5_700, 6_400, 7_100]);
}

#[test]
fn flows_across_switches_never_stay_below_one() {
    let fabric = fabric();
    let switch_of = |host| fabric.attachment(host).0;
    assert!(poisson(1e4, None, true, 2).all(|flow| switch_of(flow.source) != switch_of(flow.destination)));
    let below_one_leaf = hosts()[..4].to_vec();
    assert!(PairSampler::new(&fabric, below_one_leaf.clone(), below_one_leaf, true).is_none());
    assert!(PairSampler::new(&fabric, vec![HostId(1)], vec![HostId(1)], false).is_none());
}

#[test]
fn a_query_is_answered_by_different_hosts_at_one_moment() {
    let flows: Vec<FlowSpec> = incast(15, Arrivals::Every(Duration::from_us(10)), Some(50)).unwrap().collect();
    assert_eq!(flows.len(), 750);
    for (number, answers) in (0..).zip(flows.chunks(15)) {
        let servers: BTreeSet<HostId> = answers.iter().map(|flow| flow.source).collect();
        assert_eq!(servers.len(), 15);
        let start = Time(5_000) + Duration::from_us(10) * number;
        let same = |flow: &FlowSpec| {
            (flow.start, flow.query, flow.destination) == (start, Some(number), answers[0].destination)
        };
        assert!(answers.iter().all(same) && !servers.contains(&answers[0].destination));
    }
    assert!(incast(16, Arrivals::Every(Duration::from_us(10)), None).is_none());
}

#[test]
fn servers_that_repeat_give_more_answers_than_there_are_hosts_and_all_equally_many() {
    let answers = Answers { fan_in: 45, bytes: 40_000, servers_repeat: true };
    let every = Arrivals::Every(Duration::from_us(10));
    let flows: Vec<FlowSpec> = incast_of(answers, every, Some(2_000)).unwrap().collect();
    assert_eq!(flows.len(), 90_000);
    assert!(flows.iter().all(|flow| flow.source != flow.destination));
    assert!(flows.chunks(45).all(|query| query.iter().all(|flow| flow.destination == query[0].destination)));
    for host in hosts() {
        // Each of 16 hosts is a server in 15 of 16 queries, and gives 3 of their 45 answers: 5,625 in total, sigma 73.
        let given = flows.iter().filter(|flow| flow.source == host).count();
        assert!((5_200..6_050).contains(&given), "{host:?}: {given}");
    }
    let stream = RandomStreams::new(1).stream("flows queries");
    let (starts, one) = (Starts::new(template(1), every, None), vec![HostId(1)]);
    let alone = IncastGenerator::new(starts, one.clone(), one, answers, stream, None);
    assert!(alone.is_none(), "a client that is the only server waits for nobody");
}

#[test]
fn workload_merges_groups_in_order_of_time_then_group_and_numbers_the_flows_of_each() {
    let every = Arrivals::Every(Duration::from_ms(1));
    let groups = vec![
        Generator::Pairs(Box::new(poisson(1e4, Some(500), false, 3))),
        Generator::Incast(Box::new(incast(3, every, Some(20)).unwrap())),
        Generator::listed(vec![template(2).unlimited(HostId(0), HostId(1), Time(5_000))]),
    ];
    let flows: Vec<FlowSpec> = Workload::merge(groups, Time::NEVER).collect();
    assert_eq!(flows.len(), 500 + 60 + 1);
    assert!(flows.windows(2).all(|pair| (pair[0].start, pair[0].group) <= (pair[1].start, pair[1].group)));
    for (group, count) in [(0, 500), (1, 60), (2, 1)] {
        let positions = flows.iter().filter(|flow| flow.group == group).map(|flow| flow.position);
        assert!(positions.eq(0..count), "group {group}");
    }
}

#[test]
fn pairs_repeat_the_shorter_list_and_start_one_after_the_other() {
    let pairs = paired(&template(0), &hosts()[..3], &[HostId(9)], Duration::from_us(1));
    let expected: Vec<_> = (0..3).map(|n| (HostId(n), HostId(9), Time(5_000) + Duration::from_us(n.into()))).collect();
    assert_eq!(pairs, expected);
    let late = paired(&template(0), &hosts()[..2], &[HostId(9)], Duration::MAX);
    assert_eq!(late[1].2, Time::NEVER);
}

proptest! {
    #[test]
    fn in_each_shift_of_an_all_to_all_every_host_sends_and_receives_once(count in 2usize..16) {
        let pairs: Vec<_> = all_to_all(&hosts()[..count]).collect();
        prop_assert_eq!(pairs.iter().collect::<BTreeSet<_>>().len(), count * (count - 1));
        prop_assert!(pairs.iter().all(|(from, to)| from != to));
        for shift in pairs.chunks(count) {
            prop_assert_eq!(shift.iter().map(|(from, _)| from).collect::<BTreeSet<_>>().len(), count);
            prop_assert_eq!(shift.iter().map(|(_, to)| to).collect::<BTreeSet<_>>().len(), count);
        }
    }

    #[test]
    fn a_permutation_has_no_fixed_points(count in 2usize..16, seed in any::<u64>()) {
        let mut stream = RandomStreams::new(seed).stream("permutation");
        let flows = permutation(&template(0), &hosts()[..count], 1_000, Duration::from_us(1), &mut stream);
        let targets: BTreeSet<HostId> = flows.iter().map(|flow| flow.destination).collect();
        prop_assert_eq!(targets.len(), count);
        prop_assert!(flows.iter().all(|flow| flow.source != flow.destination));
    }
}
