// The microburst detector (section III-A1): egress measures the depth of a queue and tells ingress when it crosses its
// threshold. Ingress keeps an alarm for each port, and ends the detour of an alarm that lasts too long (sections III-B
// and V).

/// Alarms of all ports.
register<bit<2>>(512) alarm_phase;
register<bit<48>>(512) alarm_since;
register<bit<48>>(512) alarm_raised;
register<bit<1>>(512) alarm_was_cleared;
register<bit<48>>(512) alarm_cleared;

/// Updates an alarm when egress reports that the queue of a port is above or below its threshold. An alarm continues
/// the previous one if it comes before all detoured packets of that one can have returned.
control Told(in metadata_t meta, in bit<32> port, in bool is_above) {
    apply {
        bit<2> phase;
        alarm_phase.read(phase, port);
        if (!is_above) {
            if (phase != NO_ALARM) {
                bit<1> was_detoured = 0;
                if (phase == DETOUR) { was_detoured = 1; }
                alarm_was_cleared.write(port, was_detoured);
                alarm_cleared.write(port, meta.now_ns);
            }
            alarm_phase.write(port, NO_ALARM);
        } else {
            bit<1> was_cleared;
            bit<48> cleared_ns;
            alarm_was_cleared.read(was_cleared, port);
            alarm_cleared.read(cleared_ns, port);
            if (phase != NO_ALARM || was_cleared == 0 || meta.now_ns - cleared_ns >= meta.congestion_after_ns ||
                meta.now_ns - cleared_ns >= (bit<48>) meta.timeout_ns) {
                alarm_since.write(port, meta.now_ns);
            }
            alarm_phase.write(port, DETOUR);
            alarm_raised.write(port, meta.now_ns);
        }
    }
}

/// Returns the phase for a packet that leaves by a port. A new packet ends the detour if the neighbours are full.
control CurrentPhase(in bit<32> port, in bit<48> now_ns, in bit<48> after_ns, in bit<1> are_full, out bit<2> phase) {
    apply {
        bit<48> since_ns;
        alarm_phase.read(phase, port);
        alarm_since.read(since_ns, port);
        if (phase == DETOUR && (now_ns - since_ns >= after_ns || are_full == 1)) {
            phase = ENDED;
            alarm_phase.write(port, ENDED);
        }
    }
}

/// Reads the queue depth at a packet's departure. Reports a crossing immediately; for a neighbour's queue that stays
/// above its threshold it repeats the report, since a report can be lost.
control Watch(inout metadata_t meta, in port_t at, in bit<16> depth_segments) {
    register<bit<16>>(512) depths;
    register<bit<48>>(512) told;
    /// Selects the first neighbour that sends the message back.
#define FIRST_WAY(P) if (has_way == 0 && ways[P:P] == 1) { has_way = 1; way = P; }

    apply {
        bit<32> port = (bit<32>) at;
        ports_t own_bit = (ports_t) 1 << (bit<8>) at;
        bool is_watched = meta.watched & own_bit != 0;
        bool is_neighbour = meta.switches & own_bit != 0;
        if (!is_watched && !is_neighbour) { return; }
        bit<16> threshold = meta.own_full;
        if (is_watched) { threshold = meta.threshold; }
        bit<16> before;
        bit<48> told_ns;
        depths.read(before, port);
        told.read(told_ns, port);
        bool is_above = depth_segments >= threshold;
        bool was_above = before >= threshold;
        bit<1> has_news = 0;
        if (is_above != was_above) {
            has_news = 1;
        } else if (is_above && is_neighbour && meta.now_ns - told_ns >= meta.own_lifetime_ns >> 2) {
            has_news = 1;
            meta.is_repeated = 1;
        }
        if (has_news == 1) {
            // Falls back to the neighbour at the port itself.
            port_t way = at;
            bit<1> has_way = 0;
            ports_t ways = meta.usable & ~own_bit;
            EACH_PORT(FIRST_WAY)
            if (has_way == 0 && meta.usable & own_bit == 0) { return; }
            meta.is_message = 1;
            meta.message_port = (bit<15>) at;
            meta.message_depth = depth_segments;
            clone_preserving_field_list(CloneType.E2E, 1, MOVED_FIELDS);
            direct_clone(way, MESSAGE_QUEUE);
            told.write(port, meta.now_ns);
        }
        depths.write(port, depth_segments);
    }
}
