//! Ports over AF_XDP on real veth interfaces.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::common::{
    Pair, Port, collect, cross_in_both_directions, datagram_from_kernel, finds_itself_gone, frame, has_right_checksum,
    send_all,
};
use hitless_live::interfaces::device::NetworkDevice;
use hitless_live::interfaces::xdp::XdpMode;
use hitless_live::interfaces::{Options, Preference, Refusal, monotonic_ns, open, wait_readable};

fn options(mode: XdpMode) -> Options {
    Options { preference: Preference::Xdp(mode), ..Options::default() }
}

/// The two modes of a veth.
const MODES: [XdpMode; 2] = [XdpMode::Copy, XdpMode::Generic];

/// Opens both ends. Returns `None` and prints the reason if this kernel does not support AF_XDP.
fn both(pair: &Pair, mode: XdpMode) -> Option<[Port; 2]> {
    both_with(pair, options(mode), options(mode))
}

fn both_with(pair: &Pair, left: Options, right: Options) -> Option<[Port; 2]> {
    let opened = pair.within(|| Ok([open("left", left)?, open("right", right)?]));
    opened.map_err(|error: hitless_live::interfaces::OpenError| eprintln!("skipped: no AF_XDP here: {error}")).ok()
}

#[test]
fn frames_of_all_sizes_cross_unchanged_in_both_directions() {
    for mode in MODES {
        let Some(pair) = Pair::make(1500) else { return };
        let Some([mut left, mut right]) = both(&pair, mode) else { return };
        assert!(left.mode().contains(if mode == XdpMode::Copy { "native" } else { "generic" }), "{}", left.mode());
        // A veth with XDP holds 256 frames.
        cross_in_both_directions(&mut left, &mut right, 200);
    }
}

#[test]
fn chunks_come_back_however_many_frames_cross() {
    for mode in MODES {
        let Some(pair) = Pair::make(1500) else { return };
        let Some([mut left, mut right]) = both(&pair, mode) else { return };
        // Several times the number of chunks.
        for round in 0..100_u8 {
            let frames = vec![frame(100, round); 100];
            send_all(&mut *left, &frames);
            assert_eq!(collect(&mut *right, 100), frames, "{mode:?}, round {round}");
        }
    }
}

/// A chunk that came back while the fill ring still looked full used to cause a panic (see
/// crates/live/src/interfaces/sys/xdp).
#[test]
fn no_chunk_is_lost_while_sender_and_receiver_run_at_once() {
    for mode in MODES {
        let Some(pair) = Pair::make(1500) else { return };
        let small = Options { ring_frames: 64, ..options(mode) };
        let Some([mut left, mut right]) = both_with(&pair, options(mode), small) else { return };
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..100_000_u32 {
                    // Frames beyond the ring's capacity are not sent, which does no harm here.
                    let _ = left.send(&frame(60, round as u8));
                    left.flush().expect("the interface is there");
                }
                ended.store(true, Ordering::Relaxed);
            });
            while !ended.load(Ordering::Relaxed) {
                right.receive(64, &mut |_| {}).expect("the interface is there");
            }
        });
        while right.receive(64, &mut |_| {}).expect("receive") > 0 {}
        // All chunks are still there.
        for round in 0..10 {
            let frames = vec![frame(60, round); 60];
            send_all(&mut *left, &frames);
            assert_eq!(collect(&mut *right, 60), frames, "{mode:?}");
        }
    }
}

#[test]
fn vlan_tags_are_kept() {
    for mode in MODES {
        let Some(pair) = Pair::make(1500) else { return };
        let Some([mut left, mut right]) = both(&pair, mode) else { return };
        let mut tagged = frame(1518, 3);
        tagged[12..18].copy_from_slice(&[0x81, 0, 0x60, 5, 8, 0]);
        send_all(&mut *left, &[tagged.clone()]);
        assert_eq!(collect(&mut *right, 1), [tagged], "{mode:?}");
        assert_eq!(left.send(&frame(1515, 0)), Err(Refusal::TooLong));
        assert_eq!(left.send(&[0; 13]), Err(Refusal::TooShort));
    }
}

