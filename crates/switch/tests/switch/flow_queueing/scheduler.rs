//! A scheduler without a switch.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{BitRate, Duration, Ecn, FlowId, Packet, Time};
use hitless_switch::queueing::Entry;
pub use hitless_switch::queueing::FlowScheduler;
use hitless_switch::queueing::flow::{
    Arriving, ClassWeights, CodelConfig, DrrConfig, FlowKey, FqCodelConfig, IdealFqConfig, SfqConfig,
};
use hitless_switch::{DropReason, EcnThreshold, FlowQueueing, QueueLimit};
use proptest::prelude::*;

pub const IDEAL: IdealFqConfig = IdealFqConfig { weights: ClassWeights::EQUAL, mark_rounds: None, charge_drops: false };
pub const DRR: DrrConfig = DrrConfig { quantum_bytes: 1_518, weights: ClassWeights::EQUAL };
pub const SFQ: SfqConfig = SfqConfig { queues: 32, quantum_bytes: 1_518, perturbation: None, salt: 7 };

/// Creates a scheduler at 1 Tb/s without frame overhead, so that a byte takes 8 ps.
pub fn scheduler(config: FlowQueueing, limit: QueueLimit) -> FlowScheduler {
    FlowScheduler::new(config, limit, EcnThreshold::Off, BitRate::from_gbps(1_000), 0)
}

/// Creates packet number `number` of a schedule.
pub fn arriving(number: u32, at: Time, flow: u32, class: u8, frame_bytes: u32) -> Arriving {
    let packet = Packet { flow: FlowId(flow), flow_hash: flow.wrapping_mul(0x9e37_79b9), ..Packet::default() };
    Arriving {
        entry: Entry::new(PacketHandle(number), frame_bytes, at),
        flow: FlowKey::of(&packet),
        class,
        can_mark: packet.ecn != Ecn::NotCapable,
    }
}

/// Offers a packet; returns the numbers of dropped packets with the reasons.
pub fn offer(scheduler: &mut FlowScheduler, arriving: &Arriving) -> Vec<(u32, DropReason)> {
    scheduler.offer(arriving);
    ended(scheduler)
}

/// Returns the packets that the scheduler has dropped since the last call.
pub fn ended(scheduler: &mut FlowScheduler) -> Vec<(u32, DropReason)> {
    let list = scheduler.take_ended();
    let ended = list.iter().map(|ended| (ended.packet.0, ended.reason)).collect();
    scheduler.put_back(list);
    ended
}

/// Returns the numbers of all packets in order of departure.
pub fn drain(scheduler: &mut FlowScheduler, now: Time) -> Vec<u32> {
    std::iter::from_fn(|| scheduler.take(now).map(|(entry, _)| entry.packet.0)).collect()
}

/// All disciplines that queue by flow.
pub fn disciplines() -> impl Strategy<Value = FlowQueueing> {
    let codel = |(target_ns, interval_ns, marks)| CodelConfig {
        target: Duration::from_ns(target_ns),
        interval: Duration::from_ns(interval_ns),
        small_queue_bytes: 1_518,
        marks,
    };
    let fq_codel =
        |codel| FqCodelConfig { flows: 4, quantum_bytes: 1_518, limit_packets: 30, drop_batch: 8, codel, salt: 1 };
    let target_ns = prop_oneof![1u64..2_000, 2_000u64..20_000];
    let interval_ns = prop_oneof![1u64..4_000, 4_000u64..100_000];
    prop_oneof![
        Just(FlowQueueing::IdealFq(IDEAL)),
        Just(FlowQueueing::IdealFq(IdealFqConfig { charge_drops: true, ..IDEAL })),
        Just(FlowQueueing::Drr(DRR)),
        Just(FlowQueueing::Sfq(SFQ)),
        (target_ns, interval_ns, any::<bool>()).prop_map(move |drawn| FlowQueueing::FqCodel(fq_codel(codel(drawn)))),
    ]
}
