//! The effect of each P4Runtime entity on the switch.

use std::sync::Arc;

use hitless_p4::fabric::Answers;
use hitless_p4::meter::Counter;
use hitless_p4::observer::Nobody;
use hitless_p4::packet::Instance;
use hitless_p4::pipeline::Pipeline;
use hitless_p4::program::Program;
use hitless_p4::replication::{Mirror, Replica};
use hitless_p4::state::State;

/// The multicast group for the replicas of clone session 300, a number that no packet can name.
const SESSION_GROUP: u32 = 65_536 + 300;

use super::written;

fn good(updates: &str) -> (Arc<Program>, State) {
    written(updates).unwrap_or_else(|error| panic!("{error}\n{updates}"))
}

/// The packets, with ports, that a switch in this state sends for the frame `(kind, address, low and flags, level)`.
fn sent((program, state): (Arc<Program>, State), frame: (u16, u32, u16, u8)) -> Vec<(u32, Vec<u8>)> {
    let mut pipeline = Pipeline::new(program, 1);
    pipeline.state = state;
    let mut bytes = [frame.0.to_be_bytes().as_slice(), &frame.1.to_be_bytes(), &frame.2.to_be_bytes()].concat();
    bytes.push(frame.3);
    let mut left = Vec::new();
    let came = (1, &bytes[..], Instance::Normal);
    pipeline.process(came, 0, &mut Answers::default(), &mut Nobody, &mut |port, out| left.push((port, out.to_vec())));
    left
}

fn ports(left: &[(u32, Vec<u8>)]) -> Vec<u32> {
    left.iter().map(|(port, _)| *port).collect()
}

/// Makes the parser accept frames of kind 7.
const KNOWN: &str = r#"type: MODIFY entity { value_set_entry { value_set_id: $kinds
    members { match { field_id: 1 exact { value: "\x07" } } } } }"#;

fn known(updates: &str) -> (Arc<Program>, State) {
    good(&format!("{}\n{updates}", KNOWN.replace('\n', " ")))
}

/// An entry for frames of kind 7 with further matches, a priority and a port.
fn acl(matches: &str, priority: u32, port: u8) -> String {
    format!(
        r#"type: INSERT entity {{ table_entry {{ table_id: $acl match {{ field_id: 1 exact {{ value: "\x07" }} }} {matches}
           action {{ action {{ action_id: $send params {{ param_id: 1 value: "\x{port:02x}" }} }} }}
           priority: {priority} }} }}"#
    )
    .replace('\n', " ")
}

