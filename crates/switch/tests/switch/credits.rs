//! Credit-based flow control at a switch: the credits of each frame return once, and storms last until credit returns.

use hitless_core::wire::mac_control::{CreditCount, CreditMessage};
use hitless_core::wire::packet::ETHERNET_OVERHEAD_BYTES;
use hitless_core::wire::{BitRate, CreditRules, Duration, Packet, PortId, Time};
use hitless_switch::testing::Harness;
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, FlowControl, FlowControlKind, PfcWatchdog, PortConfig, PortCredits,
    QueueConfig, QueueLimit, Switch,
};

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);

/// Frames of 1,000 B take one credit each, and a partner has memory for two.
fn switch() -> Switch {
    let rules = CreditRules {
        credit_bytes: 1_000,
        response: Duration::ZERO,
        update_interval: Duration::ZERO,
        sync_interval: None,
    };
    let control = FlowControl {
        classes: 1,
        kind: FlowControlKind::Credits(PortCredits { rules, limit: 2 }),
        headroom_bytes: 10_000,
        is_guaranteed: true,
        watchdog: Some(PfcWatchdog {
            detection: Duration::from_us(10),
            restoration: Duration::from_us(1_000),
            drops: true,
        }),
    };
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let port = PortConfig::fifo(BitRate::from_gbps(10), ETHERNET_OVERHEAD_BYTES, queue);
    let ports = vec![PortConfig { flow_control: Some(control), ..port }; 2];
    Switch::new(Architecture::tofino_like(), ports, BufferPolicy::Static, Vec::new())
}

fn frame(ttl: u8) -> Packet {
    Packet { frame_bytes: 1_000, ttl, ..Packet::default() }
}

fn message(kind: CreditCount, count: u32) -> Packet {
    let message = CreditMessage { class: 0, kind, count };
    let mut packet = Packet { frame_bytes: message.frame_bytes(), ..Packet::default() };
    message.put(&mut packet.shims);
    packet
}

fn at_ns(ns: u64) -> Time {
    Time::ZERO + Duration::from_ns(ns)
}

/// Returns the latest count of freed credits that the partner of `IN` got.
fn freed(harness: &Harness) -> Option<u32> {
    let messages = harness.world.left.iter().filter(|left| left.port == IN);
    messages.filter_map(|left| left.packet.shims.get::<CreditMessage>()).map(|message| message.count).next_back()
}

/// A count that arrives ahead of a frame took effect after it, and undid the end of a frame that had no queue.
#[test]
fn the_credits_of_a_frame_return_once_however_it_ends_and_whenever_counts_arrive() {
    let ends =
        [(None, 9, Some(DropReason::NoRoute)), (Some(OUT), 1, Some(DropReason::TimeToLive)), (Some(OUT), 9, None)];
    // With a count of 3 two frames were lost before.
    for (is_first, count) in [(true, 0), (true, 2), (false, 1), (false, 3)] {
        for (route, ttl, reason) in ends {
            let mut harness = Harness::new(vec![switch()], move |_, _| route);
            harness.start();
            let (count_at, frame_at) = if is_first { (0, 100) } else { (100, 0) };
            harness.enter(at_ns(count_at), 0, IN, message(CreditCount::Consumed, count));
            harness.enter(at_ns(frame_at), 0, IN, frame(ttl));
            harness.finish();
            let expected = if is_first { count + 1 } else { count };
            assert_eq!(freed(&harness), Some(expected), "{reason:?}, {count} first: {is_first}");
            let lost = harness.ended().into_iter().map(|(_, reason)| reason).find(|reason| reason.is_loss());
            assert_eq!(lost, reason);
        }
    }
}

#[test]
fn an_update_that_returns_no_credit_does_not_end_a_storm() {
    let mut harness = Harness::of_one(switch(), |_| OUT);
    for _ in 0..3 {
        harness.arrive(at_ns(0), IN, frame(9));
    }
    harness.arrive(at_ns(20_000), OUT, message(CreditCount::Freed, 0));
    harness.arrive(at_ns(30_000), IN, frame(9));
    harness.arrive(at_ns(40_000), OUT, message(CreditCount::Freed, 1));
    harness.arrive(at_ns(50_000), IN, frame(9));
    harness.finish();
    assert_eq!(harness.left_by(OUT), [0, 1, 6]);
    let dropped = harness.ended().into_iter().filter(|(_, reason)| reason.is_loss());
    assert_eq!(dropped.collect::<Vec<_>>(), [(2, DropReason::PauseWatchdog), (4, DropReason::PauseWatchdog)]);
}
