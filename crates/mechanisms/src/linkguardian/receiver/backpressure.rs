//! Backpressure (paper, section 3.3 and algorithm 2).

use hitless_core::wire::Packet;
use hitless_core::wire::mac_control::{PAUSE_FRAME_BYTES, PauseFrame};
use hitless_switch::Context;

use super::super::frames::Role;
use super::super::timer::TimerKind;
use super::Receiver;

/// Timer packets between repetitions of a pause frame: 1.6 us, the time until a pause takes effect.
const TIMER_PACKETS_BETWEEN: u64 = 16;
const REPETITIONS: u8 = 3;

impl Receiver {
    /// Tests the depth when a buffered packet leaves the recirculation port.
    pub fn watch_depth(&mut self, context: &mut Context<'_>) {
        if !self.config.backpressure {
            return;
        }
        let depth_bytes = context.queue(self.config.recirculation_port, self.hold_queue).bytes();
        let (pause_at, resume_at) = (self.config.pause_threshold.0, self.config.resume_threshold.0);
        let has_changed = self.is_pausing.access(context.pass(), 0, |is_pausing| {
            // Algorithm 2 with hysteresis: between the thresholds the state stays, so that pauses do not alternate with
            // each packet.
            let wanted = if *is_pausing { depth_bytes > resume_at } else { depth_bytes >= pause_at };
            std::mem::replace(is_pausing, wanted) != wanted
        });
        if has_changed {
            self.announce(context);
        }
    }

    /// Lets the next timer packet inform the sender.
    fn announce(&mut self, context: &mut Context<'_>) {
        self.pause_repetitions = if self.config.control_copies > 1 { REPETITIONS } else { 0 };
        self.wake_for_pause(1, context);
    }

    /// Lets the next timer packet test the depth, because no packet leaves a paused queue to do so.
    pub(super) fn watch_depth_by_timer(&mut self, context: &mut Context<'_>) {
        if self.config.backpressure && !std::mem::replace(&mut self.depth_is_watched, true) {
            let at = self.timer_packet_after(context.now(), 1);
            context.wake_at(at, self.timer(TimerKind::Depth));
        }
    }

    /// Pauses the sender if the reordering buffer is too full; called by a timer packet.
    pub fn test_depth(&mut self, context: &mut Context<'_>) {
        self.depth_is_watched = false;
        // Lines 1 to 3 of algorithm 2. A resume needs no timer: packets that leave the queue test the depth themselves.
        if self.held_bytes >= self.config.pause_threshold.0 && !self.is_pausing.peek(0) {
            self.is_pausing.poke(0, true);
            self.announce(context);
        }
    }

    fn wake_for_pause(&mut self, timer_packets: u64, context: &mut Context<'_>) {
        // The receiver turns a timer packet into a pause frame (section 3.5, "Packet Generation").
        let at = self.timer_packet_after(context.now(), timer_packets);
        let is_due = self.pause_due_at.replace(at) == Some(at);
        // Without repetitions each change has a separate frame, as in the published programs.
        if !is_due || self.config.control_copies == 1 {
            context.wake_at(at, self.timer(TimerKind::Backpressure));
        }
    }

    /// Turns a timer packet into a pause frame for each class; the content is decided when it leaves. If the reverse
    /// direction loses frames, a pause is repeated while the sender must wait, and a resume a few times.
    pub fn send_pause_frame(&mut self, context: &mut Context<'_>) {
        // A change has replaced the repetition that this timer packet was for.
        if self.config.control_copies > 1 && self.pause_due_at.take_if(|at| *at == context.now()).is_none() {
            return;
        }
        if self.pause_repetitions > 0 {
            // The depth also counts packets of others. It is tested when a packet leaves the buffer, which never
            // happens in an empty buffer.
            if self.waiting_packets == 0 {
                self.is_pausing.poke(0, false);
            }
            self.pause_repetitions -= u8::from(!self.is_pausing.peek(0));
            self.wake_for_pause(TIMER_PACKETS_BETWEEN, context);
        }
        for _ in 0..self.config.control_copies {
            for class in (0..8).filter(|class| self.config.paused_classes >> class & 1 == 1) {
                let mut frame = Packet { frame_bytes: PAUSE_FRAME_BYTES, ..Packet::default() };
                frame.push_shim(PauseFrame::resume(class)).expect("a pause frame carries no other shim");
                let role = Role::Pause.of_channel(self.config.channel);
                context.queue(self.config.port, self.notification_queue).emit(frame, role);
            }
        }
    }

    /// Writes the pause frame's content in egress, where the state of algorithm 2 is.
    pub fn stamp_pause_frame(&mut self, context: &mut Context<'_>) {
        let is_pausing = self.is_pausing.access(context.pass(), 0, |is_pausing| *is_pausing);
        self.counters.pauses += u64::from(is_pausing);
        let packet = context.packet();
        let class = packet.shims.get::<PauseFrame>().expect("the timer packet has become a pause frame").class;
        packet.shims.replace(if is_pausing { PauseFrame::pause(class) } else { PauseFrame::resume(class) });
    }
}
