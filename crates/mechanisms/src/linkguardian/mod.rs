//! LinkGuardian: link-local retransmission on links that corrupt packets (Joshi et al., SIGCOMM 2023).
//!
//! The switch before the link numbers packets and keeps copies ([`sender`]); the switch behind it finds gaps,
//! reports them, restores order and acknowledges ([`receiver`]). A switch runs one LinkGuardian with the state of
//! all its protected ports; a port can be a sending and a receiving end at once.
//!
//! Where the paper and the published switch programs leave a choice:
//! - the timer packets, one each 100 ns, are not simulated one by one: the countdown and the pause frames they
//!   drive happen at the instants of that grid, and their share of the pipeline is reported as arithmetic;
//! - a dummy or an acknowledgement waits in a paused queue when it has nothing to say, instead of circling;
//! - an acknowledgement never moves backwards at the sender, nor beyond what was sent;
//! - a gap longer than one notification can report is no loss: when a second frame confirms it, the numbers are taken
//!   up where it is, and the frame that showed it is dropped.

pub mod checker;
pub mod config;
mod crossing;
mod receiver;
mod sender;

use hitless_switch::{Context, DropReason, Environment, Mechanism, QueueConfig, Report, Subscriptions, Verdict};
use hitless_wire::linkguardian::{AckHeader, DataHeader, LossNotification};
use hitless_wire::{Packet, PortId, QueueId, Time};

pub use config::{Activation, Buffering, Mode, ReceiverConfig, SenderConfig, copies_for};
use receiver::Receiver;
use sender::Sender;

pub use sender::REQUEST_REGISTERS_MAX;

/// What a packet that LinkGuardian owns is to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    /// A copy at the sending switch.
    TxBuffered = 1,
    /// A retransmission on its way to the link.
    Repair,
    /// A dummy.
    Dummy,
    /// A packet in the reordering buffer.
    RxBuffered,
    /// An explicit acknowledgement.
    Acknowledgement,
    /// A loss notification.
    LossNotification,
    /// A pause frame.
    Pause,
}

/// Which timer a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    Backpressure,
    AckNumberTimeout,
}

pub(crate) fn timer_token(port: PortId, kind: TimerKind) -> u32 {
    u32::from(port.0) << 1 | u32::from(kind == TimerKind::AckNumberTimeout)
}

/// One of the two ends of a protected link, which is one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// The switch that sends on it.
    Sender,
    /// The switch that receives from it.
    Receiver,
}

/// What the control plane has one end of a link do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Protect the link, as configured or last told.
    Activate,
    /// Protect the link with so many copies of each lost packet, from 1 on. What is told here decides at the sender alone.
    Protect {
        /// Copies retransmitted per lost packet; see [`copies_for`].
        copies: u8,
        /// In-order delivery or not.
        mode: Mode,
    },
    /// Stop protecting it; what is buffered is still acknowledged or retransmitted.
    Deactivate,
}

/// A command of the control plane. Of a port on which both directions are protected it reaches one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The port of the link.
    pub port: PortId,
    /// Which end of the link the port is.
    pub end: LinkEnd,
    /// What it is to do.
    pub action: Action,
}

impl Command {
    /// The number by which a switch passes the command on: bit 0 on or off, 16 bits of port, 8 of copies (0: as they
    /// are), one for the mode and one for the end.
    pub fn number(self) -> u32 {
        let Command { port: PortId(port), end, action } = self;
        let what = match action {
            Action::Deactivate => 0,
            Action::Activate => 1,
            Action::Protect { copies, mode } => {
                u32::from(mode == Mode::NonBlocking) << 25 | u32::from(copies) << 17 | 1
            }
        };
        u32::from(end == LinkEnd::Receiver) << 26 | u32::from(port) << 1 | what
    }

    fn from_number(number: u32) -> Self {
        let (is_active, copies) = (number & 1 == 1, (number >> 17) as u8);
        let mode = if number >> 25 & 1 == 1 { Mode::NonBlocking } else { Mode::Blocking };
        let action = match (is_active, copies) {
            (false, _) => Action::Deactivate,
            (true, 0) => Action::Activate,
            (true, _) => Action::Protect { copies, mode },
        };
        let end = if number >> 26 & 1 == 1 { LinkEnd::Receiver } else { LinkEnd::Sender };
        Command { port: PortId((number >> 1) as u16), end, action }
    }
}

#[derive(Default)]
struct PortRoles {
    sender: Option<Sender>,
    receiver: Option<Receiver>,
}

/// LinkGuardian on one switch.
#[derive(Default)]
pub struct LinkGuardian {
    ports: Vec<PortRoles>,
}

impl LinkGuardian {
    /// Makes `config.port` the sending end of a protected link.
    pub fn add_sender(&mut self, config: SenderConfig) {
        let port = config.port;
        self.roles(port).sender = Some(Sender::new(config));
    }

