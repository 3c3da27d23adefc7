//! Checks of `[[measure.capture]]`.

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::Time;

use super::check::Check;
use crate::capture::{CapturedProtocol, PacketCapture};
use crate::network::topology::Topology;
use crate::scenario::Purpose;

impl Check<'_> {
    pub(super) fn captures(&mut self, topology: &Topology) {
        let captures = &self.scenario.measure.capture;
        self.require_unique(captures.iter().map(|capture| capture.name.as_str()), "measure.capture");
        for (index, capture) in captures.iter().enumerate() {
            self.capture(capture, topology, &format!("measure.capture[{index}]"));
        }
    }

    fn capture(&mut self, capture: &PacketCapture, topology: &Topology, section: &str) {
        self.require_file_name(&capture.name, "file", &format!("{section}.name"));
        self.require_else(capture.has_place(), || {
            let hint = "name hosts, links, ports or switches; \"*\" is all of a kind";
            Problem::new(format!("{section}.links"), "", "a capture needs a place").hint(hint)
        });
        let mut unknown = Vec::new();
        capture.places(topology, |name, field, rule| unknown.push((name.to_owned(), field, rule)));
        for (name, field, rule) in unknown {
            self.no_such_place(topology, &name, &format!("{section}.{field}"), rule);
        }
        self.capture_filter(capture, section);
        if self.purpose == Purpose::Live {
            self.capture_of_real_hosts(capture, section);
        }
        self.capture_times(capture, section);
    }

    fn capture_filter(&mut self, capture: &PacketCapture, section: &str) {
        for (index, group) in capture.groups.iter().enumerate() {
            self.require_group(group, &format!("{section}.groups[{index}]"));
        }
        let are_classes = capture.classes.iter().all(|&class| class < 8);
        self.require(are_classes, &format!("{section}.classes"), "must be from 0 to 7");
        let has_queues = capture.queues.is_empty() || !capture.ports.is_empty();
        let rule = "select packets at ports, and this capture has no ports";
        self.require(has_queues, &format!("{section}.queues"), rule);
        self.require(capture.limit > 0, &format!("{section}.limit"), "must be at least 1");
    }

    /// Refuses filters that no frame of a real host can pass.
    fn capture_of_real_hosts(&mut self, capture: &PacketCapture, section: &str) {
        let rule = "select simulated flows, and a live run has none: remove them";
        self.require(capture.groups.is_empty(), &format!("{section}.groups"), rule);
        let is_simulated = |one: &CapturedProtocol| matches!(one, CapturedProtocol::PacketPair | CapturedProtocol::Uet);
        let rule = "packet-pair and uet are protocols of simulated hosts, and a live run has none: remove them";
        self.require(!capture.protocols.iter().any(is_simulated), &format!("{section}.protocols"), rule);
    }

    fn capture_times(&mut self, capture: &PacketCapture, section: &str) {
        let until = capture.until.unwrap_or(Time::NEVER);
        self.require_else(capture.from < until, || {
            let rule = format!("must be before until = {}", until.text());
            Problem::new(format!("{section}.from"), "", rule)
        });
        let rule = "must be before the run ends (duration)";
        self.require(self.is_within_run(capture.from), &format!("{section}.from"), rule);
    }
}
