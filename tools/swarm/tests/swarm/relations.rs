//! Relations between runs: each applies to some worlds, holds, and is reported as broken after an unrelated change.

use std::collections::BTreeMap;

use hitless_mechanisms::builtin;
use hitless_swarm::dice::Dice;
use hitless_swarm::relations::{Pair, RELATIONS, Relation, Subject};
use hitless_swarm::{World, draw};
use toml::{Table, Value};

/// Seeds of worlds.
const SEEDS: std::ops::Range<u64> = 0..60;

fn subjects() -> impl Iterator<Item = (u64, Subject)> {
    SEEDS.filter_map(|seed| {
        let world = draw::world(seed, builtin()).0?;
        Some((seed, Subject::of(&world, builtin())?))
    })
}

#[test]
fn every_relation_holds_in_some_dozen_worlds() {
    let (mut said, mut broken) = (BTreeMap::new(), Vec::new());
    for (seed, subject) in subjects() {
        for relation in RELATIONS {
            let Some(found) = relation.broken(&subject, builtin()) else { continue };
            *said.entry(relation.name).or_insert(0_usize) += 1;
            broken.extend(found.map(|told| format!("seed {seed}: {told}")));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let rare: Vec<&str> =
        RELATIONS.iter().map(|relation| relation.name).filter(|name| said.get(name).is_none_or(|&of| of < 5)).collect();
    assert!(rare.is_empty(), "{rare:?} hardly have a say: {said:?}");
}

/// Makes the switches of the second world slower by a nanosecond, which is unrelated to all changes.
fn with_slower_switches(pair: Pair) -> Pair {
    let mut after = pair.after;
    let switch = after.get_mut("switch").and_then(Value::as_table_mut).expect("every default is written");
    let slower = if switch["ingress_latency"].as_str() == Some("0 s") { "1 ns" } else { "201 ns" };
    switch.insert("ingress_latency".into(), slower.into());
    Pair { after, ..pair }
}

#[test]
fn a_second_world_that_is_slower_by_a_nanosecond_is_found_by_every_relation() {
    for relation in RELATIONS {
        let mut found = 0;
        for (_, subject) in subjects().take(40) {
            let pair = (relation.pair)(&subject, &mut Dice::new(subject.seed, relation.name));
            let broken = pair.and_then(|pair| with_slower_switches(pair).broken(builtin()));
            found += usize::from(broken.flatten().is_some());
        }
        assert!(found > 0, "{} found nothing", relation.name);
    }
}

/// A constant-rate datagram flow at 1 Gb/s from 10 us to 200 us over a lossless link.
fn small_world() -> World {
    let text = "name = \"small\"\nduration = \"1 ms\"\nmeasure = { order = true }\n\
        topology = { kind = \"dumbbell\", hosts_left = 1, hosts_right = 1, \
        host_link = { rate = \"10 Gbps\", delay = \"1 us\" }, bottleneck = { rate = \"10 Gbps\", delay = \"1 us\" } }\n\
        [[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"1 Gbps\"\n\
        [[flows]]\nname = \"f\"\ntransport = \"t\"\nkind = \"constant-rate\"\nsources = [\"h0\"]\n\
        destinations = [\"h1\"]\nstart = \"10 us\"\nstop = \"200 us\"\n";
    World::new(text.parse().expect("this is TOML"))
}

/// Replaces the second world by a wrong one.
fn wrongly(after: Table, pair: Pair) -> Option<Pair> {
    Some(Pair { after, ..pair })
}

#[test]
fn a_relation_that_changes_a_world_wrongly_is_broken_and_says_in_what() {
    let named = |name: &str| RELATIONS.into_iter().find(|known| known.name == name).expect("a relation of this name");
    let loss: fn(&Subject, &mut Dice) -> Option<Pair> = |subject, dice| {
        let pair = (RELATIONS[1].pair)(subject, dice)?;
        let mut after = subject.table();
        let lossy = "name = \"left->right\"\nloss = { kind = \"bernoulli\", rate = 0.5 }";
        after.insert("link".into(), Value::Array(vec![Value::Table(lossy.parse().expect("this is TOML"))]));
        wrongly(after, pair)
    };
    let later: fn(&Subject, &mut Dice) -> Option<Pair> = |subject, dice| {
        let pair = (RELATIONS[6].pair)(subject, dice)?;
        let mut after = pair.after.clone();
        let group = after.get_mut("flows")?.as_array_mut()?.first_mut()?.as_table_mut()?;
        group.insert("stop".into(), "200 ms".into());
        wrongly(after, pair)
    };
    assert_eq!((RELATIONS[1].name, RELATIONS[6].name), ("loss of zero", "a later start"));
    for (name, pair, column) in [("loss of zero", loss, "delivered_bytes"), ("a later start", later, "bytes")] {
        let subject = Subject::of(&small_world(), builtin()).expect("a sound world");
        assert_eq!(named(name).broken(&subject, builtin()), Some(None), "{name}");
        let told = Relation { pair, ..named(name) }.broken(&subject, builtin()).flatten().expect("it is broken");
        assert!(told.starts_with(&format!("with {name} ")) && told.contains(column), "{told}");
    }
}

/// Six answers at a time through switches that return frames on the link of their arrival.
const RETURNED_FRAMES: &str = r#"
name = "returned"
duration = "60 ms"
host = { priority_tagger = { by = "remaining-bytes" }, reorder_buffer = { timeout = "100 us" } }
mechanism = [{ kind = "simple-deflection" }]
switch = { queues_per_port = 4, buffer = { kind = "static", per_port = "8 packets" } }
transport = [{ name = "t", kind = "tcp" }]
[topology]
kind = "dumbbell"
hosts_left = 5
hosts_right = 4
host_link = { rate = "100 Gbps", delay = "100 ns" }
bottleneck = { rate = "25 Gbps", delay = "1 ps" }
[[flows]]
kind = "incast"
name = "g"
transport = "t"
count = 2
fan_in = 6
size = "32561 B"
period = "86 us"
"#;

#[test]
fn half_of_the_speed_holds_where_equal_rates_would_return_frames_at_the_same_time() {
    let half = RELATIONS.into_iter().find(|known| known.name == "half of the speed").expect("a relation of this name");
    for seed in [12, 24, 68, 80, 83, 94, 104, 110, 111] {
        let mut table: Table = RETURNED_FRAMES.parse().expect("this is TOML");
        table.insert("seed".into(), seed.into());
        let subject = Subject::of(&World::new(table), builtin()).expect("a sound world");
        assert_eq!(half.broken(&subject, builtin()), Some(None), "seed {seed}");
    }
}
