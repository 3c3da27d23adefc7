//! What Bolt takes of a switch.

use hitless_switch::{Half, RegisterUse, Resources};

/// `ports` are those whose packets are looked at, `notice_queues` all that have a queue of notices.
pub(super) fn resources(ports: u64, notice_queues: u64) -> Resources {
    let mut resources = Resources::new("bolt");
    // sm_token and last_sm_time are read and written together (algorithm 2), behind them pru_token (algorithm 1).
    resources.add_register(RegisterUse::outside::<u64>("last_sm_time", Half::Ingress, 0, ports));
    resources.add_register(RegisterUse::outside::<u64>("sm_token", Half::Ingress, 1, ports));
    resources.add_register(RegisterUse::outside::<u32>("pru_token", Half::Ingress, 2, ports));
    // A notice is a copy of the packet's head that goes back by the port where that came in.
    resources.mirror_sessions = notice_queues;
    resources
        .not_counting("hardware that shows the depths of queues in ingress, as Tofino 2 does")
        .not_counting("the products of time and line rate")
}
