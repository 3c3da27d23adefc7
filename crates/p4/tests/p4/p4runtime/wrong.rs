//! Refused requests; each error names the line, the table, the field, the value and the rule.

use hitless_p4::p4runtime::info::P4Info;
use hitless_p4::p4runtime::write::Request;
use hitless_p4::program::Program;
use proptest::prelude::*;

use super::{INFO, PROGRAM, apply, numbered, written};

/// Abbreviations of requests. An entry is `INSERT $acl ...`, anything else `INSERT counter_entry { ... }`.
fn update(text: &str) -> String {
    let long = [
        ("GOOD", "KIND SEND priority: 1"),
        ("KIND", r#"match { field_id: 1 exact { value: "\x07" } }"#),
        ("SEND", r#"action { action { action_id: $send params { param_id: 1 value: "\x01" } } }"#),
        ("MEMBER", "action_profile_member { action_profile_id:"),
        ("GROUP", "action_profile_group { action_profile_id:"),
        ("TEN", r#"match { field_id: 1 lpm { value: "\x0a\x00\x00\x00" prefix_len: 8 } }"#),
        ("SET", "action { action_profile_action_set { action_profile_actions { DROP weight: 1 } } }"),
        ("DROP", "action { action_id: $drop }"),
        ("MULTICAST", "packet_replication_engine_entry { multicast_group_entry { multicast_group_id:"),
        ("SESSION", "packet_replication_engine_entry { clone_session_entry { session_id:"),
    ];
    let text = long.iter().fold(text.to_string(), |text, (short, long)| text.replace(short, long));
    let (kind, entity) = text.split_once(' ').unwrap_or((&text, ""));
    match entity.split_once(' ') {
        Some((table, rest)) if table.starts_with(|first: char| first == '$' || first.is_ascii_digit()) => {
            format!("type: {kind} entity {{ table_entry {{ table_id: {table} {rest} }} }}")
        }
        _ => format!("type: {kind} entity {{ {entity} }}"),
    }
}

/// Executes the updates of `text` up to each line that is a message. The update before the message must be refused with
/// it, at its line; `start` begins the error after file and line.
fn refused(start: &str, text: &str) {
    let valid = update("MODIFY counter_entry { counter_id: $counted data { packet_count: 1 } }");
    let mut updates = vec![valid.clone()];
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if ["INSERT", "MODIFY", "DELETE", "UNSPECIFIED"].iter().any(|kind| line.starts_with(kind)) {
            updates.push(update(line));
            continue;
        }
        let error = written(&updates.join("\n")).expect_err(line).to_string();
        let start = format!("entries.txtpb:{}: {start}", updates.len());
        assert!(error.starts_with(&start) && error.contains(line), "{error}\nis not\n{start}{line}");
        updates = vec![valid.clone()];
    }
}

#[test]
fn a_match_that_the_specification_forbids_is_refused() {
    let text = r#"
        match { field_id: 1 exact { value: "\x01\x00\x63" } }
            the value 0x010063 of the field headers.first.kind has 17 bits, and there is room for 16
        match { field_id: 1 exact { value: "" } }
            headers.first.kind (16 bits) has no value
        match { field_id: 1 exact { } }
            headers.first.kind (16 bits) has no value
        match { field_id: 1 lpm { value: "\x07" prefix_len: 3 } }
            the field headers.first.kind is matched EXACT, and is given lpm
        match { field_id: 1 }
            the field headers.first.kind has no value: exact { ... } is due
        match { field_id: 6 exact { value: "\x07" } }
            the key has no field_id 6, but 1 headers.first.kind, 2 headers.first.address,
        match { field_id: 2 ternary { value: "\x01" mask: "\x01" } }
            the field headers.first.kind has no value, and may not be left out: it is matched EXACT
        KIND KIND
            the field headers.first.kind (field_id 1) is given twice
        KIND match { field_id: 2 ternary { value: "\x00" mask: "\x00" } }
            headers.first.address has a mask of 0: a field that may be anything is left out
        KIND match { field_id: 2 ternary { value: "\x03" mask: "\x02" } }
            headers.first.address has the value 0x03 with ones where its mask 0x02 has none
        KIND match { field_id: 2 ternary { value: "\x02" } }
            headers.first.address (32 bits) has no value
        KIND match { field_id: 3 range { low: "\x09" high: "\x08" } }
            headers.first.low has the range 0x09 to 0x08, which ends before it begins
        KIND match { field_id: 3 range { low: "\x00" high: "\x0f\xff" } }
            headers.first.low has the range of all values: a field that may be anything is left out
        KIND match { field_id: 3 range { low: "\x00" high: "\x10\x00" } }
            the value 0x1000 of the field headers.first.low has 13 bits, and there is room for 12
        KIND match { field_id: 4 optional { value: "\x10" } }
            has 5 bits, and there is room for 4
        KIND match { field_id: 5 lpm { value: "\xa0" prefix_len: 0 } }
            headers.first.level has a prefix of 0 bits: a field that may be anything is left out
        KIND match { field_id: 5 lpm { value: "\xa0" prefix_len: 9 } }
            headers.first.level has 8 bits, and the prefix 9
        KIND match { field_id: 5 lpm { value: "\xa0" prefix_len: -1 } }
            headers.first.level has 8 bits, and the prefix -1
        KIND match { field_id: 5 lpm { value: "\xa8" prefix_len: 4 } }
            headers.first.level has the value 0xa8 with ones behind its prefix of 4 bits
        KIND match { field_id: 5 other { } }
            the field headers.first.level is matched LPM, and is given other"#;
    let lines = text.lines().map(str::trim).map(|line| match line.starts_with("match {") || line.starts_with("KIND") {
        true => format!("INSERT $acl {line} SEND priority: 1"),
        false => line.to_string(),
    });
    refused("table In.acl: ", &lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_entry_that_cannot_be_is_refused() {
    refused(
        "",
        r#"
        INSERT $acl KIND SEND
            In.acl: the priority is 0 or left out, and must be 1 at least
        INSERT $acl KIND SEND priority: -4
            In.acl: the priority -4 is below 1
        INSERT $copies KIND priority: 3
            In.copies: the priority is 3, and must be left out
        INSERT $acl KIND priority: 1
            In.acl: the entry has no action
        INSERT $acl KIND action { } priority: 1
            In.acl: the action is empty
        INSERT $acl KIND action { action { action_id: $send } } priority: 1
            the parameter port (param_id 1, 9 bits) of In.send has no value
        INSERT $acl KIND action { action { action_id: $send params { param_id: 1 value: "\x02\x00" } } } priority: 1
            the value 0x0200 of the parameter port of In.send has 10 bits, and there is room for 9
        INSERT $acl KIND action { action { action_id: $send params { param_id: 2 value: "\x02" } } } priority: 1
            the action In.send has no param_id 2
        INSERT $acl KIND action { action { action_id: $send params { param_id: 1 value: "\x02" } params { param_id: 1 value: "\x02" } } } priority: 1
            the parameter port of In.send (param_id 1) is given twice
        INSERT $acl KIND action { action { action_id: $send_way params { param_id: 1 value: "\x01" } } } priority: 1
            which is the action In.send_way; the actions of the table are
        INSERT $acl KIND action { action { action_id: $acl } } priority: 1
            which is the table In.acl; the actions of the table are
        INSERT $acl KIND action { action { action_id: 9 } } priority: 1
            the action_id is 9 (0x00000009), which the p4info has not
        INSERT $drop GOOD
            which is the action In.drop; the tables are
        INSERT 0 GOOD
            the table_id is 0, which is no number of a thing: it is left out, or unset"#,
    );
}

#[test]
fn an_entry_that_its_table_does_not_take_is_refused() {
    refused(
        "",
        r#"
        INSERT $acl GOOD is_const: true
            In.acl: is_const is true: the program's own entries
        INSERT $acl GOOD idle_timeout_ns: 5
            idle_timeout_ns is set, and is not supported
        INSERT $acl GOOD time_since_last_hit { }
            time_since_last_hit is set, and is not supported
        INSERT $acl GOOD meter_counter_data { }
            meter_counter_data is set, and is not supported
        MODIFY $acl GOOD
            there is no entry with this match and priority
        DELETE $acl GOOD
            there is no entry with this match and priority
        INSERT $acl GOOD
        INSERT $acl GOOD
            table In.acl: there is an entry with this match and priority already
        INSERT $acl KIND SEND priority: 1
        INSERT $acl KIND SEND priority: 2
        INSERT $acl KIND SEND priority: 3
        INSERT $acl KIND SEND priority: 4
        INSERT $acl KIND SEND priority: 5
            table In.acl: the table In.acl is full: it has room for 4 entries
        INSERT $unkeyed GOOD
            In.unkeyed: it has no key, and so no entries
        MODIFY $unkeyed is_default_action: true
            In.unkeyed: its default action is const
        INSERT $acl is_default_action: true
            the update must be of type MODIFY
        MODIFY $acl is_default_action: true GOOD
            is_default_action is true, and the entry has a match or a priority
        MODIFY $by_selector is_default_action: true
            what it does without an entry cannot be changed
        INSERT $by_selector action { DROP }
            the entry has an action, and the table takes members of an action profile
        INSERT $by_selector action { action_profile_member_id: 3 }
            In.chosen_ways has no 3, which the entry names as action_profile_member_id
        INSERT $acl KIND action { action_profile_member_id: 3 } priority: 1
            the entry has action_profile_member_id, and the table no action profile
        INSERT $copies KIND counter_data { } action { action { action_id: $NoAction } }
            counter_data is set, and In.copies has no direct counter
        INSERT $copies KIND meter_config { } action { action { action_id: $NoAction } }
            meter_config is set, and In.copies has no direct meter"#,
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of rows")]
fn what_is_not_supported_or_no_member_or_cell_is_refused_by_name() {
    assert!(written("type: INSERT").unwrap_err().to_string().contains("it has no entity"));
    refused(
        "",
        r#"
        INSERT digest_entry { digest_id: 5 }
            digest_entry is not supported: digests are counted
        INSERT extern_entry { extern_type_id: 5 }
            extern_entry is not supported
        UNSPECIFIED
            the type of the update is neither INSERT nor MODIFY nor DELETE
        INSERT
            it has no entity
        INSERT MEMBER $acl member_id: 1 }
            which is the table In.acl, which is no action profile of the program
        INSERT MEMBER $shared_ways }
            the member_id is 0 or left out, and must be 1 at least
        INSERT MEMBER $shared_ways member_id: 1 }
            the member has no action
        MODIFY MEMBER $shared_ways member_id: 1 }
            In.shared_ways has no member 1
        INSERT GROUP $shared_ways group_id: 1 }
            In.shared_ways has no selector, and so no groups
        INSERT GROUP $chosen_ways group_id: 1 members { member_id: 3 weight: 1 } }
            In.chosen_ways has no member 3
        INSERT counter_entry { counter_id: $counted }
            the update of a counter must be of type MODIFY
        MODIFY counter_entry { counter_id: $counted index { index: 8 } }
            In.counted has the cells 0 to 7, and the index is 8
        MODIFY counter_entry { counter_id: $counted index { index: -1 } }
            In.counted has the cells 0 to 7, and the index is -1
        MODIFY counter_entry { counter_id: $counted data { packet_count: -1 } }
            packet_count is -1, and no counter is below 0
        MODIFY counter_entry { counter_id: $counted_by_entry }
            which is the direct counter In.counted_by_entry, which is no counter array
        DELETE meter_entry { meter_id: $metered }
            the update of a meter must be of type MODIFY
        MODIFY meter_entry { meter_id: $metered config { cir: 5 pir: 4 } }
            In.metered: the committed rate 0.000005 is above the peak rate 0.000004 (RFC 2698, section 2)
        MODIFY meter_entry { meter_id: $metered config { eburst: 4 } }
            eburst is set, and is not supported
        MODIFY meter_entry { meter_id: $metered config { } counter_data { } }
            counter_data is set, and is not supported
        MODIFY direct_meter_entry { config { } }
            DirectMeterEntry: it has no table_entry
        MODIFY register_entry { register_id: $kept index { index: 8 } data { bitstring: "\x01" } }
            In.kept has the cells 0 to 7, and the index is 8
        MODIFY register_entry { register_id: $kept data { bitstring: "\x01\x00\x00\x00\x00\x00\x00" } }
            the value 0x01000000000000 of a cell of In.kept has 49 bits, and there is room for 48
        MODIFY register_entry { register_id: $signed data { bitstring: "\x8d\x1d" } }
            the value of a cell of In.signed has more bits than int<12>
        MODIFY register_entry { register_id: $signed data { bitstring: "\x08\x00" } }
            the value of a cell of In.signed has more bits than int<12>
        MODIFY register_entry { register_id: $signed data { bitstring: "" } }
            has no value
        MODIFY register_entry { register_id: $kept data { bool: true } }
            a cell of In.kept is Bit(48), and the data bool
        MODIFY register_entry { register_id: $kept }
            In.kept: there is no data to write
        INSERT value_set_entry { value_set_id: $kinds }
            the update of a value set must be of type MODIFY
        MODIFY value_set_entry { value_set_id: $kinds members { match { field_id: 1 exact { value: "\x01\x00\x00" } } } }
            value set Parse.kinds: the value 0x010000 of the field
        INSERT packet_replication_engine_entry { }
            it has neither group nor session
        INSERT MULTICAST 0 } }
            the multicast_group_id is 0 or left out, and must be 1 at least
        MODIFY MULTICAST 9 } }
            there is no multicast_group_id 9
        INSERT MULTICAST 9 replicas { port: "\x01" } replicas { port: "\x00\x01" } } }
            the replica with port 1 and instance 0 is there twice
        INSERT SESSION 9 replicas { port: "\xff\xff\xff\xfd" } } }
            the value 0xfffffffd of the port of a replica has 32 bits, and there is room for 9
        INSERT SESSION 9 replicas { port: "\x01" instance: 65536 } } }
            the replication id (rid) is 65536, and must be from 0 to 65535
        INSERT SESSION 40000 replicas { port: "\x01" } } }
            the clone session is 40000, and must be from 0 to 32767
        INSERT MULTICAST 70000 } }
            the multicast group is 70000, and must be from 1 to 65535
        INSERT MULTICAST 9 replicas { egress_port: 600 } } }
            the port 600 has more than the 9 bits of egress_spec
        INSERT SESSION 9 class_of_service: 2 } }
            class_of_service is set, and is not supported
        INSERT SESSION 9 packet_length_bytes: 64 } }
            packet_length_bytes is set, and is not supported"#,
    );
}

