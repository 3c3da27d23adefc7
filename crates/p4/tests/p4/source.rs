//! The source lines that write a byte of the packet.

use hitless_p4::packet::{Instance, Packet};
use hitless_p4::program::Program;
use serde_json::json;

use crate::small::{at, document, field, number, set};

#[test]
fn the_lines_that_write_a_byte_or_change_the_length_are_found() {
    let header = json!({"type": "header", "value": "h"});
    let ingress = [
        set(11, "h.a", number(1)),
        set(12, "h.b", number(2)),
        at(13, "modify_field_rng_uniform", &[field("h.b"), number(0), number(9)]),
        set(14, "egress_spec", number(2)),
        at(15, "truncate", &[number(1)]),
    ];
    let egress = [at(21, "add_header", &[header]), at(22, "timestamp_ns", &[field("h.a")])];
    let program = Program::load(&document(&ingress, &egress).to_string()).unwrap();
    let mut packet = Packet::new(&program);
    packet.arrive(&program, 1, &[1, 2, 3], Instance::Normal);
    assert_eq!(program.field_at(&packet, 0), None, "a header that is not valid has no bytes");
    packet.valid[1] = true;
    let name = |byte| program.field_at(&packet, byte).map(|of| program.field_name(of));
    assert_eq!([name(0), name(1), name(2)], [Some("h.a".into()), Some("h.b".into()), None]);
    let writers = |byte| {
        let places = program.writers(program.field_at(&packet, byte).unwrap());
        places.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(writers(0), ["small.p4:11", "small.p4:21", "small.p4:22"]);
    assert_eq!(writers(1), ["small.p4:12", "small.p4:13", "small.p4:21"]);
    assert_eq!(Vec::from_iter(program.resizers()), ["small.p4:15", "small.p4:21"]);
}
