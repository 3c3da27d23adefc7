//! For any frames and commands: no frame is lost without a count, and the run can be repeated.

use hitless_live::Options;
use proptest::prelude::*;

use super::captures::EVERYWHERE;
use super::lab::{Lab, frame, star, station};

#[derive(Clone, Debug)]
enum Step {
    Send { port: usize, from: u8, to: u8, bytes: usize },
    Noise { port: usize, bytes: Vec<u8> },
    Pass { ns: u64 },
    Command(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let commands = ["fail sw<->h1", "repair sw<->h1", "corrupt sw->h2 0.5", "corrupt h0<->sw 0.2", "corrupt h0<->sw 0"];
    prop_oneof![
        8 => (0..3usize, 0..5u8, 0..6u8, 14..1_600usize)
            .prop_map(|(port, from, to, bytes)| Step::Send { port, from, to, bytes }),
        1 => (0..3usize, prop::collection::vec(any::<u8>(), 0..100))
            .prop_map(|(port, bytes)| Step::Noise { port, bytes }),
        4 => (1..60_000u64).prop_map(|ns| Step::Pass { ns }),
        1 => prop::sample::select(commands.to_vec()).prop_map(Step::Command),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_frame_goes_astray(steps in prop::collection::vec(step(), 1..200), is_captured: bool) {
        let hosts = ["h0", "h1", "h2"];
        let capture = if is_captured { EVERYWHERE } else { "" };
        let mut lab = Lab::build(&(star(&hosts) + capture), &hosts, &[], Options::default(), (8, 16));
        for step in steps {
            match step {
                Step::Send { port, from, to, bytes } => {
                    let to = if to == 5 { [0xff; 6] } else { station(to) };
                    lab.send(port, &frame(station(from), to, bytes));
                }
                Step::Noise { port, bytes } => lab.send(port, &bytes),
                Step::Pass { ns } => {
                    lab.turn();
                    lab.stall(ns);
                }
                Step::Command(text) => prop_assert_eq!(lab.command(text), Ok(())),
            }
        }
        lab.run_for(200_000);
        let received: u64 = lab.received().iter().map(|frames| frames.len() as u64).sum();
        // `finish` checks conservation in the fabric.
        let status = lab.finish();
        let refused: u64 = status.ports.iter().map(|port| port.counters.frames_refused).sum();
        prop_assert_eq!(status.frames_left, received + refused);
    }
}
