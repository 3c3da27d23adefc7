// RIMM, Real-time In-network Microburst Mitigation (Lin, Hung and Wen, IEEE Access 2022; sections as printed there).
// While the queue of a port is above a threshold, packets for that port go to the neighbouring switch with the shortest
// queue. It sends them back by ordinary routing, so they wait in the neighbour's buffer.

#include <core.p4>
#include <v1model.p4>
#include "../hitless.p4"
#include "../headers.p4"
#include "../ports.p4"
#include "headers.p4"
#include "selector.p4"
#include "detector.p4"
#include "sequencer.p4"

control Verify(inout headers_t headers, inout metadata_t meta) { apply {} }

control ingress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    LinkStates() link_states;
    NoteDepth() note_depth;
    NoteOwnDepth() note_own_depth;
    Choose() choose;
    Told() told;
    CurrentPhase() current_phase;
    NewPacket() new_packet;
    Returning() returning;
    counter(512, CounterType.packets) detoured;
    counter(512, CounterType.packets) released;

#include "../routes.p4"

    action set_returning(ports_t ports) { meta.returning = ports; }
    /// Ports with a neighbour that sends packets of this destination back here.
    table return_ports {
        key = { headers.ipv4.destination: lpm; }
        actions = { set_returning; }
        default_action = set_returning(0);
        size = 1024;
    }

    action set_ports(bit<8> origin, ports_t switches, ports_t watched, ports_t told_ports) {
        meta.origin = origin;
        meta.switches = switches;
        meta.watched = watched;
        meta.told = told_ports;
    }
    /// Number of this switch, and the sets of its ports.
    table ports {
        actions = { set_ports; }
        default_action = set_ports(0, 0, 0, 0);
    }

    action set_limits(bit<16> alpha, bit<16> own_full, bit<16> full, bit<48> congestion_after_ns,
                      bit<48> own_lifetime_ns, bit<32> timeout_ns, bit<8> detours_max) {
        meta.threshold = alpha;
        meta.own_full = own_full;
        meta.full = full;
        meta.congestion_after_ns = congestion_after_ns;
        meta.own_lifetime_ns = own_lifetime_ns;
        meta.timeout_ns = timeout_ns;
        meta.detours_max = detours_max;
    }
    /// Thresholds in segments, and times.
    table limits {
        actions = { set_limits; }
        default_action = set_limits(20000, 20000, 20000, 1000000, 20000000, 1000000, 255);
    }

    /// Forwards a message of another switch.
    action pass_on() { send_to_queue(meta.towards, MESSAGE_QUEUE); }

    apply {
        ports_t down;
        link_states.apply(headers.generated, headers.generated.isValid(), down);
        if (headers.generated.isValid()) {
            drop();
            return;
        }
        routes.apply();
        return_ports.apply();
        ports.apply();
        limits.apply();
        timestamp_ns(meta.now_ns);
        meta.towards = standard.egress_spec;
        meta.usable = meta.switches & meta.returning & ~down;
        ports_t towards_bit = (ports_t) 1 << (bit<8>) meta.towards;
        ports_t arrival_bit = (ports_t) 1 << (bit<8>) standard.ingress_port;

        if (headers.message.isValid()) {
            ports_t told_bit = (ports_t) 1 << headers.message.port[7:0];
            if (headers.message.origin == meta.origin && (meta.switches | meta.watched) & told_bit != 0) {
                bit<32> of = (bit<32>) headers.message.port;
                note_own_depth.apply((port_t) headers.message.port, headers.message.depth_segments, meta.now_ns);
                if (headers.message.is_repeated == 0 && meta.watched & told_bit != 0) {
                    told.apply(meta, of, headers.message.depth_segments >= meta.threshold);
                }
                drop();
            } else if (meta.switches & towards_bit != 0) {
                pass_on();
            } else {
                drop();
            }
            return;
        }

        // Depth that the neighbour wrote for this switch.
        if (meta.switches & arrival_bit != 0) {
            if (headers.telemetry.isValid()) {
                note_depth.apply(standard.ingress_port, headers.telemetry.depth_segments);
                headers.ethernet.ether_type = headers.telemetry.ether_type;
                headers.telemetry.setInvalid();
            } else if (headers.detour.isValid()) {
                note_depth.apply(standard.ingress_port, headers.detour.depth_segments);
            }
        }
        bool is_ours = headers.detour.isValid() && headers.detour.origin == meta.origin && meta.watched != 0;
        bool is_new = !headers.detour.isValid() && meta.watched & towards_bit != 0;
        if (headers.detour.isValid() && !is_ours) {
            // Another switch numbered it. If it leaves to a host here, its header is removed.
            if (meta.switches & towards_bit == 0) {
                headers.ethernet.ether_type = headers.detour.ether_type;
                headers.detour.setInvalid();
            }
            return;
        }
        if (!is_ours && !is_new) { return; }

        bit<32> hash_of_flow;
        flow_hash(hash_of_flow);
        meta.slot = (hash_of_flow * 0x9E3779B9) >> 20;
        choose.apply(meta);
        bit<1> is_detoured;
        bit<2> phase;
        bit<32> leaves_by = (bit<32>) meta.towards;
        if (is_new) {
            bit<1> are_full = meta.has_choice & meta.choice_is_full;
            current_phase.apply(leaves_by, meta.now_ns, meta.congestion_after_ns, are_full, phase);
            meta.phase = phase;
            new_packet.apply(meta, headers, is_detoured);
        } else {
            // Restores the hops of its round trip; the number of detours bounds the loop.
            headers.ipv4.ttl = headers.ipv4.ttl |+| 2;
            // A packet that returns to its previous neighbour keeps its place in the order there.
            if (standard.ingress_port != meta.towards && meta.usable & arrival_bit != 0) {
                meta.has_choice = 1;
                meta.choice = standard.ingress_port;
            }
            meta.phase = NO_ALARM;
            if (meta.watched & towards_bit != 0) {
                current_phase.apply(leaves_by, meta.now_ns, meta.congestion_after_ns, 0, phase);
                meta.phase = phase;
            }
            bit<1> is_forced = ~meta.has_choice;
            if (headers.detour.detours >= meta.detours_max) { is_forced = 1; }
            returning.apply(meta, headers.detour.sequence, is_forced, is_detoured);
        }
        if (is_detoured == 1) {
            headers.detour.detours = headers.detour.detours + 1;
            queue_t queue;
            class_queue(meta.choice, queue);
            detoured.count((bit<32>) meta.towards);
            send_to_queue(meta.choice, queue);
        } else if (headers.detour.isValid()) {
            headers.ethernet.ether_type = headers.detour.ether_type;
            headers.detour.setInvalid();
            released.count((bit<32>) meta.towards);
        }
    }
}

