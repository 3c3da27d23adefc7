//! Ports over packet sockets on real veth interfaces.

use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use super::common::{
    Pair, collect, cross_in_both_directions, datagram_from_kernel, finds_itself_gone, frame, has_right_checksum,
    send_all,
};
use hitless_live::interfaces::device::{Carrier, NetworkDevice};
use hitless_live::interfaces::watch::{LinkChange, LinkWatch};
use hitless_live::interfaces::{Options, Refusal, monotonic_ns, wait_readable};

#[test]
fn frames_of_all_sizes_cross_unchanged_in_both_directions() {
    for mtu in [1500, 9000] {
        let Some((_pair, mut left, mut right)) = Pair::ports(mtu) else { return };
        assert_eq!(left.frame_limit_bytes(), mtu + 14);
        cross_in_both_directions(&mut left, &mut right, 1000);
    }
}

#[test]
fn a_frame_that_is_too_long_or_too_short_is_refused() {
    let Some(pair) = Pair::make(1500) else { return };
    let mut left = pair.open("left", Options::default());
    assert_eq!(left.send(&frame(1515, 0)), Err(Refusal::TooLong));
    assert_eq!(left.send(&vec![0; 70_000]), Err(Refusal::TooLong));
    assert_eq!(left.send(&[0; 13]), Err(Refusal::TooShort));
    assert_eq!(left.counters().expect("counters").frames_refused, 3);
    assert_eq!(left.counters().expect("counters").frames_sent, 0);
}

#[test]
fn vlan_tags_are_kept() {
    let Some((_pair, mut left, mut right)) = Pair::ports(1500) else { return };
    let mut frames = Vec::new();
    for (kind, length) in [(0x8100_u16, 60), (0x8100, 1518), (0x88a8, 64), (0x88a8, 1514)] {
        let mut tagged = frame(length, 9);
        tagged[12..14].copy_from_slice(&kind.to_be_bytes());
        tagged[14..18].copy_from_slice(&[0x60, 5, 0x08, 0]);
        frames.push(tagged);
    }
    // Two tags: the kernel removes only the outer one.
    let mut twice = frames[2].clone();
    twice[16..20].copy_from_slice(&[0x81, 0, 0, 7]);
    frames.push(twice);
    send_all(&mut *left, &frames);
    assert_eq!(collect(&mut *right, frames.len()), frames);
}

#[test]
fn what_the_ring_has_no_room_for_is_counted() {
    let Some(pair) = Pair::make(1500) else { return };
    let mut left = pair.open("left", Options::default());
    let mut right = pair.open("right", Options { ring_frames: 64, ..Options::default() });
    send_all(&mut *left, &vec![frame(60, 1); 200]);
    let received = collect(&mut *right, 64).len() as u64;
    let counters = right.counters().expect("counters");
    assert!(counters.frames_overrun > 0);
    assert_eq!(received + counters.frames_overrun, 200);
    assert_eq!(right.counters().expect("again").frames_overrun, counters.frames_overrun, "counted once");
}

#[test]
fn a_turn_is_bounded_by_its_limit() {
    let Some((_pair, mut left, mut right)) = Pair::ports(1500) else { return };
    send_all(&mut *left, &vec![frame(60, 1); 20]);
    let mut count = 0;
    assert_eq!(right.receive(7, &mut |_| count += 1).expect("receive"), 7);
    assert_eq!(count, 7);
    assert_eq!(collect(&mut *right, 13).len(), 13);
}

#[test]
fn a_full_transmit_ring_refuses_and_takes_frames_again_after_a_flush() {
    let Some(pair) = Pair::make(1500) else { return };
    let mut left = pair.open("left", Options { ring_frames: 64, ..Options::default() });
    let mut right = pair.open("right", Options::default());
    for _ in 0..64 {
        left.send(&frame(60, 1)).expect("room for 64");
    }
    assert_eq!(left.send(&frame(60, 2)), Err(Refusal::RingFull));
    left.flush().expect("flush");
    assert_eq!(collect(&mut *right, 64).len(), 64);
    left.send(&frame(60, 3)).expect("room again");
    left.flush().expect("flush");
    assert_eq!(collect(&mut *right, 1), [frame(60, 3)]);
}

