//! Every way in which a few packets can cross a protected link: each frame may be lost, and each of the other direction
//! may also come late, behind others, or twice; packets enter and commands are given at any time.
//!
//! What must hold: no packet comes out twice; in blocking mode all come out in order; a packet whose original arrives
//! comes out, and so does one that is lost, if only so many frames go wrong that its protection has to cope with them;
//! nobody waits longer than ackNoTimeout allows; and in the end nothing is held back.

use hitless_switch::canary::{ARE_COMPILED_IN, Canary, sow};
use hitless_switch::explore::{Choices, Digest, Explored, State, explore};
use hitless_switch::testing::Fate;
use hitless_switch::{DropReason, LinkEnd};
use hitless_wire::linkguardian::{DataHeader, LossNotification};
use hitless_wire::pause::PauseFrame;
use hitless_wire::{Bytes, Packet, Time};

use super::{
    Action, Activation, Buffering, Command, LinkGuardian, Mode, PortRoles, Receiver, ReceiverConfig, Sender,
    SenderConfig,
};
use crate::small_world::{LINK, RECIRCULATION, STEP, Scene, SmallWorld, number_of, steps};

impl State for LinkGuardian {
    fn tell(&self, digest: &mut Digest<'_>) {
        for PortRoles { senders, receivers, is_closed, rode_last } in self.ports.iter() {
            senders.iter().flatten().for_each(|sender| sender.tell(digest));
            receivers.iter().flatten().for_each(|receiver| receiver.tell(digest));
            digest.value((is_closed, rode_last));
        }
    }
}

impl LinkGuardian {
    fn sender(&self) -> Option<&Sender> {
        self.ports.get(LINK)?.senders[0].as_ref()
    }

    fn receiver(&self) -> Option<&Receiver> {
        self.ports.get(LINK)?.receivers[0].as_ref()
    }
}

/// What became of the frames of a packet.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Crossing {
    is_numbered: bool,
    original_lost: bool,
    repairs_lost: u32,
}

/// What went wrong on the link.
#[derive(Debug, Default, Hash)]
struct Ledger {
    crossings: Vec<Crossing>,
    /// Dummies, messages, acknowledgements and notifications that were lost or late.
    control_faults: u32,
}

impl Ledger {
    fn crossing(&mut self, packet: u64) -> &mut Crossing {
        let place = packet as usize;
        self.crossings.resize(self.crossings.len().max(place + 1), Crossing::default());
        &mut self.crossings[place]
    }
}

fn fate(from: usize, packet: &Packet, choices: &Choices, ledger: &mut Ledger) -> Fate {
    const BACK: [Fate; 4] = [Fate::Arrives, Fate::Corrupted, Fate::Late(steps(3)), Fate::Twice(steps(2))];
    if from == 1 {
        let fate = BACK[choices.fault(BACK.len())];
        ledger.control_faults += u32::from(matches!(fate, Fate::Corrupted | Fate::Late(_)));
        return fate;
    }
    let is_lost = choices.fault(2) == 1;
    let header = packet.shims.get::<DataHeader>();
    match number_of(packet) {
        None => ledger.control_faults += u32::from(is_lost),
        Some(number) => {
            let crossing = ledger.crossing(number);
            if header.is_some_and(|header| header.retransmitted) {
                crossing.repairs_lost += u32::from(is_lost);
            } else {
                (crossing.is_numbered, crossing.original_lost) = (header.is_some(), is_lost);
            }
        }
    }
    if is_lost { Fate::Corrupted } else { Fate::Arrives }
}

/// What is protected, how, and what happens to it.
#[derive(Clone, Debug)]
struct Case {
    scene: Scene,
    sender: SenderConfig,
    receiver: ReceiverConfig,
    faults: usize,
}

type World = SmallWorld<LinkGuardian, Ledger>;