#[test]
fn members_and_groups_are_held_against_what_uses_them() {
    let text = r#"
        INSERT ONE
        INSERT ONE
            In.chosen_ways has the member 1 already
        INSERT ONE
        INSERT $by_selector TEN action { action_profile_member_id: 1 }
        DELETE ONE
            an entry takes the member 1
        INSERT ONE
        INSERT TWO WEIGHTED }
        DELETE ONE
            the member 1 is in a group
        INSERT ONE
        INSERT TWO WEIGHTED }
        INSERT TWO }
            In.chosen_ways has the group 2 already
        INSERT ONE
        INSERT TWO WEIGHTED }
        INSERT $by_selector TEN action { action_profile_group_id: 2 }
        DELETE TWO }
            an entry takes the group 2
        INSERT ONE
        INSERT TWO members { member_id: 1 } }
            and must be 1 at least
        INSERT ONE
        INSERT TWO members { member_id: 1 weight: 9 } max_size: 8 }
            the group 2 takes 9 places, and may take 8
        INSERT ONE
        INSERT TWO members { member_id: 1 weight: 70000 } }
            are more than 65536 together
        INSERT TWO max_size: 4 }
        MODIFY TWO max_size: 5 }
            inserted with the max_size 4, and now it is 5
        INSERT ONE
        INSERT TWO WEIGHTED WEIGHTED }
            the member 1 is there twice
        INSERT ONE
        INSERT TWO members { member_id: 1 weight: 1 watch_port: "\x01" } }
            watch_port is set, and is not supported
        INSERT ONE
        INSERT $by_selector TEN SET
            no entry of it may have an action set as well
        INSERT $by_selector TEN SET
        INSERT ONE
            has entries with an action set, and may not have members and groups as well
        INSERT MEMBER $shared_ways member_id: 1 DROP }
        INSERT MEMBER $shared_ways member_id: 2 DROP }
        INSERT MEMBER $shared_ways member_id: 3 DROP }
        INSERT MEMBER $shared_ways member_id: 4 DROP }
        INSERT MEMBER $shared_ways member_id: 5 DROP }
            ActionProfileMember: In.shared_ways is full: it has room for 4 members"#;
    let text =
        text.replace("WEIGHTED", "members { member_id: 1 weight: 2 }").replace("TWO", "GROUP $chosen_ways group_id: 2");
    refused("", &text.replace("ONE", "MEMBER $chosen_ways member_id: 1 DROP }"));
}

