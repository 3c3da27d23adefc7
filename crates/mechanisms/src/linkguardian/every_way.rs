//! Explores all crossings of a few packets over a protected link. Each frame may be lost; frames of the reverse
//! direction may also arrive late, behind others, or twice. Packets enter and commands are given at any time. Numbers
//! wrap behind the second packet.
//!
//! Invariants: no packet is delivered twice; in blocking mode all are delivered in order; a packet whose original
//! arrives is delivered. A lost packet is delivered unless all its repairs are lost too or, if messages are not
//! repeated or protection ends at once, its notification is lost. No packet waits longer than ackNoTimeout allows, and
//! nothing is held back in the end.

mod cases;

use std::collections::BTreeSet;

use crate::linkguardian::headers::{DataHeader, Era, SequenceNumber};
use hitless_core::wire::{Packet, Time};
use hitless_switch::DropReason;
use hitless_switch::explore::{Choices, Digest, Explored, State, explore};
use hitless_switch::testing::Fate;

use super::{LinkGuardian, Mode, PortRoles, Receiver, ReceiverConfig, Sender, SenderConfig};
use crate::small_world::{LINK, Scene, SmallWorld, number_of, steps};

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

#[derive(Clone, Copy, Debug, Default, Hash)]
struct Crossing {
    is_numbered: bool,
    original_lost: bool,
    repairs_lost: u32,
}

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
        // A packet of a host arrives once and in its place, or not at all.
        let kinds = if number_of(packet).is_some() { 2 } else { BACK.len() };
        let fate = BACK[choices.fault(kinds)];
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

/// The protection, the traffic and the number of faults of a case.
#[derive(Clone, Debug)]
struct Case {
    scene: Scene,
    sender: SenderConfig,
    receiver: ReceiverConfig,
    faults: usize,
}

impl Case {
    /// Whether every message is repeated until it is answered.
    fn repeats_itself(&self) -> bool {
        self.receiver.notification_period.is_some() && self.sender.tail_probes
    }

    fn ends(&self) -> [LinkGuardian; 2] {
        let mut ends = [LinkGuardian::default(), LinkGuardian::default()];
        ends[0].add_sender(self.sender.clone());
        let first = SequenceNumber::new(self.sender.first_number, Era::default());
        let receiver = if self.receiver.handshake {
            Receiver::new(self.receiver.clone())
        } else {
            Receiver::beginning_at(self.receiver.clone(), first)
        };
        ends[1].roles(LINK).receivers[0] = Some(receiver);
        ends
    }

    fn world(&self, choices: &Choices) -> World {
        SmallWorld::new(choices, self.scene.clone(), self.ends(), fate, |_, _, _, _| false)
    }

    fn explored(&self) -> Explored {
        explore(self.faults, |choices| self.world(choices).run(|world, now, is_over| self.judge(world, now, is_over)))
    }

    /// All final outcomes. With `remembers` a path stops at a known state, otherwise each path is followed to its end.
    fn outcomes(&self, remembers: bool) -> (Explored, BTreeSet<String>) {
        let mut outcomes = BTreeSet::new();
        let found = explore(self.faults, |choices| {
            let world = self.world(choices);
            let world = if remembers { world } else { world.forgetful() };
            world.run(|world, now, is_over| {
                if is_over {
                    outcomes.insert(format!("{:?} {:?}", world.delivered, world.ledger.borrow()));
                }
                self.judge(world, now, is_over)
            })
        });
        (found, outcomes)
    }

    fn judge(&self, world: &World, now: Time, is_over: bool) -> Result<(), String> {
        let delivered = &world.delivered[0];
        let receiving = world.ends[1].get();
        let receiver = receiving.receiver().ok_or("there is a receiver")?;
        if let Some(broken) = receiver.violated_invariants(now).pop() {
            return Err(broken);
        }
        let (is_ordered, at_once) = (self.sender.mode == Mode::Blocking, &world.delivered[1]);
        if is_ordered && !delivered.is_sorted_by(|one, next| one < next)
            || !at_once.is_sorted_by(|one, next| one < next)
        {
            return Err(format!("{delivered:?} came out in this order, and {at_once:?} at the other end"));
        }
        if is_over { self.judge_end(world, receiver) } else { Ok(()) }
    }

    fn judge_end(&self, world: &World, receiver: &Receiver) -> Result<(), String> {
        let delivered = &world.delivered[0];
        let mut once = delivered.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() != delivered.len() {
            return Err(format!("{delivered:?} came out"));
        }
        let ledger = world.ledger.borrow();
        for number in (0..self.scene.packets).filter(|number| !once.contains(number)) {
            let crossing = ledger.crossings.get(number as usize).copied().unwrap_or_default();
            if !self.explains(crossing, ledger.control_faults) {
                return Err(format!("packet {number} did not come out: {ledger:?}"));
            }
        }
        if world.harness.world.ended.iter().any(|ended| ended.reason == DropReason::QueueFull) {
            return Err("a queue was full".into());
        }
        let sending = world.ends[0].get();
        let sender = sending.sender().ok_or("there is a sender")?;
        let may_keep_copies = !self.repeats_itself() && ledger.control_faults > 0;
        let left_over = receiver.left_over().or_else(|| sender.left_over().filter(|_| !may_keep_copies));
        left_over.map_or(Ok(()), Err)
    }

    /// Whether the fate of its frames explains the loss of a packet.
    fn explains(&self, crossing: Crossing, control_faults: u32) -> bool {
        let Crossing { is_numbered, original_lost, repairs_lost } = crossing;
        // Without order protection ends at once.
        let ends_at_once = self.sender.mode == Mode::NonBlocking && !self.scene.acts.is_empty();
        let is_untold = control_faults > 0 && (!self.repeats_itself() || ends_at_once);
        original_lost && (!is_numbered || repairs_lost >= self.sender.copies || is_untold)
    }
}

type World = SmallWorld<LinkGuardian, Ledger>;
