//! The optimizer compared with all subsets, on random topologies.

use hitless_fleet::network::PathCounts;
use hitless_fleet::optimizer::{Candidate, best_to_take_down};
use hitless_fleet::topology::{LinkId, Topology, from_spec, from_text};
use hitless_fleet::{LossRate, LossSum, Share};
use proptest::prelude::*;

/// Random links between neighbouring tiers, in addition to links that connect everything.
fn graph() -> impl Strategy<Value = Topology> {
    (2usize..5, prop::collection::vec((0usize..3, 0usize..3, 0usize..3), 0..14)).prop_map(|(tiers, extra)| {
        let mut text = String::new();
        for tier in 0..tiers {
            (0..3).for_each(|at| text.push_str(&format!("switch s{tier}-{at} {tier}\n")));
        }
        for tier in 0..tiers - 1 {
            (0..3).for_each(|at| text.push_str(&format!("link s{tier}-{at} s{}-{at} 100\n", tier + 1)));
        }
        for (tier, lower, upper) in extra.into_iter().filter(|(tier, ..)| tier + 1 < tiers) {
            text.push_str(&format!("link s{tier}-{lower} s{}-{upper} 100\n", tier + 1));
        }
        from_text(&text, "graph").expect("every switch has a way up")
    })
}

fn shape() -> impl Strategy<Value = Topology> {
    let specs = [
        "fabric:pods=1,tors=3",
        "fabric:pods=1,tors=6,oversubscription=2",
        "fat-tree:ports=6",
        "leaf-spine:leaves=2,spines=9",
    ];
    prop::sample::select(specs.to_vec()).prop_map(|spec| from_spec(spec).expect("a shape"))
}

fn worth_of(candidates: &[Candidate], links: &[LinkId]) -> LossSum {
    candidates.iter().filter(|candidate| links.contains(&candidate.link)).map(|candidate| candidate.worth).sum()
}

fn best_of_all_subsets(paths: &mut PathCounts, pod: usize, candidates: &[Candidate]) -> LossSum {
    let mut best = LossSum::ZERO;
    for bits in 0u32..1 << candidates.len() {
        let set: Vec<_> =
            (0..candidates.len()).filter(|at| bits >> at & 1 == 1).map(|at| candidates[at].link).collect();
        set.iter().for_each(|&link| paths.take_down(link));
        if paths.holds_in(pod) {
            best = best.max(worth_of(candidates, &set));
        }
        set.iter().for_each(|&link| paths.bring_up(link));
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_subset_is_worth_more(
        topology in prop_oneof![graph(), shape()],
        picks in prop::collection::vec((any::<prop::sample::Index>(), 1u32..6), 0..12),
        downs in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        capacity in prop::sample::select(vec![0.0, 0.2, 0.4, 0.5, 0.6, 0.75, 0.9]),
    ) {
        let capacity = Share::new(capacity).unwrap();
        let mut paths = PathCounts::new(&topology, |count| capacity.of_rounded_up(count));
        let link = |pick: &prop::sample::Index| LinkId(pick.index(topology.links.len()) as u32);
        for down in downs.iter().map(link) {
            if paths.is_up(down) {
                paths.take_down(down);
                if !paths.holds_in(topology.pod_of(down)) {
                    paths.bring_up(down);
                }
            }
        }
        for pod in 0..topology.pods.len() {
            // Few different worths, so that ties occur.
            let mut candidates: Vec<Candidate> = Vec::new();
            for (pick, worth) in &picks {
                let (link, worth) = (link(pick), LossRate::new(f64::from(*worth) * 1e-4).unwrap().as_sum());
                let is_new = candidates.iter().all(|candidate| candidate.link != link);
                if is_new && paths.is_up(link) && topology.pod_of(link) == pod {
                    candidates.push(Candidate { link, worth });
                }
            }
            let before = format!("{paths:?}");
            let found = best_to_take_down(&mut paths, pod, &candidates);
            prop_assert_eq!(&before, &format!("{paths:?}"), "the paths are as they were");
            prop_assert_eq!(worth_of(&candidates, &found), best_of_all_subsets(&mut paths, pod, &candidates));
            found.iter().for_each(|&link| paths.take_down(link));
            prop_assert!(paths.holds_in(pod));
            found.iter().for_each(|&link| paths.bring_up(link));
        }
    }
}

#[test]
fn many_candidates_of_one_pod_take_no_time() {
    // 48 ToR switches with two bad uplinks each and 40 bad links to spines: 2^136 subsets.
    let topology = from_spec("fabric:pods=1").unwrap();
    let uplinks = (0..48).flat_map(|tor| [tor * 4, tor * 4 + 1 + tor % 3]);
    let spine_links = (0..40).map(|at| 192 + at * 4 + at % 4);
    let rate = |at: u32| LossRate::new(1e-8 * f64::from(1 + at * 7_919 % 1_000)).unwrap().as_sum();
    let candidates: Vec<_> =
        uplinks.chain(spine_links).map(|at| Candidate { link: LinkId(at), worth: rate(at) }).collect();
    for share in [0.5, 0.75, 0.9] {
        let capacity = Share::new(share).unwrap();
        let mut paths = PathCounts::new(&topology, |count| capacity.of_rounded_up(count));
        let found = best_to_take_down(&mut paths, 0, &candidates);
        assert!(!found.is_empty(), "{share}");
    }
}
