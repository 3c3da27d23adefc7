//! Messages under way at the end of a run.

use std::collections::BTreeSet;

use super::*;
use crate::application::Request;
use proptest::prelude::*;

/// The load of a transport: a single message, several with gaps, several on an open connection, or the response to a
/// request.
#[derive(Clone, Copy, Debug)]
enum Load {
    One,
    Messages,
    Appended,
    Answer,
}

const ALL: [(&str, Load); 9] = [
    ("tcp", Load::Messages),
    ("tcp", Load::Appended),
    ("tcp", Load::Answer),
    ("roce", Load::Messages),
    ("roce", Load::Appended),
    ("packet pair", Load::Messages),
    ("packet pair", Load::Appended),
    ("packet pair", Load::Answer),
    ("udp", Load::One),
];

/// Creates a bench with a flow that is about to start; `losses` as in [`World`], for transports that retransmit.
fn bench(transport: &str, load: Load, losses: &BTreeSet<u64>) -> Bench {
    let config = match transport {
        "tcp" => TransportConfig::Tcp(TcpSettings { handshake: true, ..TcpSettings::default() }),
        "roce" => roce(),
        "packet pair" => packet_pair(),
        _ => udp(BitRate::from_gbps(1)),
    };
    let mut bench = Bench::new(&ethernet(), 2, config);
    if transport != "udp" {
        bench.world.losses = losses.iter().copied().collect();
    }
    let flow = flow_config(0, 1, Application::Messages { count: 3, bytes: 20_000, gap: Duration::from_us(2) });
    let request = Some(Request { bytes: 250, think: Duration::from_us(3) });
    match load {
        Load::One => bench.add(0, 1, Application::one_way(20_000)),
        Load::Messages => bench.hosts.add_flow(flow, &mut bench.world),
        Load::Answer => {
            let answer = FlowConfig { application: Application::one_way(60_000), request, ..flow };
            bench.hosts.add_flow(answer, &mut bench.world)
        }
        Load::Appended => {
            let open = FlowConfig { application: Application::Appended, ..flow };
            let flow = bench.hosts.open(Time::ZERO, open, &mut bench.world);
            for bytes in [30_000, 1, 5_000] {
                bench.hosts.append_message(Time::ZERO, flow, bytes, &mut bench.world);
            }
            bench.hosts.close(Time::ZERO, flow, &mut bench.world);
            flow
        }
    };
    bench
}

/// Returns the record of a message as known at `end`.
fn until(end: Time, message: &MessageRecord) -> MessageRecord {
    let known = |at: Time| if at <= end { at } else { Time::NEVER };
    MessageRecord {
        requested: message.requested.filter(|&at| at <= end),
        delivered: known(message.delivered),
        acknowledged: known(message.acknowledged),
        ..*message
    }
}

/// Returns the times of a message's events; errors would show at these times, or a picosecond earlier.
fn moments(message: &MessageRecord) -> impl Iterator<Item = Time> {
    let MessageRecord { started, requested, delivered, acknowledged, .. } = *message;
    requested.into_iter().chain([started, delivered, acknowledged])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The oracle is the complete run, restricted to events up to that time.
    #[test]
    fn every_message_that_has_begun_is_reported_once(
        (transport, load) in prop::sample::select(&ALL[..]),
        losses in prop::collection::btree_set(0u64..120, 0..10),
        at in any::<prop::sample::Index>(),
        before_ps in 0u64..=1,
    ) {
        let whole = bench(transport, load, &losses).run();
        prop_assert_eq!(&whole.world.unfinished, &[]);
        let moments: Vec<Time> = whole.world.messages.iter().flat_map(moments).collect();
        let end = Time(at.get(&moments).as_ps().saturating_sub(before_ps));
        let mut cut = bench(transport, load, &losses);
        cut.stop_at(end);
        let begun = whole.world.messages.iter().filter(|message| message.started <= end);
        let is_complete = |message: &MessageRecord| message.delivered <= end && message.acknowledged <= end;
        let (complete, unfinished): (Vec<_>, Vec<_>) = begun.map(|message| until(end, message)).partition(is_complete);
        prop_assert_eq!(&cut.world.messages, &complete);
        prop_assert_eq!(&cut.world.unfinished, &unfinished);
    }
}

#[test]
fn a_flow_without_messages_leaves_none_unfinished() {
    for transport in [roce(), udp(BitRate::from_gbps(1))] {
        let mut bench = Bench::new(&ethernet(), 2, transport);
        bench.add(0, 1, Application::until(Time::ZERO + Duration::from_ms(1)));
        bench.stop_at(Time::ZERO + Duration::from_us(50));
        assert_eq!((bench.world.flows.len(), bench.world.unfinished.len()), (1, 0));
    }
}

#[test]
fn a_transport_that_gives_up_leaves_its_message_unfinished() {
    let mut bench = bench("roce", Load::Messages, &(1..200).collect());
    bench.run_until(FOREVER);
    assert_eq!(bench.world.flows[0].outcome, FlowOutcome::Failed);
    let of: Vec<_> = bench.world.unfinished.iter().map(|it| (it.number, it.bytes, it.delivered)).collect();
    assert_eq!(of, [(0, 20_000, Time::NEVER)]);
}
