//! Do no harm: every mechanism in every variant of its settings, alone in a healthy fabric, delivers as much as plain
//! forwarding, except for a cost stated with its reason.

mod tables;
mod variants;

use std::collections::BTreeMap;

use hitless_scenario::Scenario;
use serde_json::Value;

use self::tables::{ANY, COMPANIONS, COSTS, Companion, Cost, MINIMAL, OF_A_PROGRAM, Surroundings};
use self::variants::Variant;
use crate::support::{self, numbers, run_scenario, sum, texts, times};

/// Loads: one message at line rate, many messages at half of it, and four endless flows that share it.
const LOADS: [(&str, &str, &str); 3] = [
    (
        "one message",
        "4 ms",
        "kind = \"schedule\"\nsizes = { kind = \"fixed\", bytes = \"2 MB\" }\nperiod = \"1 s\"\nsources = [\"h0\"]\n\
         destinations = [\"h4\"]",
    ),
    (
        "many messages",
        "4 ms",
        "kind = \"poisson\"\nsizes = { kind = \"fixed\", bytes = \"10 KB\" }\nacross = \"switches\"\nload = 0.125\n\
         load_of = \"host-links\"\nstop = \"2 ms\"",
    ),
    ("four flows", "2 ms", "kind = \"long\"\nsources = [\"h0..h3\"]\ndestinations = [\"h4..h7\"]"),
];

/// A scenario of two switches with four hosts each, and a load.
fn text(around: &Surroundings, mechanism: &str, (_, duration, flows): (&str, &str, &str)) -> String {
    let Surroundings { preset, buffer, host, congestion, marks } = around;
    let fabric = support::dumbbell(4, "1 us", "1 us");
    let ecn = if *marks { "ecn = { threshold = \"65 packets\" }" } else { "" };
    format!(
        "name = \"do-no-harm\"\nduration = \"{duration}\"\n{fabric}[host]\n{host}\n\
         [switch]\npreset = \"{preset}\"\nbuffer = {buffer}\n{ecn}\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"{congestion}\"\n\
         [[flows]]\nname = \"load\"\ntransport = \"t\"\n{flows}\n{mechanism}"
    )
}

/// The results of a load.
#[derive(Clone, Debug)]
struct Delivery {
    bytes: u64,
    /// Durations of completed flows, by group and position.
    took_ps: BTreeMap<(String, u64), i64>,
}

fn deliver(scenario: &Scenario) -> Delivery {
    let outcome = run_scenario(scenario);
    let of = |name| times(&outcome, "flows", name);
    let took = of("finished_ps").iter().zip(of("started_ps")).map(|(finished, started)| finished - started);
    let positions = numbers(&outcome, "flows", "position").iter().copied();
    let flows = texts(&outcome, "flows", "group").iter().cloned().zip(positions);
    let rows = flows.zip(took).zip(texts(&outcome, "flows", "outcome"));
    Delivery {
        bytes: sum(&outcome, "flows", "delivered_bytes"),
        took_ps: rows.filter(|(_, outcome)| *outcome == "completed").map(|(row, _)| row).collect(),
    }
}

/// Describes the excess over the allowed cost, compared with plain forwarding.
fn harm(plain: &Delivery, with: &Delivery, cost: &Cost) -> Option<String> {
    let missing = plain.took_ps.keys().filter(|flow| !with.took_ps.contains_key(flow)).count();
    let bytes = 1.0 - with.bytes as f64 / plain.bytes as f64;
    let both = plain.took_ps.iter().filter_map(|(flow, took)| with.took_ps.get(flow).map(|with| (*took, *with)));
    let (plain_ps, with_ps) = both.fold((0, 0), |sums, took| (sums.0 + took.0, sums.1 + took.1));
    let time = if plain_ps == 0 { 0.0 } else { with_ps as f64 / plain_ps as f64 - 1.0 };
    let is_harmless = missing == 0 && bytes <= cost.bytes && time <= cost.time;
    (!is_harmless).then(|| {
        format!(
            "{missing} of {} messages unfinished, {:.2} % fewer bytes of {}, mean completion time {:+.2} %; \
             allowed {} % and {} %: {}",
            plain.took_ps.len(),
            100.0 * bytes,
            plain.bytes,
            100.0 * time,
            100.0 * cost.bytes,
            100.0 * cost.time,
            cost.reason
        )
    })
}

/// The TOML entry of a mechanism: its minimal settings, then the added ones, which replace settings of the same name.
fn entry(kind: &str, settings: &str, added: &toml::Table) -> String {
    let mut table: toml::Table = settings.parse().expect("the settings of the table are TOML");
    table.insert("kind".into(), kind.into());
    added.iter().for_each(|(name, value)| drop(table.insert(name.clone(), value.clone())));
    toml::to_string(&BTreeMap::from([("mechanism", [table])])).expect("an entry is TOML")
}

fn companion(kind: &str, variant: &Variant) -> Option<&'static Companion> {
    COMPANIONS.iter().find(|companion| companion.kind == kind && companion.variant == variant.name)
}

