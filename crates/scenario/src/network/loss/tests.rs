//! Loss models compared with closed forms.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{BitRate, Time};
use proptest::prelude::*;

use super::trace::LossTrace;
use super::*;

const RATE: BitRate = BitRate::from_gbps(100);

fn corruption(model: &LossModel, seed: u64) -> Corruption {
    Corruption::new(model, RATE, RandomStreams::new(seed).stream("loss"))
}

/// Full frames one after the other at line rate.
fn full_frame(number: u64) -> ArrivingFrame {
    ArrivingFrame { at: Time((number + 1) * 1_538 * 80), frame_bytes: 1_518, is_link_retransmission: false }
}

fn losses(model: &LossModel, seed: u64, frames: u64) -> Vec<bool> {
    let mut corruption = corruption(model, seed);
    (0..frames).map(|number| corruption.strikes(full_frame(number))).collect()
}

/// Fails unless `count` of `trials` is within 5 standard deviations of `probability`.
fn assert_share(count: usize, trials: usize, probability: f64, what: &str) {
    let expected = trials as f64 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt().max(1.0);
    assert!((count as f64 - expected).abs() < 5.0 * deviation, "{what}: {count} of {trials}, expected {expected:.1}");
}

fn count(losses: &[bool]) -> usize {
    losses.iter().filter(|lost| **lost).count()
}

fn bursts(losses: &[bool]) -> Vec<usize> {
    losses.split(|lost| !lost).map(<[bool]>::len).filter(|length| *length > 0).collect()
}

fn bernoulli(rate: f64, repair_rate: Option<f64>) -> LossModel {
    LossModel::Bernoulli(BernoulliLoss { rate, repair_rate })
}

fn chain(rate: f64, mean_burst_frames: f64, loss_in_burst: f64, loss_between_bursts: f64) -> LossModel {
    let loss = GilbertElliottLoss { rate, mean_burst_frames, loss_in_burst, loss_between_bursts };
    assert_eq!(loss.fault(), None);
    LossModel::GilbertElliott(loss)
}

fn trace(text: &str, at_end: TraceEnd) -> LossModel {
    let trace = LossTrace::parse(text).unwrap_or_else(|error| panic!("{error}"));
    LossModel::Trace(TraceLoss { file: "test.losses".into(), at_end, digest: None, trace })
}

#[test]
fn independent_losses_come_at_their_rate_and_for_repairs_at_theirs() {
    let mut corruption = corruption(&bernoulli(0.01, Some(0.5)), 1);
    let frames = 1_000_000;
    for (is_link_retransmission, rate) in [(false, 0.01), (true, 0.5)] {
        let frame = |number| ArrivingFrame { is_link_retransmission, ..full_frame(number) };
        let lost = (0..frames).filter(|&number| corruption.strikes(frame(number))).count();
        assert_share(lost, frames as usize, rate, "lost");
    }
}

#[test]
fn bursts_of_gilbert_are_geometric_and_as_many_as_the_rate_says() {
    for (rate, mean, seed) in [(0.01, 4.0, 1), (0.05, 1.3, 2), (0.3, 10.0, 3)] {
        let losses = losses(&chain(rate, mean, 1.0, 0.0), seed, 2_000_000);
        let bursts = bursts(&losses);
        // The variance of the count is the variance of independent losses times the correlation factor of the chain.
        let spread = (2_000_000.0 * rate * 2.0 * mean).sqrt();
        let off = (count(&losses) as f64 - 2_000_000.0 * rate).abs();
        assert!(off < 5.0 * spread, "rate {rate}: {} lost, off by {off:.0}", count(&losses));
        for length in 1..=8 {
            let longer = bursts.iter().filter(|burst| **burst > length).count();
            let expected = (1.0 - 1.0 / mean).powi(length as i32);
            assert_share(longer, bursts.len(), expected, &format!("bursts over {length} of mean {mean}"));
        }
    }
}

