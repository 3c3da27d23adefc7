//! Explores all crossings of a few packets over a link with Link Layer Retry. Each frame may be corrupted or vanish,
//! and each control ordered set may be lost; packets enter, and the link is reported down and up again, at any time.
//! Numbers wrap behind the second packet.
//!
//! Invariants: all packets are delivered in order and once, unless the transmitter had to give up; in the end nothing
//! is held, and the next packet would be sent.

use crate::link_layer_retry::header::SequenceNumber;
use hitless_core::wire::{Bytes, Duration, OrderedSet, Packet};
use hitless_switch::PortState;
use hitless_switch::explore::{Choices, Digest, Explored, State, explore};
use hitless_switch::testing::Fate;

use super::{LinkLayerRetry, LinkLayerRetryAction, LinkLayerRetrySettings, Receiver};
use crate::small_world::{Act, LINK, Scene, SmallWorld, steps};

impl State for LinkLayerRetry {
    fn tell(&self, digest: &mut Digest<'_>) {
        for ends in self.ports.iter() {
            ends.transmitter.iter().for_each(|transmitter| transmitter.tell(digest));
            ends.receiver.iter().for_each(|receiver| receiver.tell(digest));
        }
    }
}

/// Nothing is recorded: no fault on the link excuses a loss.
type World = SmallWorld<LinkLayerRetry, ()>;

fn fate(_from: usize, _packet: &Packet, choices: &Choices, (): &mut ()) -> Fate {
    [Fate::Arrives, Fate::Corrupted, Fate::Vanishes][choices.fault(3)]
}

fn loses_set(_from: usize, _set: OrderedSet, choices: &Choices, (): &mut ()) -> bool {
    choices.fault(2) == 1
}

fn profile() -> LinkLayerRetrySettings {
    LinkLayerRetrySettings {
        link: String::new(),
        max_outstanding_frames: 4,
        max_outstanding_bytes: Bytes(100_000),
        max_replay_count: 3,
        max_replay_timer: steps(10),
        pcs_lost_timeout: Duration::ZERO,
        data_age_timeout: Duration::ZERO,
        ctlos_spacing: Bytes(2_048),
        init_action: LinkLayerRetryAction::Block,
        flush_action: LinkLayerRetryAction::Block,
        re_init_on_flush: true,
        admission_control: true,
    }
}

#[derive(Clone, Debug)]
struct Case {
    scene: Scene,
    profile: LinkLayerRetrySettings,
    faults: usize,
    /// Whether the transmitter may have to give up.
    may_flush: bool,
    /// A fault planted in the receiver after each step, to test that it is found.
    sabotage: fn(&mut Receiver),
}

impl Case {
    fn new(profile: LinkLayerRetrySettings, packets: u64, faults: usize) -> Self {
        Self { scene: Scene { packets, ..Scene::default() }, profile, faults, may_flush: false, sabotage: |_| {} }
    }

    fn explored(&self) -> Explored {
        explore(self.faults, |choices| {
            let mut ends = [LinkLayerRetry::default(), LinkLayerRetry::default()];
            ends[0].add_transmitter(LINK, &self.profile);
            ends[1].add_receiver(LINK, &self.profile);
            let transmitter = ends[0].transmitter_at(LINK).ok_or("there is a transmitter")?;
            transmitter.begin_at(SequenceNumber::new(SequenceNumber::RANGE - 2));
            let world: World = SmallWorld::new(choices, self.scene.clone(), ends, fate, loses_set);
            world.run(|world, _, is_over| self.judge(world, is_over))
        })
    }

    fn judge(&self, world: &World, is_over: bool) -> Result<(), String> {
        let delivered = &world.delivered[0];
        if !delivered.is_sorted_by(|one, next| one < next) {
            return Err(format!("{delivered:?} came out in this order"));
        }
        let (mut sending, mut receiving) = (world.ends[0].get(), world.ends[1].get());
        let receiver = receiving.receiver_at(LINK).ok_or("there is a receiver")?;
        (self.sabotage)(receiver);
        let transmitter = sending.transmitter_at(LINK).ok_or("there is a transmitter")?;
        if transmitter.has_flushed() && !self.may_flush {
            return Err("the transmitter has given up".into());
        }
        if !is_over {
            return Ok(());
        }
        if delivered.len() as u64 != self.scene.packets && !transmitter.has_flushed() {
            return Err(format!("only {delivered:?} came out"));
        }
        transmitter.left_over().or_else(|| receiver.left_over()).map_or(Ok(()), Err)
    }

    /// Explores the case and prints a line of the table.
    fn tried(&self, name: &str) {
        let found = self.explored();
        self.scene.print("Link Layer Retry", name, self.faults, &found);
        assert!(found.states > 50, "{found:?}");
    }
}

#[test]
fn in_every_way_frames_come_out_in_order_and_once() {
    Case::new(profile(), 4, 2).tried("replay");
    Case::new(LinkLayerRetrySettings { max_outstanding_frames: 2, ..profile() }, 4, 2).tried("a buffer of two frames");
}

/// An acknowledgement is lost; the first replay is corrupted, which looks like a loss of the next frame; then the
/// report of that loss is lost. The receiver used to stay silent until the transmitter gave up frames that had long
/// arrived.
#[test]
fn a_replay_of_what_has_come_is_acknowledged_behind_a_nack_too() {
    Case::new(profile(), 1, 3).tried("replay, one packet");
}

#[test]
fn in_every_way_a_transmitter_that_gives_up_begins_anew() {
    let profile = LinkLayerRetrySettings { max_replay_count: 1, ..profile() };
    Case { may_flush: true, ..Case::new(profile, 3, 3) }.tried("one replay at most");
}

#[test]
fn in_every_way_a_link_that_is_down_for_long_begins_anew() {
    let profile = LinkLayerRetrySettings { pcs_lost_timeout: steps(6), ..profile() };
    let mut case = Case { may_flush: true, ..Case::new(profile, 3, 1) };
    case.scene.acts = vec![(0, Act::State(PortState::Down)), (0, Act::State(PortState::Up))];
    case.tried("down and up");
}

#[test]
#[should_panic(expected = "only [0, 1] came out")]
fn a_receiver_that_steps_over_a_number_is_found() {
    Case { sabotage: Receiver::step_over_zero, ..Case::new(profile(), 3, 0) }.explored();
}

#[test]
#[ignore = "for the nightly run: minutes"]
fn in_every_way_of_larger_worlds_frames_come_out_in_order_and_once() {
    Case::new(profile(), 6, 3).tried("replay");
    Case::new(LinkLayerRetrySettings { max_outstanding_frames: 2, ..profile() }, 5, 3).tried("a buffer of two frames");
}
