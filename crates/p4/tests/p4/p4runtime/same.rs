//! The same entries as commands and as P4Runtime requests give the same tables and the same packets.

use std::sync::Arc;

use hitless_p4::fabric::Answers;
use hitless_p4::p4runtime::info::P4Info;
use hitless_p4::p4runtime::write::Request;
use hitless_p4::packet::Instance;
use hitless_p4::pipeline::Pipeline;
use hitless_p4::program::{Entry, Program};
use hitless_p4::trace::Trace;

const FORWARD: [&str; 4] = [
    include_str!("../../../../../examples/p4/forward.json"),
    include_str!("../../../../../examples/p4/forward.txt"),
    include_str!("../../../../../examples/p4/forward.p4info.txtpb"),
    include_str!("../../../../../examples/p4/forward.entries.txtpb"),
];
const AFQ: [&str; 4] = [
    include_str!("../../../../../p4/afq/afq.json"),
    include_str!("../../../../../p4/afq/commands.txt"),
    include_str!("../../../../../p4/afq/afq.p4info.txtpb"),
    include_str!("../../../../../p4/afq/entries.txtpb"),
];

/// A pipeline configured by commands, and one by P4Runtime.
fn both([program, commands, info, request]: [&str; 4]) -> [Pipeline; 2] {
    let program = Arc::new(Program::load(program).expect("the program is whole"));
    [false, true].map(|is_runtime| {
        let mut pipeline = Pipeline::new(program.clone(), 1);
        let mut control = pipeline.commands(0);
        if is_runtime {
            let info = P4Info::load(info, "p4info.txtpb", &program).expect("it is the program's");
            Request::read(request, "entries.txtpb")
                .expect("it is a request")
                .apply(&info, control)
                .expect("all are entries");
        } else {
            control.run(commands, "commands.txt").expect("all are commands");
        }
        pipeline
    })
}

#[test]
fn entries_are_the_same_in_both_languages() {
    for (name, of) in [("forward", FORWARD), ("afq", AFQ)] {
        let [commands, runtime] = both(of);
        let program = &commands.program;
        let mut count = 0;
        for (table, (one, other)) in program.tables.iter().zip(commands.state.tables.iter().zip(&runtime.state.tables))
        {
            // Priority 1 is the highest in simple_switch_CLI and the lowest in P4Runtime.
            let shown = |entry: &Entry| (entry.key.clone(), entry.mask.clone(), entry.prefix, entry.target.clone());
            let shown = |rows: &hitless_p4::tables::TableState| {
                let rows = rows.entries.iter().map(|row| (row.handle, shown(&row.entry)));
                rows.collect::<Vec<_>>()
            };
            assert_eq!(shown(one), shown(other), "{name}: {}", table.name);
            assert_eq!(one.default, other.default, "{name}: {}", table.name);
            count += one.entries.len();
        }
        assert!(count >= 2, "{name} has {count} entries");
    }
}

#[test]
fn a_packet_goes_the_same_way_in_both_languages() {
    let packet = "0200000001010200000000010800\
                  4500001c00010000401165cb0a0000010a000107\
                  0001000200080000";
    let bytes: Vec<_> =
        (0..packet.len()).step_by(2).map(|at| u8::from_str_radix(&packet[at..at + 2], 16).unwrap()).collect();
    let [one, other] = both(FORWARD).map(|mut pipeline| {
        let (mut trace, mut left) = (Trace::default(), Vec::new());
        let came = (1, &bytes[..], Instance::Normal);
        pipeline
            .process(came, 0, &mut Answers::default(), &mut trace, &mut |port, out| left.push((port, out.to_vec())));
        (trace.lines, left)
    });
    assert_eq!(one, other);
    assert_eq!(one.1.len(), 1, "it leaves by the entry of its own address");
    assert_eq!(one.1[0].0, 3);
}
