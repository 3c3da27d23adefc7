//! The rules of BMv2 and P4Runtime for the control plane, in the language of simple_switch_CLI.

use hitless_p4::replication::Replica;
use serde_json::json;

use crate::small::{document, number, pipeline, sent, set};

#[test]
fn a_node_that_is_updated_changes_the_group_that_it_is_in() {
    let multicast = document(&[set(1, "mcast_grp", number(4))], &[]);
    let made = "mc_mgrp_create 4\nmc_mgrp_create 5\nmc_node_create 9 3\nmc_node_create 8 1\n\
                mc_node_associate 4 0\nmc_node_associate 4 1\n";
    let ports = |more: &str| {
        let mut pipeline = pipeline(&multicast, &format!("{made}{more}"));
        sent(&mut pipeline, &[1, 2]).into_iter().map(|(port, _)| port).collect::<Vec<_>>()
    };
    assert_eq!(ports(""), [3, 1], "in the order of association");
    assert_eq!(ports("mc_node_update 0 6 2 6"), [2, 6, 1], "a port is there once, in the order of ports");
    assert_eq!(ports("mc_node_update 1"), [3], "a node without ports");
    assert_eq!(ports("mc_mgrp_destroy 4\nmc_mgrp_create 4\nmc_node_associate 4 1"), [1], "a node is free again");
    let pipeline = pipeline(&multicast, &format!("{made}mc_node_update 0 511"));
    assert_eq!(pipeline.state.replication.replicas(4)[0], Replica { rid: 9, port: 511 });
}

/// P4Runtime, and BMv2's command line or switch, refuse each of these.
#[test]
fn what_p4runtime_and_bmv2_refuse_is_refused_as_a_command() {
    let mut of = document(&[], &[]);
    let entry = json!({"match_key": [{"match_type": "exact", "key": "0x01"}],
                       "action_entry": {"action_id": 1, "action_data": []}, "priority": 1});
    of["pipelines"][0]["tables"][0]["entries"] = json!([entry]);
    of["meter_arrays"] =
        json!([{"name": "rated", "id": 0, "type": "bytes", "rate_count": 2, "size": 2, "is_direct": false}]);
    let constant = "the table ingress.known has const entries: none can be added, modified or deleted";
    let cases = [
        ("table_add ingress.known ingress 2 =>", constant),
        ("table_modify ingress.known ingress 0 =>", constant),
        ("table_delete ingress.known 0", constant),
        ("table_clear ingress.known", constant),
        ("table_modify egress.known egress 7 =>", "the table egress.known has no entry 7"),
        ("table_indirect_add egress.known 1 => 0", "the table egress.known has no action profile"),
        ("meter_set_rates rated 0 2:1500 1:3000", "rated: the committed rate 2 is above the peak rate 1 (RFC 2698"),
        ("meter_array_set_rates rated 2:1500 1:3000", "rated: the committed rate 2 is above the peak rate 1 (RFC 2698"),
        ("mc_node_create 70000 9", "the replication id (rid) is 70000, and must be from 0 to 65535"),
        ("mc_node_create 1 600", "the port 600 has more than the 9 bits of egress_spec"),
        ("mc_node_update 3 1", "there is no multicast node 3"),
        ("mc_mgrp_create 0", "the multicast group is 0, and must be from 1 to 65535"),
        ("mc_mgrp_create 65536", "the multicast group is 65536, and must be from 1 to 65535"),
        ("mc_mgrp_create 4294967297", "the multicast group is 4294967297, and must be from 1 to 65535"),
        ("mc_mgrp_destroy 9", "there is no multicast group 9"),
        ("mirroring_add 40000 1", "the clone session is 40000, and must be from 0 to 32767"),
        ("mirroring_add 1 600", "the port 600 has more than the 9 bits of egress_spec"),
        ("mirroring_add_mc 1 70000", "the multicast group is 70000, and must be from 1 to 65535"),
        ("mirroring_delete 9", "there is no clone session 9"),
    ];
    for (line, message) in cases {
        let error = pipeline(&of, "").commands(0).run(line, "commands.txt").expect_err(line).to_string();
        assert!(error.starts_with("commands.txt:1: ") && error.contains(message), "{error}\nis not\n{message}");
    }
    let twice = "mc_mgrp_create 4\nmc_mgrp_create 5\nmc_node_create 1 2\nmc_node_associate 4 0\nmc_node_associate 5 0";
    let error = pipeline(&of, "").commands(0).run(twice, "commands.txt").unwrap_err().to_string();
    assert!(error.contains("the multicast node 0 is in group 4 already"), "{error}");
    let at_the_limits = "meter_set_rates rated 0 1:1500 1:1500\nmirroring_add 32767 511\nmc_mgrp_create 65535\n\
                         mc_node_create 65535 0 511";
    pipeline(&of, at_the_limits);
}

#[test]
fn a_member_or_group_in_use_is_not_deleted() {
    let text = include_str!("p4runtime/everything.json");
    let program = std::sync::Arc::new(hitless_p4::program::Program::load(text).unwrap());
    let made = "act_prof_create_member chosen_ways send_way 1\nact_prof_create_group chosen_ways\n\
                act_prof_add_member_to_group chosen_ways 0 0\ntable_indirect_add_with_group by_selector 10.0.0.0/8 => 0\n\
                act_prof_create_member shared_ways send_way 1\ntable_indirect_add by_profile 10.0.0.1 => 0\n";
    let cases = [
        ("act_prof_delete_member chosen_ways 0", "the member 0 is in a group"),
        ("act_prof_delete_member shared_ways 0", "an entry takes the member 0"),
        ("act_prof_delete_group chosen_ways 0", "an entry takes the group 0"),
        ("act_prof_delete_group chosen_ways 4", "has no group 4"),
        ("act_prof_add_member_to_group chosen_ways 0 0", "the group 0 has the member 0 already"),
        ("act_prof_remove_member_from_group chosen_ways 7 0", "has no member 7"),
        ("act_prof_create_group shared_ways", "has no selector, and so no groups"),
        ("table_modify by_profile send_way 0 => 1", "takes members of an action profile, and no actions of its own"),
        ("table_set_default by_profile send_way 1", "takes members of an action profile, and no actions of its own"),
        ("meter_array_set_rates metered_by_entry 1:1 2:2", "has a meter for each entry of a table"),
    ];
    for (line, message) in cases {
        let mut pipeline = hitless_p4::pipeline::Pipeline::new(program.clone(), 1);
        let error = pipeline.commands(0).run(&format!("{made}{line}"), "commands.txt").expect_err(line).to_string();
        assert!(error.contains(message), "{error}\nis not\n{message}");
    }
}

#[test]
fn counters_of_entries_are_reset_too() {
    let text = include_str!("p4runtime/everything.json");
    let program = std::sync::Arc::new(hitless_p4::program::Program::load(text).unwrap());
    let mut pipeline = hitless_p4::pipeline::Pipeline::new(program, 1);
    let mut commands = pipeline.commands(0);
    commands.line("table_add acl send 7 0&&&0 0->9 0&&&0 0/0 => 1 1").unwrap();
    commands.line("counter_write counted_by_entry 0 5 500").unwrap();
    let read = "counter_read counted_by_entry 0";
    assert_eq!(commands.line(read).unwrap().unwrap(), "counted_by_entry[0] = 5 packets, 500 bytes");
    commands.line("counter_reset counted_by_entry").unwrap();
    assert_eq!(commands.line(read).unwrap().unwrap(), "counted_by_entry[0] = 0 packets, 0 bytes");
}