    /// Makes `config.port` the receiving end of a protected link.
    pub fn add_receiver(&mut self, config: ReceiverConfig) {
        let port = config.port;
        self.roles(port).receiver = Some(Receiver::new(config));
    }

    fn roles(&mut self, port: PortId) -> &mut PortRoles {
        let index = usize::from(port.0);
        if self.ports.len() <= index {
            self.ports.resize_with(index + 1, PortRoles::default);
        }
        &mut self.ports[index]
    }

    fn senders(&mut self) -> impl Iterator<Item = &mut Sender> {
        self.ports.iter_mut().filter_map(|roles| roles.sender.as_mut())
    }

    fn receivers(&mut self) -> impl Iterator<Item = &mut Receiver> {
        self.ports.iter_mut().filter_map(|roles| roles.receiver.as_mut())
    }

    #[inline]
    fn sender_at(&mut self, port: PortId) -> Option<&mut Sender> {
        self.ports.get_mut(usize::from(port.0))?.sender.as_mut()
    }

    #[inline]
    fn receiver_at(&mut self, port: PortId) -> Option<&mut Receiver> {
        self.ports.get_mut(usize::from(port.0))?.receiver.as_mut()
    }

    fn transmit_own<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        let (port, role) = (context.port(), context.packet().role);
        if role == Role::Dummy as u8 {
            if let Some(sender) = self.sender_at(port) {
                sender.send_dummy(context);
            }
            return;
        }
        let Some(receiver) = self.receiver_at(port) else { return };
        match role {
            _ if role == Role::Acknowledgement as u8 => receiver.stamp_acknowledgement(context),
            _ if role == Role::LossNotification as u8 => receiver.publish_loss(context),
            _ if role == Role::Pause as u8 => receiver.stamp_pause_frame(context),
            _ => {}
        }
    }
}

impl Mechanism for LinkGuardian {
    fn subscriptions(&mut self, queue_counts: &[usize]) -> Subscriptions {
        let mut queues = queue_counts.to_vec();
        let mut wanted = Subscriptions::default();
        self.senders().for_each(|sender| sender.subscribe(&mut queues, &mut wanted));
        self.receivers().for_each(|receiver| receiver.subscribe(&mut queues, &mut wanted));
        wanted
    }

    fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        self.senders().for_each(|sender| sender.start(context));
        self.receivers().for_each(|receiver| receiver.start(context));
    }

    fn link_receive<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        if context.packet().shims.is_empty() {
            return Verdict::Continue;
        }
        let port = context.port();
        if let Some(sender) = self.sender_at(port) {
            let verdict = sender.take_acknowledgement(context);
            if verdict != Verdict::Continue {
                return verdict;
            }
        }
        let verdict = match self.receiver_at(port) {
            Some(receiver) => receiver.take_from_link(context),
            None => Verdict::Continue,
        };
        // The port is not the end that the header is for; nobody behind it may see it.
        if verdict == Verdict::Continue && carries_header(context.packet()) {
            return Verdict::Drop(DropReason::Mechanism);
        }
        verdict
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let packet = context.packet();
        let (home, role) = (packet.ingress_port, packet.role);
        if role == Role::TxBuffered as u8
            && let Some(sender) = self.sender_at(home)
        {
            return sender.judge_copy(context);
        }
        match self.receiver_at(home) {
            Some(receiver) => receiver.judge_buffered(context),
            None => Verdict::Continue,
        }
    }

    fn egress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let packet = context.packet();
        let (home, role) = (packet.ingress_port, packet.role);
        if role == Role::RxBuffered as u8
            && let Some(receiver) = self.receiver_at(home)
        {
            receiver.note_unheld();
            receiver.watch_depth(context);
        }
        Verdict::Continue
    }

    fn refused<E: Environment>(&mut self, _reason: DropReason, context: &mut Context<'_, E>) {
        let packet = context.packet();
        let (home, role) = (packet.ingress_port, packet.role);
        if role == Role::RxBuffered as u8
            && let Some(receiver) = self.receiver_at(home)
        {
            receiver.note_unheld();
        }
    }

    fn link_transmit<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        if context.is_mine() {
            self.transmit_own(context);
            return Verdict::Continue;
        }
        let port = context.port();
        if let Some(sender) = self.sender_at(port) {
            sender.protect(context);
        }
        if let Some(receiver) = self.receiver_at(port) {
            receiver.piggyback(context);
        }
        Verdict::Continue
    }

    fn timer<E: Environment>(&mut self, token: u32, context: &mut Context<'_, E>) {
        let port = PortId((token >> 1) as u16);
        let Some(receiver) = self.receiver_at(port) else { return };
        if token & 1 == 1 { receiver.count_down(context) } else { receiver.send_pause_frame(context) }
    }

    fn command<E: Environment>(&mut self, command: u32, _context: &mut Context<'_, E>) {
        let Command { port, end, action } = Command::from_number(command);
        let is_active = action != Action::Deactivate;
        match end {
            LinkEnd::Sender => {
                let Some(sender) = self.sender_at(port) else { return };
                sender.set_active(is_active);
                if let Action::Protect { copies, mode } = action {
                    sender.set_protection(u32::from(copies), mode);
                }
            }
            LinkEnd::Receiver => {
                if let Some(receiver) = self.receiver_at(port) {
                    receiver.set_active(is_active);
                }
            }
        }
    }

    fn report(&self, now: Time) -> Report {
        let mut report = Report::new("linkguardian");
        for roles in &self.ports {
            if let Some(sender) = &roles.sender {
                report_sender(sender, &mut report);
            }
            if let Some(receiver) = &roles.receiver {
                report_receiver(receiver, now, &mut report);
            }
        }
        report
    }
}

