//! Forward error correction compared with closed forms and with a simulation of single bits.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::Time;

use super::*;

fn settings(fec: ErrorCorrection, bit_error_rate: f64) -> BitErrorLoss {
    BitErrorLoss { bit_error_rate, fec }
}

fn unit(fec: ErrorCorrection, bit_error_rate: f64, gbps: u64) -> Unit {
    Unit::new(&settings(fec, bit_error_rate), BitRate::from_gbps(gbps))
}

fn assert_near(measured: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((measured / expected - 1.0).abs() < tolerance, "{what}: {measured:e}, expected {expected:e}");
}

#[test]
fn tails_of_the_binomial_distribution_are_exact_far_out() {
    // (more than, of, probability computed with exact fractions)
    let table = [
        (0, 10, 1e-3, 9.955_119_790_251_79e-3),
        (0, 66, 1e-12, 6.599_999_999_785_5e-11),
        (7, 528, 1e-3, 8.957_250_676_598_52e-8),
        (15, 544, 2.397e-3, 8.130_967_032_007_807e-13),
        (2, 3, 0.25, 0.015_625),
        (3, 3, 0.25, 0.0),
        (7, 528, 0.999, 1.0),
        (270, 528, 0.5, 0.285_801_783_441_944_5),
        (0, 5, 1.0, 1.0),
        (7, 528, 0.0, 0.0),
    ];
    for (count, places, probability, expected) in table {
        let found = more_errors_than(count, places, probability);
        assert!((found - expected).abs() <= 1e-9 * expected, "more than {count} of {places}: {found:e}, {expected:e}");
    }
}

#[test]
fn a_longer_frame_touches_more_codewords() {
    // 1,526 bytes with the preamble are 12,208 bits: they contain two borders of 5,120 bits for certain, and a third
    // with probability 0.384.
    let codeword = unit(ErrorCorrection::Rs528, 1e-4, 100);
    let expected = codeword.loss * (1.0 + 12_207.0 / 5_120.0);
    assert_near(codeword.frame_loss(1_518), expected, 1e-5, "a full frame");
    assert_near(codeword.frame_loss(64), codeword.loss * (1.0 + 575.0 / 5_120.0), 1e-5, "the shortest frame");
    assert!(codeword.frame_loss(9_018) > 4.0 * codeword.frame_loss(1_518));
    // Without correction single bits count: 191 blocks of 66 bits.
    let bare = unit(ErrorCorrection::None, 1e-12, 10);
    assert_near(bare.frame_loss(1_518), (1.0 + 12_207.0 / 64.0) * 66e-12, 1e-5, "a full frame without correction");
}

#[test]
fn from_200g_on_two_codewords_are_lost_together() {
    let [single, pair] = [100, 200].map(|gbps| unit(ErrorCorrection::Rs544, 5e-4, gbps));
    assert_eq!((single.data_bits, pair.data_bits), (5_120, 10_240));
    assert_near(pair.loss, 2.0 * single.loss, 1e-4, "a pair");
}

/// Sends consecutive frames at line rate, with Ethernet's gap, and returns which are lost.
fn fates(settings: &BitErrorLoss, lengths: &[u32], frames: usize, seed: u64) -> Vec<bool> {
    let rate = BitRate::from_gbps(100);
    let mut stream = RandomStreams::new(seed).stream("bits");
    let mut errors = BitErrors::new(settings, rate, &mut stream);
    let mut end_bits = 0;
    let fate = |number: usize| {
        let frame_bytes = lengths[number % lengths.len()];
        end_bits += 8 * (u64::from(frame_bytes) + 20);
        errors
            .strikes(ArrivingFrame { at: Time(end_bits * 10), frame_bytes, is_link_retransmission: false }, &mut stream)
    };
    (0..frames).map(fate).collect()
}