/// Fields can be in any order, and omitted fields match anything. The greatest priority wins.
#[test]
fn fields_match_as_they_say_and_the_greatest_priority_wins() {
    let cases = [
        (
            r#"match { field_id: 2 ternary { value: "\x0a\x00\x00\x00" mask: "\xff\x00\x00\x00" } }"#,
            (0x0a01_0203, 0, 0),
        ),
        (r#"match { field_id: 3 range { low: "\x10" high: "\x0e\xff" } }"#, (0, 0xeff0, 0)),
        (r#"match { field_id: 4 optional { value: "\x03" } }"#, (0, 0x0003, 0)),
        (r#"match { field_id: 5 lpm { value: "\xa0" prefix_len: 4 } }"#, (0, 0, 0xaf)),
    ];
    for (matches, (address, low_and_flags, level)) in cases {
        let all = acl("", 1, 1);
        for entries in [[acl(matches, 9, 5), all.clone()], [all, acl(matches, 9, 5)]] {
            let entries = entries.join("\n");
            let frame = (7, address, low_and_flags, level);
            assert_eq!(ports(&sent(known(&entries), frame)), [5], "{matches}");
            let other = (7, address ^ 0x0100_0000, low_and_flags ^ 0x1007, level ^ 0x10);
            assert_eq!(ports(&sent(known(&entries), other)), [1], "{matches}");
        }
        // With the lower priority, the entry never matches first.
        let entries = [acl(matches, 1, 5), acl("", 2, 1)].join("\n");
        assert_eq!(ports(&sent(known(&entries), (7, address, low_and_flags, level))), [1], "{matches}");
    }
    assert_eq!(ports(&sent(good(&acl("", 1, 1)), (7, 0, 0, 0))), [] as [u32; 0], "the value set is empty");
}

/// P4Runtime, section "Bytestrings": leading zeros are allowed for any width.
#[test]
fn a_byte_string_may_begin_with_zeros() {
    for value in [r"\x07", r"\x00\x07", r"\x00\x00\x00\x00\x07", r"\a", r"\007"] {
        let entry = acl("", 1, 3).replace(r#"exact { value: "\x07" }"#, &format!("exact {{ value: \"{value}\" }}"));
        assert_eq!(ports(&sent(known(&entry), (7, 0, 0, 0))), [3], "{value}");
    }
}

#[test]
fn entries_are_modified_and_deleted_by_match_and_priority() {
    let insert = acl("", 4, 1);
    let other = acl("", 5, 2);
    let modify = acl("", 5, 3).replace("INSERT", "MODIFY");
    let delete = acl("", 5, 0).replace("INSERT", "DELETE").replace("params", "# params");
    let delete = delete.split("action {").next().unwrap().to_string() + "priority: 5 } }";
    let after = |updates: &[&String]| {
        let updates: Vec<_> = updates.iter().map(|update| update.as_str()).collect();
        ports(&sent(known(&updates.join("\n")), (7, 0, 0, 0)))
    };
    assert_eq!(after(&[&insert, &other]), [2]);
    assert_eq!(after(&[&insert, &other, &modify]), [3]);
    assert_eq!(after(&[&insert, &other, &delete]), [1]);
    assert_eq!(after(&[&insert, &other, &delete, &other, &modify]), [3]);
}

const MEMBERS: &str = r#"type: INSERT entity { action_profile_member { action_profile_id: $chosen_ways member_id: 70000
      action { action_id: $send_way params { param_id: 1 value: "\x04" } } } }
    type: INSERT entity { action_profile_member { action_profile_id: $chosen_ways member_id: 5
      action { action_id: $send_way params { param_id: 1 value: "\x05" } } } }"#;

/// Joins updates, one per line.
fn lines(updates: &str) -> String {
    let mut text = String::new();
    for line in updates.lines() {
        text += if line.trim_start().starts_with("type:") { "\n" } else { " " };
        text += line.trim();
    }
    text
}

fn by_selector(action: &str) -> String {
    format!(
        r#"type: INSERT entity {{ table_entry {{ table_id: $by_selector
             match {{ field_id: 1 lpm {{ value: "\x0a\x00\x00\x00" prefix_len: 8 }} }} action {{ {action} }} }} }}"#
    )
}

/// Ports of frames with 64 values of the selector's field, and the number of frames at each.
fn spread(updates: &str) -> Vec<(u32, usize)> {
    let (program, state) = known(&lines(updates));
    let mut counts = std::collections::BTreeMap::new();
    for low in (0..64).map(|number| number * 61) {
        let left = sent((program.clone(), state.clone()), (7, 0x0a00_0001, low << 4, 0));
        ports(&left).into_iter().for_each(|port| *counts.entry(port).or_default() += 1);
    }
    counts.into_iter().collect()
}

#[test]
fn members_groups_and_action_sets_say_the_same() {
    let group = r#"type: INSERT entity { action_profile_group { action_profile_id: $chosen_ways group_id: 4000000000
        members { member_id: 5 weight: 1 } members { member_id: 70000 weight: 3 } max_size: 8 } }"#;
    let by_group = format!("{MEMBERS}\n{group}\n{}", by_selector("action_profile_group_id: 4000000000"));
    let found = spread(&by_group);
    assert_eq!(found.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [4, 5]);
    assert!(found[0].1 > 2 * found[1].1, "a weight of 3 is three times as often: {found:?}");
    let set = by_selector(
        r#"action_profile_action_set {
             action_profile_actions { action { action_id: $send_way params { param_id: 1 value: "\x04" } } weight: 3 }
             action_profile_actions { action { action_id: $send_way params { param_id: 1 value: "\x05" } } weight: 1 } }"#,
    );
    assert_eq!(spread(&set), found, "an action set is a group and its members");
    let modified = format!(
        "{by_group}\n{}",
        r#"type: MODIFY entity { action_profile_group { action_profile_id: $chosen_ways group_id: 4000000000
             members { member_id: 5 weight: 2 } max_size: 8 } }
           type: MODIFY entity { action_profile_member { action_profile_id: $chosen_ways member_id: 5
             action { action_id: $send_way params { param_id: 1 value: "\x01\x00" } } } }"#
    );
    assert_eq!(spread(&modified), [(256, 64)]);
    let by_member = format!("{MEMBERS}\n{}", by_selector("action_profile_member_id: 70000"));
    assert_eq!(spread(&by_member), [(4, 64)]);
}