fn report_sender(sender: &Sender, report: &mut Report) {
    let scope = format!("port {} sender", sender.config.port.0);
    let counters = &sender.counters;
    report.acted |= counters.protected > 0;
    for (name, value) in [
        ("packets protected", counters.protected),
        ("copies recirculated", counters.recirculations),
        ("packets retransmitted", counters.retransmitted),
        ("frames retransmitted", counters.retransmitted_frames),
        ("dummies sent", counters.dummies),
        ("losses reported", counters.losses_reported),
        ("losses beyond the request registers", counters.losses_beyond_registers),
        ("packets acknowledged", counters.acknowledged),
        ("acknowledgements refused", counters.refused),
        ("copies per lost packet", u64::from(sender.config.copies)),
    ] {
        report.count(&scope, name, value);
    }
}

fn report_receiver(receiver: &Receiver, now: Time, report: &mut Report) {
    let scope = format!("port {} receiver", receiver.config.port.0);
    let (counters, checker) = (&receiver.counters, &receiver.checker);
    report.acted |= counters.delivered > 0;
    for (name, value) in [
        ("packets delivered", counters.delivered - checker.duplicates),
        ("packets lost", checker.lost()),
        ("packets delivered twice", checker.duplicates),
        ("packets delivered late", checker.reordered),
        ("packets found missing", counters.losses),
        ("packets recovered", counters.recovered),
        ("ackNoTimeouts", counters.timeouts),
        ("packets buffered", counters.buffered),
        ("buffered packets recirculated", counters.recirculations),
        ("duplicates removed", counters.duplicates),
        ("explicit acknowledgements", counters.explicit_acknowledgements),
        ("piggybacked acknowledgements", counters.piggybacked_acknowledgements),
        ("pauses", counters.pauses),
        ("numbers still missing", receiver.missing_numbers()),
        ("frames refused", counters.refused),
        ("resynchronisations", counters.resynchronisations),
        ("loss events", counters.loss_runs.iter().sum()),
        ("longest stall (ns)", counters.longest_stall.as_ps() / 1_000),
        ("timer packets", now.as_ps() / receiver.config.timer_period.as_ps()),
    ] {
        report.count(&scope, name, value);
    }
    report.histograms.push((scope.clone(), "recovery delay (ns)", counters.recovery_delay_ns.clone()));
    let broken = receiver.broken_promises(now).into_iter().chain(receiver.broken_order_promises());
    report.broken_promises.extend(broken.map(|promise| format!("linkguardian {scope}: {promise}")));
}

/// Asks for one more queue at `port`; answers its number.
fn request_queue(port: PortId, config: QueueConfig, counts: &mut [usize], wanted: &mut Subscriptions) -> QueueId {
    let count = &mut counts[usize::from(port.0)];
    let queue = QueueId(*count as u8);
    *count += 1;
    wanted.queues.push((port, config));
    queue
}

fn carries_header(packet: &Packet) -> bool {
    let shims = &packet.shims;
    shims.contains::<DataHeader>() || shims.contains::<AckHeader>() || shims.contains::<LossNotification>()
}

fn data_header(packet: &Packet) -> DataHeader {
    packet.shims.get().expect("a packet that LinkGuardian buffers carries its header")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_its_number() {
        let protect = |copies, mode| Action::Protect { copies, mode };
        let actions =
            [Action::Activate, Action::Deactivate, protect(1, Mode::Blocking), protect(255, Mode::NonBlocking)];
        for port in [PortId(0), PortId(1), PortId(u16::MAX)] {
            for (end, action) in
                actions.iter().flat_map(|&action| [(LinkEnd::Sender, action), (LinkEnd::Receiver, action)])
            {
                let command = Command { port, end, action };
                assert_eq!(Command::from_number(command.number()), command);
            }
        }
    }
}
