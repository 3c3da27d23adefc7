//! Ports that spraying connections share with other flows, and changes that change nothing.

use std::fmt::Write;

use hitless_simulation::Outcome;

use crate::support::{numbers, run, sum, texts};

/// Endless flows of h0 to hosts of their own, at 10 Gb/s: `uet` spraying ones and `others` of another transport. Each
/// host has a port in each plane.
fn world(planes: u32, [uet, others]: [u32; 2], other: &str, more: &str, seed: u64) -> Outcome {
    let receivers = uet + others;
    let names = |prefix: &str, count: u32| {
        (0..count).map(|number| format!("\"{prefix}{number}\"")).collect::<Vec<_>>().join(", ")
    };
    let mut links = String::new();
    for plane in 0..planes {
        let hosts = (0..receivers).map(|number| format!("r{number}"));
        for host in std::iter::once("h0".to_owned()).chain(hosts) {
            write!(links, "{{ ends = [\"{host}\", \"s{plane}\"], rate = \"10 Gbps\", delay = \"500 ns\" }}, ")
                .expect("a string takes all text");
        }
    }
    let group = |name: &str, first: u32, count: u32| {
        if count == 0 {
            return String::new();
        }
        let to = (first..first + count).map(|number| format!("\"r{number}\"")).collect::<Vec<_>>().join(", ");
        format!(
            "[[flows]]\nname = \"{name}\"\nkind = \"long\"\ntransport = \"{name}\"\nsources = [\"h0\"]\n\
             destinations = [{to}]\n"
        )
    };
    run(&format!(
        "name = \"shared\"\nduration = \"3 ms\"\nseed = {seed}\n\
         topology = {{ kind = \"graph\", hosts = [\"h0\", {}], switches = [{}], links = [{links}] }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"150 KB\" }}\n\
         ecn = {{ threshold = \"30 KB\" }}\n\
         [[transport]]\nname = \"uet\"\nkind = \"uet\"\npath_choice = \"oblivious\"\n\
         [[transport]]\nname = \"other\"\n{other}\n{}{}{more}",
        names("r", receivers),
        names("s", planes),
        group("uet", 0, uet),
        group("other", uet, others),
    ))
}

/// The bytes delivered to spraying connections and to the other flows.
fn delivered(outcome: &Outcome) -> [u64; 2] {
    let rows = texts(outcome, "flows", "group").iter().zip(numbers(outcome, "flows", "delivered_bytes"));
    rows.fold([0, 0], |mut sums, (group, bytes)| {
        sums[usize::from(group != "uet")] += bytes;
        sums
    })
}

fn share(outcome: &Outcome) -> f64 {
    let [uet, others] = delivered(outcome);
    uet as f64 / (uet + others) as f64
}

const ROCE: &str = "kind = \"roce\"\nmtu = \"4096 B\"";

/// A card asked the lines of its ports before the line of spraying connections: one connection got 0.005 instead of
/// 0.3.
#[test]
fn a_line_that_changes_nothing_shares_as_any_other_line() {
    let same = "[[link]]\nname = \"h0<->s0\"\nchanges = [{ at = \"2900 us\", rate = \"10 Gbps\" }]\n";
    for counts in [[1, 4], [1, 1], [4, 1]] {
        let [plain, changing] = ["", same].map(|more| share(&world(1, counts, ROCE, more, 1)));
        assert!((plain - changing).abs() < 0.03, "{counts:?}: {plain} and {changing}");
    }
}

/// Four connections and four flows of single ports got 0.005 and 0.995 of four ports.
#[test]
fn flows_of_single_ports_leave_spraying_connections_their_turns() {
    for other in [ROCE, "kind = \"tcp\"\ncongestion = \"dctcp\""] {
        for planes in [2, 4] {
            let shares = (1..=6).map(|seed| share(&world(planes, [4, 4], other, "", seed)));
            let mean = shares.sum::<f64>() / 6.0;
            assert!((0.25..0.85).contains(&mean), "{planes} planes, {other}: {mean}");
        }
    }
}

