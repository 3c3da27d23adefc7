//! A packet, as a Python hook sees it.

use hitless_core::wire::{Ecn, HostId, Packet, ShimId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The ECN field.
#[pyclass(eq, frozen, hash, module = "hitless._native", name = "Ecn", rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum EcnView {
    /// Not ECN-capable: congestion can only be signalled by dropping the packet.
    NotCapable,
    /// The transport is ECN-capable.
    Capable,
    /// Congestion experienced.
    CongestionExperienced,
}

/// A copy of a packet's descriptor.
#[pyclass(module = "hitless._native", name = "Packet")]
#[derive(Default)]
pub struct PacketView {
    /// The descriptor. It is boxed because of its alignment, which Python objects do not support.
    packet: Box<Packet>,
    /// The header of the mechanism, apart from the descriptor's.
    header: Option<Vec<u8>>,
}

impl PacketView {
    /// Shows a packet with the header that has this identifier.
    pub fn show(&mut self, packet: &Packet, header: Option<ShimId>) {
        *self.packet = *packet;
        self.header = header.and_then(|id| packet.shims.bytes_of(id)).map(<[u8]>::to_vec);
    }

    /// Returns the packet as the hook left it, with its header.
    pub fn packed(&self, id: Option<ShimId>) -> PyResult<Packet> {
        let mut packet = *self.packet;
        if let Some(id) = id {
            packet.shims.remove_id(id);
        }
        let Some(header) = &self.header else { return Ok(packet) };
        let declared = id.map_or(0, ShimId::bytes);
        if header.len() != declared {
            let rule = format!("the class declares header_bytes={declared}");
            return Err(PyValueError::new_err(format!("a header of {} bytes, and {rule}", header.len())));
        }
        if let Some(id) = id {
            let room = packet.shims.push_room(id).map_err(|full| PyValueError::new_err(full.to_string()))?;
            room.copy_from_slice(header);
        }
        Ok(packet)
    }
}

#[pymethods]
impl PacketView {
    /// Makes a packet of the mechanism.
    #[new]
    #[pyo3(signature = (frame_bytes, *, source=0, destination=0, traffic_class=0))]
    fn new(frame_bytes: u32, source: u32, destination: u32, traffic_class: u8) -> PyResult<Self> {
        let (source, destination) = (HostId(source), HostId(destination));
        let packet = Packet { frame_bytes, source, destination, ttl: Packet::INITIAL_TTL, ..Packet::default() };
        let mut made = Self { packet: Box::new(packet), header: None };
        made.set_traffic_class(traffic_class)?;
        Ok(made)
    }

    /// Makes a copy.
    fn copy(&self) -> Self {
        Self { packet: self.packet.clone(), header: self.header.clone() }
    }

    /// The header of this mechanism, as bytes, or None. It stays on the packet on links and in other switches until a
    /// hook sets it to None, and its length is part of `frame_bytes`.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.header.as_deref().map(|header| PyBytes::new(py, header))
    }

    #[setter]
    fn set_header(&mut self, header: Option<Vec<u8>>) {
        let length = |header: &Option<Vec<u8>>| header.as_ref().map_or(0, |bytes| bytes.len() as u32);
        self.packet.frame_bytes = self.packet.frame_bytes - length(&self.header) + length(&header);
        self.header = header;
    }

    /// Length of the frame with its check sequence and all headers of mechanisms.
    #[getter]
    fn frame_bytes(&self) -> u32 {
        self.packet.frame_bytes
    }

    /// The number of its flow in this run, by the order of starts.
    #[getter]
    fn flow(&self) -> u32 {
        self.packet.flow.0
    }

    /// The number of the source host.
    #[getter]
    fn source(&self) -> u32 {
        self.packet.source.0
    }

    /// The number of the destination host.
    #[getter]
    fn destination(&self) -> u32 {
        self.packet.destination.0
    }

    /// Hash of the 5-tuple.
    #[getter]
    fn flow_hash(&self) -> u32 {
        self.packet.flow_hash
    }

    /// The port at which it entered the switch.
    #[getter]
    fn ingress_port(&self) -> u16 {
        self.packet.ingress_port.0
    }

    /// The port through which it will leave the switch.
    #[getter]
    fn egress_port(&self) -> u16 {
        self.packet.egress_port.0
    }

    /// The queue of that port.
    #[getter]
    fn queue(&self) -> u8 {
        self.packet.queue.0
    }

    /// Its traffic class, 0 to 7.
    #[getter]
    fn traffic_class(&self) -> u8 {
        self.packet.class
    }

    #[setter]
    fn set_traffic_class(&mut self, class: u8) -> PyResult<()> {
        if class > 7 {
            return Err(PyValueError::new_err(format!("there is no traffic class {class}; they are 0 to 7")));
        }
        self.packet.class = class;
        Ok(())
    }

    /// The ECN field.
    #[getter]
    fn ecn(&self) -> EcnView {
        match self.packet.ecn {
            Ecn::NotCapable => EcnView::NotCapable,
            Ecn::Capable => EcnView::Capable,
            Ecn::CongestionExperienced => EcnView::CongestionExperienced,
        }
    }

    /// Remaining hops.
    #[getter]
    fn ttl(&self) -> u8 {
        self.packet.ttl
    }

    /// Its role, defined by its owner.
    #[getter]
    fn role(&self) -> u8 {
        self.packet.role
    }

    /// Its urgency; a smaller value is more urgent.
    #[getter]
    fn urgency(&self) -> u32 {
        self.packet.urgency()
    }

    /// Whether it carries data of its flow.
    #[getter]
    fn has_payload(&self) -> bool {
        self.packet.transport.has_payload()
    }

    /// Whether it was trimmed to its header.
    #[getter]
    fn is_trimmed(&self) -> bool {
        self.packet.is_trimmed()
    }

    /// Whether it is a copy that a retransmission on the last link has sent.
    #[getter]
    fn is_link_retransmission(&self) -> bool {
        self.packet.is_link_retransmission
    }

    /// Whether a switch made it to inform a sender of congestion.
    #[getter]
    fn is_congestion_notice(&self) -> bool {
        self.packet.is_congestion_notice()
    }

    /// Marks congestion; returns false if its transport is not ECN-capable.
    fn mark_congestion(&mut self) -> bool {
        self.packet.mark_congestion()
    }

    /// Trims it to a header of `frame_bytes`; returns false if its receiver would not support that.
    fn trim(&mut self, frame_bytes: u32) -> bool {
        self.packet.trim(frame_bytes)
    }
}
