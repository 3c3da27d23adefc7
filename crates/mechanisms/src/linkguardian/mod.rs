//! LinkGuardian: link-local retransmission on links that corrupt packets (Joshi et al., SIGCOMM 2023).
//!
//! The upstream switch numbers packets and keeps copies ([`sender`]). The downstream switch finds gaps, reports them,
//! restores order and acknowledges ([`receiver`]). A switch runs one LinkGuardian with the state of all its protected
//! ports; a port can be a sending and a receiving end at once. Read [`headers`] first, then [`sender`] and
//! [`receiver`].
//!
//! Choices that the paper and the published switch programs leave open:
//! - Timer packets, one per 100 ns, are not simulated one by one. The countdown and the pause frames that they drive
//!   happen at the instants of that grid, and their share of the pipeline is reported as arithmetic.
//! - A dummy or an acknowledgement without news waits in a paused queue instead of circulating.
//! - An acknowledgement never moves backwards at the sender, nor beyond the last number sent.
//! - A gap longer than a notification can report does not count as a loss. If a second frame confirms it, the receiver
//!   continues at the new numbers, and the frame that showed the gap is dropped.

pub mod admission;
mod build;
mod check;
mod command;
pub mod config;
mod egress_view;
#[cfg(test)]
mod every_way;
pub mod fallback;
mod frames;
pub mod headers;
mod kind;
pub mod parameters;
mod protected_ends;
mod receiver;
mod report;
mod requests;
mod resources;
mod saturated;
mod sender;
mod settings;
mod timer;

use crate::linkguardian::headers::{AckHeader, ControlHeader, DataHeader, Message};
use hitless_core::wire::{Packet, PortId, QueueId, Time};
use hitless_switch::{
    Context, DropReason, Event, LinkEnd, Mechanism, Needs, ProtectionState, Report, Resources, TimerToken, Verdict,
};

use crate::by_port::ByPort;

pub use command::{Action, Command};
pub use config::{ReceiverConfig, SenderConfig};
pub use fallback::Fallback;
use frames::{Role, carries_header, channel_of, is_of_sender};
pub use parameters::{control_copies_for, copies_for};
use receiver::Receiver;
use sender::Sender;
use timer::{Timer, TimerKind};

pub use saturated::saturated_speed;
pub use sender::REQUEST_REGISTERS_MAX;
pub use settings::{ActivationChange, Buffering, FallbackSettings, LinkGuardianSettings, Mode};

/// The maximum number of sequence spaces of a link: one for each of two groups of traffic classes.
pub const CHANNELS: usize = 2;

#[derive(Default, hitless_core::state::State)]
struct PortRoles {
    #[part]
    senders: [Option<Sender>; CHANNELS],
    #[part]
    receivers: [Option<Receiver>; CHANNELS],
    is_closed: bool,
    rode_last: usize,
}

#[derive(Default, hitless_core::state::State)]
pub struct LinkGuardian {
    #[part]
    ports: ByPort<PortRoles>,
}

impl LinkGuardian {
    /// Makes `config.port` the sending end of a protected link, for the packets of its channel.
    pub fn add_sender(&mut self, config: SenderConfig) {
        let (port, channel) = (config.port, usize::from(config.channel));
        self.roles(port).senders[channel] = Some(Sender::new(config));
    }

    /// Makes `config.port` the receiving end of a protected link, for the packets of its channel.
    pub fn add_receiver(&mut self, config: ReceiverConfig) {
        let (port, channel) = (config.port, usize::from(config.channel));
        self.roles(port).receivers[channel] = Some(Receiver::new(config));
    }

    fn roles(&mut self, port: PortId) -> &mut PortRoles {
        self.ports.entry(port)
    }

    fn senders(&mut self) -> impl Iterator<Item = &mut Sender> {
        self.ports.iter_mut().flat_map(|roles| roles.senders.iter_mut().flatten())
    }

    fn receivers(&mut self) -> impl Iterator<Item = &mut Receiver> {
        self.ports.iter_mut().flat_map(|roles| roles.receivers.iter_mut().flatten())
    }

    #[inline]
    fn roles_at(&mut self, port: PortId) -> Option<&mut PortRoles> {
        self.ports.get_mut(port)
    }

    #[inline]
    fn sender_at(&mut self, port: PortId, channel: u8) -> Option<&mut Sender> {
        self.roles_at(port)?.senders[usize::from(channel & 1)].as_mut()
    }

    #[inline]
    fn receiver_at(&mut self, port: PortId, channel: u8) -> Option<&mut Receiver> {
        self.roles_at(port)?.receivers[usize::from(channel & 1)].as_mut()
    }

    /// Notes that the sender at the other end of a port does not number its packets.
    #[inline]
    fn note_unprotected(&mut self, port: PortId) {
        let receivers = self.roles_at(port).into_iter().flat_map(|roles| roles.receivers.iter_mut().flatten());
        receivers.for_each(Receiver::note_unprotected);
    }

