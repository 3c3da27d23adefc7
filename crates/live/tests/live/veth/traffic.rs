//! The generator and the sink over real veth interfaces.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::common::Pair;
use hitless_live::interfaces::Options;
use hitless_live::interfaces::traffic::{Processors, Stream, forward, measure};

const STREAM: Stream = Stream { id: 1, frame_bytes: 60, rate_pps: Some(5000.0), duration: Duration::from_millis(200) };

#[test]
fn a_stream_over_a_wire_arrives_whole_and_in_order() {
    let Some(pair) = Pair::make(1500) else { return };
    let mut left = pair.open("left", Options::default());
    let mut right = pair.open("right", Options::default());
    let measured = measure(&mut *left, &mut *right, &STREAM, Processors::default()).expect("measured");
    // The number of frames depends on the machine, but at this rate every machine delivers all.
    assert!((1..=1001).contains(&measured.generated.frames_sent), "{measured:?}");
    assert_eq!(measured.arrivals.frames, measured.generated.frames_sent);
    assert_eq!((measured.arrivals.duplicates, measured.arrivals.foreign, measured.arrivals.overrun), (0, 0, 0));
    assert_eq!(measured.arrivals.delays_ns.len(), measured.arrivals.frames);
}

#[test]
fn a_stream_crosses_a_forwarder_whole() {
    let (Some(one), Some(two)) = (Pair::make(1500), Pair::make(1500)) else { return };
    let mut source = one.open("left", Options::default());
    let mut near = one.open("right", Options::default());
    let mut far = two.open("left", Options::default());
    let mut sink = two.open("right", Options::default());
    let ended = AtomicBool::new(false);
    let measured = std::thread::scope(|scope| {
        scope.spawn(|| forward(&mut *near, &mut *far, &ended));
        let measured = measure(&mut *source, &mut *sink, &STREAM, Processors::default());
        ended.store(true, Ordering::Relaxed);
        measured
    });
    let measured = measured.expect("measured");
    assert!(measured.generated.frames_sent > 0);
    assert_eq!(measured.frames_lost(), 0, "{measured:?}");
    assert_eq!(measured.arrivals.duplicates, 0);
}