#[test]
fn arrivals_are_stamped_in_order_between_sending_and_now() {
    let Some((_pair, mut left, mut right)) = Pair::ports(1500) else { return };
    let before = monotonic_ns();
    send_all(&mut *left, &vec![frame(60, 1); 50]);
    let mut stamps = Vec::new();
    right.receive(64, &mut |frame| stamps.push(frame.at.0)).expect("receive");
    assert_eq!(stamps.len(), 50);
    assert!(stamps.is_sorted(), "{stamps:?}");
    // The two clocks are read one after the other, so the conversion has an error of that duration.
    let error_ns = 1_000_000;
    assert!(stamps[0] + error_ns >= before && stamps[49] <= monotonic_ns(), "{before} {stamps:?}");
}

#[test]
fn a_waiting_port_is_woken() {
    let Some((_pair, mut left, mut right)) = Pair::ports(1500) else { return };
    assert!(!wait_readable(&[right.wakes().expect("a socket")], Duration::ZERO).expect("poll"));
    send_all(&mut *left, &[frame(60, 1)]);
    assert!(wait_readable(&[right.wakes().expect("a socket")], Duration::from_secs(5)).expect("poll"));
    assert_eq!(collect(&mut *right, 1).len(), 1);
    assert!(!wait_readable(&[right.wakes().expect("a socket")], Duration::ZERO).expect("poll"));
}

#[test]
fn a_removed_interface_is_an_error_and_no_hang() {
    let Some(pair) = Pair::make(1500) else { return };
    let mut left = pair.open("left", Options::default());
    pair.ip(&["link", "del", "left"]);
    finds_itself_gone(&mut *left);
}

#[test]
fn a_port_rejoins_the_interface_that_has_its_name_now() {
    let Some((pair, mut left, mut right)) = Pair::ports(1500) else { return };
    pair.ip(&["link", "del", "left"]);
    for port in [&mut left, &mut right] {
        assert_eq!(port.look().expect_err("it is gone").kind(), ErrorKind::NotFound);
        assert_eq!(port.rejoin().expect_err("there is none").kind(), ErrorKind::NotFound);
    }
    pair.cable("left", "right", 1400);
    for port in [&mut left, &mut right] {
        assert_eq!(port.look().expect_err("it is another").kind(), ErrorKind::NotFound);
        port.rejoin().expect("it is there");
        assert_eq!(port.frame_limit_bytes(), 1414);
    }
    pair.ip(&["link", "set", "left", "mtu", "1500"]);
    pair.ip(&["link", "set", "right", "mtu", "9000"]);
    for port in [&mut left, &mut right] {
        port.look().expect("it is there");
    }
    assert_eq!(left.frame_limit_bytes(), 1514);
    assert!((1514..9014).contains(&right.frame_limit_bytes()), "as far as its slots have room");
    // To a station other than this one.
    let frames: Vec<Vec<u8>> = (14..=1514).map(|length| frame(length, length as u8)).collect();
    send_all(&mut *left, &frames);
    assert_eq!(collect(&mut *right, frames.len()), frames);
    send_all(&mut *right, &frames);
    assert_eq!(collect(&mut *left, frames.len()), frames);
}

#[test]
fn what_a_renamed_interface_has_received_does_not_come_from_the_one_that_has_its_name_now() {
    let Some((pair, mut left, mut right)) = Pair::ports(1500) else { return };
    pair.ip(&["link", "set", "left", "down"]);
    pair.ip(&["link", "set", "left", "name", "elsewhere", "up"]);
    let device = pair.within(|| NetworkDevice::of_ethernet("right")).expect("it is there");
    wait_for_carrier(&device, Carrier::Present);
    send_all(&mut *right, &vec![frame(60, 1); 10]);
    pair.cable("left", "far", 1500);
    left.rejoin().expect("it is there");
    send_all(&mut *right, &vec![frame(60, 2); 10]);
    let mut far = pair.open("far", Options::default());
    send_all(&mut *far, &[frame(60, 3)]);
    assert_eq!(collect(&mut *left, 1), [frame(60, 3)]);
    send_all(&mut *left, &[frame(60, 4)]);
    assert_eq!(collect(&mut *far, 1), [frame(60, 4)]);
}

#[test]
fn what_waits_while_the_interface_is_down_is_discarded_and_counted() {
    let Some((pair, mut left, mut right)) = Pair::ports(1500) else { return };
    pair.ip(&["link", "set", "left", "down"]);
    for _ in 0..10_000 {
        assert_eq!(left.receive(64, &mut |_| {}).expect("down is no error"), 0);
    }
    send_all(&mut *left, &[frame(60, 1), frame(60, 2)]);
    assert_eq!(left.counters().expect("counters").frames_discarded, 2);
    pair.ip(&["link", "set", "left", "up"]);
    send_all(&mut *left, &[frame(60, 3)]);
    assert_eq!(collect(&mut *right, 1), [frame(60, 3)]);
    send_all(&mut *right, &[frame(60, 4)]);
    assert_eq!(collect(&mut *left, 1), [frame(60, 4)]);
}

