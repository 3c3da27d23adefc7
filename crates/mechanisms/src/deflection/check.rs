//! Checks of an entry, except of its ports.

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::QueueLength;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::Check;
use hitless_scenario::network::switch::{BufferSettings, StaticBuffer};

use super::capacity::Capacity;
use super::occupancy::Occupancy;
use super::priority::{Mean, RelativePriority};
use super::settings::{Decision, PreemptiveDeflectionSettings, SimpleDeflectionSettings};

/// Size of a host's frame with the usual payload of 1,460 bytes, with its check sequence.
const FULL_FRAME: Bytes = Bytes(1_518);

/// Requires that the capacity of a queue is known in bytes.
pub(super) fn capacity(check: &mut Check<'_>, capacity: Capacity, section: &str) {
    let field = format!("{section}.capacity");
    let buffers = buffers(check);
    match capacity {
        Capacity::StaticLimit(_) => {
            let is_known = buffers.iter().all(|buffer| limit_bytes(buffer).is_some());
            check.require_else(is_known, || {
                let rule = "a queue has no limit of its own in bytes, which \"static-limit\" is";
                Problem::new(&field, "", rule).hint(
                    "give switch.buffer.per_port in bytes, or queue_max of a shared buffer; or capacity = \
                     { kind = \"constant\", size = \"300 KB\" } or { kind = \"current-threshold\" }",
                )
            });
        }
        Capacity::Constant(constant) => {
            let field = format!("{field}.size");
            let rule = format!("must have room for a frame of {FULL_FRAME}: what is smaller admits none");
            check.require(constant.size >= FULL_FRAME, &field, &rule);
        }
        Capacity::CurrentThreshold(_) => {
            let is_shared = buffers.iter().all(|buffer| matches!(buffer, BufferSettings::Shared(_)));
            let rule = "\"current-threshold\" is what a shared buffer grants, and switch.buffer is \"static\"";
            check.require(is_shared, &field, rule);
        }
    }
}

pub(super) fn preemptive_deflection(check: &mut Check<'_>, settings: &PreemptiveDeflectionSettings, section: &str) {
    capacity(check, settings.capacity, section);
    occupancy(check, settings.occupancy, section);
    let tells_means = !matches!(settings.occupancy, Occupancy::ControlPackets(_));
    check.require_else(tells_means || !has_exact_mean(settings), || {
        let rule = "control packets carry a moving average: no switch knows the mean of the packets in a queue";
        Problem::new(format!("{section}.relative_priority.mean"), "", rule).hint("take mean = \"moving-average\"")
    });
    if let Decision::Probabilistic(decision) = settings.decision {
        let buffers = buffers(check);
        let capacities = match settings.capacity {
            Capacity::Constant(constant) => vec![constant.size.0],
            _ => buffers.iter().filter_map(limit_bytes).collect(),
        };
        let is_below = capacities.iter().all(|&capacity| decision.minimum_threshold.0 < capacity);
        let field = format!("{section}.decision.minimum_threshold");
        check.require(is_below, &field, "must be below what a queue may hold");
    }
}

pub(super) fn simple_deflection(check: &mut Check<'_>, settings: &SimpleDeflectionSettings, section: &str) {
    occupancy(check, settings.occupancy, section);
    let is_late = !matches!(settings.occupancy, Occupancy::Immediate(_));
    let in_packets = |buffer: &BufferSettings| match buffer {
        BufferSettings::Static(buffer) => matches!(buffer.per_port, QueueLength::Packets(_)),
        BufferSettings::Shared(_) => false,
    };
    let in_bytes = !buffers(check).iter().any(in_packets);
    let rule = "egress tells by bytes whether a queue is full, and what may wait at a port is given in packets";
    check.require(in_bytes || !is_late, &format!("{section}.occupancy"), rule);
}

fn occupancy(check: &mut Check<'_>, occupancy: Occupancy, section: &str) {
    match occupancy {
        Occupancy::Immediate(_) => {}
        Occupancy::UpdateGap(late) => {
            check.require(late.gap > Duration::ZERO, &format!("{section}.occupancy.gap"), "must be above zero");
        }
        Occupancy::ControlPackets(_) => {
            let has_ports = check.scenario.switch.recirculation_ports > 0;
            let rule = "control packets go round by recirculation ports, and switch.recirculation_ports is 0";
            check.require(has_ports, &format!("{section}.occupancy"), rule);
        }
    }
}

fn buffers(check: &Check<'_>) -> Vec<BufferSettings> {
    let switch = &check.scenario.switch;
    let of_ports = switch.ports.iter().filter_map(|port| port.buffer);
    let as_static = |per_port| BufferSettings::Static(StaticBuffer { per_port });
    switch.variants().map(|switch| switch.buffer).chain(of_ports.map(as_static)).collect()
}

pub(super) const fn sees_queues(occupancy: Occupancy) -> bool {
    match occupancy {
        Occupancy::Immediate(_) => true,
        Occupancy::UpdateGap(late) => late.sees_full_at_once,
        Occupancy::ControlPackets(_) => false,
    }
}

/// Whether packets carry the new mean of a queue from ingress to egress.
pub(super) fn carries_mean(settings: &PreemptiveDeflectionSettings) -> bool {
    let by_mean = matches!(settings.relative_priority, RelativePriority::Distribution(_));
    by_mean && !matches!(settings.occupancy, Occupancy::Immediate(_))
}

/// Whether relative priority uses the mean of the packets in a queue.
pub(super) fn has_exact_mean(settings: &PreemptiveDeflectionSettings) -> bool {
    let RelativePriority::Distribution(distribution) = settings.relative_priority else { return false };
    distribution.mean == Mean::Exact
}

/// The maximum contents of a queue, if known in bytes.
fn limit_bytes(buffer: &BufferSettings) -> Option<u64> {
    match buffer {
        BufferSettings::Static(buffer) => match buffer.per_port {
            QueueLength::Bytes(bytes) => Some(bytes.0),
            QueueLength::Packets(_) => None,
        },
        BufferSettings::Shared(buffer) => buffer.queue_max.map(|bytes| bytes.0),
    }
}
