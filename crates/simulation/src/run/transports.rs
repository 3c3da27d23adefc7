//! From a scenario's transports to those of the hosts.

use hitless_hosts::TransportConfig;
use hitless_hosts::transport::packet_pair::PacketPairConfig;
use hitless_hosts::transport::roce::{DcqcnConfig, RoceConfig};
use hitless_hosts::transport::tcp::{
    BbrConfig, BoltConfig, CongestionControlConfig, CubicConfig, DctcpConfig, DelayedAck, SwiftConfig, TcpConfig,
    WindowPacing,
};
use hitless_hosts::transport::udp::UdpConfig;
use hitless_scenario::{
    BoltTransportSettings, Congestion, DcqcnSettings, HostSettings, PacketPairSettings, Protocol, RoceSettings,
    SwiftSettings, TcpSettings, TransportSettings, UdpSettings,
};

/// The configuration that `settings` describe, on hosts like `host` whose links add `overhead_bytes` to each frame.
pub(super) fn config(settings: &TransportSettings, host: &HostSettings, overhead_bytes: u32) -> TransportConfig {
    match &settings.protocol {
        Protocol::Tcp(tcp) => TransportConfig::Tcp(tcp_config(tcp, host)),
        Protocol::Roce(roce) => TransportConfig::Roce(roce_config(roce, overhead_bytes)),
        Protocol::Udp(udp) => TransportConfig::Udp(udp_config(udp, overhead_bytes)),
        Protocol::PacketPair(pair) => TransportConfig::PacketPair(packet_pair_config(pair, host)),
    }
}

fn tcp_config(settings: &TcpSettings, host: &HostSettings) -> TcpConfig {
    let congestion_control = match settings.congestion {
        Congestion::Newreno => CongestionControlConfig::NewReno,
        Congestion::Cubic => CongestionControlConfig::Cubic(CubicConfig::default()),
        Congestion::Dctcp => {
            let (gain, estimate) = (settings.dctcp_gain, settings.dctcp_estimate);
            let marking = DctcpConfig { gain, estimate, ..DctcpConfig::default() };
            CongestionControlConfig::Dctcp(marking)
        }
        Congestion::Bbr => CongestionControlConfig::Bbr(BbrConfig {
            rtprop_window: settings.bbr_rtprop_window,
            probe_rtt_duration: settings.bbr_probe_rtt_duration,
            ..BbrConfig::default()
        }),
        Congestion::Swift => CongestionControlConfig::Swift(swift_config(&settings.swift.clone().unwrap_or_default())),
        Congestion::Bolt => CongestionControlConfig::Bolt(bolt_config(&settings.bolt.clone().unwrap_or_default())),
    };
    TcpConfig {
        mss_bytes: settings.mss.0 as u16,
        header_bytes: settings.header_bytes.0 as u32,
        ack_frame_bytes: settings.ack_bytes.0 as u32,
        initial_window_segments: settings.initial_window,
        max_window_bytes: max_window_bytes(settings),
        segments_per_burst: settings.burst_segments,
        receive_window_bytes: settings.receive_window.map(|window| u32::try_from(window.0).unwrap_or(u32::MAX)),
        congestion_control,
        pacing: settings.pacing.then(WindowPacing::default),
        ecn: settings.ecn,
        sack: settings.sack,
        rack_tlp: settings.rack_tlp,
        dupack_threshold: settings.duplicate_acks,
        fast_retransmit: settings.fast_retransmit,
        recovery: settings.recovery,
        window_validation: settings.window_validation,
        window_growth: settings.window_growth,
        nagle: settings.nagle,
        close: settings.close.map(Into::into),
        delayed_ack: delayed_ack(settings),
        rto_formula: settings.rto_formula,
        rto_min: settings.rto_min,
        rto_max: settings.rto_max,
        rto_initial: settings.rto_initial,
        syn_timeout: settings.syn_timeout,
        timer_tick: host.timer_tick,
        handshake: settings.handshake,
        known_rtt: settings.known_rtt,
        eifel_undo: settings.eifel_undo,
        dsack_undo: settings.dsack_undo,
        slow_start_after_idle: settings.slow_start_after_idle,
        tlp_max_ack_delay: settings.tlp_max_ack_delay,
        ..TcpConfig::default()
    }
}