/// The same on a line of single bits: each bit of each codeword errs independently, symbol errors are counted, and each
/// uncorrectable codeword spoils its frames.
fn fates_by_bits(settings: &BitErrorLoss, lengths: &[u32], frames: usize, seed: u64) -> Vec<bool> {
    let (symbols, corrected) = if settings.fec == ErrorCorrection::Rs528 { (528, 7) } else { (544, 15) };
    let mut stream = RandomStreams::new(seed).stream("reference");
    // Good bits before the next wrong one: skipping them is equivalent to drawing each.
    let scale = -1.0 / (1.0 - settings.bit_error_rate).ln();
    let mut next_wrong = 0_u64;
    let mut spoilt = Vec::new();
    let line_bits: u64 = (0..frames).map(|number| 8 * (u64::from(lengths[number % lengths.len()]) + 20)).sum();
    let codewords = line_bits / CODEWORD_DATA_BITS + 2;
    for codeword in 0..codewords {
        let end = (codeword + 1) * symbols * u64::from(SYMBOL_BITS);
        let mut wrong_symbols = std::collections::BTreeSet::new();
        while next_wrong < end {
            wrong_symbols.insert(next_wrong / u64::from(SYMBOL_BITS));
            next_wrong += 1 + (draws::exponential(&mut stream) * scale) as u64;
        }
        spoilt.push(wrong_symbols.len() > corrected);
    }
    let phase = draws::below(&mut stream, CODEWORD_DATA_BITS as usize) as u64;
    let mut end_bits = phase;
    let fate = |number: usize| {
        let frame_bytes = lengths[number % lengths.len()];
        end_bits += 8 * (u64::from(frame_bytes) + 20);
        let begin = end_bits - 8 * (u64::from(frame_bytes) + 8);
        (begin..end_bits).step_by(8).chain([end_bits - 1]).any(|bit| spoilt[(bit / CODEWORD_DATA_BITS) as usize])
    };
    (0..frames).map(fate).collect()
}

#[test]
fn frames_are_lost_as_on_a_line_of_single_bits() {
    let lengths = [64, 64, 64, 300, 1_518, 64, 9_018];
    let frames = 70_000;
    for (fec, bit_error_rate) in [(ErrorCorrection::Rs528, 7e-4), (ErrorCorrection::Rs544, 1.7e-3)] {
        let settings = settings(fec, bit_error_rate);
        let [ours, reference] = [fates(&settings, &lengths, frames, 1), fates_by_bits(&settings, &lengths, frames, 2)];
        let unit = unit(fec, bit_error_rate, 100);
        let all = |fates: &[bool], chosen: &[usize]| {
            let cycles = fates.chunks_exact(lengths.len());
            cycles.filter(|cycle| chosen.iter().all(|&number| cycle[number])).count() as f64
        };
        for (place, &length) in lengths.iter().enumerate() {
            let cycles = (frames / lengths.len()) as f64;
            let expected = cycles * unit.frame_loss(length);
            for (fates, whose) in [(&ours, "model"), (&reference, "bits")] {
                let lost = all(fates, &[place]);
                let spread = 5.0 * expected.sqrt();
                assert!((lost - expected).abs() < spread, "{whose}, {length} B: {lost}, expected {expected:.0}");
            }
        }
        // Frames in one codeword are lost together, far more often than by chance.
        for chosen in [&[0, 1][..], &[0, 1, 2], &[3, 4], &[5, 6]] {
            let (mine, theirs) = (all(&ours, chosen), all(&reference, chosen));
            let spread = 5.0 * (mine + theirs).sqrt();
            assert!((mine - theirs).abs() < spread, "{fec:?}: frames {chosen:?} together: {mine} and {theirs} times");
        }
        let (pair, one) = (all(&ours, &[0, 1]), all(&ours, &[0]));
        assert!(pair > 0.6 * one, "neighbours share most of their codewords: {pair} of {one}");
    }
}

