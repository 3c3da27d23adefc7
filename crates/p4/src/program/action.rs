use std::ops::Range;

use crate::bits::Slot;
use crate::node::{Expression, HeaderPlace};

#[derive(Clone, Debug)]
pub struct Action {
    pub name: String,
    /// Names of the parameters, and their positions in the data.
    pub parameters: Vec<(String, Slot)>,
    pub data_bytes: u32,
    pub code: Range<u32>,
}

#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    Assign(Slot, Expression),
    /// Sets a field of a header that is located at run time: header, field, value.
    AssignAt(HeaderPlace, u32, Expression),
    /// Copies a varbit between two headers.
    AssignVarbit(u32, u32),
    AssignHeader(HeaderPlace, HeaderPlace),
    AssignUnion(u32, u32),
    AssignStack(u32, u32),
    Validate(HeaderPlace),
    Invalidate(HeaderPlace),
    /// Shifts the elements of a stack back by this many.
    Push(u32, Expression),
    /// Shifts the elements of a stack to the front.
    Pop(u32, Expression),
    /// Continues at an instruction of the action.
    Jump(u32),
    /// Continues there if the value is 0.
    JumpIfZero(Expression, u32),
    Exit,
    /// `assert` or `assume`: aborts the packet if the value is 0, with this message.
    Assert(Expression, u32),
    /// `log_msg`: message, first of its values in the program's lists, and their number.
    Log(u32, u32, u32),
    /// Marks the packet to be dropped, unless a later instruction selects a port.
    MarkToDrop,
    /// A uniform random number: target, minimum, maximum.
    Random(Slot, Expression, Expression),
    /// A hash: target, base, calculation, size.
    Hash(Slot, Expression, u32, Expression),
    Count(u32, Expression),
    /// Executes a meter of an array; the last operand is the target of the colour.
    Meter(u32, Expression, Slot),
    /// Reads a register: target, array, index.
    RegisterRead(Slot, u32, Expression),
    /// Writes a register: array, index, value.
    RegisterWrite(u32, Expression, Expression),
    /// Clones the packet, as it arrived or as it is at the end of egress, to a mirroring session, with a list of
    /// fields.
    Clone(Expression, Expression),
    /// Resubmits the packet as it arrived.
    Resubmit(Expression),
    /// Recirculates the packet as it departs.
    Recirculate(Expression),
    /// Sends values to the control plane.
    Digest(Expression),
    Truncate(Expression),
    /// A function beyond v1model: function, its first argument in the program's lists, and its first target in the
    /// program's outputs.
    Beyond(Beyond, u32, u32),
}

/// Functions beyond v1model, declared in `p4/hitless.p4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Nanoseconds since the start: target.
    TimestampNs,
    /// The hash of the packet's flow: target.
    FlowHash,
    /// Selects the packet's queue: port, queue.
    SendToQueue,
    /// Bytes in a queue: port, queue, target.
    QueueDepth,
    /// Whether a queue has room for the packet: port, queue, target.
    QueueHasRoom,
    /// The queue for the packet's class at a port: port, target.
    ClassQueue,
    /// Pauses a queue: port, queue.
    PauseQueue,
    /// Resumes a queue: port, queue.
    ResumeQueue,
    /// Selects the queue of the requested clone: port, queue.
    DirectClone,
    /// Schedules a generated packet: nanoseconds, token.
    StartTimer,
    /// The rotating group of a port: port, targets of round, first queue and number of queues.
    CurrentRound,
    /// The port selected by routing: target.
    RoutedPort,
}

const TO: bool = true;

/// Name, function, and its arguments, as p4/hitless.p4 declares them.
const FUNCTIONS: [(&str, Beyond, &[bool]); 12] = [
    ("timestamp_ns", Beyond::TimestampNs, &[TO]),
    ("flow_hash", Beyond::FlowHash, &[TO]),
    ("send_to_queue", Beyond::SendToQueue, &[false, false]),
    ("queue_depth", Beyond::QueueDepth, &[false, false, TO]),
    ("queue_has_room", Beyond::QueueHasRoom, &[false, false, TO]),
    ("class_queue", Beyond::ClassQueue, &[false, TO]),
    ("pause_queue", Beyond::PauseQueue, &[false, false]),
    ("resume_queue", Beyond::ResumeQueue, &[false, false]),
    ("direct_clone", Beyond::DirectClone, &[false, false]),
    ("start_timer", Beyond::StartTimer, &[false, false]),
    ("current_round", Beyond::CurrentRound, &[false, TO, TO, TO]),
    ("routed_port", Beyond::RoutedPort, &[TO]),
];

impl Beyond {
    /// Whether only ingress can call the function.
    pub const fn is_of_ingress(self) -> bool {
        matches!(self, Self::QueueHasRoom | Self::CurrentRound | Self::RoutedPort)
    }

    /// Number of fields that the function writes.
    pub(crate) fn outputs(self) -> usize {
        let (.., arguments) = FUNCTIONS.iter().find(|known| known.1 == self).expect("every function is listed");
        arguments.iter().filter(|&&is_written| is_written).count()
    }

    /// The function with this name, and its arguments: true if the function writes it.
    pub fn of(name: &str) -> Option<(Self, &'static [bool])> {
        FUNCTIONS.iter().find(|known| known.0 == name).map(|&(_, function, arguments)| (function, arguments))
    }
}
