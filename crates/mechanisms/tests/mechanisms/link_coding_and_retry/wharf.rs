//! Wharf's restored frames and their times.

use std::collections::BTreeSet;

use hitless_core::wire::{Duration, Packet, Time};
use hitless_mechanisms::wharf::coder::parity_frame_bytes;
use hitless_mechanisms::wharf::header::WharfHeader;
use hitless_mechanisms::wharf::{Wharf, WharfSettings, contents};
use proptest::prelude::*;

use super::LINK_DELAY;
use crate::two_switches::{Fate, LINK, Pair, boxed, chances, in_order, sorted};

fn settings(data_frames: u8, parity_frames: u8) -> WharfSettings {
    WharfSettings { data_frames, parity_frames, flush_after: Some(Duration::from_us(50)), ..WharfSettings::default() }
}

fn pair(rate_gbps: u64, settings: WharfSettings, fate: impl FnMut(usize, &Packet) -> Fate + 'static) -> Pair {
    let mut ends = [Wharf::default(), Wharf::default()];
    let (writer, reader) = contents();
    ends[0].add_encoder(LINK, &settings, writer);
    ends[1].add_decoder(LINK, &settings, reader);
    Pair::new(rate_gbps, LINK_DELAY, boxed(ends), fate, |_, _| false)
}

/// The position of a frame on the link: its block, and its index in the block.
fn place_of(packet: &Packet) -> Option<(u8, u8)> {
    packet.shims.get::<WharfHeader>().map(|header| (header.block, header.index))
}

/// Loses the frames at these positions of blocks.
fn losing(places: &'static [(u8, u8)]) -> impl FnMut(usize, &Packet) -> Fate {
    move |_, packet| match place_of(packet) {
        Some(place) if places.contains(&place) => Fate::Vanishes,
        _ => Fate::Arrives,
    }
}

#[test]
fn a_clean_link_pays_header_and_parity_and_keeps_order() {
    let mut pair = pair(100, settings(5, 1), |_, _| Fate::Arrives);
    pair.send(100);
    assert_eq!(pair.numbers(1), in_order(100));
    let data_bytes = 100 * (1_518 + 6);
    let parity_bytes = 20 * u64::from(parity_frame_bytes(1_518));
    assert_eq!((pair.on_link().frames[0], pair.on_link().bytes[0]), (120, data_bytes + parity_bytes));
    assert_eq!((pair.counter("blocks"), pair.counter("blocks_flushed")), (20, 0));
    assert_eq!((pair.counter("frames_restored"), pair.counter("packets_delivered_late")), (0, 0));
}

/// Parity frames of a block, the positions of lost frames, and the packets that stay lost.
type Row = (u8, &'static [(u8, u8)], &'static [u64]);

#[test]
fn as_many_losses_of_a_block_are_restored_as_it_has_parity() {
    let rows: [Row; 6] = [
        (1, &[(0, 0), (1, 4), (3, 2)], &[]),
        (1, &[(0, 0), (0, 1)], &[0, 1]),
        (1, &[(2, 3), (2, 5)], &[13]),
        (2, &[(0, 0), (0, 1), (1, 0), (1, 6)], &[]),
        (2, &[(0, 0), (0, 1), (0, 2)], &[0, 1, 2]),
        (2, &[(0, 0), (0, 5), (0, 6)], &[0]),
    ];
    for (parity_frames, lost, gone) in rows {
        let mut pair = pair(100, settings(5, parity_frames), losing(lost));
        pair.send(40);
        let expected: Vec<u64> = (0..40).filter(|number| !gone.contains(number)).collect();
        assert_eq!(sorted(pair.numbers(1)), expected, "{lost:?}");
        assert_eq!(pair.counter("packets_lost"), gone.len() as u64, "{lost:?}");
    }
}

#[test]
fn a_restored_frame_comes_when_the_parity_has() {
    let mut pair = pair(100, settings(5, 1), losing(&[(0, 1)]));
    pair.send(10);
    // Parity is behind frame 4 and before frame 5; frames 2 to 4 have been forwarded.
    assert_eq!(pair.numbers(1)[..6], [0, 2, 3, 4, 1, 5]);
    assert_eq!(pair.counter("packets_delivered_late"), 1);
    let delay = pair.world.delivered[1][4].at - pair.world.delivered[1][0].at;
    let frame = |bytes: u64| Duration::from_ps((bytes + 20) * 80);
    // Frames 1 to 4 and parity take the line; at the edge frame 4 is still leaving when frame 1 arrives.
    assert!(delay >= frame(1_524) * 4 + frame(1_540), "{delay}");
    assert!(delay <= frame(1_524) * 5 + frame(1_540) * 2, "{delay}");
}

