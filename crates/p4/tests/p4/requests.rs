//! A program's requests for its packet, compared with BMv2's simple_switch: truncation, copies, resubmission,
//! recirculation, and queue metadata.

use hitless_p4::fabric::Answers;
use hitless_p4::observer::Nobody;
use hitless_p4::pipeline::OWN_QUEUE;
use serde_json::Value;

use crate::small::{at, by_instance, document, field, number, pipeline, sent, set};

const PACKET: [u8; 4] = [1, 2, 3, 4];

fn program(ingress: &[Value], egress: &[Value]) -> Value {
    document(ingress, egress)
}

#[test]
fn truncate_cuts_off_the_packet_that_asks_and_no_copy_of_it() {
    let to_port_2 = set(1, "egress_spec", number(2));
    let (cut, cloned) = (at(2, "truncate", &[number(1)]), |op: &str| at(3, op, &[number(5), number(0)]));
    let commands = "mirroring_add 5 3\nmc_mgrp_create 4\nmc_node_create 9 3 4\nmc_node_associate 4 0";

    let by_ingress = program(&[to_port_2.clone(), cut.clone(), cloned("clone_ingress_pkt_to_egress")], &[]);
    let left = sent(&mut pipeline(&by_ingress, commands), &PACKET);
    assert_eq!(left, [(3, PACKET.to_vec()), (2, vec![1])], "a clone of ingress");

    let first = [cut.clone(), cloned("clone_egress_pkt_to_egress")];
    let by_egress = program(&[to_port_2], &by_instance(&first, &[]));
    let left = sent(&mut pipeline(&by_egress, commands), &PACKET);
    assert_eq!(left, [(2, vec![1]), (3, PACKET.to_vec())], "a clone of egress");

    let multicast = program(&[set(1, "mcast_grp", number(4)), cut], &[]);
    let left = sent(&mut pipeline(&multicast, commands), &PACKET);
    assert_eq!(left, [(3, PACKET.to_vec()), (4, PACKET.to_vec())], "copies of a multicast");
}

#[test]
fn a_truncated_packet_that_recirculates_is_whole_again() {
    let first = [set(1, "egress_spec", number(2))];
    let again = [set(1, "egress_spec", number(3)), set(2, "h.a", field("packet_length"))];
    let once = [at(3, "truncate", &[number(1)]), at(4, "recirculate", &[number(1)])];
    let is_first = at(2, "_jump_if_zero", &[is_port(2), number(3)]);
    let egress = [vec![is_first], once.to_vec()].concat();
    let left = sent(&mut pipeline(&program(&by_instance(&first, &again), &egress), ""), &PACKET);
    assert_eq!(left, [(3, vec![4, 2, 3, 4])]);
}

/// A condition: the packet departs through this port.
fn is_port(port: u32) -> Value {
    let is_it = serde_json::json!({"op": "==", "left": field("egress_port"), "right": number(port)});
    serde_json::json!({"type": "expression", "value": {"type": "expression", "value": is_it}})
}

/// Except for the fields of the list, BMv2 resets all metadata of both.
#[test]
fn a_packet_that_begins_again_has_the_ingress_port_of_its_list() {
    for (list, port) in [(9, 0), (1, 7)] {
        let then = [set(2, "h.a", field("ingress_port")), set(3, "egress_spec", number(3))];
        let resubmitted = by_instance(&[at(1, "resubmit", &[number(list)])], &then);
        let left = sent(&mut pipeline(&program(&resubmitted, &[]), ""), &PACKET);
        assert_eq!(left, [(3, vec![port, 2, 3, 4])], "resubmitted with list {list}");

        let recirculated = by_instance(&[set(1, "egress_spec", number(2))], &then);
        let egress = [at(2, "_jump_if_zero", &[is_port(2), number(2)]), at(3, "recirculate", &[number(list)])];
        let left = sent(&mut pipeline(&program(&recirculated, &egress), ""), &PACKET);
        assert_eq!(left, [(3, vec![port, 2, 3, 4])], "recirculated with list {list}");
    }
}

#[test]
fn queueing_metadata_counts_packets_and_microseconds() {
    let ingress = [at(1, "send_to_queue", &[number(2), number(OWN_QUEUE)])];
    let egress = [set(2, "h.a", field("enq_qdepth")), set(3, "h.b", field("deq_qdepth"))];
    let mut pipeline = pipeline(&program(&ingress, &egress), "");
    (0..3).for_each(|_| assert_eq!(sent(&mut pipeline, &PACKET), []));
    let mut left = Vec::new();
    for now_ns in [5_000, 6_000, 7_999] {
        let mut keep = |_, bytes: &[u8]| left.push((bytes[0], bytes[1]));
        assert!(pipeline.serve((2, OWN_QUEUE), now_ns, &mut Answers::default(), &mut Nobody, &mut keep));
    }
    assert_eq!(left, [(0, 2), (1, 1), (2, 0)], "packets before it, and packets behind it");

    let egress = [set(2, "h.a", field("enq_timestamp")), set(3, "h.b", field("deq_timedelta"))];
    let mut pipeline = crate::small::pipeline(&program(&ingress, &egress), "");
    sent(&mut pipeline, &PACKET);
    let mut keep = |_, bytes: &[u8]| assert_eq!((bytes[0], bytes[1]), (5, 2), "from 5 us to 7.999 us");
    assert!(pipeline.serve((2, OWN_QUEUE), 7_999, &mut Answers::default(), &mut Nobody, &mut keep));
}

#[test]
fn priority_is_the_number_of_the_queue() {
    let ingress = [set(1, "priority", number(5)), set(2, "egress_spec", number(2))];
    let mut unicast = pipeline(&program(&ingress, &[]), "");
    sent(&mut unicast, &PACKET);
    assert_eq!(unicast.last_queue, Some((2, 5)));
}
