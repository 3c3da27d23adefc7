//! The format of links between two processes or boxes: encoded frames are decoded, and nothing else is.

use std::fs;
use std::path::PathBuf;

use hitless_core::wire::frame::{EtherType, MacAddress};
use hitless_core::wire::link::{
    CannotEncode, INNER_BYTES_MAX, LinkFormat, LinkFrame, LinkHeader, LinkHeaderSet, LinkHeaders, PRIORITIES, Refusal,
    inner_mtu, outer_mtu,
};
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::shim::{CheckNumber, DetourCount};
use hitless_core::wire::{PortId, PriorityMark, Shim, ShimId, ShimStack};
use hitless_mechanisms::linkguardian::headers::{
    AckHeader, ControlHeader, DataHeader, Era, LossNotification, Message, PacketType, SequenceNumber,
};
use hitless_mechanisms::rimm::headers::{DetourHeader, MessageHeader, TelemetryHeader};
use hitless_mechanisms::sqr::metadata::CacheMetadata;
use hitless_mechanisms::{linkguardian, rimm};
use proptest::prelude::*;

const NEAR: MacAddress = MacAddress([2, 0, 0, 0, 0, 0x0a]);
const FAR: MacAddress = MacAddress([2, 0, 0, 0, 0, 0x0b]);
const DETOURED: DetourHeader = DetourHeader { sequence: 70_000, origin: 3, detours: 2, depth_segments: 9 };
const MESSAGE: MessageHeader = MessageHeader { origin: 3, port: PortId(2), is_repeated: true, depth_segments: 9 };
const MARK: PriorityMark = PriorityMark { rank_bytes: 70_000, flowlet: 0, is_first: false, retransmissions: 0 };

fn all() -> LinkHeaderSet {
    spoken(&[&linkguardian::headers::ON_LINKS, &rimm::headers::ON_LINKS, &PRIORITIES])
}