#[test]
fn a_block_that_is_not_full_is_flushed_after_its_time() {
    let mut pair = pair(100, settings(25, 2), losing(&[(0, 0), (0, 2)]));
    pair.send(3);
    assert_eq!(sorted(pair.numbers(1)), in_order(3));
    assert_eq!((pair.counter("blocks_flushed"), pair.on_link().frames[0]), (1, 3 + 2));
    let restored_at = pair.world.delivered[1][1].at;
    let flushed_at = Time::ZERO + Duration::from_us(50);
    assert!(restored_at > flushed_at + LINK_DELAY && restored_at < flushed_at + Duration::from_us(3), "{restored_at}");
}

#[test]
fn parity_is_as_long_as_the_longest_frame_of_its_block() {
    let mut pair = pair(100, settings(3, 1), |_, _| Fate::Arrives);
    pair.inject_sized(0, Time::ZERO, 0, [64, 900, 65, 64, 64, 64].into_iter());
    pair.run();
    let data = 64 + 900 + 65 + 3 * 64 + 6 * 6;
    assert_eq!(pair.on_link().bytes[0], data + u64::from(parity_frame_bytes(900) + parity_frame_bytes(64)));
}

#[test]
fn without_parity_nothing_is_touched() {
    let mut pair = pair(100, settings(5, 0), |_, packet| {
        assert!(packet.shims.is_empty());
        Fate::Arrives
    });
    pair.send(20);
    assert_eq!((pair.numbers(1), pair.on_link().bytes[0]), (in_order(20), 20 * 1_518));
}

#[test]
fn blocks_wrap_and_an_outage_of_many_blocks_spoils_no_later_one() {
    let mut count = 0;
    // Frames 600 to 799 of the line: 33 blocks of six, more than there are block numbers.
    let fate = move |_, _: &Packet| {
        count += 1;
        if (600..800).contains(&count) || count % 60 == 7 { Fate::Vanishes } else { Fate::Arrives }
    };
    let mut pair = pair(400, settings(5, 1), fate);
    pair.inject_sized(0, Time::ZERO, 0, (0..2_000).map(|number| 64 + number % 200));
    pair.run();
    let delivered: BTreeSet<u64> = pair.numbers(1).into_iter().collect();
    assert_eq!(delivered.len(), pair.numbers(1).len(), "nothing comes twice");
    let gone: Vec<u64> = (0..2_000).filter(|number| !delivered.contains(number)).collect();
    assert!(gone.iter().all(|number| (490..680).contains(number)), "{gone:?}");
    assert_eq!(pair.alive(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A block with no more losses than parity frames arrives whole; of any other only the received frames do.
    #[test]
    fn any_block_is_restored_if_it_lost_no_more_than_it_has_parity(
        data_frames in 1u8..=50,
        parity_frames in 1u8..=5,
        sizes in prop::collection::vec(64u32..1_519, 1..300),
        loss_permille in 0u64..300,
        seed in any::<u64>(),
        rate in prop::sample::select(vec![10u64, 100, 400]),
    ) {
        let mut chance = chances(seed);
        let lost: std::rc::Rc<std::cell::RefCell<Vec<bool>>> = Default::default();
        let noted = lost.clone();
        let fate = move |_, _: &Packet| {
            let is_lost = chance(loss_permille);
            noted.borrow_mut().push(is_lost);
            if is_lost { Fate::Corrupted } else { Fate::Arrives }
        };
        let mut pair = pair(rate, settings(data_frames, parity_frames), fate);
        pair.inject_sized(0, Time::ZERO, 0, sizes.iter().copied());
        pair.run();

        // Frames take the line in order, with each block's parity behind it; the last block is flushed.
        let numbered: Vec<(u64, u32)> = (0..).zip(sizes.iter().copied()).collect();
        let (lost, mut on_line) = (lost.borrow(), 0);
        let (mut expected, mut restored) = (Vec::new(), 0);
        for block in numbered.chunks(usize::from(data_frames)) {
            let frames_of_block = &lost[on_line..on_line + block.len() + usize::from(parity_frames)];
            let losses = frames_of_block.iter().filter(|&&is_lost| is_lost).count();
            let is_whole = losses <= usize::from(parity_frames);
            for (frame, &is_lost) in block.iter().zip(frames_of_block) {
                expected.extend((is_whole || !is_lost).then_some(frame.0));
                restored += u64::from(is_whole && is_lost);
            }
            on_line += block.len() + usize::from(parity_frames);
        }
        prop_assert_eq!(on_line, lost.len());
        prop_assert_eq!(sorted(pair.numbers(1)), sorted(expected));
        prop_assert_eq!(pair.counter("frames_restored"), restored);
        let sizes_kept = pair.world.delivered[1].iter().all(|delivery| delivery.frame_bytes == sizes[delivery.number as usize]);
        prop_assert!(sizes_kept);
        prop_assert_eq!(pair.alive(), 0);
    }
}
