//! Rates and delays that change where a network card sends, and on links with protection.

use proptest::prelude::*;

use hitless_simulation::Outcome;

use crate::homes::{self, assert_all_completed, last_us};
use crate::link_properties::{Period, US, chain, changing, frame_ps, messages_ps};
use crate::support::{check, counter, run, sound, sum};
use crate::testbed::received;
use crate::{checkpoints, partitions};

/// The entries of `a->s` for these periods.
fn of_card(periods: &[Period]) -> String {
    changing(periods).replace("s->t", "a->s")
}

/// The last delivery of frames that are ready at 100 Gb/s from time 0 and leave a card with these periods.
fn delivered(frames: u64, periods: &[Period]) -> i64 {
    let at = |time: u64| periods.iter().rev().find(|period| period.0 <= time).expect("the first begins at 0");
    let (mut free_at, mut last_arrival) = (0, 0);
    for frame in 0..frames {
        let mut begins = free_at.max(frame * frame_ps(100));
        // Frames never overtake: the first bit arrives after the last bit of the previous frame.
        loop {
            let held = begins.max(last_arrival.max(at(begins).2 * US) - at(begins).2 * US);
            if held == begins {
                break;
            }
            begins = held;
        }
        let (_, gbps, delay_us) = *at(begins);
        free_at = begins + frame_ps(gbps);
        last_arrival = free_at + delay_us * US;
    }
    // Two links of 100 Gb/s and 1 us follow.
    (last_arrival + 2 * (frame_ps(100) + US)) as i64
}

#[test]
fn a_card_that_changes_delivers_each_frame_at_its_time() {
    let cases: [(&str, u64, &[Period]); 6] = [
        ("falls to a tenth and recovers", 200, &[(0, 100, 1), (5 * US, 10, 1), (60 * US, 100, 1)]),
        ("a frame in transmission ends at the old rate", 4, &[(0, 1, 1), (2 * US, 100, 1)]),
        ("grows longer", 100, &[(0, 50, 1), (7 * US, 50, 6)]),
        ("shrinks, and the next frame waits", 100, &[(0, 50, 9), (7 * US, 50, 1)]),
        ("shrinks twice within a flight", 100, &[(0, 50, 30), (7 * US, 40, 9), (8 * US, 50, 2)]),
        ("changes while its frames have left", 10, &[(0, 100, 1), (50 * US, 10, 3)]),
    ];
    for (name, frames, periods) in cases {
        let outcome = run(&chain(frames, "1 MB", &of_card(periods)));
        assert_eq!(messages_ps(&outcome), [delivered(frames, periods)], "{name}");
    }
}

/// Transports that wait for the card, and datagrams.
const SENDERS: [&str; 4] =
    ["kind = \"tcp\"", "kind = \"roce\"", "kind = \"uet\"", "kind = \"udp\"\nrate = \"30 Gbps\"\nlinger = \"500 ms\""];

fn with_sender(text: &str, sender: &str) -> String {
    let text = text.replace("kind = \"udp\"\nrate = \"100 Gbps\"\nlinger = \"500 ms\"", sender);
    text.replace("count = 1\n", "count = 3\n").replace("1 ms", "1 ns")
}

#[test]
fn a_card_that_changes_to_its_own_rate_and_delay_is_a_card_that_never_changes() {
    for sender in SENDERS {
        let of = |more: &str| messages_ps(&run(&with_sender(&chain(200, "1 MB", more), sender)));
        let changes = [(0, 100, 1), (3 * US, 100, 1), (9 * US + 77, 100, 1)];
        assert_eq!(of(&of_card(&changes)), of(""), "{sender}");
    }
}

#[test]
fn all_transports_end_behind_a_card_that_falls_to_a_tenth_and_recovers() {
    let changes = [(0, 100, 1), (5 * US, 10, 1), (200 * US, 100, 1)];
    for sender in SENDERS {
        let text = with_sender(&chain(400, "1 MB", &of_card(&changes)), sender);
        let outcome = run(&text);
        // 65 % of 1,200 frames cross the line in its slow time at most.
        let last = messages_ps(&outcome).into_iter().max().unwrap_or_default();
        assert!(last > 250 * US as i64 && last < 700 * US as i64, "{sender}: {last} ps");
        assert_eq!(
            sum(&outcome, "links", "frames_corrupted") + outcome.summary.drops.values().sum::<u64>(),
            0,
            "{sender}"
        );
        let clocks = text.replace("clocks = \"ideal\"\n", "");
        partitions::compare(&clocks, &[(2, 1), (usize::MAX, 1)]);
        checkpoints::goes_on(&sound(&clocks), &[0.0, 0.00001, 0.0003, 0.01, 0.3, 0.7]);
    }
}

