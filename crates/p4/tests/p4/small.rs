//! Small programs built from primitives: a header of two bytes, an action for ingress and one for egress.

use std::sync::Arc;

use hitless_p4::fabric::Answers;
use hitless_p4::observer::Nobody;
use hitless_p4::packet::Instance;
use hitless_p4::pipeline::Pipeline;
use hitless_p4::program::Program;
use serde_json::{Value, json};

/// A field in the document's form; without a dot, it belongs to standard_metadata.
pub fn field(name: &str) -> Value {
    let (header, field) = name.split_once('.').unwrap_or(("standard_metadata", name));
    json!({"type": "field", "value": [header, field]})
}

pub fn number(value: u32) -> Value {
    json!({"type": "hexstr", "value": format!("0x{value:x}")})
}

/// A primitive at a line of small.p4.
pub fn at(line: u32, op: &str, parameters: &[Value]) -> Value {
    json!({"op": op, "parameters": parameters, "source_info": {"filename": "small.p4", "line": line}})
}

pub fn set(line: u32, to: &str, value: Value) -> Value {
    at(line, "assign", &[field(to), value])
}

/// Runs `first` for a packet that arrived at a port, `then` for any other.
pub fn by_instance(first: &[Value], then: &[Value]) -> Vec<Value> {
    let is_first = json!({"op": "==", "left": field("instance_type"), "right": number(0)});
    let is_first = json!({"type": "expression", "value": {"type": "expression", "value": is_first}});
    let (otherwise, end) = (first.len() as u32 + 2, (first.len() + then.len()) as u32 + 2);
    let mut all = vec![at(1, "_jump_if_zero", &[is_first, number(otherwise)])];
    all.extend(first.iter().cloned());
    all.push(at(1, "_jump", &[number(end)]));
    all.extend(then.iter().cloned());
    all
}

/// The document in p4c's form.
pub fn document(ingress: &[Value], egress: &[Value]) -> Value {
    let standard = [
        ("ingress_port", 9),
        ("egress_spec", 9),
        ("egress_port", 9),
        ("instance_type", 32),
        ("packet_length", 32),
        ("enq_timestamp", 32),
        ("enq_qdepth", 19),
        ("deq_timedelta", 32),
        ("deq_qdepth", 19),
        ("mcast_grp", 16),
        ("egress_rid", 16),
        ("priority", 3),
        ("_padding", 3),
    ];
    let standard: Vec<_> = standard.iter().map(|(name, width)| json!([name, width, false])).collect();
    let key = json!([{"match_type": "exact", "name": "h.a", "target": ["h", "a"], "mask": null}]);
    let control = |name: &str, action: u32| {
        json!({
            "name": name, "id": action, "init_table": format!("{name}_act"), "action_profiles": [], "conditionals": [],
            "tables": [{
                "name": format!("{name}.known"), "id": action, "key": key, "match_type": "exact", "type": "simple",
                "max_size": 4, "action_ids": [action], "actions": [name], "next_tables": {name: null},
                "base_default_next": null
            }],
            "action_calls": [{"name": format!("{name}_act"), "id": action, "action_id": action, "next_node": null}]
        })
    };
    let action = |name: &str, id: u32, primitives: &[Value]| json!({"name": name, "id": id, "runtime_data": [], "primitives": primitives});
    json!({
        "__meta__": {"version": [2, 23], "compiler": "by hand"},
        "program": "small.p4",
        "header_types": [
            {"name": "standard_metadata", "id": 0, "fields": standard},
            {"name": "h_t", "id": 1, "fields": [["a", 8, false], ["b", 8, false]]}
        ],
        "headers": [
            {"name": "standard_metadata", "id": 0, "header_type": "standard_metadata", "metadata": true},
            {"name": "h", "id": 1, "header_type": "h_t", "metadata": false}
        ],
        "field_lists": [{"id": 1, "name": "kept", "elements": [field("ingress_port")]}],
        "parsers": [{"name": "parser", "id": 0, "init_state": "start", "parse_states": [{
            "name": "start", "id": 0, "transition_key": [],
            "parser_ops": [{"op": "extract", "parameters": [{"type": "regular", "value": "h"}]}],
            "transitions": [{"type": "default", "value": null, "mask": null, "next_state": null}]
        }]}],
        "deparsers": [{"name": "deparser", "id": 0, "order": ["h"]}],
        "actions": [action("ingress", 1, ingress), action("egress", 2, egress)],
        "pipelines": [control("ingress", 1), control("egress", 2)]
    })
}

/// A pipeline that runs the program after `commands`.
pub fn pipeline(document: &Value, commands: &str) -> Pipeline {
    let program = Program::load(&document.to_string()).expect("the program is whole");
    let mut pipeline = Pipeline::new(Arc::new(program), 1);
    pipeline.commands(0).run(commands, "commands.txt").expect("the commands are some");
    pipeline
}

/// The departing packets by port for `bytes` that arrive at port 7.
pub fn sent(pipeline: &mut Pipeline, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let (mut left, mut answers) = (Vec::new(), Answers::default());
    let came = (7, bytes, Instance::Normal);
    pipeline.process(came, 5_000, &mut answers, &mut Nobody, &mut |port, out| left.push((port, out.to_vec())));
    left
}
