//! Resources of a switch that deflection uses. These mechanisms do not keep their state in register arrays here: the
//! figures are computed from the configuration, and marked so.

use hitless_switch::{Half, RegisterUse, Resources};

use super::occupancy::View;
use super::priority::{Mean, QuantileSettings, RelativePriority};
use super::settings::PreemptiveDeflectionSettings;

const RANDOM_PORT: &str = "the random choice of a port";
const NEIGHBOURS: &str = "the table of ports that face switches and are up";
const SEES_DEPTHS: &str = "hardware that shows the depths of queues in ingress, as Tofino 2 does";
const EXPONENTIAL: &str = "the tables of the exponential distribution and of the moving average";

/// Registers of Simple Deflection. Ingress reads the bit of every port that faces a switch, so that each has a separate
/// array (8 in the published program).
pub(super) fn of_simple(view: &View, ports: u64) -> Resources {
    let mut resources = Resources::new("simple-deflection");
    add_view(&mut resources, view, Needs { depth: false, mean: false, reads: ports, cells_are_ports: true });
    resources.not_counting(RANDOM_PORT).not_counting(NEIGHBOURS).not_counting("the first free port in a circle")
}

/// Registers of Preemptive Deflection. A packet is tested at its own queue and at the queues of the drawn ports, so
/// that the state is kept in as many arrays (two of each in the published program).
pub(super) fn of_preemptive(settings: &PreemptiveDeflectionSettings, view: &View, queues: u64) -> Resources {
    let reads = 1 + u64::from(settings.candidates) + u64::from(settings.memory);
    let mut resources = Resources::new("preemptive-deflection");
    let by_mean = matches!(settings.relative_priority, RelativePriority::Distribution(_));
    let needs = Needs { depth: true, mean: by_mean, reads, cells_are_ports: false };
    add_view(&mut resources, view, needs);
    if settings.memory {
        resources.add_register(RegisterUse::outside::<u16>("port taken last", Half::Ingress, 0, 1));
    }
    let resources =
        resources.not_counting(RANDOM_PORT).not_counting(NEIGHBOURS).not_counting("the tables of thresholds");
    match settings.relative_priority {
        RelativePriority::Quantile(window) => with_window(resources, window, reads, queues),
        RelativePriority::Distribution(distribution) => {
            let mut resources = resources.not_counting(EXPONENTIAL);
            match distribution.mean {
                Mean::Exact => {
                    let ranks = "the ranks of all packets in a queue, whose exact mean no register keeps";
                    return resources.not_counting(ranks);
                }
                Mean::MovingAverage if view.is_immediate() => {
                    let mean = RegisterUse::outside::<u32>("mean rank", Half::Ingress, 1, queues).times(reads);
                    resources.add_register(mean);
                }
                Mean::MovingAverage => {}
            }
            resources
        }
    }
}

pub(super) fn of_aifo(window: QuantileSettings, queues: u64) -> Resources {
    with_window(Resources::new("aifo"), window, 1, queues).not_counting(SEES_DEPTHS)
}

pub(super) fn of_dibs() -> Resources {
    Resources::new("dibs").not_counting(SEES_DEPTHS).not_counting(RANDOM_PORT).not_counting(NEIGHBOURS)
}

pub(super) fn of_pabo() -> Resources {
    let resources = Resources::new("pabo").not_counting(SEES_DEPTHS);
    resources.not_counting("the random choice of what bounces, and its table of probabilities").not_counting(NEIGHBOURS)
}

/// Adds the registers of a window. Each entry is an array, because a packet is compared with all of them in a pass. The
/// next entry to write and the number of skipped packets are an array each.
fn with_window(mut resources: Resources, window: QuantileSettings, reads: u64, queues: u64) -> Resources {
    let entries = reads * u64::from(window.window);
    if window.sample_every > 1 {
        resources.add_register(RegisterUse::outside::<u32>("packets skipped", Half::Ingress, 0, queues));
    }
    resources.add_register(RegisterUse::outside::<u8>("next entry of the window", Half::Ingress, 1, queues));
    resources.add_register(RegisterUse::outside::<u32>("window of ranks", Half::Ingress, 2, queues).times(entries));
    resources.not_counting("the sum of the comparisons with a window")
}

#[derive(Clone, Copy)]
struct Needs {
    depth: bool,
    mean: bool,
    reads: u64,
    /// Whether an array holds the queues of a single port, instead of all queues.
    cells_are_ports: bool,
}

fn add_view(resources: &mut Resources, view: &View, needs: Needs) {
    if view.is_immediate() {
        resources.not_counted.push(SEES_DEPTHS);
        return;
    }
    let queues = view.queues() as u64;
    let cells = if needs.cells_are_ports { queues.div_ceil(needs.reads.max(1)) } else { queues };
    let mut add = |wanted: bool, [ingress, egress]: [RegisterUse; 2]| {
        if wanted {
            resources.add_register(ingress.times(needs.reads));
            resources.add_register(egress);
        }
    };
    let full = [
        RegisterUse::outside::<bool>("queue is full", Half::Ingress, 0, cells),
        RegisterUse::outside::<bool>("queue is full (egress)", Half::Egress, 0, queues),
    ];
    let depth = [
        RegisterUse::outside::<u32>("depth", Half::Ingress, 0, cells),
        RegisterUse::outside::<u32>("depth (egress)", Half::Egress, 0, queues),
    ];
    let mean = [
        RegisterUse::outside::<u32>("mean rank", Half::Ingress, 1, cells),
        RegisterUse::outside::<u32>("mean rank (egress)", Half::Egress, 0, queues),
    ];
    add(!needs.depth, full);
    add(needs.depth, depth);
    add(needs.mean, mean);
    resources.recirculation_ports.extend(view.recirculation_ports().iter().map(|port| port.0));
}