#[test]
fn losses_of_elliott_are_correlated_as_their_chain() {
    // Two frames `lag` apart: both lost with rate^2 + share (1 - share) (in - between)^2 (1 - begins - ends)^lag.
    let loss =
        GilbertElliottLoss { rate: 0.05, mean_burst_frames: 20.0, loss_in_burst: 0.6, loss_between_bursts: 0.01 };
    let frames = 4_000_000;
    let lost = losses(&LossModel::GilbertElliott(loss), 5, frames);
    let share = loss.burst_share();
    let memory = 1.0 - loss.burst_probability() - 1.0 / loss.mean_burst_frames;
    for lag in [1, 2, 5, 20, 200] {
        let both = lost.windows(lag + 1).filter(|window| window[0] && window[lag]).count() as f64 / frames as f64;
        let expected = 0.05_f64.powi(2) + share * (1.0 - share) * 0.59_f64.powi(2) * memory.powi(lag as i32);
        assert!((both / expected - 1.0).abs() < 0.03, "lag {lag}: {both:.6}, expected {expected:.6}");
    }
}

#[test]
fn a_chain_begins_in_its_stationary_state() {
    // Bursts are rare and long: a chain that began in the good state would almost never lose its first frame.
    let model = chain(0.3, 1_000.0, 1.0, 0.0);
    let lost = (0..20_000).filter(|&seed| corruption(&model, seed).strikes(full_frame(0))).count();
    assert_share(lost, 20_000, 0.3, "first frames lost");
}

#[test]
fn a_chain_whose_bursts_are_as_short_as_independent_losses_is_independent() {
    let rate = 0.2;
    let lost = losses(&chain(rate, 1.0 / (1.0 - rate), 1.0, 0.0), 9, 1_000_000);
    let both = lost.windows(2).filter(|pair| pair[0] && pair[1]).count();
    assert_share(both, 1_000_000, rate * rate, "pairs");
}

#[test]
fn losses_in_a_row_are_counted_when_they_end() {
    let mut corruption = corruption(&trace("1 2\n1 1\n3 2\n1 5\n", TraceEnd::Stop), 1);
    let send = |corruption: &mut Corruption, frames| {
        for number in 0..frames {
            corruption.strikes(full_frame(number));
        }
        corruption.runs().to_vec()
    };
    assert_eq!(send(&mut corruption, 3), [0; 0], "the run may go on");
    assert_eq!(send(&mut corruption, 8), [1, 2]);
    assert_eq!(send(&mut corruption, 6), [1, 2, 0, 0, 1]);
}

#[test]
fn longer_runs_of_losses_are_counted_with_those_of_4096_frames() {
    let mut corruption = corruption(&trace("0 5000\n1 4096\n1 0\n", TraceEnd::Stop), 1);
    let lost = (0..9_098).filter(|&number| corruption.strikes(full_frame(number))).count();
    assert_eq!(lost, 9_096);
    let runs = corruption.runs();
    assert_eq!((runs.len(), runs[4_095], runs.iter().sum::<u64>()), (4_096, 2, 2));
}

#[test]
fn what_a_chain_cannot_be_is_refused() {
    let fault = |rate, mean_burst_frames, loss_in_burst, loss_between_bursts| {
        let loss = GilbertElliottLoss { rate, mean_burst_frames, loss_in_burst, loss_between_bursts };
        loss.fault().map(|(field, _)| field)
    };
    assert_eq!(fault(0.01, 1.0, 1.0, 0.0), None);
    assert_eq!(fault(0.0, 1.0, 1.0, 0.0), None);
    assert_eq!(fault(0.5, 1.0, 1.0, 0.0), None);
    assert_eq!(fault(0.75, 2.9, 1.0, 0.0), Some("mean_burst_frames"));
    assert_eq!(fault(0.75, 3.0, 1.0, 0.0), None);
    assert_eq!(fault(0.01, 2.0, 0.01, 0.0), Some("rate"));
    assert_eq!(fault(1.0, 2.0, 1.0, 0.0), Some("rate"));
    assert_eq!(fault(0.01, 2.0, 0.5, 0.02), Some("rate"));
    assert_eq!(fault(0.01, 2.0, 0.0, 0.0), Some("loss_in_burst"));
}

#[test]
fn a_trace_is_played_again_or_ends() {
    let text = "# a test\n2 1\n\n0 2\n1 0\n";
    let once = [false, false, true, true, true, false];
    assert_eq!(losses(&trace(text, TraceEnd::Repeat), 1, 12), [once, once].concat());
    assert_eq!(losses(&trace(text, TraceEnd::Stop), 1, 12), [once, [false; 6]].concat());
}