/// The paper's protection of one packet after another, of which the first four numbers are before a wrap if there is a
/// handshake.
fn case(mode: Mode, buffering: Buffering, packets: u64, faults: usize) -> Case {
    let scene = Scene { packets, ..Scene::default() };
    let sender = SenderConfig {
        port: LINK,
        recirculation_port: RECIRCULATION,
        mode,
        copies: 1,
        repair_latency: steps(0),
        dummies: 1,
        request_registers: 2,
        buffering,
        buffer: Bytes::from_kilobytes(200),
        activation: Activation::FromStart,
        channel: 0,
        classes: u8::MAX,
        first_number: 0,
        handshake: false,
        follows_requests: false,
        tail_probes: false,
        probe_period: steps(12),
        header_bytes_more: 0,
    };
    let receiver = ReceiverConfig {
        port: LINK,
        recirculation_port: RECIRCULATION,
        acknowledgements: 1,
        acknowledgement_timeout: steps(24),
        timer_period: STEP,
        resume_threshold: Bytes(36_800),
        pause_threshold: Bytes(40_000),
        backpressure: true,
        buffering,
        buffer: Bytes::from_kilobytes(200),
        activation: Activation::FromStart,
        channel: 0,
        paused_classes: 1,
        control_copies: 1,
        notification_period: None,
        deduplicates: true,
        handshake: false,
        fallback: None,
        header_bytes_more: 0,
    };
    Case { scene, sender, receiver, faults }
}

fn judge(case: &Case, world: &World, now: Time, is_over: bool) -> Result<(), String> {
    let delivered = &world.delivered[0];
    let is_ordered = case.sender.mode == Mode::Blocking;
    if is_ordered && !delivered.is_sorted_by(|one, next| one < next) {
        return Err(format!("{delivered:?} came out in this order"));
    }
    let receiving = world.ends[1].get();
    let receiver = receiving.receiver().ok_or("there is a receiver")?;
    if let Some(broken) = receiver.violated_invariants(now).pop() {
        return Err(broken);
    }
    if !is_over {
        return Ok(());
    }
    let mut once = delivered.clone();
    once.sort_unstable();
    once.dedup();
    if once.len() != delivered.len() {
        return Err(format!("{delivered:?} came out"));
    }
    let ledger = world.ledger.borrow();
    for number in (0..case.scene.packets).filter(|number| !once.contains(number)) {
        let crossing = ledger.crossings.get(number as usize).copied().unwrap_or_default();
        if !has_cause(case, &ledger, crossing) {
            return Err(format!("packet {number} did not come out: {ledger:?}"));
        }
    }
    let sending = world.ends[0].get();
    let sender = sending.sender().ok_or("there is a sender")?;
    let ended = |reason| world.harness.world.ended.iter().filter(|ended| ended.reason == reason).count();
    if ended(DropReason::QueueFull) > 0 {
        return Err("a queue was full".into());
    }
    let left_over = receiver.left_over().or_else(|| sender.left_over().filter(|_| ledger.control_faults == 0));
    left_over.map_or(Ok(()), Err)
}

/// Why a packet may be lost.
fn has_cause(case: &Case, ledger: &Ledger, crossing: Crossing) -> bool {
    let Crossing { is_numbered, original_lost, repairs_lost } = crossing;
    original_lost && (!is_numbered || repairs_lost >= case.sender.copies || ledger.control_faults > 0)
}

fn explored(case: &Case) -> Explored {
    explore(case.faults, |choices| {
        let mut ends = [LinkGuardian::default(), LinkGuardian::default()];
        ends[0].add_sender(case.sender.clone());
        ends[1].add_receiver(case.receiver.clone());
        let world: World = SmallWorld::new(choices, case.scene.clone(), ends, fate, |_, _, _, _| false);
        world.run(|world, now, is_over| judge(case, world, now, is_over))
    })
}

fn report(name: &str, case: &Case) {
    let began = std::time::Instant::now();
    let found = explored(case);
    let Scene { packets, .. } = case.scene;
    println!("LinkGuardian, {name}: {packets} packets, {} faults: {found:?} {:?}", case.faults, began.elapsed());
}

const BUFFERINGS: [Buffering; 2] = [Buffering::Recirculation, Buffering::PausedQueue];

#[test]
fn in_every_way_blocking_mode_delivers_in_order() {
    for buffering in BUFFERINGS {
        report(&format!("blocking, {buffering:?}"), &case(Mode::Blocking, buffering, 3, 2));
    }
}

#[test]
fn in_every_way_non_blocking_mode_delivers_once() {
    report("non-blocking", &case(Mode::NonBlocking, Buffering::Recirculation, 3, 2));
}

#[test]
#[ignore]
fn trial() {
    let n = |name: &str, or: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(or);
    let mut c = case(
        if n("NB", 0) == 1 { Mode::NonBlocking } else { Mode::Blocking },
        BUFFERINGS[n("B", 0) as usize],
        n("P", 1),
        n("F", 1) as usize,
    );
    c.receiver.acknowledgement_timeout = steps(n("T", 24));
    c.scene.gap = n("G", 0);
    report("trial", &c);
}