#[test]
fn messages_that_are_otherwise_are_refused_with_their_line() {
    let cases = [
        ("\nentities { }", "entries.txtpb:2: WriteRequest has no field entities, but device_id,"),
        ("device_id: 1\ndevice_id: 1", "entries.txtpb:2: WriteRequest has the field device_id twice"),
        (
            "device_id: -1",
            "entries.txtpb:1: WriteRequest: device_id is a number of 64 bits without a sign, and \"-1\" is none",
        ),
        (
            "updates {\n type: ADD }",
            "entries.txtpb:2: Update: type is one of UNSPECIFIED, INSERT, MODIFY, DELETE, and not \"ADD\"",
        ),
        (
            "updates { entity {\n table_entry { }\n counter_entry { } } }",
            "entries.txtpb:3: Entity has both table_entry and counter_entry",
        ),
        (
            "updates { entity { table_entry { table_id: 4294967296 } } }",
            "table_id is a number of 32 bits without a sign",
        ),
        ("updates { entity { table_entry { priority: 2147483648 } } }", "priority is a number of 32 bits with a sign"),
        (
            "updates { entity { table_entry { is_default_action: yes } } }",
            "is_default_action is true or false, and not \"yes\"",
        ),
        (
            "updates { entity { table_entry { match { exact { value: 10 } } } } }",
            "value is written in quotes, as \"\\x0a\", and \"10\" is not",
        ),
        ("updates { entity: 5 }", "Update: entity is a message in braces"),
        ("updates { type { } }", "Update: type is no message in braces"),
        ("device_id: \"1\"", "WriteRequest: device_id is no string in quotes"),
        ("role: \"acl\"", "entries.txtpb:1: WriteRequest: role is set, and roles are not supported"),
    ];
    for (text, message) in cases {
        let error = apply(text).expect_err(text).to_string();
        assert!(error.contains(message), "{error}\nis not\n{message}");
    }
    assert!(apply("device_id: 1 election_id { low: 3 } atomicity: ROLLBACK_ON_ERROR role: \"\"").is_ok());
}

