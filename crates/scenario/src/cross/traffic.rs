//! Checks of transports and flows.

use hitless_core::engine::RandomStreams;
use hitless_core::settings::quantity::Quantity;
use hitless_core::settings::{Problem, suggestion};
use hitless_core::wire::{Bytes, Duration, HostId};
use hitless_hosts::transport::packet_pair::PacketPairSettings;
use hitless_hosts::transport::roce::{AlphaUpdate, DcqcnSettings, RoceSettings};
use hitless_hosts::transport::tcp::{BoltTransportSettings, Congestion, SwiftSettings, TcpRecovery, TcpSettings};
use hitless_hosts::transport::udp::UdpSettings;
use hitless_hosts::transport::uet::UetSettings;

use super::check::Check;
use crate::network::topology::Topology;
use crate::network::topology::select::select_hosts;
use crate::workload::{LoadDenominator, build_group, load_of};
use crate::{FlowGroup, FlowPattern, Protocol, Until};

/// Returns whether each flow has a separate connection for a single message, so that the sender knows that the message
/// is the last.
fn has_one_message_each(pattern: &FlowPattern) -> bool {
    let has_several = match pattern {
        FlowPattern::Poisson(poisson) => poisson.connections.is_some(),
        FlowPattern::Long(_) | FlowPattern::ConstantRate(_) | FlowPattern::Requests(_) => true,
        FlowPattern::Schedule(_) | FlowPattern::Sequence(_) | FlowPattern::Incast(_) => false,
        FlowPattern::Permutation(_) | FlowPattern::AllToAll(_) => false,
        FlowPattern::List(_) | FlowPattern::DependencyList(_) => false,
    };
    !has_several && pattern.request().is_none()
}