#[test]
fn frames_within_one_codeword_share_its_fate() {
    // A codeword holds 640 bytes, so several slots of 84 bytes fit. Either all of them are lost or none.
    let settings = settings(ErrorCorrection::Rs528, 1e-3);
    let mut stream = RandomStreams::new(4).stream("bits");
    let mut errors = BitErrors::new(&settings, BitRate::from_gbps(100), &mut stream);
    let mut fate_of_codeword = std::collections::BTreeMap::new();
    let mut shared = 0;
    for slot in 1..200_000_u64 {
        let end_bits = slot * 84 * 8;
        let lost = errors.strikes(
            ArrivingFrame { at: Time(end_bits * 10), frame_bytes: 64, is_link_retransmission: false },
            &mut stream,
        );
        let [first, last] = [end_bits - 576, end_bits - 1].map(|bit| (bit + errors.phase_bits) / CODEWORD_DATA_BITS);
        if first == last {
            shared += usize::from(fate_of_codeword.insert(first, lost).is_some_and(|before| before == lost));
            assert_eq!(fate_of_codeword[&first], lost);
        }
    }
    assert!(shared > 100_000);
    let codewords = fate_of_codeword.len() as f64;
    let spoilt = fate_of_codeword.values().filter(|lost| **lost).count() as f64;
    let expected = codewords * errors.unit.loss;
    assert!((spoilt - expected).abs() < 5.0 * expected.sqrt(), "{spoilt} codewords, expected {expected:.0}");
}

#[test]
fn a_clean_line_and_a_dead_one() {
    let lost = |bit_error_rate| {
        let fates = fates(&settings(ErrorCorrection::Rs544, bit_error_rate), &[1_518], 10_000, 1);
        fates.iter().filter(|lost| **lost).count()
    };
    assert_eq!((lost(0.0), lost(1e-9), lost(0.5)), (0, 0, 10_000));
}

#[test]
fn a_draw_of_zero_spoils_no_line_without_errors() {
    assert_eq!((good_units(0.0, f64::INFINITY), good_units(2.0, f64::INFINITY)), (u64::MAX, u64::MAX));
    assert_eq!((good_units(0.0, 100.0), good_units(2.0, 100.0), good_units(2.0, 1e30)), (0, 200, u64::MAX));
}

#[test]
fn the_shortest_frames_are_lost_as_often_as_arithmetic_says() {
    // Several frames share a codeword, so codewords are independent and frames are not: 7.6 slots of 84 bytes each.
    let frames = 1_000_000;
    for (fec, bit_error_rate) in [(ErrorCorrection::Rs528, 7e-4), (ErrorCorrection::Rs544, 1.7e-3)] {
        let lost = fates(&settings(fec, bit_error_rate), &[64], frames, 3).iter().filter(|lost| **lost).count() as f64;
        let expected = frames as f64 * unit(fec, bit_error_rate, 100).frame_loss(64);
        let spread = 5.0 * (expected * 8.6).sqrt();
        assert!(spread < 0.2 * expected, "{fec:?}: too few losses to tell");
        assert!((lost - expected).abs() < spread, "{fec:?}: {lost} lost, expected {expected:.0}");
    }
}

/// One bit lasts one picosecond: the frame has bits 64 to 639, units 1 to 9.
#[test]
fn a_frame_touches_the_units_of_its_first_and_its_last_bit_and_none_behind() {
    let mut stream = RandomStreams::new(1).stream("bits");
    for (spoilt, is_struck) in [(0, false), (1, true), (5, true), (9, true), (10, false)] {
        let unit = Unit { data_bits: 64, loss: 0.0 };
        let (rate_bps, mean_units) = (1_000_000_000_000, f64::INFINITY);
        let mut errors = BitErrors { rate_bps, unit, mean_units, phase_bits: 0, next_spoilt: spoilt };
        let frame = ArrivingFrame { at: Time(640), frame_bytes: 64, is_link_retransmission: false };
        assert_eq!(errors.strikes(frame, &mut stream), is_struck, "unit {spoilt} is spoilt");
    }
}

/// 5,120 bits of data in each codeword, and two codewords at a time from 200 Gb/s.
#[test]
fn a_receiver_waits_for_the_codewords_that_are_interleaved() {
    let cases = [
        (ErrorCorrection::None, 100, 0),
        (ErrorCorrection::Rs528, 25, 204_800),
        (ErrorCorrection::Rs528, 100, 51_200),
        (ErrorCorrection::Rs544, 100, 51_200),
        (ErrorCorrection::Rs544, 200, 51_200),
        (ErrorCorrection::Rs544, 400, 25_600),
    ];
    for (fec, gbps, ps) in cases {
        assert_eq!(fec.latency(BitRate::from_gbps(gbps)), Duration::from_ps(ps), "{fec:?} at {gbps}G");
    }
}
