//! SQR's use of a switch's resources.

use hitless_switch::{Half, RegisterUse, Resources};

use super::config::SqrConfig;
use super::home::HOME_QUEUES;

pub(super) fn resources(
    config: &SqrConfig,
    registers: impl Iterator<Item = RegisterUse>,
    own_queues: u64,
) -> Resources {
    let line_ports = u64::from(config.line_ports);
    let mut resources = Resources::new("sqr");
    registers.for_each(|register| resources.add_register(register));
    // "The delay time is stored in a dataplane register" (section III-F): a register for each of the two delays.
    resources.add_register(RegisterUse::outside::<u32>("DelayTime", Half::Egress, 2, 2));
    if config.settings.backstop.is_some() {
        resources.add_register(RegisterUse::outside::<bool>("backstop", Half::Egress, 0, 1));
    }
    // A mirror session has a single destination: the caching queue of each port, the home queues of each protected
    // port, and the queues that receive moved packets at a backup port.
    resources.mirror_sessions = line_ports + u64::from(HOME_QUEUES) * config.protected.len() as u64 + own_queues;
    resources
        .not_counting("the tables that choose by delay, tag and port, and those of marked services")
        .not_counting("the depth of the caching queues, which egress compares with a limit")
        .not_counting("the packet buffer of the cache")
        .not_counting("the egress bandwidth of ports whose caching queues copies go round in")
        .not_counting("the port states and backup paths of the control plane")
}
