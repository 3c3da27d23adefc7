//! Packets that a switch sends to the wrong host.

use super::*;

#[test]
fn a_packet_for_another_host_is_dropped_and_sent_again() {
    let mut bench = Bench::new(&ethernet(), 3, roce());
    bench.add(0, 1, Application::one_way(100));
    bench.handle_until(Time(0));
    for happening in &mut bench.world.happenings {
        if let Happening::Arrival(host, _) = happening {
            *host = HostId(2);
        }
    }
    let bench = bench.run();
    assert_eq!((bench.hosts.totals().misdelivered, bench.world.drops.as_slice()), (1, &[HostDrop::Misdelivered][..]));
    assert_eq!(bench.world.flows[0].outcome, FlowOutcome::Completed);
}