#[test]
fn zero_copy_is_refused_and_not_replaced_by_something_slower() {
    let Some(pair) = Pair::make(1500) else { return };
    let refused = pair.within(|| open("left", options(XdpMode::ZeroCopy)));
    let error = refused.err().expect("a veth cannot");
    assert!(error.to_string().contains("zero-copy"), "{error}");
}

#[test]
fn the_fastest_mode_of_a_veth_is_native() {
    let Some(pair) = Pair::make(1500) else { return };
    let options = Options { preference: Preference::FastestXdp, ..Options::default() };
    let Ok(port) = pair.within(|| open("left", options)) else { return };
    assert_eq!(port.mode(), "AF_XDP, one copy in the driver (native XDP)");
}

#[test]
fn auto_takes_packet_sockets_where_the_driver_cannot() {
    // With this MTU a frame does not fit into a page.
    let Some(pair) = Pair::make(9000) else { return };
    let port = pair.open("left", Options { preference: Preference::Fastest, ..Options::default() });
    assert!(port.mode().starts_with("AF_PACKET"), "{}", port.mode());
}

#[test]
fn a_second_port_on_the_same_interface_is_refused_with_a_hint() {
    let Some(pair) = Pair::make(1500) else { return };
    let Some([_left, _right]) = both(&pair, XdpMode::Copy) else { return };
    let error = pair.within(|| open("left", options(XdpMode::Copy))).err().expect("occupied");
    assert!(error.to_string().contains("another XDP program is attached"), "{error}");
}

#[test]
fn an_mtu_that_needs_more_than_a_page_is_refused() {
    let Some(pair) = Pair::make(9000) else { return };
    let error = pair.within(|| open("left", options(XdpMode::Generic))).err().expect("too long");
    assert!(error.to_string().contains("an MTU of 9000 bytes; AF_XDP takes 3822 at most"), "{error}");
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let Some(pair) = Pair::make(1500) else { return };
    let small = Options { ring_frames: 64, ..options(XdpMode::Generic) };
    let Some([mut left, mut right]) = both_with(&pair, options(XdpMode::Generic), small) else { return };
    send_all(&mut *left, &vec![frame(60, 1); 200]);
    let received = collect(&mut *right, 64).len() as u64;
    let overrun = right.counters().expect("counters").frames_overrun;
    assert_eq!((received, overrun), (64, 136));
}

#[test]
fn arrivals_are_stamped_by_the_program() {
    for mode in MODES {
        let Some(pair) = Pair::make(1500) else { return };
        let Some([mut left, mut right]) = both(&pair, mode) else { return };
        let before = monotonic_ns();
        send_all(&mut *left, &vec![frame(60, 1); 50]);
        let mut stamps = Vec::new();
        let end = Instant::now() + Duration::from_secs(5);
        std::thread::sleep(Duration::from_millis(20));
        let looked = monotonic_ns();
        while stamps.len() < 50 && Instant::now() < end {
            right.receive(64, &mut |frame| stamps.push(frame.at.0)).expect("receive");
        }
        assert_eq!(stamps.len(), 50);
        assert!(stamps.is_sorted() && stamps[0] >= before, "{before} {stamps:?}");
        assert!(stamps[49] < looked, "{mode:?}: stamped when they were looked at, not when they came");
    }
}

#[test]
fn a_waiting_port_is_woken() {
    let Some(pair) = Pair::make(1500) else { return };
    let Some([mut left, mut right]) = both(&pair, XdpMode::Copy) else { return };
    assert!(!wait_readable(&[right.wakes().expect("a socket")], Duration::ZERO).expect("poll"));
    send_all(&mut *left, &[frame(60, 1)]);
    assert!(wait_readable(&[right.wakes().expect("a socket")], Duration::from_secs(5)).expect("poll"));
    assert_eq!(collect(&mut *right, 1).len(), 1);
}

