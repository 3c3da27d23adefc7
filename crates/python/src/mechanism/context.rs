//! A Python hook's view of its switch, and its requests.

use std::sync::Arc;

use hitless_core::wire::{Duration, Packet, PortId, QueueId, ShimId, Time};
use hitless_switch::Context;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use super::known_queues::KnownQueues;
use super::packet::PacketView;

/// The depth of a queue before the hook.
#[derive(Clone, Copy)]
struct Depth {
    port: PortId,
    queue: QueueId,
    bytes: u64,
    committed_bytes: u64,
}

/// A request of a hook.
pub enum Request {
    /// [`Context::adopt`].
    Adopt(u8),
    /// [`Context::release`].
    Release,
    /// [`Context::wake_at`].
    WakeAt(Time, u32),
    /// `QueueAccess::mirror`, with the contents of the copy.
    Mirror(PortId, QueueId, u8, Packet),
    /// `QueueAccess::emit`.
    Emit(PortId, QueueId, u8, Packet),
    /// `QueueAccess::pause`.
    Pause(PortId, QueueId),
    /// `QueueAccess::resume`, or `resume_after`.
    Resume(PortId, QueueId, Duration),
}

impl Request {
    /// Executes the request.
    pub fn apply(self, context: &mut Context<'_>) {
        match self {
            Self::Adopt(role) => context.adopt(role),
            Self::Release => context.release(),
            Self::WakeAt(at, token) => context.wake_at(at, token),
            Self::Mirror(port, queue, role, packet) => context.queue(port, queue).mirror(role, |copy| *copy = packet),
            Self::Emit(port, queue, role, packet) => context.queue(port, queue).emit(packet, role),
            Self::Pause(port, queue) => context.queue(port, queue).pause(),
            Self::Resume(port, queue, Duration::ZERO) => context.queue(port, queue).resume(),
            Self::Resume(port, queue, delay) => context.queue(port, queue).resume_after(delay),
        }
    }
}

/// The visible state before a hook.
pub struct Seen {
    now: Time,
    port: u16,
    has_packet: bool,
    is_last_try: bool,
    is_mine: bool,
}

impl Seen {
    /// Reads the state for a hook with a packet.
    pub fn with_packet(context: &mut Context<'_>) -> Self {
        let (is_last_try, is_mine) = (context.is_last_try(), context.is_mine());
        Self { now: context.now(), port: context.port().0, has_packet: true, is_last_try, is_mine }
    }

    /// Reads the state for `on`.
    pub fn without_packet(context: &Context<'_>) -> Self {
        Self { now: context.now(), port: 0, has_packet: false, is_last_try: false, is_mine: false }
    }
}

/// The hook's view of the switch. One object serves all hooks of a mechanism, one after the other.
#[pyclass(module = "hitless._native", name = "Context")]
pub struct ContextView {
    seen: Seen,
    packet: Py<PacketView>,
    depths: Vec<Depth>,
    requests: Vec<Request>,
    queues: Arc<KnownQueues>,
    /// The mechanism's header.
    header: Option<ShimId>,
    /// Whether a hook is running.
    is_open: bool,
}

// Python aligns objects to at most 16 bytes and a packet needs 64, so packets are boxed.
const _: () = assert!(align_of::<ContextView>() <= 16 && align_of::<PacketView>() <= 16);

impl ContextView {
    /// Makes a view for a mechanism that can name these queues.
    pub fn new(py: Python<'_>, queues: Arc<KnownQueues>, header: Option<ShimId>) -> PyResult<Self> {
        let seen = Seen { now: Time::ZERO, port: 0, has_packet: false, is_last_try: false, is_mine: false };
        let packet = Py::new(py, PacketView::default())?;
        Ok(Self { seen, packet, depths: Vec::new(), requests: Vec::new(), queues, header, is_open: false })
    }

    /// Stores the depths of queues.
    pub fn note_depths(&mut self, context: &mut Context<'_>, of: &[(PortId, QueueId)]) {
        self.depths.clear();
        self.depths.extend(of.iter().map(|&(port, queue)| Depth {
            port,
            queue,
            bytes: context.queue(port, queue).bytes(),
            committed_bytes: context.queue(port, queue).committed_bytes(),
        }));
    }

    /// Starts a hook.
    pub fn open(&mut self, py: Python<'_>, seen: Seen, context: &mut Context<'_>) {
        if seen.has_packet {
            self.packet.borrow_mut(py).show(context.packet(), self.header);
        }
        self.seen = seen;
        self.is_open = true;
    }

    /// Ends a hook; returns the packet as the hook left it, and the hook's requests.
    pub fn close(&mut self, py: Python<'_>) -> (PyResult<Option<Packet>>, Vec<Request>) {
        self.is_open = false;
        let packet = self.seen.has_packet.then(|| self.packet.borrow(py).packed(self.header));
        (packet.transpose(), std::mem::take(&mut self.requests))
    }

