// RIMM for Tofino (Lin, Hung and Wen, IEEE Access 2022, section III): microburst detector, detouring-port selector over
// eight neighbours, packet sequencer with 4K slots, and post-detour handler.

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"
#include "wire.p4"

const MirrorType_t MIRROR_MESSAGE = 1;
const bit<8> IS_NORMAL = 0;
const bit<8> IS_MESSAGE = 1;

header bridge_t {
    bit<8> kind;
}

struct headers_t {
    bridge_t    bridge;
    ethernet_t  ethernet;
    detour_t    detour;
    telemetry_t telemetry;
    message_t   message;
    ipv4_t      ipv4;
    ports_t     ports;
}

/// Writes `DO(neighbour)` for each neighbour.
#define EACH_NEIGHBOUR(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

struct metadata_t {
    bit<16> told_segments;
    bit<3>  told_by;
    bit<1>  has_told;
    bit<16> depth_0;
    bit<16> depth_1;
    bit<16> depth_2;
    bit<16> depth_3;
    bit<16> depth_4;
    bit<16> depth_5;
    bit<16> depth_6;
    bit<16> depth_7;
    bit<16> least_0;
    bit<16> least_1;
    bit<16> least_2;
    bit<16> least_3;
    bit<16> least;
    bit<1>  alarm;
    bit<12> slot;
    bit<32> next;
    bit<32> number;
    bit<32> ahead;
    bit<1>  is_ours;
    bit<7>  port;
    bit<1>  is_watched;
}

