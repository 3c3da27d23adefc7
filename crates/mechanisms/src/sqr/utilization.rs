//! Port utilization, and the least loaded port (section III-D).

use hitless_core::wire::PortId;
use hitless_switch::{Half, Pass, RegisterArray, RegisterUse, register_cell};

use super::clock::Clock;

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Window {
    started_ns: u32,
    bytes: u32,
}

/// The least loaded port (LeastLoadedPort) and its load when last seen (LeastUtilization).
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Least {
    port: PortId,
    bytes: u32,
}

register_cell!(Window { started_ns: u32, bytes: u32 });
register_cell!(Least { port: PortId, bytes: u32 });

#[derive(Debug, hitless_core::state::State)]
pub struct Utilization {
    #[part]
    windows: RegisterArray<Window>,
    #[part]
    least: RegisterArray<Least>,
    /// Whether the ring may use a port, by port.
    is_caching: Vec<bool>,
    caching_ports: Vec<PortId>,
    window_ns: u32,
}

impl Utilization {
    /// Utilization of idle ports; the ring begins with the first of `caching_ports`.
    pub fn new(ports: usize, caching_ports: &[PortId], window_ns: u32) -> Self {
        let first = *caching_ports.first().expect("a ring has at least one port");
        let is_caching = (0..ports).map(|port| caching_ports.contains(&PortId(port as u16))).collect();
        Self {
            windows: RegisterArray::new("bytesInWindow", Half::Egress, 0, ports, Window::default()),
            least: RegisterArray::new("LeastLoadedPort", Half::Egress, 1, 1, Least { port: first, bytes: 0 }),
            is_caching,
            caching_ports: caching_ports.to_vec(),
            window_ns,
        }
    }

    pub fn stated(&self) -> impl Iterator<Item = RegisterUse> {
        [self.windows.stated(), self.least.stated()].into_iter()
    }

    /// Counts the bytes of an original at its egress port. Returns the least loaded port.
    pub fn note(&mut self, pass: &mut Pass, port: PortId, bytes: u32, now_ns: u32, clock: Clock) -> PortId {
        let window_ns = self.window_ns;
        let load = self.windows.access(pass, usize::from(port.0), |window| {
            // The paper's moving window; here each window starts anew, because a register has a single count.
            if clock.elapsed_ns(window.started_ns, now_ns) >= window_ns {
                *window = Window { started_ns: now_ns, bytes: 0 };
            }
            window.bytes = window.bytes.saturating_add(bytes);
            window.bytes
        });
        let is_candidate = self.is_caching[usize::from(port.0)];
        self.least.access(pass, 0, |least| {
            // The least loaded port updates its own load even if it rises ("Tracking Port Utilization"); otherwise a
            // port that was once idle would be chosen for ever.
            if is_candidate && (load < least.bytes || port == least.port) {
                *least = Least { port, bytes: load };
            }
            least.port
        })
    }

    /// Looks at a caching port, selected by the tag of a copy, because an idle port has no original to report its load.
    /// Returns the least loaded port.
    pub fn look(&mut self, pass: &mut Pass, tag: u32, now_ns: u32, clock: Clock) -> PortId {
        // Consecutive tags visit all ports of the ring in turn, without another register.
        let port = self.caching_ports[tag as usize % self.caching_ports.len()];
        self.note(pass, port, 0, now_ns, clock)
    }

    pub fn least_loaded(&mut self, pass: &mut Pass) -> PortId {
        self.least.access(pass, 0, |least| least.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(utilization: &mut Utilization, port: u16, bytes: u32, now_ns: u32) -> u16 {
        let mut pass = Pass::new(true);
        pass.begin(Half::Egress);
        utilization.note(&mut pass, PortId(port), bytes, now_ns, Clock::new(32)).0
    }

    #[test]
    fn the_least_loaded_port_is_the_one_last_seen_with_the_fewest_bytes_in_its_window() {
        let mut utilization = Utilization::new(3, &[PortId(0), PortId(1)], 1_000);
        let steps =
            [(0, 500, 0, 0), (1, 400, 10, 1), (2, 1, 20, 1), (1, 200, 30, 1), (0, 50, 1_500, 0), (1, 10, 1_600, 1)];
        for (port, bytes, now_ns, least) in steps {
            assert_eq!(sent(&mut utilization, port, bytes, now_ns), least, "port {port} at {now_ns}");
        }
    }

    #[test]
    fn copies_find_a_port_that_sends_nothing() {
        let mut utilization = Utilization::new(3, &[PortId(0), PortId(2)], 1_000);
        assert_eq!(sent(&mut utilization, 0, 500, 10), 0);
        for (tag, least) in [(0, 0), (1, 2)] {
            let mut pass = Pass::new(true);
            pass.begin(Half::Egress);
            assert_eq!(utilization.look(&mut pass, tag, 20, Clock::new(32)), PortId(least), "{tag}");
        }
    }
}