    fn request(&mut self, request: Request) -> PyResult<()> {
        if !self.is_open {
            return Err(PyRuntimeError::new_err("a context is there for its hook only, and that has returned"));
        }
        self.requests.push(request);
        Ok(())
    }

    fn require_packet(&self) -> PyResult<()> {
        if !self.seen.has_packet {
            return Err(PyRuntimeError::new_err("on() is called for no packet"));
        }
        Ok(())
    }

    fn depth(&self, port: u16, queue: u8) -> PyResult<Depth> {
        let asked = self.depths.iter().find(|depth| (depth.port.0, depth.queue.0) == (port, queue));
        asked.copied().ok_or_else(|| {
            let rule = "was not asked for: name it in Needs(depths=[(port, queue), ...])";
            PyValueError::new_err(format!("the depth of queue {queue} of port {port} {rule}"))
        })
    }
}

#[pymethods]
impl ContextView {
    /// The time in picoseconds.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.seen.now.as_ps()
    }

    /// In ingress the port at which the packet arrived, in egress the port through which it leaves.
    #[getter]
    fn port(&self) -> u16 {
        self.seen.port
    }

    /// The packet. Changes take effect when the hook returns.
    #[getter]
    fn packet(&self, py: Python<'_>) -> PyResult<Py<PacketView>> {
        self.require_packet()?;
        Ok(self.packet.clone_ref(py))
    }

    /// For a packet that the traffic manager drops: whether it ends regardless of the hook's verdict.
    #[getter]
    fn is_last_try(&self) -> bool {
        self.seen.is_last_try
    }

    /// Whether the packet belongs to this mechanism.
    #[getter]
    fn is_mine(&self) -> bool {
        self.seen.is_mine
    }

    /// Takes ownership of the packet: afterwards only its owner's hooks see it.
    fn adopt(&mut self, role: u8) -> PyResult<()> {
        self.require_packet()?;
        self.request(Request::Adopt(role))
    }

    /// Gives up the ownership of the packet.
    fn release(&mut self) -> PyResult<()> {
        self.require_packet()?;
        self.request(Request::Release)
    }

    /// Calls `on` with `Event.Timer(token)` at `at_ps`.
    fn wake_at(&mut self, at_ps: u64, token: u32) -> PyResult<()> {
        if at_ps < self.now_ps() {
            return Err(PyValueError::new_err(format!("{at_ps} ps is over: it is {} ps", self.now_ps())));
        }
        self.request(Request::WakeAt(Time(at_ps), token))
    }

    /// A queue of a port.
    fn queue(slf: PyRef<'_, Self>, port: u16, queue: u8) -> PyResult<QueueView> {
        slf.queues.queue(port, queue)?;
        Ok(QueueView { context: slf.into(), port, queue })
    }
}

/// A queue of any port.
#[pyclass(frozen, module = "hitless._native", name = "QueueAccess")]
pub struct QueueView {
    context: Py<ContextView>,
    port: u16,
    queue: u8,
}

impl QueueView {
    fn managed(&self, py: Python<'_>) -> PyResult<(PortId, QueueId)> {
        self.context.borrow(py).queues.managed(self.port, self.queue)
    }
}

#[pymethods]
impl QueueView {
    /// Bytes waiting in the queue.
    #[getter]
    fn bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.context.borrow(py).depth(self.port, self.queue)?.bytes)
    }

    /// Bytes waiting, in transmission and on their way to the queue.
    #[getter]
    fn committed_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.context.borrow(py).depth(self.port, self.queue)?.committed_bytes)
    }

    /// Sends a copy of the packet in its present state, or `copy`, owned in `role`.
    #[pyo3(signature = (role, copy=None))]
    fn mirror(&self, py: Python<'_>, role: u8, copy: Option<PyRef<'_, PacketView>>) -> PyResult<()> {
        let (port, queue) = self.managed(py)?;
        let mut context = self.context.borrow_mut(py);
        context.require_packet()?;
        let copy =
            copy.map_or_else(|| context.packet.borrow(py).packed(context.header), |it| it.packed(context.header));
        let packet = copy?;
        context.request(Request::Mirror(port, queue, role, packet))
    }

    /// Sends a packet that the mechanism made, owned in `role`.
    fn emit(&self, py: Python<'_>, packet: PyRef<'_, PacketView>, role: u8) -> PyResult<()> {
        let (port, queue) = self.managed(py)?;
        let mut context = self.context.borrow_mut(py);
        let packet = packet.packed(context.header)?;
        context.request(Request::Emit(port, queue, role, packet))
    }

    /// Pauses the queue.
    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        let (port, queue) = self.managed(py)?;
        self.context.borrow_mut(py).request(Request::Pause(port, queue))
    }

    /// Resumes the queue after `delay_ps`.
    #[pyo3(signature = (delay_ps=0))]
    fn resume(&self, py: Python<'_>, delay_ps: u64) -> PyResult<()> {
        let (port, queue) = self.managed(py)?;
        self.context.borrow_mut(py).request(Request::Resume(port, queue, Duration(delay_ps)))
    }
}