    fn transmit_own(&mut self, context: &mut Context<'_>) -> Verdict {
        let (port, channel) = (context.port(), channel_of(context.packet()));
        let Some(role) = Role::of_packet(context.packet()) else { return Verdict::Continue };
        if role == Role::Message && is_of_sender(context.packet()) {
            return self.sender_at(port, channel).map_or(Verdict::Continue, |sender| sender.stamp_message(context));
        }
        if role == Role::Dummy {
            self.sender_at(port, channel).into_iter().for_each(|sender| sender.send_dummy(context));
            return Verdict::Continue;
        }
        let Some(receiver) = self.receiver_at(port, channel) else { return Verdict::Continue };
        match role {
            Role::Acknowledgement => receiver.stamp_acknowledgement(context),
            Role::LossNotification => receiver.publish_loss(context),
            Role::Pause => receiver.stamp_pause_frame(context),
            _ => {}
        }
        Verdict::Continue
    }

    fn take_message(&mut self, control: ControlHeader, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        if control.message.is_of_sender() {
            let Some(receiver) = self.receiver_at(port, control.channel) else {
                return Verdict::Drop(DropReason::Mechanism);
            };
            return receiver.take_message(control, context);
        }
        if let Message::Request(level) = control.message {
            // The losses that the receiver counts belong to the link, so that the level applies to both channels.
            let senders = self.roles_at(port).into_iter().flat_map(|roles| roles.senders.iter_mut().flatten());
            senders.for_each(|sender| sender.set_level(level, context));
            self.close_or_open(port, context);
            return Verdict::Drop(DropReason::ControlAbsorbed);
        }
        let Some(sender) = self.sender_at(port, control.channel) else { return Verdict::Drop(DropReason::Mechanism) };
        let verdict = sender.take_message(control, context);
        self.close_or_open(port, context);
        verdict
    }

    /// Serves only LinkGuardian's queues of a port while a sender there ends its protection.
    fn close_or_open(&mut self, port: PortId, context: &mut Context<'_>) {
        let Some(roles) = self.roles_at(port) else { return };
        let is_closing = roles.senders.iter().flatten().any(Sender::is_closing);
        if is_closing == roles.is_closed {
            return;
        }
        roles.is_closed = is_closing;
        if is_closing {
            let of_senders = roles.senders.iter().flatten().flat_map(Sender::own_queues);
            let of_receivers = roles.receivers.iter().flatten().flat_map(Receiver::own_queues);
            let own: Vec<QueueId> = of_senders.chain(of_receivers).collect();
            context.scheduler(port).close_all_but(&own);
        } else {
            context.scheduler(port).open_all();
        }
    }

    /// Piggybacks an acknowledgement (section 3.1). A packet carries a single one, from the channel with news,
    /// otherwise from the next channel in turn.
    fn piggyback(&mut self, context: &mut Context<'_>) {
        let Some(roles) = self.roles_at(context.port()) else { return };
        let next = (roles.rode_last + 1) % CHANNELS;
        let may_ride = |channel: &usize| roles.receivers[*channel].as_ref().is_some_and(Receiver::is_active);
        let has_news = |channel: &usize| roles.receivers[*channel].as_ref().is_some_and(|end| end.has_news(context));
        let turns = [next, roles.rode_last];
        let candidates = || turns.into_iter().filter(may_ride);
        let Some(channel) = candidates().find(has_news).or_else(|| candidates().next()) else { return };
        roles.rode_last = channel;
        if let Some(receiver) = &mut roles.receivers[channel] {
            receiver.piggyback(context);
        }
    }
}

