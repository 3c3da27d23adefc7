//! The worlds to explore.

use hitless_core::wire::Bytes;
use hitless_switch::LinkEnd;
use hitless_switch::canary::Canary;

use super::super::{Action, Buffering, Command, LinkGuardianSettings, Mode, ReceiverConfig, SenderConfig};
use super::Case;
use crate::small_world::{Act, LINK, RECIRCULATION, STEP, Scene, found, steps};

fn paper(mode: Mode, buffering: Buffering) -> Case {
    let settings = LinkGuardianSettings {
        mode,
        copies: Some(1),
        ack_no_timeout: Some(steps(24)),
        timer_period: STEP,
        resume_threshold: Some(Bytes(36_800)),
        pause_threshold: Some(Bytes(40_000)),
        backpressure: false,
        dummy_count: 1,
        ack_count: 1,
        buffering: Some(buffering),
        reordering_buffer: Some(Bytes(200_000)),
        sender_buffer: Some(Bytes(200_000)),
        deduplicate: true,
        first_number: u32::from(u16::MAX) - 1,
        ..LinkGuardianSettings::default()
    };
    let sender = SenderConfig { probe_period: steps(12), ..SenderConfig::new(&settings, LINK, RECIRCULATION) };
    let receiver = ReceiverConfig::new(&settings, LINK, RECIRCULATION);
    Case { scene: Scene::default(), sender, receiver, faults: 0 }
}

/// The extensions that the published programs lack: the ends agree on the first number, and messages that expect an
/// answer are repeated until it comes.
fn hardened(mode: Mode, buffering: Buffering) -> Case {
    let Case { scene, sender, receiver, faults } = paper(mode, buffering);
    let sender = SenderConfig { handshake: true, tail_probes: true, ..sender };
    let receiver = ReceiverConfig {
        handshake: true,
        notification_period: Some(steps(10)),
        acknowledgement_timeout: steps(60),
        ..receiver
    };
    Case { scene, sender, receiver, faults }
}

impl Case {
    fn of(mut self, packets: u64, faults: usize) -> Self {
        (self.scene.packets, self.faults) = (packets, faults);
        self
    }

    fn returning(mut self, packets: u64) -> Self {
        self.scene.returning = packets;
        self
    }

    fn with_copies(mut self, copies: u32) -> Self {
        self.sender.copies = copies;
        self
    }

    fn commanded(mut self, actions: &[Action]) -> Self {
        let command = |&action| (0, Act::Command(Command { port: LINK, end: LinkEnd::Sender, action }.number()));
        self.scene.acts = actions.iter().map(command).collect();
        if actions.first() != Some(&Action::Deactivate) {
            self.sender.is_on_at_start = false;
        }
        self
    }

    fn with_backpressure(mut self) -> Self {
        // A packet that leaves the buffer sees those behind it: with three packets in the buffer, one.
        (self.receiver.pause_threshold, self.receiver.resume_threshold) = (Bytes(1), Bytes(0));
        self.receiver.backpressure = true;
        self
    }

    /// Explores the case and prints a line of the table.
    fn tried(&self, name: &str) {
        let found = self.explored();
        self.scene.print("LinkGuardian", name, self.faults, &found);
        assert!(found.states > 50, "{found:?}");
    }
}

const ON_AND_OFF: [Action; 2] = [Action::Activate, Action::Deactivate];
const OFF_AND_ON: [Action; 2] = [Action::Deactivate, Action::Activate];

use Buffering::{PausedQueue, Recirculation};
use Mode::{Blocking, NonBlocking};

#[test]
fn in_every_way_blocking_mode_delivers_in_order() {
    paper(Blocking, Recirculation).of(4, 2).tried("blocking");
    paper(Blocking, PausedQueue).of(4, 2).tried("blocking, paused queue");
    paper(Blocking, Recirculation).of(3, 2).with_copies(2).tried("blocking, two copies");
}

#[test]
fn in_every_way_non_blocking_mode_delivers_once() {
    paper(NonBlocking, Recirculation).of(5, 2).tried("non-blocking");
    paper(NonBlocking, PausedQueue).of(3, 3).tried("non-blocking, paused queue");
}

