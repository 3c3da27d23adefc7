//! Programs on packets, and refused documents.

use std::sync::Arc;

use hitless_p4::fabric::Answers;
use hitless_p4::observer::Nobody;
use hitless_p4::packet::Instance;
use hitless_p4::pipeline::Pipeline;
use hitless_p4::program::Program;
use hitless_p4::stf;
use proptest::prelude::*;

const FORWARD: &str = include_str!("../../../../examples/p4/forward.json");
const TESTS: &str = include_str!("../../../../examples/p4/forward.stf");

fn pipeline() -> Pipeline {
    let program = Arc::new(Program::load(FORWARD).expect("the program is whole"));
    let mut pipeline = Pipeline::new(program, 1);
    pipeline
        .commands(0)
        .run("table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 02:00:00:00:01:02 2", "entries.txt")
        .expect("the entry is one");
    pipeline
}

#[test]
fn basic_forwarding_passes_its_packet_tests() {
    let program = Arc::new(Program::load(FORWARD).unwrap());
    let outcome = stf::run(&program, TESTS, "forward.stf", &mut Nobody).unwrap();
    assert_eq!(outcome.failures, Vec::<String>::new());
    assert_eq!((outcome.sent, outcome.matched), (4, 3));
}

/// A test with a wrong expectation must fail and report the packet that departed instead.
#[test]
fn a_wrong_expectation_fails() {
    let program = Arc::new(Program::load(FORWARD).unwrap());
    let outcome = stf::run(&program, &TESTS.replace("expect 3", "expect 4"), "forward.stf", &mut Nobody).unwrap();
    assert_eq!(outcome.failures.len(), 2, "{:?}", outcome.failures);
    let outcome = stf::run(&program, &TESTS.replace("66cb", "66cc"), "forward.stf", &mut Nobody).unwrap();
    assert!(outcome.failures[0].starts_with("line 5: port 2: the packet is otherwise from byte 25 on"));
}

/// Each change refers to something that does not exist, and is refused with its name.
#[test]
fn what_is_not_supported_is_refused_by_name() {
    let cases = [
        (
            "\"op\" : \"mark_to_drop\"",
            "\"op\" : \"teleport\"",
            "forward.p4:62: action MyIngress.drop: the primitive teleport",
        ),
        ("\"csum16\"", "\"sha256\"", "forward.p4:91: the hash algorithm \"sha256\" is not supported"),
        ("\"lpm\"", "\"fuzzy\"", "forward.p4:70: table MyIngress.ipv4_lpm: the match kind \"fuzzy\" is not supported"),
        ("[\"ttl\", 8, false]", "[\"hops\", 8, false]", "the header ipv4 has no field ttl"),
        ("\"d2b\"", "\"maybe\"", "the operation \"maybe\" is not supported"),
        ("0x0800", "0x080000", "parser state start: the value of a transition has 3 bytes, and its key 2"),
        ("\"next_state\" : \"parse_ipv4\"", "\"next_state\" : \"parse_ipv6\"", "has no parser state parse_ipv6"),
        ("[2, 23]", "[1, 23]", "the document has format version 1.23, and hitless reads 2.x"),
        ("[2, 23]", "[2, 23, 4]", "this is no document that p4c writes for BMv2"),
    ];
    for (from, to, message) in cases {
        assert!(FORWARD.contains(from), "{from}");
        let error = Program::load(&FORWARD.replace(from, to)).expect_err(message).to_string();
        assert!(error.contains(message), "{error}\nis not\n{message}");
    }
}

#[test]
fn commands_that_cannot_be_meant_are_refused_with_their_line() {
    let cases = [
        ("table_add ipv4_lmp drop 10.0.0.0/8 =>", "there is no table ipv4_lmp; the program has "),
        ("table_add ipv4_lpm drop 10.0.0.0 =>", "hdr.ipv4.dstAddr: \"10.0.0.0\" is no prefix as 10.0.0.0/8"),
        ("table_add ipv4_lpm drop 10.0.0.0/33 =>", "hdr.ipv4.dstAddr has 32 bits, and the prefix 33"),
        ("table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 1", "has 2 parameters, and 1 are given"),
        ("table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 1 512", "the value of port has 10 bits, and the parameter 9"),
        ("table_add ipv4_lpm fly 10.0.0.0/8 =>", "has no action fly, but MyIngress.ipv4_forward"),
        ("table_set_default tbl_forward77 forward77", "the default action of tbl_forward77 is const"),
        ("register_write seen 16 1", "MyIngress.seen has no cell 16"),
        ("register_write seen 1 0x1000000000000", "has cells of 48 bits, and the value 49"),
        ("counter_read", "the command lacks its argument 1"),
        ("counter_read seen", "the command lacks its argument 2"),
        ("counter_read seen 0", "there is no counter array seen"),
        ("fly", "the command \"fly\" is not supported"),
    ];
    for (line, message) in cases {
        let error = pipeline().commands(0).run(&format!("# entries\n{line}"), "entries.txt");
        let error = error.expect_err(line).to_string();
        assert!(error.starts_with("entries.txt:2: ") && error.contains(message), "{error}\nis not\n{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The switch accepts any packet, and no departing packet is longer than the arrived one.
    #[test]
    fn arbitrary_bytes_are_packets(bytes in prop::collection::vec(any::<u8>(), 0..120), port in 0u32..512) {
        let mut pipeline = pipeline();
        let mut left = Vec::new();
        let came = (port, &bytes[..], Instance::Normal);
        pipeline.process(came, 5, &mut Answers::default(), &mut Nobody, &mut |_, out| left.push(out.to_vec()));
        prop_assert!(left.len() <= 1 && left.iter().all(|out| out.len() == bytes.len()));
    }

    /// A document with a few modified bytes is a program or is refused; a program accepts packets.
    #[test]
    fn spoilt_documents_are_no_crash(places in prop::collection::vec((0usize..20_000, any::<u8>()), 1..6),
                                     bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut text = FORWARD.as_bytes().to_vec();
        let length = text.len();
        places.into_iter().for_each(|(place, byte)| text[place % length] = byte);
        if let Ok(program) = Program::load(&String::from_utf8_lossy(&text)) {
            let mut pipeline = Pipeline::new(Arc::new(program), 1);
            let came = (1, &bytes[..], Instance::Normal);
            pipeline.process(came, 5, &mut Answers::default(), &mut Nobody, &mut |_, _| ());
        }
    }
}