#[test]
fn a_removed_interface_is_an_error_and_no_hang() {
    for mode in MODES {
        let Some(pair) = Pair::make(1500) else { return };
        let Some([mut left, _right]) = both(&pair, mode) else { return };
        pair.ip(&["link", "del", "left"]);
        finds_itself_gone(&mut *left);
        assert_eq!(left.rejoin().expect_err("it cannot").kind(), std::io::ErrorKind::Unsupported);
    }
}

#[test]
fn an_interface_can_be_opened_again_at_once() {
    let Some(pair) = Pair::make(1500) else { return };
    let Some(ports) = both(&pair, XdpMode::Copy) else { return };
    drop(ports);
    let again = both(&pair, XdpMode::Copy);
    assert!(again.is_some(), "the queue was not free in time");
}

/// Returns whether the program is detached within five seconds: the kernel closes the descriptors of a killed process
/// with a delay.
fn has_no_program(pair: &Pair) -> bool {
    let end = Instant::now() + Duration::from_secs(5);
    while pair.ip(&["link", "show", "left"]).contains("xdp") {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn a_dropped_port_leaves_no_program() {
    for mode in MODES {
        let Some(pair) = Pair::make(1500) else { return };
        let Some(ports) = both(&pair, mode) else { return };
        assert!(pair.ip(&["link", "show", "left"]).contains("prog/xdp"));
        drop(ports);
        assert!(!pair.ip(&["link", "show", "left"]).contains("xdp"), "{mode:?}");
    }
}

/// Not a real test: `a_killed_process_leaves_no_program` starts it as a process and kills it.
#[test]
fn a_process_that_holds_ports() {
    let Ok(mode) = std::env::var(HELD) else { return };
    let preference = mode.parse().expect("the other test names one");
    let _port = open("left", Options { preference, ..Options::default() }).expect("it can be opened");
    println!("holding");
    std::thread::sleep(Duration::from_secs(60));
}

const HELD: &str = "HITLESS_TEST_HELD_MODE";

#[test]
fn a_killed_process_leaves_no_program() {
    for (name, mode) in [("xdp-copy", XdpMode::Copy), ("xdp-generic", XdpMode::Generic)] {
        let Some(pair) = Pair::make(1500) else { return };
        let Some(ports) = both(&pair, mode) else { return };
        drop(ports);
        // The name of a test is its path within this crate.
        let module = module_path!().split_once("::").expect("a module of the tests").1;
        let test = format!("{module}::a_process_that_holds_ports");
        let mut holder = pair.within(|| {
            let mut command = Command::new(std::env::current_exe().expect("this test"));
            let command = command.args(["--exact", &test, "--nocapture"]).env(HELD, name);
            command.stdout(Stdio::piped()).spawn().expect("this test can be run again")
        });
        let mut said = BufReader::new(holder.stdout.take().expect("piped")).lines();
        let is_held = said.any(|line| line.expect("text").contains("holding"));
        let attached = is_held && pair.ip(&["link", "show", "left"]).contains("prog/xdp");
        holder.kill().expect("ours");
        holder.wait().expect("ours");
        assert!(is_held && attached, "{name}: held {is_held}");
        assert!(has_no_program(&pair), "{name}");
    }
}

/// A difference to packet sockets: a port over AF_XDP cannot see an incomplete checksum, so the owner of the other end
/// must switch the offload off.
#[test]
fn a_checksum_left_to_the_card_is_not_completed_and_comes_whole_without_the_offload() {
    for is_off in [false, true] {
        let Some(pair) = Pair::make(1500) else { return };
        if is_off {
            let device = pair.within(|| NetworkDevice::of_ethernet("left")).expect("it is there");
            device.switch_off_offloads().expect("switched");
        }
        let open = || pair.within(|| open("right", options(XdpMode::Copy))).ok();
        let Some((_right, frame)) = datagram_from_kernel(&pair, b"data", open) else { return };
        assert_eq!(has_right_checksum(&frame), is_off, "offload off: {is_off}");
    }
}