#[test]
fn a_p4info_of_another_program_is_refused() {
    let program = Program::load(PROGRAM).unwrap();
    let cases = [
        (
            "bitwidth: 12\n    match_type: RANGE",
            "bitwidth: 13\n    match_type: RANGE",
            "the key of In.acl has the field headers.first.low (12 bits, range) in the program, and here headers.first.low (13 bits, RANGE)",
        ),
        ("match_type: RANGE", "match_type: EXACT", "and here headers.first.low (12 bits, EXACT)"),
        (
            "match_type: RANGE",
            "other_match_type: \"fuzzy\"",
            "the field headers.first.low is matched \"fuzzy\", which is not supported",
        ),
        (
            "name: \"headers.first.flags\"",
            "name: \"headers.first.tags\"",
            "and here headers.first.tags (4 bits, OPTIONAL)",
        ),
        (
            "name: \"port\"\n    bitwidth: 9",
            "name: \"port\"\n    bitwidth: 32",
            "the action In.send of In.acl has the parameters (bit<9> port) in the program, and here (bit<32> port)",
        ),
        ("name: \"In.counted\"", "name: \"In.count\"", "the program has no counter array In.count"),
        ("id: 315456614", "id: 43035098", "the counter array In.counted has the id 43035098 of the table In.acl"),
        ("id: 315456614", "id: 0", "the counter array In.counted has no id in its preamble"),
        (
            "implementation_id: 299464175",
            "",
            "the table In.by_selector has an action profile only in one of program and p4info",
        ),
    ];
    for (from, to, message) in cases {
        assert!(INFO.contains(from), "{from}");
        let error = P4Info::load(&INFO.replacen(from, to, 1), "p4info.txtpb", &program).expect_err(message).to_string();
        assert!(error.starts_with("p4info.txtpb:") && error.contains(message), "{error}\nis not\n{message}");
    }
    let renamed = INFO.replace("In.acl", "In.rules");
    let info =
        P4Info::load(&renamed, "p4info.txtpb", &program).expect("a table that is never applied is in the p4info only");
    let mut state = hitless_p4::state::State::new(&program, 1);
    let commands = hitless_p4::commands::Commands { program: &program, state: &mut state, now_ns: 0 };
    let request = numbered(&format!("updates {{ {} }}", update("INSERT 43035098 KIND")));
    let error = Request::read(&request, "e").unwrap().apply(&info, commands).expect_err("it has none").to_string();
    assert!(error.contains("the p4info has the table In.rules, and the program has none of this name"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A request with a few modified bytes is executed or refused, without a panic.
    #[test]
    fn spoilt_requests_are_no_crash(places in prop::collection::vec((0usize..4_000, any::<u8>()), 1..6)) {
        let updates = [
            "INSERT $acl GOOD meter_config { cir: 5 pir: 6 }",
            "INSERT $by_selector SET",
            r#"MODIFY register_entry { register_id: $signed index { index: 2 } data { bitstring: "\xfd\x1d" } }"#,
            r#"INSERT SESSION 9 replicas { port: "\x01" instance: 5 } } }"#,
        ];
        let updates = updates.map(|text| format!("updates {{ {} }}\n", update(text)));
        let mut text = numbered(&updates.concat()).into_bytes();
        let length = text.len();
        places.into_iter().for_each(|(place, byte)| text[place % length] = byte);
        if let Err(error) = apply(&String::from_utf8_lossy(&text)) {
            prop_assert!(error.place.is_some());
        }
    }
}