impl Mechanism for LinkGuardian {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        let mut queues = queue_counts.to_vec();
        let mut wanted = Needs::default();
        self.senders().for_each(|sender| sender.subscribe(&mut queues, &mut wanted));
        self.receivers().for_each(|receiver| receiver.subscribe(&mut queues, &mut wanted));
        // A copy does nothing on its way out of the recirculation port.
        wanted.quiet_roles = (0..CHANNELS as u8).map(|channel| Role::TxBuffered.of_channel(channel)).collect();
        wanted
    }

    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        if context.packet().shims.is_empty() {
            self.note_unprotected(port);
            return Verdict::Continue;
        }
        if let Some(control) = context.packet().shims.get::<ControlHeader>() {
            return self.take_message(control, context);
        }
        if let Some(ack) = context.packet().shims.get::<AckHeader>()
            && let Some(sender) = self.sender_at(port, ack.channel)
        {
            let verdict = sender.take_acknowledgement(context);
            if verdict != Verdict::Continue {
                return verdict;
            }
        }
        let verdict = match context.packet().shims.get::<DataHeader>() {
            Some(header) => match self.receiver_at(port, header.channel) {
                Some(receiver) => receiver.take_from_link(header, context),
                None => Verdict::Continue,
            },
            None => {
                self.note_unprotected(port);
                Verdict::Continue
            }
        };
        // The port is not the end that the header belongs to; nothing downstream may see the header.
        if verdict == Verdict::Continue && carries_header(context.packet()) {
            return Verdict::Drop(DropReason::Mechanism);
        }
        verdict
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let packet = context.packet();
        let (home, channel) = (packet.ingress_port, channel_of(packet));
        if Role::of_packet(packet) == Some(Role::TxBuffered)
            && let Some(sender) = self.sender_at(home, channel)
        {
            return sender.judge_copy(context);
        }
        match self.receiver_at(home, channel) {
            Some(receiver) => receiver.judge_buffered(context),
            None => Verdict::Continue,
        }
    }

    fn goes_round(&mut self, packet: &Packet) -> bool {
        self.sender_at(packet.ingress_port, channel_of(packet)).is_some_and(|sender| sender.count_if_waiting(packet))
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        if let Some(receiver) = self.buffering_receiver(context) {
            receiver.note_unheld(context.packet());
            receiver.watch_depth(context);
        }
        Verdict::Continue
    }

    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        if let Some(receiver) = self.buffering_receiver(context) {
            receiver.note_tm_drop(context);
        }
        Verdict::Continue
    }

    fn tx(&mut self, context: &mut Context<'_>) -> Verdict {
        if context.is_mine() {
            return self.transmit_own(context);
        }
        let (port, class) = (context.port(), context.packet().class);
        if let Some(roles) = self.roles_at(port)
            && let Some(sender) = roles.senders.iter_mut().flatten().find(|sender| sender.is_for(class))
        {
            sender.protect(context);
        }
        self.piggyback(context);
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        match event {
            Event::Start => {
                self.senders().for_each(|sender| sender.start(context));
                self.receivers().for_each(|receiver| receiver.start(context));
            }
            Event::Timer(token) => self.end_wait(token, context),
            Event::Command(number) => self.obey(Command::from_number(number), context),
            _ => {}
        }
    }

    fn resources(&self) -> Resources {
        let senders = self.ports.iter().flat_map(|roles| roles.senders.iter().flatten().map(resources::of_sender));
        let receivers =
            self.ports.iter().flat_map(|roles| roles.receivers.iter().flatten().map(resources::of_receiver));
        resources::of_ends(senders.chain(receivers))
    }

    fn protection(&self, port: PortId, end: LinkEnd) -> Option<ProtectionState> {
        let roles = self.ports.get(port)?;
        match end {
            LinkEnd::Sender => roles.senders[0].as_ref().map(report::state_of_sender),
            LinkEnd::Receiver => roles.receivers[0].as_ref().map(report::state_of_receiver),
        }
    }

    fn report(&self, now: Time) -> Report {
        let mut report = Report::new("linkguardian");
        for roles in self.ports.iter() {
            roles.senders.iter().flatten().for_each(|sender| report::report_sender(sender, &mut report));
            roles.receivers.iter().flatten().for_each(|receiver| report::report_receiver(receiver, now, &mut report));
        }
        report
    }
}

impl LinkGuardian {
    fn end_wait(&mut self, token: u32, context: &mut Context<'_>) {
        let Timer { port, channel, kind } = Timer::from_token(token);
        if kind == TimerKind::Answer {
            if let Some(sender) = self.sender_at(port, channel) {
                sender.look_after_answers(context);
            }
            return self.close_or_open(port, context);
        }
        let Some(receiver) = self.receiver_at(port, channel) else { return };
        match kind {
            TimerKind::Backpressure => receiver.send_pause_frame(context),
            TimerKind::AckNumberTimeout => receiver.count_down(context),
            TimerKind::Monitor => receiver.watch_losses(context),
            TimerKind::Report => receiver.repeat_report(context),
            TimerKind::Depth => receiver.test_depth(context),
            TimerKind::Answer => {}
        }
    }

    fn obey(&mut self, command: Command, context: &mut Context<'_>) {
        let Command { port, end, action } = command;
        let is_active = action != Action::Deactivate;
        let Some(roles) = self.roles_at(port) else { return };
        match end {
            LinkEnd::Sender => {
                for (channel, sender) in roles.senders.iter_mut().enumerate() {
                    let Some(sender) = sender else { continue };
                    if let Action::Protect { copies, mode } = action {
                        // The second channel carries packets that need no order.
                        sender.set_protection(u32::from(copies), (channel == 0).then_some(mode));
                    }
                    sender.set_active(is_active, context);
                }
                self.close_or_open(port, context);
            }
            LinkEnd::Receiver => roles.receivers.iter_mut().flatten().for_each(|end| end.set_active(is_active)),
        }
    }
}

impl LinkGuardian {
    fn buffering_receiver(&mut self, context: &mut Context<'_>) -> Option<&mut Receiver> {
        let packet = context.packet();
        let (home, channel) = (packet.ingress_port, channel_of(packet));
        let is_buffered = matches!(Role::of_packet(packet), Some(Role::RxBuffered | Role::RxDuplicate));
        if is_buffered { self.receiver_at(home, channel) } else { None }
    }
}