/// The variant as an entry, and its surroundings.
///
/// # Errors
/// If the variant does not behave as the table says; the message is a sentence.
fn with_companion(
    (kind, settings, around): (&str, &str, Surroundings),
    variant: &Variant,
) -> Result<(String, Surroundings), String> {
    let value = toml::Value::try_from(&variant.value).expect("a value of the schema is one of TOML");
    let mut added = toml::Table::from_iter([(variant.setting.clone(), value)]);
    let alone = entry(kind, settings, &added);
    match (support::check(&text(&around, &alone, LOADS[0])), companion(kind, variant)) {
        (Ok(_), None) => Ok((alone, around)),
        (Err(error), None) => Err(format!("is refused: {error}")),
        (Ok(_), Some(_)) => Err("is not refused alone, and the table says that it is".into()),
        (Err(error), Some(companion)) if error.contains(companion.refused) => {
            added.extend(companion.settings.parse::<toml::Table>().expect("the settings of the table are TOML"));
            let buffer = companion.buffer.unwrap_or(around.buffer);
            Ok((entry(kind, settings, &added), Surroundings { buffer, ..around }))
        }
        (Err(error), Some(companion)) => Err(format!("is refused, but not since {:?}: {error}", companion.refused)),
    }
}

/// Caches runs: variants that spell out a default are the same scenario.
#[derive(Default)]
struct Runs(Vec<(Scenario, Delivery)>);

impl Runs {
    fn deliver(&mut self, text: &str) -> Result<Delivery, String> {
        let scenario = support::check(text).map_err(|error| format!("is refused: {error}"))?;
        if let Some((_, known)) = self.0.iter().find(|(known, _)| *known == scenario) {
            return Ok(known.clone());
        }
        let delivery = deliver(&scenario);
        self.0.push((scenario, delivery.clone()));
        Ok(delivery)
    }

    /// Excess costs of an entry compared with plain forwarding, for each load.
    fn harms(&mut self, entry: &str, around: &Surroundings, cost: &Cost) -> Vec<String> {
        let plain = Surroundings { congestion: "dctcp", marks: true, ..*around };
        let mut harms = Vec::new();
        for load in LOADS {
            let without = self.deliver(&text(&plain, "", load)).expect("plain forwarding is not refused");
            let found = self.deliver(&text(around, entry, load)).map(|with| harm(&without, &with, cost));
            harms.extend(found.unwrap_or_else(Some).map(|harm| format!("{}: {harm}", load.0)));
        }
        harms
    }
}

#[test]
fn every_mechanism_in_every_variant_delivers_what_plain_forwarding_delivers() {
    let mut runs = Runs::default();
    let mut harms = Vec::new();
    let mut looked_at = 0;
    for (kind, variants) in variants::of_all_mechanisms() {
        if kind == OF_A_PROGRAM {
            continue;
        }
        let Some(&minimal) = MINIMAL.iter().find(|row| row.0 == kind) else {
            harms.push(format!("{kind}: has no minimal entry here: give it one"));
            continue;
        };
        let least = Variant { name: "minimal".into(), setting: "kind".into(), value: Value::from(kind.clone()) };
        for variant in std::iter::once(&least).chain(&variants) {
            looked_at += 1;
            let found = match with_companion(minimal, variant) {
                Ok((entry, around)) => runs.harms(&entry, &around, Cost::of(&kind, &variant.name)),
                Err(error) => vec![error],
            };
            harms.extend(found.into_iter().map(|harm| format!("{kind}, {}: {harm}", variant.name)));
        }
    }
    assert!(harms.is_empty(), "of {looked_at} variants:\n{}", harms.join("\n"));
}

/// A row without a variant would promise something about a setting that does not exist.
#[test]
fn every_row_of_the_tables_is_of_a_mechanism_and_a_variant_that_the_schema_has() {
    let known = variants::of_all_mechanisms();
    assert!(MINIMAL.iter().all(|row| known.contains_key(row.0)));
    for cost in &COSTS {
        let has_it = |variant: &Variant| cost.variant.is_empty() || variant.name == cost.variant;
        assert!(known[cost.kind].iter().any(has_it) || cost.variant.is_empty(), "{} {}", cost.kind, cost.variant);
        assert!(!cost.reason.is_empty());
    }
    for companion in &COMPANIONS {
        let found = known[companion.kind].iter().any(|variant| variant.name == companion.variant);
        assert!(found, "{} has no {}", companion.kind, companion.variant);
    }
}

/// Variants that were broken when this test was written, or that could break; the enumeration must contain them.
#[test]
fn the_schema_gives_every_value_of_every_setting() {
    let known = variants::of_all_mechanisms();
    let names = |kind: &str| known[kind].iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>();
    let expected = [
        ("afq", "scheduler=two-groups"),
        ("afq", "scheduler=rotating-strict-priority.late=named-queue"),
        ("afq", "sketch.hash=checksums"),
        ("afq", "measure_estimation=true"),
        ("linkguardian", "fallback given"),
        ("preemptive-deflection", "relative_priority=distribution.mean=moving-average"),
        ("simple-deflection", "occupancy=update-gap.sees_full_at_once=true"),
        ("sqr", "backstop given"),
    ];
    for (kind, name) in expected {
        assert!(names(kind).contains(&name), "{kind} has no {name}: {:?}", names(kind));
    }
}

#[test]
fn a_mechanism_that_loses_a_message_or_time_is_found() {
    let of = |bytes, took: &[i64]| Delivery {
        bytes,
        took_ps: (0..).map(|position| (String::new(), position)).zip(took.iter().copied()).collect(),
    };
    let plain = of(1_000, &[10, 10, 10]);
    let rows = [
        (of(1_000, &[10, 10, 10]), None),
        (of(985, &[5, 15, 10]), None),
        (of(1_000, &[1, 1]), Some("1 of 3 messages unfinished")),
        (of(970, &[10, 10, 10]), Some("3.00 % fewer bytes")),
        (of(1_000, &[10, 10, 11]), Some("mean completion time +3.33 %")),
    ];
    for (with, expected) in rows {
        let found = harm(&plain, &with, &ANY);
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or("")));
    }
}
