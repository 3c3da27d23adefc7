//! A mechanism whose hooks are methods of a Python object.

use std::sync::Arc;

use hitless_switch::{Context, DropReason, Event, HookSet, Mechanism, Needs, Report, Resources, Verdict};
use hitless_wire::{Packet, PortId, QueueId, Time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::context::{ContextView, Request, Seen};
use super::fault::end_run;
use super::known_queues::KnownQueues;
use super::words::{EventView, ReasonView, VerdictView};
use super::{needs, report};

/// A hook of an object, if its class defines it.
type Method = Option<Py<PyAny>>;

/// The hooks that an object has.
#[derive(Default)]
pub struct Methods {
    rx: Method,
    ingress: Method,
    egress: Method,
    tx: Method,
    on_tm_drop: Method,
    on: Method,
    report: Method,
}

impl Methods {
    /// Those of `defined`, by name.
    pub fn of(object: &Bound<'_, PyAny>, defined: &[String]) -> PyResult<Self> {
        let method = |name: &str| {
            let is_defined = defined.iter().any(|known| known == name);
            is_defined.then(|| object.getattr(name).map(Bound::unbind)).transpose()
        };
        Ok(Self {
            rx: method("rx")?,
            ingress: method("ingress")?,
            egress: method("egress")?,
            tx: method("tx")?,
            on_tm_drop: method("on_tm_drop")?,
            on: method("on")?,
            report: method("report")?,
        })
    }

    /// What can be subscribed to.
    fn hooks(&self) -> HookSet {
        let all = [
            (&self.rx, HookSet::RX),
            (&self.ingress, HookSet::INGRESS_FROM.with(HookSet::INGRESS_TOWARDS)),
            (&self.egress, HookSet::EGRESS),
            (&self.tx, HookSet::TX),
            (&self.on_tm_drop, HookSet::TM_DROP),
            (&self.on, HookSet::QUEUE_EMPTY),
        ];
        all.into_iter().filter(|(method, _)| method.is_some()).fold(HookSet::NONE, |sum, (_, hook)| sum.with(hook))
    }
}

/// What comes before the context among the arguments of a hook.
enum Argument {
    None,
    Reason(DropReason),
    Event(Event),
}

/// What came of a call.
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
    /// None before the switch has asked what is needed.
    view: Option<Py<ContextView>>,
    depths: Vec<(PortId, QueueId)>,
    queues: Arc<KnownQueues>,
    was_called: bool,
}

impl PythonMechanism {
    /// `object`, with the hooks that its class defines.
    pub fn new(kind: &'static str, object: Py<PyAny>, methods: Methods, queues_most: u16) -> Self {
        let (depths, queues) = (Vec::new(), Arc::default());
        Self { kind, object, methods, queues_most, view: None, depths, queues, was_called: false }
    }

    fn ask(&mut self, py: Python<'_>, queue_counts: &[usize]) -> PyResult<Needs> {
        let returned = self.object.bind(py).call_method1("needs", (queue_counts,))?;
        let asked = needs::read(&returned, self.methods.hooks(), queue_counts.len(), self.queues_most)?;
        let queues = KnownQueues::new(queue_counts, &asked.needs);
        for (port, queue) in &asked.depths {
            queues.queue(port.0, queue.0)?;
        }
        self.queues = Arc::new(queues);
        self.view = Some(Py::new(py, ContextView::new(py, Arc::clone(&self.queues))?)?);
        self.depths = asked.depths;
        Ok(asked.needs)
    }

    /// Calls a hook and carries out what it asks for. One that the class does not define lets everything go on.
    fn call(
        &mut self,
        hook: &'static str,
        method: impl Fn(&Methods) -> &Method,
        argument: Argument,
        context: &mut Context<'_>,
    ) -> Verdict {
        if method(&self.methods).is_none() {
            return Verdict::Continue;
        }
        self.was_called = true;
        let answer = Python::attach(|py| self.answer(py, hook, method(&self.methods), argument, context));
        let Answer { verdict, packet, requests } = answer.unwrap_or_else(|error| end_run(self.kind, hook, error));
        if let Some(packet) = packet {
            *context.packet() = packet;
        }
        requests.into_iter().for_each(|request| request.apply(context));
        verdict
    }

    fn answer(
        &self,
        py: Python<'_>,
        hook: &str,
        method: &Method,
        argument: Argument,
        context: &mut Context<'_>,
    ) -> PyResult<Answer> {
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
                self.queues.allow(verdict, matches!(hook, "egress" | "tx"))?
            }
        };
        Ok(Answer { verdict, packet, requests })
    }
}

impl Mechanism for PythonMechanism {
    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        Python::attach(|py| self.ask(py, queue_counts)).unwrap_or_else(|error| end_run(self.kind, "needs", error))
    }

    fn report(&self, _: Time) -> Report {
        let Some(method) = &self.methods.report else {
            return Report { acted: self.was_called, ..Report::new(self.kind) };
        };
        let read = |py: Python<'_>| {
            let returned = method.call0(py)?;
            report::read(self.kind, returned.bind(py).cast::<PyDict>()?, self.was_called)
        };
        Python::attach(read).unwrap_or_else(|error| end_run(self.kind, "report", error))
    }

    fn resources(&self) -> Resources {
        Resources::new(self.kind).not_counting("the state of a class of Python")
    }

    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call("rx", |methods| &methods.rx, Argument::None, context)
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call("ingress", |methods| &methods.ingress, Argument::None, context)
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call("egress", |methods| &methods.egress, Argument::None, context)
    }

    fn tx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.call("tx", |methods| &methods.tx, Argument::None, context)
    }

    fn on_tm_drop(&mut self, reason: DropReason, context: &mut Context<'_>) -> Verdict {
        self.call("on_tm_drop", |methods| &methods.on_tm_drop, Argument::Reason(reason), context)
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.call("on", |methods| &methods.on, Argument::Event(event), context);
    }
}
