use hitless_core::engine::RandomStreams;
use proptest::prelude::*;

use super::*;

/// Points, minimum, maximum, mean with linear interpolation, mean by steps: computed independently of this code.
const KNOWN: [(&str, usize, f64, f64, f64, f64); 12] = [
    ("alibaba_storage2019_hpcc", 9, 0.0, 2e6, 4.087e4, 6.705e4),
    ("cachefollower_aeolus_style_conweave", 23, 70.0, 3e6, 7.126e5, 8.029e5),
    ("datamining_vl2_pias", 9, 1_460.0, 973_333_820.0, 7.47e6, 1.382e7),
    ("enterprise_conga_numfabric", 136, 52.0, 1_773_379_248.0, 1.574e5, 1.869e5),
    ("facebook_cachefollower_intracluster_homa", 331, 50.0, 3_837_698.0, 6.869e5, 6.93e5),
    ("facebook_hadoop_hpcc", 20, 0.0, 1e7, 1.204e5, 1.839e5),
    ("facebook_keyvalue_sampled_homa", 315, 1.0, 1e5, 184.6, 187.5),
    ("facebook_webserver_intracluster_homa", 441, 50.0, 1e6, 6.223e4, 6.287e4),
    ("google_allrpc_homa", 842, 3.0, 15_158_197.0, 2_890.0, 2_927.0),
    ("google_searchrpc_homa", 155, 2.0, 3_529_904.0, 423.4, 440.8),
    ("websearch_dctcp_hpcc", 12, 0.0, 3e7, 1.711_25e6, 2.434_9e6),
    ("websearch_dctcp_pias", 12, 8_760.0, 29_200_000.0, 1.667e6, 2.371e6),
];

fn near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * b.abs()
}

/// The mean if all flows between two points had the size of the upper one, as some simulators read tables.
fn mean_step(table: &Cdf) -> f64 {
    let mut before = 0.0;
    table.points().iter().map(|&(bytes, reached)| bytes * (reached - std::mem::replace(&mut before, reached))).sum()
}

#[test]
fn the_tables_that_come_along_have_the_means_they_are_known_for() {
    assert_eq!(TABLES.len(), KNOWN.len());
    for (name, points, smallest, largest, linear, step) in KNOWN {
        let table = Cdf::named(name).unwrap();
        assert_eq!((table.points().len(), table.range()), (points, (smallest, largest)), "{name}");
        let means = (table.mean_linear(), mean_step(&table));
        assert!(near(means.0, linear, 1e-3) && near(means.1, step, 1e-3), "{name}: {means:?}");
        assert!(!table.source.is_empty(), "{name} has no provenance");
    }
}

#[test]
fn samples_match_the_mean_of_every_table() {
    for (name, ..) in KNOWN {
        // Without the cut the tails are too heavy for the mean of a sample to be meaningful.
        let table = Cdf::named(name).unwrap().up_to(1e7).unwrap();
        let mut stream = RandomStreams::new(3).stream(name);
        let sizes: Vec<f64> = (0..100_000).map(|_| table.sample(&mut stream) as f64).collect();
        let (count, total) = (sizes.len() as f64, sizes.iter().sum::<f64>());
        let variance = sizes.iter().map(|size| (size - total / count).powi(2)).sum::<f64>() / count;
        let off = (total / count - table.mean_linear()).abs();
        assert!(off <= 4.0 * (variance / count).sqrt() + 1.0, "{name}: {} for {}", total / count, table.mean_linear());
    }
}

#[test]
fn bad_tables_say_which_line_and_why() {
    let table = [
        ("", "a table needs at least one line `bytes probability`"),
        ("10 0.5", "the last probability must be 1"),
        ("# note: x\n10", "line 2: must be `bytes probability`, not '10'"),
        ("10 0.5 1", "line 1: must be `bytes probability`, not '10 0.5 1'"),
        ("ten 1", "line 1: bytes must be a number from 0 to 1e15"),
        ("-1 1", "line 1: bytes must be a number from 0 to 1e15"),
        ("1 1.5", "line 1: probability must be a number from 0 to 1"),
        ("1 nan", "line 1: probability must be a number from 0 to 1"),
        ("5 0.5\n4 1", "line 2: neither bytes nor probability may decrease from line to line"),
        ("5 0.5\n6 0.4", "line 2: neither bytes nor probability may decrease from line to line"),
    ];
    for (text, message) in table {
        assert_eq!(Cdf::parse(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn quantiles_lie_on_the_lines_between_points() {
    let table = Cdf::parse("100 0.2\n200 0.4\n200 0.6\n1000 1").unwrap();
    for (probability, bytes) in [(0.0, 100.0), (0.2, 100.0), (0.3, 150.0), (0.5, 200.0), (0.8, 600.0), (1.0, 1000.0)] {
        assert!((table.quantile(probability) - bytes).abs() < 1e-9, "{probability}");
    }
    assert_eq!(table.share_up_to(99.0), 0.0);
    assert!((table.share_up_to(600.0) - 0.8).abs() < 1e-12);
}

#[test]
fn a_step_at_the_cut_stays_a_step() {
    let table = Cdf::parse("0 0\n1 0\n1 0.95\n18 1\n").expect("it is legal");
    let cut = table.up_to(1.0).expect("most flows are that small");
    assert_eq!((cut.quantile(0.5), cut.mean_linear()), (1.0, 1.0));
}

prop_compose! {
    fn random_table()(steps in prop::collection::vec((0u32..5_000, 0u32..100), 1..20), last in 1u32..100) -> Cdf {
        let total: u32 = steps.iter().map(|step| step.1).sum::<u32>() + last;
        let (mut bytes, mut reached, mut text) = (0, 0, String::new());
        for (more_bytes, more) in steps.iter().copied().chain([(17, last)]) {
            bytes += more_bytes;
            reached += more;
            text += &format!("{bytes} {}\n", f64::from(reached) / f64::from(total));
        }
        Cdf::parse(&text).expect("built to be legal")
    }
}

proptest! {
    #[test]
    fn samples_stay_in_range_and_match_the_mean(table in random_table(), seed in any::<u64>()) {
        let mut stream = RandomStreams::new(seed).stream("table");
        let (smallest, largest) = table.range();
        let sizes: Vec<f64> = (0..20_000).map(|_| table.sample(&mut stream) as f64).collect();
        prop_assert!(sizes.iter().all(|&size| size >= smallest.max(1.0) && size <= largest.max(1.0)));
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        // Five standard errors of the mean of a variable on this range, plus half a byte each for rounding and for the
        // minimum of 1.
        let tolerance = 5.0 * (largest - smallest) / 2.0 / (sizes.len() as f64).sqrt() + 1.0;
        prop_assert!((mean - table.mean_linear()).abs() <= tolerance, "{} for {}", mean, table.mean_linear());
    }

    #[test]
    fn a_cut_table_keeps_what_is_below_the_cut(table in random_table(), share in 0.05f64..1.0) {
        let largest = table.quantile(share);
        if let Some(cut) = table.up_to(largest) {
            prop_assert!(cut.range().1 <= largest);
            prop_assert!(cut.mean_linear() <= table.mean_linear() + 1e-6);
            let kept = table.share_up_to(largest);
            prop_assert!((cut.quantile(0.5) - table.quantile(0.5 * kept)).abs() <= 1e-6 * largest + 1e-6);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*|([0-9. \\n#e-]{0,60})") {
        let _ = Cdf::parse(&text);
    }
}
