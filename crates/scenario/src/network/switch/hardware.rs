//! Converts settings to the switch's hardware configuration.

use hitless_core::engine::Stream;
use hitless_core::settings::quantity::QueueLength;
use hitless_core::wire::{BitRate, Bytes, QueueId};
use hitless_switch::queueing::flow::{ClassWeights, CodelConfig, DrrConfig, FqCodelConfig, IdealFqConfig, SfqConfig};
use hitless_switch::{
    Architecture, BufferPolicy, DepthUnit, DepthVisibility, EcnRamp, EcnThreshold, FlowQueueing, MarkingPoint,
    PortConfig, QueueConfig, QueueLimit,
};
use rand::Rng;

use super::flow_queueing::FlowQueueingSettings;
use super::queues::{BufferSettings, EcnPoint, EcnSettings, SchedulerKind};
use super::settings::{DepthVisible, SwitchSettings};

/// Configures a port that sends at `rate`, with `overhead_bytes` for each frame. `marking` makes the stream for the
/// seeds of random marking; it is called only if the port marks at random.
pub fn port(
    settings: &SwitchSettings,
    rate: BitRate,
    overhead_bytes: u32,
    marking: impl FnOnce() -> Stream,
) -> PortConfig {
    let marks_by_chance = settings.ecn.is_some_and(|ecn| ecn.maximum.is_some());
    let mut marking = marks_by_chance.then(marking);
    let count = settings.queue_count();
    let limit = match settings.buffer {
        BufferSettings::Static(buffer) => match buffer.per_port {
            QueueLength::Packets(packets) => QueueLimit::Packets((packets as u32 / u32::from(count)).max(1)),
            QueueLength::Bytes(bytes) => QueueLimit::Bytes(bytes.0 / u64::from(count)),
        },
        BufferSettings::Shared(buffer) => {
            buffer.queue_max.map_or(QueueLimit::Unlimited, |max| QueueLimit::Bytes(max.0))
        }
    };
    let marking_point = match settings.ecn.map(|ecn| ecn.at) {
        Some(EcnPoint::Dequeue) => MarkingPoint::Dequeue,
        Some(EcnPoint::Enqueue) | None => MarkingPoint::Enqueue,
    };
    let mut queue = |number: u8| {
        let level = if settings.scheduler == SchedulerKind::Strict { number } else { 0 };
        QueueConfig {
            quantum_bytes: settings.drr_quantum.0 as u32,
            ..QueueConfig::normal(limit).with_priority(QueueConfig::NORMAL_PRIORITY + level)
        }
        .with_ecn(ecn_threshold(settings.ecn, marking.as_mut().map_or(0, Stream::next_u64)))
        .marking_at(marking_point)
    };
    let class_queue = std::array::from_fn(|class| QueueId(settings.queue_of_class(class as u8)));
    let queues: Vec<_> = (0..count).map(&mut queue).collect();
    let first = queues[0];
    PortConfig { queues, class_queue, ..PortConfig::fifo(rate, overhead_bytes, first) }
}

fn ecn_threshold(settings: Option<EcnSettings>, seed: u64) -> EcnThreshold {
    let Some(EcnSettings { threshold, maximum, probability, .. }) = settings else { return EcnThreshold::Off };
    let ramp = |unit, minimum, maximum| {
        EcnThreshold::Ramp(EcnRamp::new(unit, minimum, maximum, probability.unwrap_or(1.0), seed))
    };
    match (threshold, maximum) {
        (QueueLength::Packets(least), Some(QueueLength::Packets(most))) => ramp(DepthUnit::Packets, least, most),
        (QueueLength::Bytes(least), Some(QueueLength::Bytes(most))) => ramp(DepthUnit::Bytes, least.0, most.0),
        (QueueLength::Packets(packets), _) => EcnThreshold::Packets(packets as u32),
        (QueueLength::Bytes(bytes), _) => EcnThreshold::Bytes(bytes.0),
    }
}

/// Configures a recirculation port with a queue limit; without `limit` only the buffer limits it.
pub fn recirculation_port(settings: &SwitchSettings, limit: Option<Bytes>) -> PortConfig {
    let limit = limit.map_or(QueueLimit::Unlimited, |limit| QueueLimit::Bytes(limit.0));
    let overhead_bytes = hitless_core::wire::packet::ETHERNET_OVERHEAD_BYTES;
    let queue = QueueConfig::normal(limit);
    PortConfig { is_loopback: true, ..PortConfig::fifo(settings.recirculation_rate, overhead_bytes, queue) }
}

/// Returns the policy by which ports share the buffer, except the headroom of lossless classes.
pub fn buffer_policy(settings: &SwitchSettings, headroom_bytes: u64) -> BufferPolicy {
    match settings.buffer {
        BufferSettings::Static(_) => BufferPolicy::Static,
        BufferSettings::Shared(buffer) => {
            BufferPolicy::Shared { capacity_bytes: buffer.total.0 - headroom_bytes, alpha: buffer.alpha }
        }
    }
}

/// Returns the hardware that `settings` describe.
pub fn architecture(settings: &SwitchSettings) -> Architecture {
    Architecture {
        ingress_latency: settings.ingress_latency,
        egress_latency: settings.egress_latency,
        mirror_latency: settings.mirror_latency,
        loopback_latency: settings.loopback_latency,
        phy_latency: settings.phy_latency,
        recirculation_rate: settings.recirculation_rate,
        depth_visibility: match settings.depth_visible {
            DepthVisible::Egress => DepthVisibility::Egress,
            DepthVisible::IngressAndEgress => DepthVisibility::IngressAndEgress,
        },
        budget: settings.budget.map(Into::into),
        checked: settings.checked,
        ..Architecture::tofino_like()
    }
}

/// Returns the discipline of a port that `settings` describe; `frame_max` is the maximum frame length, and `salt` goes
/// into the hash of flows.
pub fn discipline(settings: &FlowQueueingSettings, frame_max: Bytes, salt: u32) -> FlowQueueing {
    let given = settings.weights();
    let weights = ClassWeights(std::array::from_fn(|class| given.get(class).copied().unwrap_or(1)));
    match settings {
        FlowQueueingSettings::IdealFq(settings) => {
            let bits = settings.bytes_per_round.0 * 8;
            let mark_rounds = settings.mark_rounds.map(|rounds| u64::from(rounds) * bits);
            FlowQueueing::IdealFq(IdealFqConfig { weights, mark_rounds, charge_drops: settings.charge_drops })
        }
        FlowQueueingSettings::Drr(settings) => {
            FlowQueueing::Drr(DrrConfig { quantum_bytes: settings.quantum.0 as u32, weights })
        }
        FlowQueueingSettings::Sfq(settings) => FlowQueueing::Sfq(SfqConfig {
            queues: settings.queues,
            quantum_bytes: settings.quantum.0 as u32,
            perturbation: settings.perturbation,
            salt,
        }),
        FlowQueueingSettings::FqCodel(settings) => FlowQueueing::FqCodel(FqCodelConfig {
            flows: settings.flows,
            quantum_bytes: settings.quantum.0 as u32,
            limit_packets: settings.limit,
            drop_batch: settings.drop_batch,
            codel: CodelConfig {
                target: settings.target,
                interval: settings.interval,
                small_queue_bytes: frame_max.0 as u32,
                marks: settings.ecn,
            },
            salt,
        }),
    }
}