#[test]
fn a_port_of_several_that_falls_to_a_tenth_slows_its_flows_only() {
    let changes = "[[link]]\nname = \"h0->p0-leaf0\"\n[[link.changes]]\nat = \"20 us\"\nrate = \"10 Gbps\"\n\
                   [[link.changes]]\nat = \"120 us\"\nrate = \"100 Gbps\"\ndelay = \"2 us\"\n";
    for transport in homes::TRANSPORTS {
        let flows = homes::flows(transport, 4, 1_000_000);
        let [plain, slow] = ["", changes].map(|more| run(&homes::fabric(2, 1, &format!("{flows}{more}"))));
        assert_all_completed(&slow, transport);
        // The port carries 125 KB in its 100 slow microseconds, instead of 1.25 MB.
        let (plain_us, slow_us) = (last_us(&plain), last_us(&slow));
        assert!(slow_us > plain_us && slow_us < plain_us + 110.0, "{transport}: {plain_us} and {slow_us} us");
        let text = homes::fabric(2, 1, &format!("{flows}{changes}"));
        partitions::compare(&text, &[(2, 1), (usize::MAX, 1)]);
        checkpoints::goes_on(&sound(&text), &[0.0, 0.1, 0.4, 0.7]);
    }
}

/// Datagrams at 60 Gb/s for 300 us over a link with a mechanism.
fn protected(mechanism: &str, loss: &str, changes: &str) -> String {
    format!(
        "name = \"protected\"\nduration = \"1500 us\"\n\
         [topology]\nkind = \"chain\"\nhosts_left = [\"a\"]\nswitches = [\"sw2\", \"sw6\"]\nhosts_right = [\"b\"]\n\
         host_link = {{ rate = \"100 Gbps\", delay = \"50 ns\" }}\n\
         switch_link = {{ rate = \"100 Gbps\", delay = \"500 ns\" }}\n\
         [switch]\npreset = \"tofino-like\"\nbuffer = {{ kind = \"static\", per_port = \"4 MB\" }}\n\
         [[transport]]\nname = \"u\"\nkind = \"udp\"\nrate = \"60 Gbps\"\n\
         [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"u\"\nsources = [\"a\"]\n\
         destinations = [\"b\"]\nstop = \"300 us\"\n\
         [measure]\norder = true\n\
         [[link]]\nname = \"sw2->sw6\"\nloss = {loss}\n{changes}\
         [[mechanism]]\n{mechanism}\n"
    )
}

const LINKGUARDIAN: &str = "kind = \"linkguardian\"\nlink = \"sw2->sw6\"";
const RETRY: &str =
    "kind = \"link-layer-retry\"\nlink = \"sw2->sw6\"\nadmission_control = false\ninit_action = \"block\"";
const WHARF: &str = "kind = \"wharf\"\nlink = \"sw2->sw6\"";
const RANDOM: &str = "{ kind = \"bernoulli\", rate = 0.01 }";
/// At most one frame of each block of six.
const EVERY_37TH: &str = "{ kind = \"periodic\", every = 37, first = 5 }";

fn at(us: u64, rest: &str) -> String {
    format!("[[link.changes]]\nat = \"{us} us\"\n{rest}\n")
}

fn assert_nothing_lost(text: &str, what: &str) -> Outcome {
    let outcome = run(text);
    let (sent, arrived, reordered) = received(&outcome);
    assert!(sent > 1_000, "{what}: {sent} sent");
    assert_eq!((arrived, counter(&outcome, "packets_lost")), (sent, 0), "{what}");
    // Wharf restores a frame behind its block.
    assert!(reordered == 0 || text.contains(WHARF), "{what}: {reordered} reordered");
    assert!(sum(&outcome, "links", "frames_corrupted") > 0, "{what}: nothing to repair");
    outcome
}