#[test]
fn every_nth_frame_is_lost_from_the_first() {
    let numbers = |every, first| -> Vec<u64> {
        let lost = losses(&LossModel::Periodic(PeriodicLoss { every, first }), 1, 30);
        (1..).zip(lost).filter_map(|(number, lost)| lost.then_some(number)).collect()
    };
    let table: [(u64, u64, &[u64]); 6] = [
        (10, 3, &[3, 13, 23]),
        (10, 10, &[10, 20, 30]),
        (10, 25, &[25]),
        (10, 31, &[]),
        (1, 28, &[28, 29, 30]),
        (u64::MAX, 1, &[1]),
    ];
    for (every, first, expected) in table {
        assert_eq!(numbers(every, first), expected, "every {every} from {first}");
    }
}

#[test]
fn a_change_goes_on_with_the_stream_and_begins_the_model_anew() {
    let mut corruption = corruption(&bernoulli(0.5, None), 3);
    let draw = |corruption: &mut Corruption| -> Vec<bool> {
        (0..64).map(|number| corruption.strikes(full_frame(number))).collect()
    };
    let first = draw(&mut corruption);
    corruption.set(&LossModel::None, RATE);
    assert_eq!(count(&draw(&mut corruption)), 0);
    corruption.set(&bernoulli(0.5, None), RATE);
    let second = draw(&mut corruption);
    assert_ne!(first, second, "the same losses again");
    assert_eq!([first, second].concat(), losses(&bernoulli(0.5, None), 3, 128), "one stream");
    let model = trace("1 1", TraceEnd::Stop);
    corruption.set(&model, RATE);
    draw(&mut corruption);
    corruption.set(&model, RATE);
    assert!(draw(&mut corruption)[1], "a trace begins at its first frame");
    for _ in 0..2 {
        corruption.set(&LossModel::Periodic(PeriodicLoss { every: 40, first: 2 }), RATE);
        let lost = draw(&mut corruption);
        assert!(lost[1] && lost[41] && count(&lost) == 2, "a period begins at its first frame: {lost:?}");
    }
}

proptest! {
    #[test]
    fn a_trace_written_from_losses_plays_them(lost in proptest::collection::vec(any::<bool>(), 1..200)) {
        let mut text = String::new();
        let mut arrived = 0;
        for &lost in &lost {
            if lost {
                text.push_str(&format!("{arrived} 1\n"));
                arrived = 0;
            } else {
                arrived += 1;
            }
        }
        text.push_str(&format!("{arrived} 0\n"));
        let parsed = LossTrace::parse(&text).expect("it was written so");
        prop_assert_eq!((parsed.frames(), parsed.lost()), (lost.len() as u64, count(&lost) as u64));
        let repeated = losses(&trace(&text, TraceEnd::Repeat), 1, 2 * lost.len() as u64);
        prop_assert_eq!(repeated, [lost.clone(), lost].concat());
    }

    #[test]
    fn any_text_is_a_trace_or_refused_with_its_line(text in "[0-9 #x\\n]{0,60}") {
        match LossTrace::parse(&text) {
            Ok(trace) => prop_assert!(trace.frames() > 0 && trace.lost() <= trace.frames()),
            Err(error) => prop_assert!(error.line <= text.lines().count()),
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_trace() {
    assert_eq!(LossTrace::parse("\u{feff}5 1\n"), LossTrace::parse("5 1\n"));
    assert_eq!(LossTrace::parse("\u{feff}# of a link\n5 1\n"), LossTrace::parse("5 1\n"));
}

#[test]
fn bad_lines_of_a_trace_are_named() {
    let far = u64::MAX;
    let table = [
        (String::new(), "a trace has at least one frame, as in `9812 1`"),
        ("0 0\n# 5 1".into(), "a trace has at least one frame, as in `9812 1`"),
        ("5 1\n7".into(), "line 2: must be two whole numbers `arrived lost`, not '7'"),
        ("# x\n\n5 -1".into(), "line 3: must be two whole numbers `arrived lost`, not '5 -1'"),
        ("+5 1".into(), "line 1: must be two whole numbers `arrived lost`, not '+5 1'"),
        ("1 2 3".into(), "line 1: must be two whole numbers `arrived lost`, not '1 2 3'"),
        (format!("1 0\n{far} 0"), "line 2: the frames of the trace are more than 64 bits can count"),
        (format!("{far} {far}"), "line 1: the frames of the trace are more than 64 bits can count"),
        (
            "z".repeat(100),
            "line 1: must be two whole numbers `arrived lost`, not 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...'",
        ),
    ];
    for (text, message) in table {
        assert_eq!(LossTrace::parse(&text).unwrap_err().to_string(), message);
    }
}