/// Waits, because the kernel updates the carrier with a delay.
fn wait_for_carrier(device: &NetworkDevice, wanted: Carrier) {
    let end = Instant::now() + Duration::from_secs(5);
    while device.carrier().expect("carrier") != wanted && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(device.carrier().expect("carrier"), wanted);
}

#[test]
fn carrier_and_mtu_are_those_of_the_interface() {
    let Some(pair) = Pair::make(1500) else { return };
    let device = pair.within(|| NetworkDevice::of_ethernet("left")).expect("it is there");
    wait_for_carrier(&device, Carrier::Present);
    pair.ip(&["link", "set", "right", "down"]);
    wait_for_carrier(&device, Carrier::Lost);
    device.set_up(false).expect("down");
    assert_eq!(device.carrier().expect("carrier"), Carrier::Off);
    device.set_mtu_bytes(1600).expect("a veth takes it");
    assert_eq!(device.mtu_bytes().expect("MTU"), 1600);
    pair.ip(&["link", "del", "left"]);
    pair.ip(&["link", "add", "left", "type", "veth"]);
    device.still_there().expect_err("another interface of the same name");
}

#[test]
fn changes_of_an_interface_are_told() {
    let Some(pair) = Pair::make(1500) else { return };
    let (mut watch, index) = pair.within(|| {
        let device = NetworkDevice::of_ethernet("left").expect("it is there");
        (LinkWatch::open().expect("a socket"), device.index())
    });
    let mut wait_for = |wanted: &dyn Fn(&LinkChange) -> bool| {
        let end = Instant::now() + Duration::from_secs(5);
        let mut found = false;
        while !found && Instant::now() < end {
            wait_readable(&[watch.as_fd()], Duration::from_millis(100)).expect("poll");
            watch.changes(&mut |change| found |= wanted(&change)).expect("changes");
        }
        found
    };
    let is = |change: &LinkChange, wanted| matches!(change, LinkChange::Present { name, carrier, .. } if name == "left" && *carrier == wanted);
    pair.ip(&["link", "set", "right", "down"]);
    assert!(wait_for(&|change| is(change, Carrier::Lost)), "carrier lost");
    pair.ip(&["link", "set", "right", "up"]);
    assert!(wait_for(&|change| is(change, Carrier::Present)), "carrier back");
    pair.ip(&["link", "set", "left", "mtu", "1700"]);
    assert!(wait_for(&|change| matches!(change, LinkChange::Present { mtu_bytes: 1700, .. })), "MTU");
    pair.ip(&["link", "del", "left"]);
    assert!(wait_for(&|change| *change == LinkChange::Gone { index }), "gone");
}

#[test]
fn a_checksum_that_a_kernel_left_to_its_network_card_is_completed() {
    let Some(pair) = Pair::make(1500) else { return };
    let open = || Some(pair.open("right", Options::default()));
    let found = datagram_from_kernel(&pair, b"the sum of odd bytes is padded.", open);
    let (mut right, frame) = found.expect("it can be opened");
    assert_eq!(right.counters().expect("counters").checksums_completed, 1);
    assert!(has_right_checksum(&frame));
}

#[test]
fn a_frame_beyond_the_mtu_is_counted_and_not_handed_over() {
    let Some(pair) = Pair::make(1500) else { return };
    let mut right = pair.open("right", Options::default());
    for end in ["left", "right"] {
        pair.ip(&["link", "set", end, "mtu", "9000"]);
    }
    let mut left = pair.open("left", Options::default());
    // A frame that fits into a slot, one that does not, and one that is delivered.
    send_all(&mut *left, &[frame(1600, 1), frame(5000, 2), frame(1514, 3)]);
    assert_eq!(collect(&mut *right, 1), [frame(1514, 3)]);
    assert_eq!(right.counters().expect("counters").frames_merged, 2);
}

#[test]
fn offloads_are_switched_off_and_on_again() {
    let Some(pair) = Pair::make(1500) else { return };
    let device = pair.within(|| NetworkDevice::of_ethernet("left")).expect("it is there");
    let on = || device.offloads_on().expect("offloads");
    let before = on();
    assert!(before.iter().any(|name| name == "tx-tcp-segmentation"), "{before:?}");
    let done = device.switch_off_offloads().expect("switched");
    assert_eq!((on(), done.still_on), (vec![], vec![]));
    device.switch_on_offloads(&done.switched).expect("switched");
    assert_eq!(on(), before);
}