/// The bound of the congestion window, where the control has one.
fn max_window_bytes(settings: &TcpSettings) -> Option<u64> {
    let of_swift = settings.swift.as_ref().and_then(|swift| swift.max_cwnd);
    let segments = of_swift.or(settings.bolt.as_ref().and_then(|bolt| bolt.max_cwnd))?;
    Some((segments * settings.mss.0 as f64) as u64)
}

fn swift_config(settings: &SwiftSettings) -> SwiftConfig {
    SwiftConfig {
        base_target: settings.base_target,
        per_hop: settings.per_hop,
        fs_range: settings.fs_range,
        fs_min_cwnd: settings.fs_min_cwnd,
        fs_max_cwnd: settings.fs_max_cwnd,
        additive_increase: settings.ai,
        beta: settings.beta,
        max_mdf: settings.max_mdf,
        min_cwnd: settings.min_cwnd,
        retransmit_reset_threshold: settings.retransmit_reset_threshold,
        rtt_gain: settings.rtt_gain,
    }
}

fn bolt_config(settings: &BoltTransportSettings) -> BoltConfig {
    BoltConfig {
        additive_increase: settings.ai,
        min_cwnd: settings.min_cwnd,
        reaction: settings.reaction,
        rtt_gain: settings.rtt_gain,
    }
}

fn delayed_ack(settings: &TcpSettings) -> DelayedAck {
    if settings.delayed_ack_segments <= 1 {
        return DelayedAck::Off;
    }
    DelayedAck::On {
        segments: settings.delayed_ack_segments,
        timeout: settings.delayed_ack_timeout,
        quickack_segments: settings.quick_acks,
    }
}

fn packet_pair_config(settings: &PacketPairSettings, host: &HostSettings) -> PacketPairConfig {
    let marking = DctcpConfig { gain: settings.ecn_gain, initial_alpha: 0.0, ..DctcpConfig::default() };
    PacketPairConfig {
        recovery: TcpConfig {
            mss_bytes: settings.mss.0 as u16,
            header_bytes: settings.header_bytes.0 as u32,
            ack_frame_bytes: settings.ack_bytes.0 as u32,
            congestion_control: CongestionControlConfig::Dctcp(marking),
            ecn: settings.ecn,
            sack: settings.sack,
            rack_tlp: settings.rack_tlp,
            dupack_threshold: settings.duplicate_acks,
            delayed_ack: DelayedAck::On { segments: 2, timeout: settings.ack_delay, quickack_segments: 0 },
            tlp_max_ack_delay: settings.ack_delay,
            rto_formula: settings.rto_formula,
            rto_min: settings.rto_min,
            rto_max: settings.rto_max,
            rto_initial: settings.rto_initial,
            timer_tick: host.timer_tick,
            ..TcpConfig::default()
        },
        gap_gain: settings.gap_gain,
        window_factor: settings.window_factor,
        bytes_per_round: settings.bytes_per_round.0 as u32,
        restart_after_idle: settings.restart_after_idle,
    }
}

fn roce_config(settings: &RoceSettings, overhead_bytes: u32) -> RoceConfig {
    RoceConfig {
        payload_bytes: settings.mtu.0 as u32,
        header_bytes: settings.header_bytes.0 as u32,
        acknowledgement_frame_bytes: settings.ack_bytes.0 as u32,
        window_packets: settings.window,
        acknowledge_every_packets: settings.acknowledge_every,
        timeout: settings.timeout,
        retry_limit: settings.retries,
        recovery: settings.recovery,
        dcqcn: settings.dcqcn.as_ref().map(dcqcn_config),
        wire_overhead_bytes: overhead_bytes,
        ..RoceConfig::default()
    }
}

fn dcqcn_config(settings: &DcqcnSettings) -> DcqcnConfig {
    DcqcnConfig {
        cnp_interval: settings.cnp_interval,
        g: settings.g,
        alpha_timer: settings.alpha_timer,
        rate_timer: settings.rate_timer,
        byte_counter: settings.byte_counter.0,
        fast_recovery_steps: settings.fast_recovery_steps,
        additive_increase: settings.additive_increase,
        hyper_increase: settings.hyper_increase,
        minimum_rate: settings.minimum_rate,
    }
}

fn udp_config(settings: &UdpSettings, overhead_bytes: u32) -> UdpConfig {
    UdpConfig {
        wire_overhead_bytes: overhead_bytes,
        frame_bytes: settings.frame_bytes.0 as u32,
        header_bytes: settings.header_bytes.0 as u32,
        ..UdpConfig::at_rate(settings.rate)
    }
}
