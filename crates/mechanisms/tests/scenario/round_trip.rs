//! Written scenarios are read back unchanged, and no text makes the reader panic.

use proptest::prelude::*;

use super::*;

fn assert_round_trip(scenario: &Scenario) {
    let text = scenario.effective_toml();
    let again = check(&text, "base.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&Scenario { folder: scenario.folder.clone(), ..again }, scenario);
}

#[test]
fn effective_configurations_read_back_the_same() {
    assert_round_trip(&base());
    for Example { name, text } in EXAMPLES {
        assert_round_trip(&check(text, name).unwrap_or_else(|error| panic!("{error}")));
    }
}

#[test]
fn an_effective_configuration_spells_defaults_out() {
    let text = base().effective_toml();
    for line in ["seed = 1", "rto_min = \"200 ms\"", "choice = \"flow-hash\"", "queues_per_port = 1", "dummy_count = 3"]
    {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
}

prop_compose! {
    fn topology()(kind in 0..4, a in 1u32..5, b in 1u32..5, hosts in 2u32..5, bps in 1u64..1 << 40, ps in any::<u32>()) -> String {
        let link = format!("{{ rate = \"{bps} bps\", delay = \"{ps} ps\" }}");
        match kind {
            0 => format!("kind = \"leaf-spine\"\nleaves = {a}\nspines = {b}\nhosts_per_leaf = {hosts}\nhost_link = {link}\ncore_link = {link}"),
            1 => format!("kind = \"fat-tree\"\nk = {}\nhost_link = {link}\ncore_link = {link}", 2 * a + 2),
            2 => format!("kind = \"dumbbell\"\nhosts_left = {a}\nhosts_right = {b}\nhost_link = {link}\nbottleneck = {link}"),
            _ => format!("kind = \"chain\"\nhosts_left = [\"h0\"]\nswitches = [\"s\", \"t\"]\nhosts_right = [\"h1\"]\nhost_link = {link}\nswitch_link = {link}"),
        }
    }
}

prop_compose! {
    fn flows()(kind in 0..7, bytes in 1u64..1 << 50, ps in 1u64..1 << 40, share in 0.001f64..1.0, count in 1u64..1 << 40) -> String {
        match kind {
            0 => format!("kind = \"poisson\"\nsizes = {{ kind = \"fixed\", bytes = \"{bytes} B\" }}\nload = {share}\nload_of = \"source-host-links\"\ncount = {count}\nconnections = {}", 1 + count % 65_535),
            1 => format!("kind = \"poisson\"\nsizes = {{ kind = \"cdf\", table = \"google_allrpc_homa\" }}\nflows_per_second = {share}"),
            2 => format!("kind = \"incast\"\nfan_in = 1\nsize = \"{bytes} B\"\nperiod = \"{ps} ps\""),
            3 => format!("kind = \"schedule\"\nsources = [\"h0\"]\ndestinations = [\"h1\"]\nperiod = \"{ps} ps\"\nsizes = {{ kind = \"fixed\", bytes = \"{bytes} B\" }}\ncount = {count}"),
            4 => format!("kind = \"sequence\"\nsources = [\"h0\"]\ndestinations = [\"h1\"]\ngap = \"{ps} ps\"\nsizes = {{ kind = \"fixed\", bytes = \"{bytes} B\" }}\ncount = {count}"),
            5 => format!("kind = \"permutation\"\nsize = \"{bytes} B\"\nspread = \"{ps} ps\""),
            _ => format!("kind = \"requests\"\nsources = [\"h0\"]\ndestinations = [\"h1\"]\nsize = \"{bytes} B\"\ncount = {count}\ngap = \"{ps} ps\""),
        }
    }
}

prop_compose! {
    fn scenario()(
        topology in topology(),
        flows in flows(),
        ideal in any::<bool>(),
        duration_ps in 1u64..1 << 62,
        seed in 0u64..1 << 63,
        rto_ps in 1u64..1 << 60,
        loss in 0.0f64..1.0,
        dctcp in any::<bool>(),
    ) -> String {
        let preset = if ideal { "ideal" } else { "tofino-like" };
        let congestion = if dctcp { "dctcp" } else { "newreno" };
        format!(
            "name = \"x\"\nduration = \"{duration_ps} ps\"\nseed = {seed}\n[topology]\n{topology}\n\
             [switch]\npreset = \"{preset}\"\necn = {{ threshold = \"{rto_ps} B\" }}\n\
             buffer = {{ kind = \"shared\", total = \"{rto_ps} B\", alpha = {loss:e} }}\n\
             [[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"{congestion}\"\nrto_max = \"{rto_ps} ps\"\nrto_initial = \"1 ps\"\nrto_min = \"1 ps\"\n\
             [[flows]]\nname = \"f\"\ntransport = \"t\"\n{flows}\n"
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_legal_scenario_reads_back_the_same(text in scenario()) {
        // This generator can only violate the schema's minimum of alpha.
        if let Ok(scenario) = check(&text, "") {
            assert_round_trip(&scenario);
        } else {
            prop_assert!(text.contains("alpha"), "{}", text);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}|([a-z0-9_=\\[\\]\"{}., \\n#-]{0,200})") {
        if let Err(error) = check(&text, "fuzz") {
            prop_assert!(!error.findings.is_empty());
            let _ = error.to_string();
        }
    }

    #[test]
    fn no_damage_to_a_good_file_makes_the_reader_panic(
        example in 0..EXAMPLES.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "\\PC{0,3}|[0-9\"=\\[{ ]{0,3}"), 1..4),
    ) {
        let mut text = EXAMPLES[example].text.to_string();
        for (from, to, inserted) in edits {
            let boundaries: Vec<usize> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
            let from = from.index(boundaries.len());
            let to = (from + to.index(12)).min(boundaries.len() - 1);
            text.replace_range(boundaries[from]..boundaries[to], &inserted);
        }
        match check(&text, "fuzz") {
            Ok(scenario) => assert_round_trip(&scenario),
            Err(error) => {
                prop_assert!(!error.findings.is_empty());
                let _ = error.to_string();
            }
        }
    }
}