parser IngressParse(packet_in packet, out headers_t headers, out metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.told_segments = 0;
        meta.told_by = 0;
        meta.has_told = 0;
        meta.port = 0;
        meta.is_watched = 0;
        meta.is_ours = 0;
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
        meta.told_segments = headers.detour.depth_segments;
        transition select(headers.detour.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state telemetry {
        packet.extract(headers.telemetry);
        meta.told_segments = headers.telemetry.depth_segments;
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
#include "../tna-ports.p4"
}

control Ingress(inout headers_t headers, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action send(PortId_t port, bit<7> index, bit<1> is_watched) {
        for_tm.ucast_egress_port = port;
        meta.port = index;
        meta.is_watched = is_watched;
    }
#include "../tna-routes.p4"

    action told_by(bit<3> neighbour) {
        meta.told_by = neighbour;
        meta.has_told = 1;
    }
    /// Neighbour at a packet's arrival port.
    table neighbours {
        key = { intrinsic.ingress_port: exact; }
        actions = { told_by; NoAction; }
        default_action = NoAction();
        size = 8;
    }

    /// The QDM table (section III-A2): the last depth reported by each neighbour.
#define NEIGHBOUR(number) \
    Register<bit<16>, bit<1>>(1, 0) depths_##number; \
    RegisterAction<bit<16>, bit<1>, bit<16>>(depths_##number) read_##number = { \
        void apply(inout bit<16> value, out bit<16> depth) { depth = value; } \
    }; \
    RegisterAction<bit<16>, bit<1>, bit<16>>(depths_##number) write_##number = { \
        void apply(inout bit<16> value, out bit<16> depth) { value = meta.told_segments; depth = value; } \
    }; \
    action do_read_##number() { meta.depth_##number = read_##number.execute(0); } \
    action do_write_##number() { meta.depth_##number = write_##number.execute(0); } \
    table neighbour_##number { \
        key = { meta.has_told: exact; meta.told_by: exact; } \
        actions = { do_read_##number; do_write_##number; } \
        const entries = { (1, number): do_write_##number(); } \
        const default_action = do_read_##number(); \
        size = 1; \
    }
    EACH_NEIGHBOUR(NEIGHBOUR)

    /// Whether the queue of a port is above its threshold (section III-A1).
    Register<bit<8>, bit<7>>(128, 0) alarms;
    RegisterAction<bit<8>, bit<7>, bit<1>>(alarms) read_alarm = {
        void apply(inout bit<8> value, out bit<1> alarm) { alarm = value[0:0]; }
    };
    RegisterAction<bit<8>, bit<7>, bit<1>>(alarms) raise = {
        void apply(inout bit<8> value) { value = 1; }
    };
    RegisterAction<bit<8>, bit<7>, bit<1>>(alarms) clear = {
        void apply(inout bit<8> value) { value = 0; }
    };
    action do_raise() {
        raise.execute((bit<7>) headers.message.port);
        drop();
    }
    action do_clear() {
        clear.execute((bit<7>) headers.message.port);
        drop();
    }
    action pass_on() {}
    /// Processes a message of this switch, and forwards that from another switch. The entries contain alpha.
    table messages {
        key = {
            headers.message.origin: exact;
            headers.message.depth_segments: range;
        }
        actions = { do_raise; do_clear; pass_on; }
        default_action = pass_on();
        size = 16;
    }

    Hash<bit<12>>(HashAlgorithm_t.CRC32) hash;
    /// S_f, the next number to release.
    Register<bit<32>, bit<12>>(4096, 0) next_number;
    RegisterAction<bit<32>, bit<12>, bit<32>>(next_number) read_next = {
        void apply(inout bit<32> value, out bit<32> next) { next = value; }
    };
    RegisterAction<bit<32>, bit<12>, bit<32>>(next_number) release = {
        void apply(inout bit<32> value, out bit<32> next) {
            next = value;
            if (value == headers.detour.sequence) { value = value + 1; }
        }
    };
    /// S_a, the next number to assign. A packet gets a number during its port's alarm, and while other packets of its
    /// slot are away (section V: until S_a = S_f).
    Register<bit<32>, bit<12>>(4096, 0) next_assigned;
    RegisterAction<bit<32>, bit<12>, bit<32>>(next_assigned) assign = {
        void apply(inout bit<32> value, out bit<32> number) {
            number = value;
            if (meta.alarm == 1 || value != meta.next) { value = value + 1; }
        }
    };

    action is_ours() { meta.is_ours = 1; }
    table own_detours {
        key = { headers.detour.origin: exact; }
        actions = { is_ours; NoAction; }
        default_action = NoAction();
        size = 1;
    }

    action add_header(bit<8> origin, PortId_t port) {
        headers.detour.setValid();
        headers.detour.sequence = meta.number;
        headers.detour.origin = origin;
        headers.detour.detours = 1;
        headers.detour.depth_segments = 0;
        headers.detour.ether_type = ETHERTYPE_IPV4;
        headers.ethernet.ether_type = ETHERTYPE_DETOUR;
        for_tm.ucast_egress_port = port;
    }
    action detour_again() {
        headers.detour.detours = headers.detour.detours + 1;
        for_tm.ucast_egress_port = intrinsic.ingress_port;
    }
    action forward() {
        headers.ethernet.ether_type = headers.detour.ether_type;
        headers.detour.setInvalid();
    }
    action hash_flow() { meta.slot = hash.get(FLOW(headers)); }
    action compare_numbers() { meta.ahead = headers.detour.sequence - meta.next; }
    action least_of_pairs() {
        meta.least_0 = min(meta.depth_0, meta.depth_1);
        meta.least_1 = min(meta.depth_2, meta.depth_3);
        meta.least_2 = min(meta.depth_4, meta.depth_5);
        meta.least_3 = min(meta.depth_6, meta.depth_7);
    }
    action least_of_halves() {
        meta.least_0 = min(meta.least_0, meta.least_1);
        meta.least_2 = min(meta.least_2, meta.least_3);
    }
    action least_of_all() { meta.least = min(meta.least_0, meta.least_2); }
#define SUBTRACT_LEAST(number) \
    action subtract_##number() { meta.depth_##number = meta.depth_##number - meta.least; }
    EACH_NEIGHBOUR(SUBTRACT_LEAST)
    /// Neighbour with the smallest depth; a tie goes to the first.
    table choose_neighbour {
        key = {
            meta.depth_0: ternary;
            meta.depth_1: ternary;
            meta.depth_2: ternary;
            meta.depth_3: ternary;
            meta.depth_4: ternary;
            meta.depth_5: ternary;
            meta.depth_6: ternary;
            meta.depth_7: ternary;
        }
        actions = { add_header; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    apply {
        headers.bridge.setValid();
        headers.bridge.kind = IS_NORMAL;
        routes.apply();
        if (headers.message.isValid()) {
            messages.apply();
        } else {
            if (headers.telemetry.isValid() || headers.detour.isValid()) { neighbours.apply(); }
#define APPLY_NEIGHBOUR(number) neighbour_##number.apply();
            EACH_NEIGHBOUR(APPLY_NEIGHBOUR)
            if (headers.telemetry.isValid()) {
                headers.ethernet.ether_type = headers.telemetry.ether_type;
                headers.telemetry.setInvalid();
            }
            hash_flow();
            if (headers.detour.isValid()) { own_detours.apply(); }
            meta.alarm = read_alarm.execute(meta.port);
            if (headers.detour.isValid()) {
                if (meta.is_ours == 1) {
                    if (meta.alarm == 0) { meta.next = release.execute(meta.slot); } else { detour_again(); }
                    compare_numbers();
                    if (meta.alarm == 0) {
                        // In its turn, or late: those before it have been released.
                        if (meta.ahead[31:31] == 1 || meta.ahead == 0) { forward(); } else { detour_again(); }
                    }
                }
            } else if (meta.is_watched == 1) {
                meta.next = read_next.execute(meta.slot);
                meta.number = assign.execute(meta.slot);
                least_of_pairs();
                least_of_halves();
                least_of_all();
                subtract_0();
                subtract_1();
                subtract_2();
                subtract_3();
                subtract_4();
                subtract_5();
                subtract_6();
                subtract_7();
                if (meta.alarm == 1 || meta.number != meta.next) { choose_neighbour.apply(); }
            }
        }
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(headers); }
}

/// Depth reported by egress, before the copy that becomes the message.
header told_t {
    bit<8>  kind;
    bit<1>  is_repeated;
    bit<15> port;
    bit<16> depth_segments;
}

struct egress_headers_t {
    ethernet_t  ethernet;
    detour_t    detour;
    telemetry_t telemetry;
    message_t   message;
    ipv4_t      ipv4;
}

struct egress_metadata_t {
    told_t     told;
    /// The packet's original EtherType, which follows RIMM's header.
    bit<16>    own_type;
    bit<1>     is_message;
    bit<8>     kind;
    bit<1>     is_repeated;
    bit<15>    port;
    bit<16>    depth_segments;
    bit<8>     is_above;
    bit<8>     was_above;
    bit<1>     is_told;
    MirrorId_t session;
}

parser EgressParse(packet_in packet, out egress_headers_t headers, out egress_metadata_t meta,
                   out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.port = 0;
        meta.is_above = 0;
        meta.was_above = 0;
        meta.is_told = 0;
        meta.session = 0;
        transition select(packet.lookahead<bit<8>>()) {
            IS_MESSAGE: copy;
            default: normal;
        }
    }
    state copy {
        packet.extract(meta.told);
        meta.is_message = 1;
        transition ethernet;
    }
    state normal {
        packet.advance(8);
        meta.is_message = 0;
        transition ethernet;
    }
    state ethernet {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_DETOUR: detour;
            ETHERTYPE_TELEMETRY: telemetry;
            ETHERTYPE_MESSAGE: message;
            default: plain;
        }
    }
    state plain {
        meta.own_type = headers.ethernet.ether_type;
        transition accept;
    }
    state detour {
        packet.extract(headers.detour);
        meta.own_type = headers.detour.ether_type;
        transition accept;
    }
    state telemetry {
        packet.extract(headers.telemetry);
        meta.own_type = headers.telemetry.ether_type;
        transition accept;
    }
    state message {
        packet.extract(headers.message);
        transition accept;
    }
}

control Egress(inout egress_headers_t headers, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    action set_level(bit<15> port, bit<8> is_above, bit<1> is_told, MirrorId_t session) {
        meta.port = port;
        meta.is_above = is_above;
        meta.is_told = is_told;
        meta.session = session;
    }
    /// The entries contain alpha: two for each port.
    table thresholds {
        key = {
            intrinsic.egress_port: exact;
            intrinsic.deq_qdepth: range;
        }
        actions = { set_level; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    /// Last known side of the threshold for each port's queue.
    Register<bit<8>, bit<7>>(128, 0) levels;
    RegisterAction<bit<8>, bit<7>, bit<8>>(levels) swap_level = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
            value = meta.is_above;
        }
    };
    action do_swap() { meta.was_above = swap_level.execute(meta.port[6:0]); }
    action tell() {
        for_deparser.mirror_type = MIRROR_MESSAGE;
        meta.kind = IS_MESSAGE;
        meta.is_repeated = 0;
    }
    action become_message(bit<8> origin) {
        headers.message.setValid();
        headers.message.origin = origin;
        headers.message.is_repeated = meta.told.is_repeated;
        headers.message.port = meta.told.port;
        headers.message.depth_segments = meta.told.depth_segments;
        headers.message.ether_type = meta.own_type;
        headers.ethernet.ether_type = ETHERTYPE_MESSAGE;
        headers.detour.setInvalid();
        headers.telemetry.setInvalid();
    }
    table origin {
        actions = { become_message; }
        default_action = become_message(0);
        size = 1;
    }
    action write_detour() { headers.detour.depth_segments = meta.depth_segments; }
    action write_telemetry() {
        headers.telemetry.setValid();
        headers.telemetry.depth_segments = meta.depth_segments;
        headers.telemetry.ether_type = headers.ethernet.ether_type;
        headers.ethernet.ether_type = ETHERTYPE_TELEMETRY;
    }

    apply {
        if (meta.is_message == 1) {
            origin.apply();
        } else if (!headers.message.isValid()) {
            // Hardware reports the depth in cells, which are used as segments.
            meta.depth_segments = intrinsic.deq_qdepth[15:0];
            if (thresholds.apply().hit) {
                do_swap();
                if (meta.was_above != meta.is_above) { tell(); }
                if (meta.is_told == 1) {
                    if (headers.detour.isValid()) { write_detour(); } else { write_telemetry(); }
                }
            }
        }
    }
}

control EgressDeparse(packet_out packet, inout egress_headers_t headers, in egress_metadata_t meta,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror() mirror;
    apply {
        if (for_deparser.mirror_type == MIRROR_MESSAGE) {
            mirror.emit<told_t>(meta.session, { meta.kind, meta.is_repeated, meta.port, meta.depth_segments });
        }
        packet.emit(headers);
    }
}

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