fn spoken(kinds: &[&'static LinkHeaders]) -> LinkHeaderSet {
    let mut spoken = LinkHeaderSet::default();
    kinds.iter().for_each(|headers| spoken.add(headers).expect("each header has a number of its own"));
    spoken
}

fn sending() -> LinkFormat {
    LinkFormat { ether_type: EtherType::EXPERIMENTAL_1, local: NEAR, remote: FAR }
}

fn receiving() -> LinkFormat {
    LinkFormat { ether_type: EtherType::EXPERIMENTAL_1, local: FAR, remote: NEAR }
}

fn number(value: u16, era: Era) -> SequenceNumber {
    SequenceNumber::new(value, era)
}

fn data(value: u16) -> DataHeader {
    DataHeader { blocking: true, ..DataHeader::new(PacketType::Data, number(value, Era::Odd)) }
}

fn control(message: Message) -> ControlHeader {
    ControlHeader { message, channel: 0, sequence: number(7, Era::Even) }
}

fn ack(value: u16, piggybacked: bool) -> AckHeader {
    AckHeader { channel: 0, acknowledged: number(value, Era::Even), piggybacked }
}

fn loss(value: u16, count: u8) -> LossNotification {
    LossNotification { first_lost: number(value, Era::Even), count }
}

fn stack(pushes: &[&dyn Fn(&mut ShimStack)]) -> ShimStack {
    let mut stack = ShimStack::default();
    pushes.iter().for_each(|push| push(&mut stack));
    stack
}

fn on<S: Shim>(shim: S) -> impl Fn(&mut ShimStack) {
    move |stack| stack.push(shim).expect("the tests put few shims on a packet")
}

fn encoded(shims: &ShimStack, inner: Option<&[u8]>) -> Vec<u8> {
    let mut out = vec![0xaa; 70_000];
    let length = sending().encode(&all(), shims, inner, &mut out).expect("a legal frame");
    out.truncate(length);
    out
}

/// Every shape of a frame of the link, with a small inner frame if it carries one.
fn shapes() -> Vec<(&'static str, ShimStack, bool)> {
    vec![
        ("plain", stack(&[]), true),
        ("data", stack(&[&on(data(7))]), true),
        ("data and acknowledgement", stack(&[&on(data(7)), &on(ack(9, true))]), true),
        ("retransmission", stack(&[&on(DataHeader { retransmitted: true, ..data(7) })]), true),
        ("acknowledgement on reverse traffic", stack(&[&on(ack(9, true))]), true),
        ("dummy", stack(&[&on(DataHeader { dummy: true, ..data(7) })]), false),
        ("acknowledgement", stack(&[&on(ack(9, false))]), false),
        ("loss found by a dummy", stack(&[&on(ack(9, false)), &on(loss(8, 2))]), false),
        ("loss found by a packet", stack(&[&on(ack(10, false)), &on(loss(8, 2))]), false),
        ("longest gap", stack(&[&on(ack(3_000, false)), &on(loss(8, 255))]), false),
        ("pause", stack(&[&on(PauseFrame::pause(7))]), false),
        ("resume", stack(&[&on(PauseFrame::resume(0))]), false),
        ("data of the second channel", stack(&[&on(DataHeader { channel: 1, ..data(7) })]), true),
        ("acknowledgement of the second channel", stack(&[&on(AckHeader { channel: 1, ..ack(9, false) })]), false),
        ("start", stack(&[&on(control(Message::Start))]), false),
        ("detoured", stack(&[&on(DETOURED)]), true),
        ("detoured, with data and acknowledgement", stack(&[&on(DETOURED), &on(data(7)), &on(ack(9, true))]), true),
        ("depth of a queue", stack(&[&on(TelemetryHeader { depth_segments: 20 })]), true),
        ("message on its round trip", stack(&[&on(MESSAGE), &on(data(7))]), true),
        ("priority that a guard has changed", stack(&[&on(MARK), &on(DetourCount(3))]), true),
        ("answer to a probe", stack(&[&on(control(Message::Answer { in_order: true }))]), false),
    ]
}

const INNER: [u8; 42] = [0x5a; 42];

#[test]
fn what_is_encoded_is_decoded_in_every_shape() {
    for (name, shims, has_inner) in shapes() {
        let inner = has_inner.then_some(&INNER[..]);
        let bytes = encoded(&shims, inner);
        assert_eq!(receiving().decode(&all(), &bytes), Ok(LinkFrame { shims, inner }), "{name}");
        assert!(has_inner || bytes.len() == 60, "{name}");
    }
}

#[test]
fn the_bytes_are_those_of_the_description() {
    let shims = stack(&[&on(data(0x0102)), &on(ack(0x0304, true))]);
    let bytes = encoded(&shims, Some(&INNER));
    let header = [
        [2, 0, 0, 0, 0, 0x0b].as_slice(),
        &[2, 0, 0, 0, 0, 0x0a],
        &[0x88, 0xb5],
        &[1, 0x82],
        &[1, 0x12, 0x01, 0x02],
        &[2, 0x60, 0x03, 0x04],
        &[0, 42],
    ]
    .concat();
    assert_eq!(bytes, [&header[..], &INNER].concat());
    // The remaining MTU of a protected link: all but the inner Ethernet header's 14 bytes.
    assert_eq!(header.len(), outer_mtu(1_500, 0) - 1_500);
}

#[test]
fn the_longest_frames_fill_the_mtu_and_no_more() {
    assert_eq!(
        (inner_mtu(1_500, 0), inner_mtu(1_500, 2), inner_mtu(9_000, 1)),
        (Some(1_474), Some(1_466), Some(8_970))
    );
    assert_eq!((inner_mtu(26, 0), inner_mtu(27, 0), inner_mtu(0, 2)), (None, Some(1), None));
    let shims = stack(&[&on(data(1)), &on(ack(2, true))]);
    for (inner, tags) in [(1_500, 0), (1_500, 1), (1_280, 2), (9_000, 0)] {
        let outer = outer_mtu(inner, tags);
        assert_eq!(inner_mtu(outer, tags), Some(inner));
        let frame = vec![0; 14 + 4 * tags + inner];
        assert_eq!(encoded(&shims, Some(&frame)).len(), 14 + outer);
    }
}

#[test]
fn what_is_for_observers_stays_here_and_other_metadata_is_refused() {
    let bare = stack(&[&on(data(7))]);
    let checked = stack(&[&on(data(7)), &on(CheckNumber(5))]);
    assert_eq!(encoded(&checked, Some(&INNER)), encoded(&bare, Some(&INNER)));
    let cached = CacheMetadata { tag: 1, started_ns: 2, primary: PortId(3), is_kept_back: false, skip: None };
    let refused = sending().encode(&all(), &stack(&[&on(cached)]), Some(&INNER), &mut [0; 200]);
    assert_eq!(refused, Err(CannotEncode::Internal(CacheMetadata::ID)));
}

#[test]
fn what_does_not_fit_is_not_encoded() {
    let shims = stack(&[&on(data(7))]);
    let encode = |inner: &[u8], room: usize| sending().encode(&all(), &shims, Some(inner), &mut vec![0; room]);
    assert_eq!(encode(&INNER[..13], 200), Err(CannotEncode::InnerLength(13)));
    let too_long = INNER_BYTES_MAX + 1;
    assert_eq!(encode(&vec![0; too_long], 70_000), Err(CannotEncode::InnerLength(too_long)));
    assert_eq!(encode(&INNER, 63), Err(CannotEncode::NoRoom { needed_bytes: 64 }));
    assert_eq!(encode(&INNER, 64), Ok(64));
    let waiting = stack(&[&on(DataHeader { rx_buffered: true, ..data(7) })]);
    let refused = sending().encode(&all(), &waiting, Some(&INNER), &mut [0; 200]);
    assert_eq!(refused, Err(CannotEncode::Illegal(Refusal::Header)));
}

/// The Ethernet header, the version, `counts`, and the rest, padded.
fn raw(counts: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = encoded(&stack(&[&on(ack(9, false))]), None);
    bytes.truncate(15);
    bytes.push(counts);
    bytes.extend(rest);
    bytes.resize(bytes.len().max(60), 0);
    bytes
}

const DATA: [u8; 4] = [1, 0x02, 0, 7];
const ACK: [u8; 4] = [2, 0x40, 0, 9];
const RIDING: [u8; 4] = [2, 0x60, 0, 9];

fn carrying(shims: &[[u8; 4]]) -> Vec<u8> {
    let inner = [&[0u8, 42][..], &INNER].concat();
    raw(0x80 | shims.len() as u8, &[shims.concat(), inner].concat())
}

fn carried(count: u8, shims: &[u8]) -> Vec<u8> {
    raw(0x80 | count, &[shims, &[0u8, 42], &INNER].concat())
}

#[test]
fn each_violation_is_refused_for_its_reason() {
    let with = |mut bytes: Vec<u8>, at: usize, value: u8| {
        bytes[at] = value;
        bytes
    };
    let cut = |mut bytes: Vec<u8>, length: usize| {
        bytes.truncate(length);
        bytes
    };
    let padded = |mut bytes: Vec<u8>, length: usize| {
        bytes.resize(length, 0);
        bytes
    };
    let good = || raw(1, &ACK);
    let loss = |ack: u8, count: u8, first: u8, era: u8| raw(2, &[2, 0x40, 0, ack, 3, count, 0, first, era]);
    let cases = [
        ("no frame", vec![], Refusal::Truncated),
        ("another type", with(good(), 13, 0xb6), Refusal::OtherType),
        ("another station", with(good(), 5, 0x0c), Refusal::OtherAddress),
        ("another sender", with(good(), 11, 0x0c), Refusal::OtherAddress),
        ("only an Ethernet header", cut(good(), 14), Refusal::Truncated),
        ("the next version", with(good(), 14, 2), Refusal::Version),
        ("a reserved bit", with(good(), 15, 0x41), Refusal::ReservedBits),
        ("nothing at all", raw(0, &[]), Refusal::Composition),
        ("fewer shims than announced", cut(raw(2, &ACK), 20), Refusal::Truncated),
        ("half a shim", cut(good(), 18), Refusal::Truncated),
        ("padding as a shim", raw(2, &ACK), Refusal::UnknownKind),
        ("an unknown shim", raw(1, &[11, 0, 0, 0]), Refusal::UnknownKind),
        ("the checker's number", raw(1, &[12, 0, 0, 0, 1]), Refusal::UnknownKind),
        ("a detour of nothing", raw(1, &[6, 0, 0, 0, 1, 2, 3, 0, 4]), Refusal::Composition),
        ("a message without a packet", raw(1, &[8, 1, 0, 2, 0, 3]), Refusal::Composition),
        ("a depth on a detoured packet", carried(2, &[6, 0, 0, 0, 1, 2, 3, 0, 4, 7, 0, 9]), Refusal::Composition),
        ("a mark with a reserved bit", carried(1, &[9, 0, 0, 0, 1, 0, 2, 0x40]), Refusal::Header),
        ("a count of no detours", carried(1, &[10, 0]), Refusal::Header),
        ("a pause of a marked packet", raw(2, &[4, 0, 0, 0, 10, 1]), Refusal::Composition),
        ("fifteen shims", raw(15, &ACK.repeat(15)), Refusal::DuplicateKind),
        ("two acknowledgements", raw(2, &ACK.repeat(2)), Refusal::DuplicateKind),
        ("no room for the length", cut(raw(0x81, &DATA), 21), Refusal::Truncated),
        ("a length beyond the frame", with(carrying(&[DATA]), 21, 43), Refusal::InnerLength),
        ("a length below a header", with(carrying(&[DATA]), 21, 13), Refusal::InnerLength),
        ("bytes behind a long frame", padded(carrying(&[DATA]), 65), Refusal::TrailingBytes),
        ("data of another type", carrying(&[[1, 0x42, 0, 7]]), Refusal::Header),
        ("a sender's copy", carrying(&[[1, 0xc2, 0, 7]]), Refusal::Header),
        ("a waiting packet", carrying(&[[1, 0x03, 0, 7]]), Refusal::Header),
        ("a retransmitted dummy", raw(1, &[1, 0x0e, 0, 7]), Refusal::Header),
        ("a dummy with a frame", carrying(&[[1, 0x06, 0, 7]]), Refusal::Composition),
        ("data without a frame", raw(1, &DATA), Refusal::Composition),
        ("an acknowledgement with a reserved bit", raw(1, &[2, 0x41, 0, 9]), Refusal::Header),
        ("an acknowledgement of data's type", raw(1, &[2, 0x00, 0, 9]), Refusal::Header),
        ("explicit, but with a frame", carrying(&[ACK]), Refusal::Composition),
        ("riding on nothing", raw(1, &RIDING), Refusal::Composition),
        ("explicit, on a dummy", raw(2, &[[1, 0x06, 0, 7], ACK].concat()), Refusal::Composition),
        ("a loss alone", raw(1, &[3, 1, 0, 9, 0]), Refusal::Composition),
        ("no loss", loss(9, 0, 9, 0), Refusal::Header),
        ("an era of its own", loss(9, 1, 9, 2), Refusal::Header),
        ("of the other era", loss(9, 1, 9, 1), Refusal::Composition),
        ("more lost than acknowledged", loss(9, 3, 9, 0), Refusal::Composition),
        ("all lost that there is", loss(9, 255, 9, 0), Refusal::Composition),
        ("fewer lost than the gap", loss(9, 2, 3, 0), Refusal::Composition),
        ("class 8", raw(1, &[4, 8, 0xff, 0xff]), Refusal::Header),
        ("half a pause", raw(1, &[4, 0, 0x7f, 0xff]), Refusal::Header),
        ("pause with more", raw(2, &[&[4u8, 0, 0, 0][..], &ACK].concat()), Refusal::Composition),
        ("a message of no kind", raw(1, &[5, 0, 0, 0, 7]), Refusal::Header),
        ("a message of an unknown kind", raw(1, &[5, 0x70, 0, 0, 7]), Refusal::Header),
        ("a message with a reserved byte", raw(1, &[5, 0x10, 1, 0, 7]), Refusal::Header),
        ("a message with more", raw(2, &[&[5u8, 0x10, 0, 0, 7][..], &ACK].concat()), Refusal::Composition),
        ("pause with a frame", carrying(&[[4, 0, 0, 0]]), Refusal::Composition),
    ];
    for (name, bytes, refusal) in cases {
        assert_eq!(receiving().decode(&all(), &bytes), Err(refusal), "{name}");
    }
}

#[test]
fn a_header_means_something_only_where_both_ends_run_what_writes_it() {
    let protection = || spoken(&[&linkguardian::headers::ON_LINKS]);
    let lending = || spoken(&[&rimm::headers::ON_LINKS]);
    let none = LinkHeaderSet::default;
    for (name, shims, has_inner) in shapes() {
        let bytes = encoded(&shims, has_inner.then_some(&INNER[..]));
        let is_said = |spoken: LinkHeaderSet| match receiving().decode(&spoken, &bytes) {
            Ok(_) => true,
            Err(refusal) => {
                assert_eq!(refusal, Refusal::UnknownKind, "{name}");
                false
            }
        };
        let has_any = |ids: &[ShimId]| shims.iter().any(|(id, _)| ids.contains(&id));
        let is_lent = has_any(&[DetourHeader::ID, TelemetryHeader::ID, MessageHeader::ID]);
        let has_priority = has_any(&[PriorityMark::ID]);
        let of_protection = [DataHeader::ID, AckHeader::ID, LossNotification::ID, PauseFrame::ID, ControlHeader::ID];
        let is_protected = has_any(&of_protection);
        assert_eq!(is_said(none()), !is_lent && !has_priority && !is_protected, "{name}");
        assert_eq!(is_said(protection()), !is_lent && !has_priority, "{name}");
        assert_eq!(is_said(lending()), !is_protected && !has_priority, "{name}");
        assert_eq!(is_said(spoken(&[&PRIORITIES])), !is_lent && !is_protected, "{name}");
    }
    let counted = encoded(&stack(&[&on(DetourCount(1))]), Some(&INNER));
    assert!(receiving().decode(&none(), &counted).is_ok());
}

#[test]
fn two_headers_of_one_number_are_not_spoken_on_one_link() {
    static SAME: LinkHeaders =
        LinkHeaders::on_packets(&[LinkHeader::new::<DetourHeader>(9, |_, _| Err(Refusal::Header))]);
    let mut spoken = all();
    assert_eq!(spoken.add(&PRIORITIES), Ok(()));
    static TWICE: LinkHeaders = LinkHeaders::on_packets(&[
        LinkHeader::new::<CacheMetadata>(128, |_, _| Err(Refusal::Header)),
        LinkHeader::new::<CacheMetadata>(129, |_, _| Err(Refusal::Header)),
    ]);
    for wrong in [&SAME, &TWICE] {
        let error = spoken.add(wrong).expect_err("one of its headers is there");
        assert!(error.contains("each header needs one number of its own"), "{error}");
    }
}

/// Environment variable that makes the test write the fuzzer's seeds instead of comparing them.
const WRITE: &str = "HITLESS_WRITE_SEEDS";

#[test]
fn the_corpus_is_what_the_encoder_makes() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/link");
    for (name, shims, has_inner) in shapes() {
        let (file, bytes) = (folder.join(name.replace(' ', "_")), encoded(&shims, has_inner.then_some(&INNER[..])));
        if std::env::var_os(WRITE).is_some() {
            fs::create_dir_all(&folder).expect("the corpus can be written");
            fs::write(&file, &bytes).expect("the corpus can be written");
        }
        let found = fs::read(&file).unwrap_or_default();
        assert!(
            found == bytes,
            "{} differs; {WRITE}=1 cargo test -p hitless-mechanisms corpus writes it",
            file.display()
        );
    }
}