#[test]
fn in_every_way_acknowledgements_ride_on_packets() {
    paper(Blocking, Recirculation).of(3, 1).returning(2).tried("blocking, both directions");
}

#[test]
fn in_every_way_what_is_said_until_it_is_answered_is_no_cause_of_a_loss() {
    hardened(Blocking, Recirculation).of(2, 2).tried("hardened, blocking");
    hardened(Blocking, PausedQueue).of(2, 2).tried("hardened, blocking, paused queue");
    hardened(NonBlocking, Recirculation).of(2, 2).tried("hardened, non-blocking");
}

#[test]
fn in_every_way_protection_begins_and_ends_in_mid_stream() {
    hardened(Blocking, Recirculation).of(2, 1).commanded(&ON_AND_OFF).tried("switched on and off");
    hardened(NonBlocking, Recirculation).of(2, 1).commanded(&ON_AND_OFF).tried("non-blocking, switched on and off");
}

/// The timer of the earlier end still runs when protection starts again. The repeated start used to follow the first
/// numbered packets, and made the receiver forget that one of them was missing.
#[test]
fn a_start_that_was_answered_before_it_is_repeated_forgets_no_packet() {
    hardened(Blocking, PausedQueue).of(2, 1).commanded(&OFF_AND_ON).tried("paused queue, switched off and on");
}

/// Without order protection ends at once, and starts again while a repair is still in flight. The receiver used to take
/// that repair for a second copy.
#[test]
fn a_start_that_goes_on_with_the_numbers_forgets_nothing_that_is_missing() {
    hardened(NonBlocking, Recirculation).of(2, 1).commanded(&OFF_AND_ON).tried("non-blocking, switched off and on");
}

#[test]
fn in_every_way_a_paused_sender_goes_on() {
    paper(Blocking, Recirculation).of(5, 1).with_backpressure().tried("blocking, backpressure");
}

#[test]
#[ignore = "for the nightly run: minutes"]
fn in_every_way_of_larger_worlds_what_is_protected_comes_out() {
    paper(Blocking, Recirculation).of(6, 2).tried("blocking");
    paper(Blocking, PausedQueue).of(6, 2).tried("blocking, paused queue");
    paper(Blocking, Recirculation).of(4, 3).with_copies(2).tried("blocking, two copies");
    paper(NonBlocking, Recirculation).of(6, 3).tried("non-blocking");
    paper(Blocking, Recirculation).of(3, 2).returning(2).tried("blocking, both directions");
    hardened(Blocking, Recirculation).of(4, 2).tried("hardened, blocking");
    hardened(Blocking, PausedQueue).of(4, 2).tried("hardened, blocking, paused queue");
    hardened(NonBlocking, Recirculation).of(4, 2).tried("hardened, non-blocking");
    hardened(Blocking, Recirculation).of(3, 1).commanded(&ON_AND_OFF).tried("switched on and off");
    hardened(Blocking, PausedQueue).of(3, 1).commanded(&OFF_AND_ON).tried("paused queue, switched off and on");
    hardened(NonBlocking, Recirculation).of(3, 2).commanded(&OFF_AND_ON).tried("non-blocking, switched off and on");
}

/// The state is complete: following paths to their ends shows no other outcomes.
#[test]
fn ways_that_stop_at_a_known_state_miss_no_end() {
    for case in [hardened(Blocking, PausedQueue).of(1, 2), paper(NonBlocking, Recirculation).of(3, 0)] {
        let (of_states, ends) = case.outcomes(true);
        let (of_ways, all_ends) = case.outcomes(false);
        assert!(of_ways.ways > of_states.ways, "{of_ways:?} {of_states:?}");
        assert_eq!(ends, all_ends);
    }
}

#[test]
fn what_is_broken_is_found() {
    let bugs = [
        (Canary::OffByOneEra, paper(Blocking, Recirculation).of(4, 0), "is acknowledged"),
        (Canary::DoubleRelease, paper(Blocking, Recirculation).of(2, 1).with_copies(2), "came out"),
    ];
    for (bug, case, expected) in bugs {
        let told = found(bug, || case.explored());
        assert!(told.as_ref().is_none_or(|told| told.contains(expected)), "{told:?}");
    }
}