/// The group of an action set is deleted with its entry, so that unused groups do not fill the selector.
#[test]
fn an_action_set_goes_with_its_entry() {
    let set = |weight: u32, kind: &str| {
        by_selector(&format!(
            r#"action_profile_action_set {{ action_profile_actions {{ action {{ action_id: $drop }} weight: {weight} }} }}"#
        ))
        .replace("INSERT", kind)
    };
    let (program, state) = good(&lines(&[set(64, "INSERT"), set(63, "MODIFY"), set(64, "MODIFY")].join("\n")));
    let profile = program.profiles.iter().position(|profile| profile.name == "In.chosen_ways").unwrap();
    let alive = |state: &State| {
        let profile = &state.profiles[profile];
        (profile.members.iter().flatten().count(), profile.groups.iter().flatten().count())
    };
    assert_eq!(alive(&state), (1, 1));
    let (_, state) = good(&lines(&[set(64, "INSERT"), set(1, "DELETE"), set(64, "INSERT")].join("\n")));
    assert_eq!(alive(&state), (1, 1));
    let error = written(&lines(&set(65, "INSERT"))).expect_err("it is too large").to_string();
    assert!(error.contains("In.chosen_ways is full: its groups take 65 places, and have room for 64"), "{error}");
}

#[test]
fn a_default_action_is_set_and_set_back() {
    let unlike = r#"type: MODIFY entity { table_entry { table_id: $acl is_default_action: true
        action { action { action_id: $send params { param_id: 1 value: "\x09" } } } } }"#;
    let back = "type: MODIFY entity { table_entry { table_id: $acl is_default_action: true } }";
    assert_eq!(ports(&sent(known(&lines(unlike)), (7, 0, 0, 0))), [9]);
    assert_eq!(ports(&sent(known(&lines(&format!("{unlike}\n{back}"))), (7, 0, 0, 0))), [] as [u32; 0]);
}

#[test]
fn counters_meters_and_registers_are_written() {
    let (program, state) = good(&lines(
        r#"type: MODIFY entity { counter_entry { counter_id: $counted data { packet_count: 1 byte_count: 2 } } }
           type: MODIFY entity { counter_entry { counter_id: $counted index { index: 3 }
             data { packet_count: 30 byte_count: 9000000000 } } }
           type: MODIFY entity { counter_entry { counter_id: $counted index { index: 4 } } }
           type: MODIFY entity { meter_entry { meter_id: $metered index { index: 1 }
             config { cir: 1000000 cburst: 1500 pir: 2500000 pburst: 3000 } } }
           type: MODIFY entity { register_entry { register_id: $kept data { bitstring: "\x05" } } }
           type: MODIFY entity { register_entry { register_id: $kept index { index: 2 }
             data { bitstring: "\x00\xff\xff\xff\xff\xff\xff" } } }
           type: MODIFY entity { register_entry { register_id: $signed index { } data { bitstring: "\xfd\x1d" } } }
           type: MODIFY entity { register_entry { register_id: $signed index { index: 1 } data { bitstring: "\xff\x9d" } } }
           type: MODIFY entity { register_entry { register_id: $signed index { index: 2 } data { bitstring: "\x9d" } } }
           type: MODIFY entity { register_entry { register_id: $signed index { index: 3 } data { bitstring: "\x00" } } }"#,
    ));
    let counters = &state.counters[program.counters.iter().position(|array| array.name == "In.counted").unwrap()];
    let counted = |index: usize| (counters[index].packets, counters[index].bytes);
    assert_eq!([0, 3, 4, 7].map(counted), [(1, 2), (30, 9_000_000_000), (1, 2), (1, 2)]);
    let meters = &state.meters[program.meters.iter().position(|array| array.name == "In.metered").unwrap()];
    let rates: Vec<_> = meters[1].rates().iter().map(|rate| (rate.per_us, rate.burst)).collect();
    assert_eq!(rates, [(1.0, 1500), (2.5, 3000)], "per second there, per microsecond here");
    assert!(meters[0].rates().is_empty());
    let words = |name: &str| {
        let register = program.registers.iter().position(|array| array.name == name).unwrap();
        state.registers[register].words.clone()
    };
    assert_eq!(words("In.kept")[..4], [5, 5, 0xffff_ffff_ffff, 5]);
    // The examples of section "Bytestrings": int<12> -739 is fd1d, and -99 is 9d after any number of ff bytes.
    assert_eq!(words("In.signed"), [0xd1d, 0xf9d, 0xf9d, 0]);
}