#[test]
fn an_unknown_other_end_may_have_any_address() {
    let open = LinkFormat { remote: MacAddress::BROADCAST, ..receiving() };
    let bytes = encoded(&stack(&[&on(ack(9, false))]), None);
    assert!(open.decode(&all(), &bytes).is_ok());
    let mut to_all = vec![0; 60];
    open.encode(&all(), &stack(&[&on(ack(9, false))]), None, &mut to_all).expect("a legal frame");
    assert_eq!(&to_all[..6], &[0xff; 6]);
}

fn legal_shims() -> impl Strategy<Value = (ShimStack, bool)> {
    (prop::sample::select(shapes()), any::<u16>(), any::<bool>(), any::<bool>()).prop_map(
        |((_, mut shims, has_inner), value, is_odd, blocking)| {
            let sequence = number(value, if is_odd { Era::Odd } else { Era::Even });
            if let Some(header) = shims.get::<DataHeader>() {
                shims.replace(DataHeader { sequence, blocking, ..header });
            }
            if let (Some(header), None) = (shims.get::<AckHeader>(), shims.get::<LossNotification>()) {
                shims.replace(AckHeader { acknowledged: sequence, ..header });
            }
            if let (Some(ack), Some(loss)) = (shims.get::<AckHeader>(), shims.get::<LossNotification>()) {
                let reach = ack.acknowledged.ahead_of(loss.first_lost) as u16;
                shims.replace(AckHeader { acknowledged: sequence.plus(reach), ..ack });
                shims.replace(LossNotification { first_lost: sequence, ..loss });
            }
            (shims, has_inner)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn frames_of_any_kind_cross_the_link_unchanged(
        (shims, has_inner) in legal_shims(),
        inner in prop::collection::vec(any::<u8>(), 14..2_000),
    ) {
        let inner = has_inner.then_some(&inner[..]);
        let bytes = encoded(&shims, inner);
        prop_assert_eq!(receiving().decode(&all(), &bytes), Ok(LinkFrame { shims, inner }));
    }

    /// Every accepted frame could have been sent: encoding it again gives the same bytes, except the padding.
    #[test]
    fn what_is_taken_of_a_damaged_frame_is_legal(
        (shims, has_inner) in legal_shims(),
        damage in prop::collection::vec((12usize..80, any::<u8>()), 0..4),
        length in 0usize..90,
    ) {
        let mut bytes = encoded(&shims, has_inner.then_some(&INNER[..]));
        for (at, value) in damage {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        bytes.truncate(length.max(14));
        if let Ok(frame) = receiving().decode(&all(), &bytes) {
            let again = encoded(&frame.shims, frame.inner);
            let shim_bytes: usize = frame.shims.iter().map(|(_, bytes)| 1 + bytes.len()).sum();
            let used = 16 + shim_bytes + frame.inner.map_or(0, |inner| 2 + inner.len());
            prop_assert_eq!(&again[..used], &bytes[..used]);
        }
    }

    #[test]
    fn any_bytes_are_taken_or_refused(rest in prop::collection::vec(any::<u8>(), 0..120), kinds in any::<bool>()) {
        let mut bytes = encoded(&stack(&[&on(ack(9, false))]), None);
        bytes.truncate(if kinds { 15 } else { 12 });
        bytes.extend(rest);
        let _ = receiving().decode(&all(), &bytes);
    }
}
