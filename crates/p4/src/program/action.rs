//! Actions of a program, and what their instructions are.

use std::ops::Range;

use crate::bits::Slot;
use crate::node::{Expression, HeaderPlace};

/// An action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Names of its parameters, and where they are in its data.
    pub parameters: Vec<(String, Slot)>,
    /// How many bytes its data has.
    pub data_bytes: u32,
    /// Its instructions.
    pub code: Range<u32>,
}

/// An instruction of an action.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    /// Sets a field.
    Assign(Slot, Expression),
    /// Sets a field of a header that is found when the packet is there: header, field.
    AssignAt(HeaderPlace, u32, Expression),
    /// Copies a varbit between two headers.
    AssignVarbit(u32, u32),
    /// Copies a header.
    AssignHeader(HeaderPlace, HeaderPlace),
    /// Copies all headers of a union.
    AssignUnion(u32, u32),
    /// Copies a stack.
    AssignStack(u32, u32),
    /// Makes a header valid.
    Validate(HeaderPlace),
    /// Makes it invalid.
    Invalidate(HeaderPlace),
    /// Moves the elements of a stack back by so many.
    Push(u32, Expression),
    /// Moves them to the front.
    Pop(u32, Expression),
    /// Goes on at an instruction of the action.
    Jump(u32),
    /// The same if the value is 0.
    JumpIfZero(Expression, u32),
    /// Ends the control.
    Exit,
    /// `assert` or `assume`: ends the packet if the value is 0; which message says so.
    Assert(Expression, u32),
    /// `log_msg`: message, and its values in the program's lists.
    Log(u32, u32, u32),
    /// The packet is dropped unless something is said later.
    MarkToDrop,
    /// A uniform number: where to, least, most.
    Random(Slot, Expression, Expression),
    /// A hash: where to, base, calculation, size.
    Hash(Slot, Expression, u32, Expression),
    /// Counts in an array.
    Count(u32, Expression),
    /// Executes a meter of an array; the colour's place.
    Meter(u32, Expression, Slot),
    /// Reads a register: where to, array, index.
    RegisterRead(Slot, u32, Expression),
    /// Writes one: array, index, value.
    RegisterWrite(u32, Expression, Expression),
    /// A copy of the packet, as it came into ingress or is at the end of egress, goes to a mirroring session, with a
    /// list of fields.
    Clone(Expression, Expression),
    /// The packet begins again, as it came in.
    Resubmit(Expression),
    /// The packet begins again, as it leaves.
    Recirculate(Expression),
    /// Values for the control plane.
    Digest(Expression),
    /// The packet becomes so short at most.
    Truncate(Expression),
    /// A function beyond v1model; the first of its arguments in the program's lists, and of what it writes in
    /// its outputs.
    Beyond(Beyond, u32, u32),
}

/// Functions beyond v1model, which `p4/hitless.p4` declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Nanoseconds since the start: to.
    TimestampNs,
    /// The hash of the packet's flow: to.
    FlowHash,
    /// The packet goes to this queue: port, queue.
    SendToQueue,
    /// Bytes in a queue: port, queue, to.
    QueueDepth,
    /// Whether a queue takes the packet: port, queue, to.
    QueueHasRoom,
    /// The queue of the packet's class at a port: port, to.
    ClassQueue,
    /// Stops the service of a queue: port, queue.
    PauseQueue,
    /// Goes on with it: port, queue.
    ResumeQueue,
    /// The clone that is asked for goes to this queue: port, queue.
    DirectClone,
    /// A generated packet comes in later: nanoseconds, token.
    StartTimer,
    /// The rotating group of a port: port, to round, to first queue, to number of queues.
    CurrentRound,
    /// The port that routing proposes: to.
    RoutedPort,
}

impl Beyond {
    /// Whether only ingress may call it.
    pub const fn is_of_ingress(self) -> bool {
        matches!(self, Self::QueueHasRoom | Self::CurrentRound | Self::RoutedPort)
    }

    /// How many fields it writes.
    pub(crate) const fn outputs(self) -> usize {
        match self {
            Self::TimestampNs
            | Self::FlowHash
            | Self::QueueDepth
            | Self::QueueHasRoom
            | Self::ClassQueue
            | Self::RoutedPort => 1,
            Self::CurrentRound => 3,
            Self::SendToQueue | Self::PauseQueue | Self::ResumeQueue | Self::DirectClone | Self::StartTimer => 0,
        }
    }

    /// The function of this name, with its arguments: true where one is written.
    pub fn of(name: &str) -> Option<(Self, &'static [bool])> {
        const TO: bool = true;
        Some(match name {
            "timestamp_ns" => (Self::TimestampNs, &[TO]),
            "flow_hash" => (Self::FlowHash, &[TO]),
            "send_to_queue" => (Self::SendToQueue, &[false, false]),
            "queue_depth" => (Self::QueueDepth, &[false, false, TO]),
            "queue_has_room" => (Self::QueueHasRoom, &[false, false, TO]),
            "class_queue" => (Self::ClassQueue, &[false, TO]),
            "pause_queue" => (Self::PauseQueue, &[false, false]),
            "resume_queue" => (Self::ResumeQueue, &[false, false]),
            "direct_clone" => (Self::DirectClone, &[false, false]),
            "start_timer" => (Self::StartTimer, &[false, false]),
            "current_round" => (Self::CurrentRound, &[false, TO, TO, TO]),
            "routed_port" => (Self::RoutedPort, &[TO]),
            _ => return None,
        })
    }
}