impl Check<'_> {
    pub(super) fn transports(&mut self) {
        let transports = &self.scenario.transports;
        self.require_unique(transports.iter().map(|transport| transport.name.as_str()), "transport");
        for (index, transport) in transports.iter().enumerate() {
            let section = format!("transport[{index}]");
            match &transport.protocol {
                Protocol::Tcp(tcp) => self.tcp(tcp, &section),
                Protocol::Roce(roce) => self.roce(roce, &section),
                Protocol::Udp(udp) => self.udp(udp, &section),
                Protocol::PacketPair(pair) => self.packet_pair(pair, &section),
                Protocol::Uet(uet) => self.uet(uet, &section),
            }
        }
    }

    /// Checks lengths within a frame: the largest jumbo frames in use have 9,216 bytes.
    fn frame_parts<const PARTS: usize>(&mut self, parts: [(&str, Bytes); PARTS], section: &str) {
        for (name, bytes) in parts {
            let fits = (1..=9_216).contains(&bytes.0);
            let rule = "must be from 1 to 9216 B: it is part of an Ethernet frame";
            self.require(fits, &format!("{section}.{name}"), rule);
        }
    }

    /// Checks the minimum, maximum and initial retransmission timeout.
    fn timeouts(&mut self, [min, max, initial]: [Duration; 3], section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        self.require(min > Duration::ZERO, &field("rto_min"), "must be above zero");
        self.require(max >= min, &field("rto_max"), "must not be below rto_min");
        self.require(initial > Duration::ZERO, &field("rto_initial"), "must be above zero");
        self.require(max >= initial, &field("rto_max"), "must not be below rto_initial");
    }

    fn tcp(&mut self, tcp: &TcpSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let [ack, header] = [("ack_bytes", tcp.ack_bytes), ("header_bytes", tcp.header_bytes)];
        self.frame_parts([("mss", tcp.mss), ack, header], section);
        self.timeouts([tcp.rto_min, tcp.rto_max, tcp.rto_initial], section);
        self.require(tcp.syn_timeout > Duration::ZERO, &field("syn_timeout"), "must be above zero");
        self.require(tcp.sack || !tcp.rack_tlp, &field("rack_tlp"), "needs sack = true (RFC 8985, section 3)");
        self.require(tcp.sack || !tcp.dsack_undo, &field("dsack_undo"), "needs sack = true (RFC 2883, section 3)");
        if let Some(close) = tcp.close {
            self.jitter(close.jitter, &field("close"));
        }
        self.require_else(tcp.recovery == TcpRecovery::Newreno || !tcp.sack, || {
            let rule = "needs sack = false: RFC 6675 recovers what is acknowledged selectively";
            Problem::new(field("recovery"), "\"reno\"", rule).hint("set sack = false and rack_tlp = false")
        });
        let window_fits = tcp.receive_window.is_none_or(|window| window >= tcp.mss);
        self.require(window_fits, &field("receive_window"), "must hold at least one segment (mss)");
        let delay_fits = tcp.delayed_ack_segments == 1 || tcp.delayed_ack_timeout > Duration::ZERO;
        self.require(delay_fits, &field("delayed_ack_timeout"), "must be above zero");
        let knows = tcp.known_rtt.is_none_or(|rtt| rtt > Duration::ZERO && !tcp.handshake);
        self.require(knows, &field("known_rtt"), "must be above zero, and without handshake, which measures it");
        self.congestion(tcp, section);
    }

    /// Checks the congestion control with its parameters, and its needs.
    fn congestion(&mut self, tcp: &TcpSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        match &tcp.congestion {
            Congestion::Newreno(_) | Congestion::Cubic(_) => {}
            Congestion::Dctcp(_) => {
                self.require(tcp.ecn, &field("ecn"), "DCTCP reacts to nothing but marks (RFC 8257)");
                self.require_else(self.scenario.marks_somewhere(), || {
                    Problem::new(field("congestion"), "", "DCTCP needs switches that mark, and these do not").hint(
                        "give [switch] ecn = { threshold = \"65 packets\" }, or a mechanism that marks, as afq with \
                         ecn_rounds",
                    )
                });
            }
            Congestion::Bbr(bbr) => {
                self.require(tcp.pacing, &field("pacing"), "BBR is paced: its window is twice what the path holds");
                let believed = bbr.rtprop_window > Duration::ZERO;
                self.require(believed, &field("congestion.rtprop_window"), "must be above zero");
                let shorter = !believed || bbr.probe_rtt_duration < bbr.rtprop_window;
                let rule = "must be below rtprop_window, or the flow does nothing but probe";
                self.require(shorter, &field("congestion.probe_rtt_duration"), rule);
            }
            Congestion::Swift(swift) => {
                self.require(!tcp.ecn, &field("ecn"), "has no effect: Swift goes by delay and reacts to no marks");
                self.swift(swift, tcp, &field("congestion"));
            }
            Congestion::Bolt(bolt) => self.bolt(bolt, tcp, section),
            Congestion::Own(own) => {
                let problem = |(name, rule): (String, String)| {
                    let place = if name.is_empty() { name } else { format!(".{name}") };
                    Problem::new(format!("{section}.congestion{place}"), "", rule)
                };
                self.report_all(own.check().into_iter().map(problem));
            }
        }
    }

    fn swift(&mut self, swift: &SwiftSettings, tcp: &TcpSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        self.require(swift.base_target > Duration::ZERO, &field("base_target"), "must be above zero");
        let scales = swift.fs_max_cwnd > swift.fs_min_cwnd;
        self.require(scales, &field("fs_max_cwnd"), "must be above fs_min_cwnd");
        let most = swift.max_cwnd.unwrap_or(f64::INFINITY);
        self.require(swift.min_cwnd <= most, &field("min_cwnd"), "must not be above max_cwnd");
        let starts = f64::from(tcp.initial_window);
        self.require(starts >= swift.min_cwnd, &field("min_cwnd"), "must not be above initial_window");
    }

    /// Checks Bolt's senders, which need switches that send them notices.
    fn bolt(&mut self, bolt: &BoltTransportSettings, tcp: &TcpSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let ordered = bolt.min_cwnd <= bolt.max_cwnd.unwrap_or(f64::INFINITY);
        self.require(ordered, &field("congestion.min_cwnd"), "must not be above max_cwnd");
        self.require(!tcp.ecn, &field("ecn"), "has no effect: Bolt reacts to what its switches say, not to marks");
        let runs = self.scenario.mechanisms.iter().any(|entry| entry.facts.notifies_senders);
        self.require_else(runs, || {
            Problem::new(field("congestion"), "", "Bolt needs switches that tell it what to do, and these do not")
                .hint("add a [[mechanism]] of kind = \"bolt\"")
        });
    }

    fn roce(&mut self, roce: &RoceSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let [ack, header] = [("ack_bytes", roce.ack_bytes), ("header_bytes", roce.header_bytes)];
        self.frame_parts([("mtu", roce.mtu), ack, header], section);
        self.require(roce.timeout > Duration::ZERO, &field("timeout"), "must be above zero");
        let answered = roce.acknowledge_every <= roce.window;
        self.require(answered, &field("acknowledge_every"), "must be at most window, or the sender waits for ever");
        if let Some(dcqcn) = &roce.dcqcn {
            self.dcqcn(dcqcn, &field("dcqcn"));
            self.slowest_pace(roce, dcqcn, &field("dcqcn.minimum_rate"));
        }
    }

    fn slowest_pace(&mut self, roce: &RoceSettings, dcqcn: &DcqcnSettings, field: &str) {
        let packet = roce.mtu + roce.header_bytes;
        let gap = dcqcn.minimum_rate.time_for(packet.0);
        self.require_else(gap < roce.timeout, || {
            let rule = format!("a packet of {packet} takes {gap} at this rate, and timeout is {}", roce.timeout);
            Problem::new(field, dcqcn.minimum_rate.to_string(), rule)
                .hint("raise minimum_rate or timeout, or take the rates of deployed cards: dcqcn = \"vendor\"")
        });
    }

    fn dcqcn(&mut self, dcqcn: &DcqcnSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        self.require(dcqcn.rate_timer > Duration::ZERO, &field("rate_timer"), "must be above zero");
        self.require(dcqcn.alpha_timer > Duration::ZERO, &field("alpha_timer"), "must be above zero");
        let outlasts = dcqcn.alpha_update == AlphaUpdate::Periodic || dcqcn.alpha_timer > dcqcn.cnp_interval;
        self.require(outlasts, &field("alpha_timer"), "must be above cnp_interval, or alpha decays under congestion");
        self.require_else(self.scenario.marks_somewhere(), || {
            Problem::new(section, "", "DCQCN needs switches that mark, and these do not")
                .hint("give [switch] ecn = { threshold = \"100 KB\", maximum = \"240 KB\", probability = 0.2 }")
        });
    }

    fn udp(&mut self, udp: &UdpSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        self.frame_parts([("frame_bytes", udp.frame_bytes)], section);
        let fits = udp.frame_bytes > udp.header_bytes;
        self.require(fits, &field("frame_bytes"), "must be above header_bytes: a frame carries at least a byte");
    }

    fn uet(&mut self, uet: &UetSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let [ack, header] = [("ack_bytes", uet.ack_bytes), ("header_bytes", uet.header_bytes)];
        self.frame_parts([("mtu", uet.mtu), ack, header], section);
        self.require(uet.paths.is_power_of_two(), &field("paths"), "must be a power of 2: 1, 2, 4, ... 32768");
        for (name, time) in
            [("base_rtt", uet.base_rtt), ("timeout", uet.timeout), ("probe_interval", uet.probe_interval)]
        {
            self.require(time > Duration::ZERO, &field(name), "must be above zero");
        }
        let aims = uet.target_delay.is_none_or(|target| target > Duration::ZERO);
        self.require(aims, &field("target_delay"), "must be above zero");
        self.require(
            uet.timeout > uet.base_rtt,
            &field("timeout"),
            "must be above base_rtt, or every packet is repeated",
        );
        self.require(uet.credit_bytes >= uet.mtu, &field("credit_bytes"), "must not be below mtu");
    }

    fn packet_pair(&mut self, pair: &PacketPairSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let [ack, header] = [("ack_bytes", pair.ack_bytes), ("header_bytes", pair.header_bytes)];
        self.frame_parts([("mss", pair.mss), ack, header], section);
        self.require(pair.ack_delay > Duration::ZERO, &field("ack_delay"), "must be above zero");
        self.timeouts([pair.rto_min, pair.rto_max, pair.rto_initial], section);
        self.require(pair.sack || !pair.rack_tlp, &field("rack_tlp"), "needs sack = true (RFC 8985, section 3)");
        let rounds_fit = pair.bytes_per_round <= Bytes(1 << 20);
        self.require(rounds_fit, &field("bytes_per_round"), "must be at most 1048576 B: a round is a few packets");
    }

    pub(super) fn flows(&mut self, topology: &Topology) {
        let (groups, streams) = (&self.scenario.flows, RandomStreams::new(self.scenario.seed));
        self.require_unique(groups.iter().map(|group| group.name.as_str()), "flows");
        for (index, group) in groups.iter().enumerate() {
            let section = format!("flows[{index}]");
            self.group(group, &section);
            self.protocol_fits(group, &section, topology);
            match build_group(self.scenario, topology, &streams, index) {
                Ok(generator) => self.ends(group, &section, generator.is_endless()),
                Err(problem) => self.report(problem),
            }
        }
        self.total_load();
    }

    fn group(&mut self, group: &FlowGroup, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let later = group.stop.is_none_or(|stop| stop > group.start);
        self.require(later, &field("stop"), "must be after start");
        self.require(self.is_within_run(group.start), &field("start"), "must be before the run ends (duration)");
        let queues = self.scenario.switch.variants().map(|switch| switch.queues_per_port).max().unwrap_or(1);
        self.require_else(group.class < queues || usize::from(group.class) < self.scenario.classes_weighed(), || {
            let rule = format!("is a class of its own only with more queues: switch.queues_per_port is {queues}");
            Problem::new(field("class"), "", rule).hint("classes are counted from 0, one queue for each")
        });
        if group.rank_divisor.get() > 1 {
            let divides = group.rank.is_none() && self.scenario.host.priority_tagger.is_some();
            let rule = "divides the ranks that host.priority_tagger gives: give that, and no rank";
            self.require(divides, &field("rank_divisor"), rule);
        }
    }

    fn protocol_fits(&mut self, group: &FlowGroup, section: &str, topology: &Topology) {
        let known = &self.scenario.transports;
        let Some(transport) = known.iter().find(|transport| transport.name == group.transport) else {
            let names = known.iter().map(|transport| transport.name.as_str());
            let problem = Problem::new(format!("{section}.transport"), "", "no [[transport]] has this name");
            self.report(problem.maybe_hint(suggestion(&group.transport, names)));
            return;
        };
        let field = format!("{section}.kind");
        match (&group.pattern, &transport.protocol) {
            (FlowPattern::ConstantRate(pairs), Protocol::Udp(udp)) => {
                let sources = select_hosts(topology, &pairs.sources).unwrap_or_default();
                self.rate_fits(udp, &sources, section, topology);
            }
            (FlowPattern::ConstantRate(_), _) => {
                self.require(false, &field, "needs a transport of kind \"udp\": others set their own rate");
            }
            (FlowPattern::Long(_), Protocol::Udp(_)) => {
                self.require(false, &field, "with a transport of kind \"udp\" this is kind \"constant-rate\"");
            }
            (FlowPattern::Poisson(poisson), Protocol::Udp(_)) if poisson.connections.is_some() => {
                let rule = "needs a transport that knows when a message has arrived, not \"udp\"";
                self.require(false, &format!("{section}.connections"), rule);
            }
            (pattern, Protocol::Udp(_)) if pattern.request().is_some() => {
                let rule = "needs a transport that repeats a request that was lost, not \"udp\"";
                self.require(false, &format!("{section}.request"), rule);
            }
            (FlowPattern::Requests(_), Protocol::Udp(_)) => {
                self.require(false, &field, "needs a transport that knows when a message has arrived, not \"udp\"");
            }
            (pattern, Protocol::Tcp(TcpSettings { close: Some(_), .. })) => {
                let rule = "its transport closes connections (close), which is for flows of one message each";
                self.require(has_one_message_each(pattern), &field, rule);
            }
            _ => {}
        }
    }

    fn rate_fits(&mut self, udp: &UdpSettings, sources: &[HostId], section: &str, topology: &Topology) {
        // A flow stays on one port of its host.
        let least = |host: HostId| topology.port_rates(host).min().filter(|&least| udp.rate > least);
        if let Some((host, least)) = sources.iter().find_map(|&host| Some((host, least(host)?))) {
            let (name, rate, link_rate) = (&topology.host(host).name, udp.rate.text(), least.text());
            let rule = format!("its rate ({rate}) is above that of the link of {name} ({link_rate})");
            self.report(Problem::new(format!("{section}.transport"), "", rule));
        }
    }

    fn ends(&mut self, group: &FlowGroup, section: &str, endless: bool) {
        let unlimited = matches!(group.pattern, FlowPattern::Long(_) | FlowPattern::ConstantRate(_));
        let never = self.scenario.until == Until::AllFlowsDone && group.stop.is_none() && (endless || unlimited);
        self.require_else(!never, || {
            Problem::new(section, "", "never ends, and the run is to go on until all flows are done")
                .hint("give it a stop or a count, or end the run by duration")
        });
    }

    /// Requires that loads with the same denominator do not add up to more than 1.
    fn total_load(&mut self) {
        use LoadDenominator::{HostLinks, LeafSpineLinks};
        let loads = |(index, group): (usize, &FlowGroup)| Some((index, load_of(group)?));
        let loads: Vec<_> = self.scenario.flows.iter().enumerate().filter_map(loads).collect();
        for denominator in [HostLinks, LeafSpineLinks] {
            let on_this = || loads.iter().filter(|(_, (_, of))| *of == denominator);
            let total: f64 = on_this().map(|(_, (load, _))| load).sum();
            let last = on_this().next_back().map(|(index, _)| *index);
            // Sums of decimal fractions can exceed 1 by a rounding error.
            if let Some(index) = last.filter(|_| total > 1.0 + 1e-9) {
                let rule = format!("the loads on this capacity add up to {total:.3}, more than there is");
                self.report(Problem::new(format!("flows[{index}].load"), "", rule));
            }
        }
    }
}