/// P4Runtime, section "Direct Resources".
#[test]
fn a_direct_meter_is_reset_by_a_change_of_its_entry_and_a_counter_is_not() {
    let config = "meter_config { cir: 1000000 cburst: 10 pir: 1000000 pburst: 10 }";
    let insert = acl("", 4, 1).replace("priority", &format!("{config} counter_data {{ packet_count: 7 }} priority"));
    let modify = acl("", 4, 2).replace("INSERT", "MODIFY");
    let entry = r#"table_entry { table_id: $acl match { field_id: 1 exact { value: "\x07" } } priority: 4 }"#;
    let meter = format!("type: MODIFY entity {{ direct_meter_entry {{ {entry} {} }} }}", config.replace("meter_", ""));
    let counter = format!(
        "type: MODIFY entity {{ direct_counter_entry {{ {entry} data {{ packet_count: 8 byte_count: 9 }} }} }}"
    );
    let cases = [
        (insert.clone(), 2, (7, 0)),
        ([insert.clone(), modify.clone()].join("\n"), 0, (7, 0)),
        ([insert.clone(), modify.clone(), meter].join("\n"), 2, (7, 0)),
        ([insert, modify, counter].join("\n"), 0, (8, 9)),
    ];
    for (updates, rates, counted) in cases {
        let (program, state) = good(&updates);
        let row = &state.tables[program.table("In.acl").unwrap() as usize].entries[0];
        let Counter { packets, bytes } = row.counter;
        assert_eq!((row.meter.rates().len(), (packets, bytes)), (rates, counted), "{updates}");
    }
}

#[test]
fn multicast_groups_and_clone_sessions_make_copies() {
    let copies = |action: &str, value: &str| {
        format!(
            r#"type: INSERT entity {{ table_entry {{ table_id: $copies match {{ field_id: 1 exact {{ value: "\x07" }} }}
               action {{ action {{ action_id: {action} params {{ param_id: 1 value: "{value}" }} }} }} }} }}"#
        )
    };
    let group = r#"type: INSERT entity { packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 300
        replicas { port: "\x05" instance: 1 } replicas { port: "\x01\x05" instance: 2 } replicas { egress_port: 6 } } } }"#;
    let left = sent(known(&lines(&format!("{group}\n{}", copies("$replicate", r"\x01\x2c")))), (7, 0, 0, 0));
    let levels: Vec<_> = left.iter().map(|(port, bytes)| (*port, bytes[8])).collect();
    assert_eq!(levels, [(5, 1), (261, 2), (6, 0)], "port and instance");
    let fewer = r#"type: MODIFY entity { packet_replication_engine_entry { multicast_group_entry { multicast_group_id: 300
        replicas { port: "\x08" instance: 7 } } } }"#;
    let updates = format!("{group}\n{fewer}\n{}", copies("$replicate", r"\x01\x2c"));
    assert_eq!(ports(&sent(known(&lines(&updates)), (7, 0, 0, 0))), [8]);

    let session = |replicas: &str, kind: &str| {
        format!(
            "type: {kind} entity {{ packet_replication_engine_entry {{ clone_session_entry {{ session_id: 300 {replicas} }} }} }}"
        )
    };
    let (one, two) =
        (r#"replicas { port: "\x05" }"#, r#"replicas { port: "\x05" } replicas { port: "\x06" instance: 9 }"#);
    let cloning = |sessions: &[String]| {
        let updates = format!("{}\n{}", sessions.join("\n"), copies("$clone_to", r"\x01\x2c"));
        let (program, state) = known(&lines(&updates));
        let to = state.replication.session(300);
        let replicas = state.replication.replicas(SESSION_GROUP).to_vec();
        (ports(&sent((program, state), (7, 0, 0, 0))), to, replicas)
    };
    assert_eq!(cloning(&[session(one, "INSERT")]), (vec![5], Some(Mirror::Port(5)), vec![]));
    let replicas = vec![Replica { rid: 0, port: 5 }, Replica { rid: 9, port: 6 }];
    let several = (vec![5, 6], Some(Mirror::Group(SESSION_GROUP)), replicas);
    assert_eq!(cloning(&[session(two, "INSERT")]), several);
    assert_eq!(cloning(&[session(one, "INSERT"), session(two, "MODIFY")]), several);
    assert_eq!(cloning(&[session(two, "INSERT"), session(one, "MODIFY")]), (vec![5], Some(Mirror::Port(5)), vec![]));
    let gone = cloning(&[session(two, "INSERT"), session("", "DELETE")]);
    assert_eq!(gone, (vec![], None, vec![]));
}