/// A flow on one of four ports took three quarters of the traffic of four spraying connections.
#[test]
fn a_flow_on_one_port_slows_spraying_connections_by_its_own_share() {
    let alone = delivered(&world(4, [4, 0], ROCE, "", 1))[0];
    let mean = (1..=6).map(|seed| delivered(&world(4, [4, 1], ROCE, "", seed))[0]).sum::<u64>() / 6;
    assert!(mean * 10 > alone * 4, "{mean} of {alone} bytes");
}

/// A card forgot the random delay of its last frame.
#[test]
fn a_delay_that_stays_the_same_moves_nothing() {
    let same = "[[link]]\nname = \"h0<->s0\"\nchanges = [{ at = \"77 us\", delay = \"500 ns\" }]\n";
    let later = same.replace("77 us", "2999 us");
    let dctcp = "kind = \"tcp\"\ncongestion = \"dctcp\"";
    let [early, late] = [same, &later].map(|more| world(1, [0, 3], dctcp, more, 1));
    assert_eq!(early.tables, late.tables);
}

/// Credits that lost frames take along return by extra frames, which were also sent with a rate of zero.
#[test]
fn a_loss_rate_of_zero_is_no_loss_with_credits_either() {
    let text = |loss: &str| {
        format!(
            "name = \"zero\"\nduration = \"1 ms\"\n{}\
             [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"shared\", total = \"4 MB\", alpha = 1.0 }}\ncbfc = {{}}\n\
             [[transport]]\nname = \"t\"\nkind = \"roce\"\n\
             [[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\", \"h1\"]\n\
             destinations = [\"h2\"]\n{loss}",
            crate::support::dumbbell(2, "1 us", "1 us"),
        )
    };
    let with = |model: &str| run(&text(&format!("[[link]]\nname = \"left->right\"\nloss = {model}\n")));
    let plain = run(&text(""));
    assert!(sum(&plain, "flows", "delivered_bytes") > 0);
    for model in [
        "{ kind = \"none\" }",
        "{ kind = \"bernoulli\", rate = 0.0 }",
        "{ kind = \"gilbert-elliott\", rate = 0.0, mean_burst_frames = 2.0 }",
        "{ kind = \"bit-errors\", bit_error_rate = 0.0, fec = \"none\" }",
    ] {
        assert_eq!(with(model).tables, plain.tables, "{model}");
    }
}

/// The idle port with the lowest number became the backup of all failures.
#[test]
fn idle_ports_become_backups_equally_often() {
    let text = |seed: u64| {
        format!(
            "name = \"backups\"\nduration = \"1 ms\"\nseed = {seed}\n{}{}\
             [recovery]\nscheme = {{ kind = \"local-reroute\" }}\ndetection = {{ kind = \"fixed\" }}\n\
             [[failure]]\nlink = \"leaf0<->spine3\"\nfirst = \"100 us\"\noutage = \"10 ms\"\n\
             [[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"1 Gbps\"\n\
             [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"t\"\nstart = \"300 us\"\n\
             sources = [\"h0\", \"h0\", \"h0\", \"h0\", \"h0\", \"h0\", \"h0\", \"h0\"]\ndestinations = [\"h2\"]\n",
            crate::support::leaf_spine([2, 4, 2], [10, 10]),
            crate::support::ideal("1 MB"),
        )
    };
    let mut sent = [0_u64; 3];
    for seed in 1..=60 {
        let outcome = run(&text(seed));
        for (spine, sent) in sent.iter_mut().enumerate() {
            *sent += crate::support::of_link(&outcome, &format!("leaf0->spine{spine}"), "frames_sent");
        }
    }
    let mean = sent.iter().sum::<u64>() as f64 / 3.0;
    assert!(sent.iter().all(|&frames| (frames as f64 / mean - 1.0).abs() < 0.2), "{sent:?}");
}