#[test]
fn a_protected_link_that_falls_to_a_tenth_and_recovers_loses_nothing_and_keeps_the_order() {
    let falls = at(50, "rate = \"10 Gbps\"") + &at(150, "rate = \"100 Gbps\"");
    let to_a_quarter = at(50, "rate = \"25 Gbps\"\ndelay = \"3 us\"") + &at(150, "rate = \"100 Gbps\"");
    let rises = "rate = \"10 Gbps\"\n".to_owned() + &at(60, "rate = \"100 Gbps\"\ndelay = \"100 ns\"");
    let flaps: String = (0..20)
        .map(|number| at(20 + 10 * number, ["rate = \"10 Gbps\"", "rate = \"100 Gbps\""][number as usize % 2]))
        .collect();
    for changes in [falls, to_a_quarter, rises, flaps] {
        for (mechanism, loss) in [(LINKGUARDIAN, RANDOM), (RETRY, RANDOM), (WHARF, EVERY_37TH)] {
            let what = format!("{mechanism}\n{changes}");
            let outcome = assert_nothing_lost(&protected(mechanism, loss, &changes), &what);
            if mechanism == RETRY {
                assert_eq!(counter(&outcome, "flushes"), 0, "{what}");
            }
        }
    }
    let reverse = format!("[[link]]\nname = \"sw6->sw2\"\n{}", at(50, "rate = \"10 Gbps\"\ndelay = \"2 us\""));
    for mechanism in [LINKGUARDIAN, RETRY] {
        assert_nothing_lost(&protected(mechanism, RANDOM, &reverse), &format!("{mechanism}, answers"));
    }
}

/// A card that does not know of a change must not be accepted where a formula needs a constant line.
#[test]
fn a_changing_card_is_refused_where_nothing_can_follow_it() {
    let slow = of_card(&[(0, 100, 1), (5 * US, 10, 1)]);
    let pfc = "[switch.pfc]\nclasses = [0]\n";
    for (more, rule) in [(pfc, "needs constant links"), ("[measure]\nautopsy = true\n", "constant rate and delay")] {
        let refused = check(&chain(1, "1 MB", &format!("{slow}{more}"))).expect_err(more);
        assert!(refused.contains(rule), "{more}: {refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Cards with independent clocks slip now and then; a delay that shrinks must not let frames overtake.
    #[test]
    fn under_any_schedule_frames_of_a_card_keep_their_order(
        seed in 0u64..1_000,
        changes in proptest::collection::vec((1u64..20, 1u64..=100, 1u64..30), 1..6),
    ) {
        let mut periods = vec![(0, 100, 20)];
        for (later_us, gbps, delay_us) in changes {
            periods.push((periods[periods.len() - 1].0 + later_us * US, gbps, delay_us));
        }
        let text = chain(300, "1 MB", &of_card(&periods)).replace("clocks = \"ideal\"", &format!("seed = {seed}"));
        let outcome = run(&format!("{text}[measure]\norder = true\n"));
        prop_assert_eq!(received(&outcome), (300, 300, 0), "seed {}, {:?}", seed, periods);
    }

    #[test]
    fn under_any_schedule_a_protected_link_repairs_every_loss(
        kind in 0..3usize,
        seed in 0u64..1_000,
        changes in proptest::collection::vec((1u64..60, 10u64..=100, 50u64..4_000), 1..6),
    ) {
        let (mechanism, loss) = [(LINKGUARDIAN, RANDOM), (RETRY, RANDOM), (WHARF, EVERY_37TH)][kind];
        let mut us = 0;
        let mut schedule = String::new();
        for (later_us, gbps, delay_ns) in changes {
            us += later_us;
            schedule += &at(us, &format!("rate = \"{gbps} Gbps\"\ndelay = \"{delay_ns} ns\""));
        }
        schedule += &at(us + 60, "rate = \"100 Gbps\"");
        let text = protected(mechanism, loss, &schedule).replace("\"protected\"", &format!("\"protected\"\nseed = {seed}"));
        assert_nothing_lost(&text, &format!("seed {seed}, {mechanism}\n{schedule}"));
    }
}
