// RIMM's packet headers, metadata and parser.

#include "wire.p4"

struct headers_t {
    generated_t generated;
    ethernet_t  ethernet;
    detour_t    detour;
    telemetry_t telemetry;
    message_t   message;
    ipv4_t      ipv4;
}

struct metadata_t {
    /// Depth that egress reports, on the copy that becomes the message.
    @field_list(7) bit<1>  is_message;
    @field_list(7) bit<1>  is_repeated;
    @field_list(7) bit<15> message_port;
    @field_list(7) bit<16> message_depth;
    @field_list(7) bit<8>  origin;

    /// Ports that face switches, ports that are relieved, and ports that tell their neighbour our depth.
    ports_t switches;
    ports_t watched;
    ports_t told;
    /// Ports with neighbours that send the packet back here, and the subset with working links.
    ports_t returning;
    ports_t usable;
    /// alpha, and the minimum depth of a full queue: ours towards a neighbour, and the neighbour's towards us.
    bit<16> threshold;
    bit<16> own_full;
    bit<16> full;
    bit<48> congestion_after_ns;
    bit<48> own_lifetime_ns;
    bit<32> timeout_ns;
    bit<8>  detours_max;

    bit<48> now_ns;
    port_t  towards;
    bit<32> slot;
    bit<2>  phase;
    /// Neighbour with the shortest queue: whether one exists, its port, and whether it is full.
    bit<1>  has_choice;
    port_t  choice;
    bit<1>  choice_is_full;
    /// Neighbours that can take the packet and are less than half full.
    ports_t roomy;
}

/// Phases of an alarm.
const bit<2> NO_ALARM = 0;
const bit<2> DETOUR = 1;
const bit<2> ENDED = 2;

/// Queue of messages at each port that faces a switch; served first.
const queue_t MESSAGE_QUEUE = OWN_QUEUE;

parser Parse(packet_in packet, out headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type) {
            INSTANCE_GENERATED: generated;
            default: ethernet;
        }
    }
    state generated {
        packet.extract(headers.generated);
        transition accept;
    }
    state ethernet {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_DETOUR: detour;
            ETHERTYPE_TELEMETRY: telemetry;
            ETHERTYPE_MESSAGE: message;
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state detour {
        packet.extract(headers.detour);
        transition select(headers.detour.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state telemetry {
        packet.extract(headers.telemetry);
        transition select(headers.telemetry.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state message {
        packet.extract(headers.message);
        transition select(headers.message.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(headers.ipv4);
        transition accept;
    }
}

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.generated);
        packet.emit(headers.ethernet);
        packet.emit(headers.detour);
        packet.emit(headers.telemetry);
        packet.emit(headers.message);
        packet.emit(headers.ipv4);
    }
}