control egress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    Watch() watch;

    /// Turns the copy into a message. It keeps the packet's headers, to take the same path, but not the payload.
    action become_message() {
        headers.message.setValid();
        headers.message.origin = meta.origin;
        headers.message.is_repeated = meta.is_repeated;
        headers.message.port = meta.message_port;
        headers.message.depth_segments = meta.message_depth;
        truncate(60);
    }

    apply {
        if (meta.is_message == 1) {
            bit<16> own_type = headers.ethernet.ether_type;
            if (headers.detour.isValid()) { own_type = headers.detour.ether_type; }
            if (headers.telemetry.isValid()) { own_type = headers.telemetry.ether_type; }
            headers.detour.setInvalid();
            headers.telemetry.setInvalid();
            become_message();
            headers.message.ether_type = own_type;
            headers.ethernet.ether_type = ETHERTYPE_MESSAGE;
        } else if (!headers.message.isValid()) {
            queue_t queue;
            bit<32> depth_bytes;
            // Ingress noted the time of arrival; this is the time of departure.
            timestamp_ns(meta.now_ns);
            class_queue(standard.egress_port, queue);
            queue_depth(standard.egress_port, queue, depth_bytes);
            // Divided by 80 = 16 x 5, exactly; P4 has no division.
            bit<32> segments = (bit<32>) ((bit<64>) (depth_bytes >> 4) * 0xCCCCCCCD >> 34);
            bit<16> depth_segments = segments[15:0];
            if (segments > 0xFFFF) { depth_segments = 0xFFFF; }
            watch.apply(meta, standard.egress_port, depth_segments);
            ports_t own_bit = (ports_t) 1 << (bit<8>) standard.egress_port;
            if (meta.told & own_bit != 0) {
                if (headers.detour.isValid()) {
                    headers.detour.depth_segments = depth_segments;
                } else {
                    headers.telemetry.setValid();
                    headers.telemetry.depth_segments = depth_segments;
                    headers.telemetry.ether_type = headers.ethernet.ether_type;
                    headers.ethernet.ether_type = ETHERTYPE_TELEMETRY;
                }
            }
        }
    }
}

control Compute(inout headers_t headers, inout metadata_t meta) {
    apply {
        update_checksum(headers.ipv4.isValid(), IPV4_CHECKSUM_FIELDS(headers.ipv4), headers.ipv4.checksum,
                        HashAlgorithm.csum16);
    }
}

V1Switch(Parse(), Verify(), ingress(), egress(), Compute(), Deparse()) main;
