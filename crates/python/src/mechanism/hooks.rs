//! A mechanism with methods of a Python object as hooks.

use std::sync::Arc;

use hitless_core::wire::{Packet, PortId, QueueId, ShimId, Time};
use hitless_switch::{Context, Counter, DropReason, Event, HookSet, Mechanism, Needs, Report, Resources, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::context::{ContextView, Request, Seen};
use super::fault::end_run;
use super::known_queues::KnownQueues;
use super::words::{EventView, ReasonView, VerdictView};
use super::{needs, report};

/// The hooks that a class can define.
#[derive(Clone, Copy)]
enum Hook {
    Rx,
    Ingress,
    Egress,
    Tx,
    OnTmDrop,
    On,
    Report,
}

/// The name and the possible subscriptions of each [`Hook`].
const HOOKS: [(&str, HookSet); 7] = [
    ("rx", HookSet::RX),
    ("ingress", HookSet::INGRESS_FROM.with(HookSet::INGRESS_TOWARDS)),
    ("egress", HookSet::EGRESS),
    ("tx", HookSet::TX),
    ("on_tm_drop", HookSet::TM_DROP),
    ("on", HookSet::QUEUE_EMPTY),
    ("report", HookSet::NONE),
];

/// An object's methods for each [`Hook`].
#[derive(Default)]
pub struct Methods([Option<Py<PyAny>>; HOOKS.len()]);

impl Methods {
    /// Looks up the methods named in `defined`.
    pub fn of(object: &Bound<'_, PyAny>, defined: &[String]) -> PyResult<Self> {
        let mut methods = Self::default();
        for (method, (name, _)) in methods.0.iter_mut().zip(HOOKS) {
            if defined.iter().any(|known| known == name) {
                *method = Some(object.getattr(name)?.unbind());
            }
        }
        Ok(methods)
    }

    /// The possible subscriptions.
    fn hooks(&self) -> HookSet {
        let defined = self.0.iter().zip(HOOKS).filter(|(method, _)| method.is_some());
        defined.fold(HookSet::NONE, |sum, (_, (_, hook))| sum.with(hook))
    }
}

/// The first argument of a hook, before the context.
enum Argument {
    None,
    Reason(DropReason),
    Event(Event),
}

/// The result of a call.
struct Answer {
    verdict: Verdict,
    packet: Option<Packet>,
    requests: Vec<Request>,
}

/// A Python object on one switch.
pub struct PythonMechanism {
    kind: &'static str,
    object: Py<PyAny>,
    methods: Methods,
    queues_most: u16,
    header: Option<ShimId>,
    counters: &'static [Counter],
    /// None until the switch has asked for the mechanism's needs.
    view: Option<Py<ContextView>>,
    depths: Vec<(PortId, QueueId)>,
    queues: Arc<KnownQueues>,
    was_called: bool,
}

impl PythonMechanism {
    /// Wraps `object`, with the hooks that its class defines.
    pub fn new(
        kind: &'static str,
        object: Py<PyAny>,
        methods: Methods,
        queues_most: u16,
        header: Option<ShimId>,
        counters: &'static [Counter],
    ) -> Self {
        let (depths, queues) = (Vec::new(), Arc::default());
        Self { kind, object, methods, queues_most, header, counters, view: None, depths, queues, was_called: false }
    }

    fn ask(&mut self, py: Python<'_>, queue_counts: &[usize]) -> PyResult<Needs> {
        let returned = self.object.bind(py).call_method1("_all_needs", (queue_counts,))?;
        let asked = needs::read(&returned, self.methods.hooks(), queue_counts.len(), self.queues_most)?;
        let queues = KnownQueues::new(queue_counts, &asked.needs);
        for (port, queue) in &asked.depths {
            queues.queue(port.0, queue.0)?;
        }
        self.queues = Arc::new(queues);
        self.view = Some(Py::new(py, ContextView::new(py, Arc::clone(&self.queues), self.header)?)?);
        self.depths = asked.depths;
        Ok(asked.needs)
    }

    /// Calls a hook and executes its requests. A hook that the class does not define continues.
    fn call(&mut self, hook: Hook, argument: Argument, context: &mut Context<'_>) -> Verdict {
        if self.methods.0[hook as usize].is_none() {
            return Verdict::Continue;
        }
        self.was_called = true;
        let answer = Python::attach(|py| self.answer(py, hook, argument, context));
        let name = HOOKS[hook as usize].0;
        let Answer { verdict, packet, requests } = answer.unwrap_or_else(|error| end_run(self.kind, name, error));
        if let Some(packet) = packet {
            *context.packet() = packet;
        }
        requests.into_iter().for_each(|request| request.apply(context));
        verdict
    }

    fn answer(&self, py: Python<'_>, hook: Hook, argument: Argument, context: &mut Context<'_>) -> PyResult<Answer> {
        let method = &self.methods.0[hook as usize];
        let (Some(method), Some(view)) = (method, &self.view) else { unreachable!("hooks come after needs") };
        let seen = match argument {
            Argument::Event(_) => Seen::without_packet(context),
            Argument::None | Argument::Reason(_) => Seen::with_packet(context),
        };
        {
            let mut view = view.borrow_mut(py);
            if !self.depths.is_empty() {
                view.note_depths(context, &self.depths);
            }
            view.open(py, seen, context);
        }
        let returned = match argument {
            Argument::None => method.call1(py, (view,)),
            Argument::Reason(reason) => method.call1(py, (ReasonView::of(reason), view)),
            Argument::Event(event) => method.call1(py, (EventView::of(event), view)),
        };
        let (packet, requests) = view.borrow_mut(py).close(py);
        let verdict = match argument {
            Argument::Event(_) => returned.map(|_| Verdict::Continue)?,
            Argument::None | Argument::Reason(_) => {
                let verdict = returned?.bind(py).cast::<VerdictView>()?.get().verdict();
                self.queues.allow(verdict, matches!(hook, Hook::Egress | Hook::Tx))?
            }
        };
        Ok(Answer { verdict, packet: packet?, requests })
    }
}

impl Mechanism for PythonMechanism {
    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        Python::attach(|py| self.ask(py, queue_counts)).unwrap_or_else(|error| end_run(self.kind, "needs", error))
    }

    fn report(&self, _: Time) -> Report {
        let Some(method) = &self.methods.0[Hook::Report as usize] else {
            return Report { acted: self.was_called, ..Report::new(self.kind) };
        };
        let read = |py: Python<'_>| {
            let returned = method.call0(py)?;
            report::read(self.kind, self.counters, returned.bind(py).cast::<PyDict>()?, self.was_called)
        };
        Python::attach(read).unwrap_or_else(|error| end_run(self.kind, "report", error))
    }

    fn resources(&self) -> Resources {
        Resources::new(self.kind).not_counting("the state of a class of Python")
    }

    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call(Hook::Rx, Argument::None, context)
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call(Hook::Ingress, Argument::None, context)
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call(Hook::Egress, Argument::None, context)
    }

    fn tx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call(Hook::Tx, Argument::None, context)
    }

    fn on_tm_drop(&mut self, reason: DropReason, context: &mut Context<'_>) -> Verdict {
        self.call(Hook::OnTmDrop, Argument::Reason(reason), context)
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.call(Hook::On, Argument::Event(event), context);
    }
}
