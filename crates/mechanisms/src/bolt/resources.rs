//! What Bolt takes of a switch.

use hitless_switch::{Half, RegisterUse, Resources};

use super::Bolt;

pub(super) fn resources(bolt: &Bolt) -> Resources {
    let ports = bolt.tokens.iter().count() as u64;
    let mut resources = Resources::new("bolt");
    // sm_token and last_sm_time are read and written together (algorithm 2), behind them pru_token (algorithm 1).
    resources.add_register(RegisterUse::outside::<u64>("last_sm_time", Half::Ingress, 0, ports));
    resources.add_register(RegisterUse::outside::<u64>("sm_token", Half::Ingress, 1, ports));
    resources.add_register(RegisterUse::outside::<u32>("pru_token", Half::Ingress, 2, ports));
    // A notice is a copy of the packet's head that goes back by the port where that came in.
    resources.mirror_sessions = bolt.notice_queues.len() as u64;
    resources
        .not_counting("hardware that shows the depths of queues in ingress, as Tofino 2 does")
        .not_counting("the products of time and line rate")
}
