// Preemptive Deflection by quantiles for Tofino (Practical Packet Deflection, CoNEXT 2023, section 4.2). A circular
// window of sampled ranks, with a register array for each place, is compared with the packet's rank. A table with
// precomputed results of equation 1 admits or deflects the packet by the depth of the queue and the number of smaller
// ranks. A deflected packet is resubmitted to ingress, because one pass reads one cell of each array; the second pass
// applies the same test to the queue of the drawn port (section 3.2).

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"

const bit<16> ETHERTYPE_CONTROL = 0x9D11;
/// Recirculation port.
const PortId_t RECIRCULATION_PORT = 68;

/// Packet that carries the depth of a port's queue from egress to ingress.
header control_t {
    bit<16> port;
    bit<32> depth_cells;
}

const ResubmitType_t RESUBMIT_DRAWN = 1;

/// Data of a resubmitted packet: the drawn port and its cell. Its size is fixed, equal to a port's metadata.
header drawn_t {
    bit<7>   zero;
    PortId_t port;
    bit<1>   zero_too;
    bit<7>   index;
    bit<40>  rest;
}

struct headers_t {
    drawn_t         drawn;
    ethernet_t      ethernet;
    control_t       control_packet;
    ipv4_t          ipv4;
    priority_mark_t mark;
}

/// Writes `DO(place)` for each of the window's 20 places, four in each stage.
#define LOWER_PLACES(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9)
#define UPPER_PLACES(DO) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19)
#define EACH_PLACE(DO) LOWER_PLACES(DO) UPPER_PLACES(DO)

struct metadata_t {
    bit<7>   port;
    bit<1>   is_second;
    PortId_t drawn_port;
    bit<7>   drawn_index;
    bit<32>  rank;
    bit<32>  depth_cells;
    /// Place that this packet's rank replaces, for one packet in 20; 255 for the others.
    bit<8>   place;
    bit<8>   sampled;
#define DECLARE_SMALLER(number) bit<1> smaller_##number;
    EACH_PLACE(DECLARE_SMALLER)
    bit<8>   smaller_lower;
    bit<8>   smaller_upper;
    bit<8>   smaller;
    bit<4>   drawn;
}

parser IngressParse(packet_in packet, out headers_t headers, out metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        transition select(intrinsic.resubmit_flag) {
            1: second;
            default: first;
        }
    }
    state first {
        packet.advance(PORT_METADATA_SIZE);
        transition ethernet;
    }
    state second {
        packet.extract(headers.drawn);
        meta.is_second = 1;
        transition ethernet;
    }
    state ethernet {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_CONTROL: control_packet;
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state control_packet {
        packet.extract(headers.control_packet);
        transition accept;
    }
    state ipv4 {
        packet.extract(headers.ipv4);
        transition select(headers.ipv4.protocol) {
            PROTOCOL_PRIORITY_MARK: mark;
            default: accept;
        }
    }
    state mark {
        packet.extract(headers.mark);
        transition accept;
    }
}

control Ingress(inout headers_t headers, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action send(PortId_t port, bit<7> index) {
        for_tm.ucast_egress_port = port;
        meta.port = index;
    }
#include "../tna-routes.p4"

    action take_drawn() {
        for_tm.ucast_egress_port = headers.drawn.port;
        meta.port = headers.drawn.index;
    }

    action take_rank() { meta.rank = headers.mark.rank_bytes; }
    action take_half() { meta.rank = headers.mark.rank_bytes >> 1; }
    action take_quarter() { meta.rank = headers.mark.rank_bytes >> 2; }
    action take_eighth() { meta.rank = headers.mark.rank_bytes >> 3; }
    action take_least() { meta.rank = 0; }
    /// Each retransmission halves the rank; with four or more the packet has the highest priority.
    table ranks {
        key = { headers.mark.retransmissions: exact; }
        actions = { take_rank; take_half; take_quarter; take_eighth; take_least; }
        const entries = {
            0: take_rank();
            1: take_half();
            2: take_quarter();
            3: take_eighth();
        }
        const default_action = take_least();
        size = 4;
    }

    Register<bit<32>, bit<7>>(128, 0) depths;
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) read_depth = {
        void apply(inout bit<32> value, out bit<32> depth) { depth = value; }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) write_depth = {
        void apply(inout bit<32> value) { value = headers.control_packet.depth_cells; }
    };

    action do_write_depth() { write_depth.execute((bit<7>) headers.control_packet.port); }
    action go_round() { for_tm.ucast_egress_port = RECIRCULATION_PORT; }

    /// Packets since the last sample.
    Register<bit<8>, bit<7>>(128, 0) skipped;
    RegisterAction<bit<8>, bit<7>, bit<8>>(skipped) skip = {
        void apply(inout bit<8> value, out bit<8> is_taken) {
            is_taken = 0;
            if (value >= 19) {
                value = 0;
                is_taken = 1;
            } else {
                value = value + 1;
            }
        }
    };
    /// Place of the oldest rank.
    Register<bit<8>, bit<7>>(128, 0) oldest;
    RegisterAction<bit<8>, bit<7>, bit<8>>(oldest) move_on = {
        void apply(inout bit<8> value, out bit<8> place) {
            place = value;
            if (value >= 19) { value = 0; } else { value = value + 1; }
        }
    };

    /// A place of the window: compares its rank with the packet's and replaces it in its turn. An unused place holds
    /// the maximum rank, which never counts as smaller.
#define PLACE(number) \
    Register<bit<32>, bit<7>>(128, 0xFFFFFFFF) window_##number; \
    RegisterAction<bit<32>, bit<7>, bit<1>>(window_##number) compare_##number = { \
        void apply(inout bit<32> value, out bit<1> is_smaller) { \
            is_smaller = 0; \
            if (value < meta.rank) { is_smaller = 1; } \
        } \
    }; \
    RegisterAction<bit<32>, bit<7>, bit<1>>(window_##number) replace_##number = { \
        void apply(inout bit<32> value, out bit<1> is_smaller) { \
            is_smaller = 0; \
            if (value < meta.rank) { is_smaller = 1; } \
            value = meta.rank; \
        } \
    }; \
    action do_compare_##number() { meta.smaller_##number = compare_##number.execute(meta.port); } \
    action do_replace_##number() { meta.smaller_##number = replace_##number.execute(meta.port); }
    EACH_PLACE(PLACE)

    action set_lower(bit<8> smaller) { meta.smaller_lower = smaller; }
    action set_upper(bit<8> smaller) { meta.smaller_upper = smaller; }
    /// Number of places with a smaller rank: an entry for each combination of ten bits.
#define KEY_OF_PLACE(number) meta.smaller_##number: exact;
    table count_lower {
        key = { LOWER_PLACES(KEY_OF_PLACE) }
        actions = { set_lower; }
        default_action = set_lower(0);
        size = 1024;
    }
    table count_upper {
        key = { UPPER_PLACES(KEY_OF_PLACE) }
        actions = { set_upper; }
        default_action = set_upper(0);
        size = 1024;
    }
    action add_counts() { meta.smaller = meta.smaller_lower + meta.smaller_upper; }

    Random<bit<4>>() random;
    action deflect(PortId_t port, bit<7> index) {
        for_deparser.resubmit_type = RESUBMIT_DRAWN;
        meta.drawn_port = port;
        meta.drawn_index = index;
    }
    /// Equation 1: admits a packet by the depth of its queue and the number of smaller ranks in the window. A rejected
    /// packet is tried at one port that faces a switch, and dropped if that queue rejects it too.
    table admit {
        key = {
            meta.is_second: exact;
            meta.port: ternary;
            meta.smaller: exact;
            meta.depth_cells: ternary;
            meta.drawn: ternary;
        }
        actions = { deflect; drop; NoAction; }
        default_action = NoAction();
        size = 2048;
    }

    apply {
        if (headers.control_packet.isValid()) {
            do_write_depth();
            go_round();
        } else if (headers.ipv4.isValid()) {
            if (meta.is_second == 1) { take_drawn(); } else { routes.apply(); }
            if (headers.mark.isValid()) { ranks.apply(); }
            meta.depth_cells = read_depth.execute(meta.port);
            meta.drawn = random.get();
            meta.place = 255;
            meta.sampled = skip.execute(meta.port);
            if (meta.sampled == 1) { meta.place = move_on.execute(meta.port); }
#define APPLY_PLACE(number) if (meta.place == number) { do_replace_##number(); } else { do_compare_##number(); }
            EACH_PLACE(APPLY_PLACE)
            count_lower.apply();
            count_upper.apply();
            add_counts();
            admit.apply();
        }
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Resubmit() resubmit;
    apply {
        if (for_deparser.resubmit_type == RESUBMIT_DRAWN) {
            resubmit.emit<drawn_t>({ 0, meta.drawn_port, 0, meta.drawn_index, 0 });
        }
        packet.emit(headers.ethernet);
        packet.emit(headers.control_packet);
        packet.emit(headers.ipv4);
        packet.emit(headers.mark);
    }
}

struct egress_metadata_t {
    bit<7>  port;
    bit<32> depth_cells;
}

#include "../tna-control.p4"

control Egress(inout egress_headers_t headers, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Register<bit<32>, bit<7>>(128, 0) depths;
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) note = {
        void apply(inout bit<32> value) { value = meta.depth_cells; }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(depths) read_depth = {
        void apply(inout bit<32> value, out bit<32> depth) { depth = value; }
    };
    action tell() { headers.control_packet.depth_cells = read_depth.execute((bit<7>) headers.control_packet.port); }

    action set_port(bit<7> port) { meta.port = port; }
    table ports {
        key = { intrinsic.egress_port: exact; }
        actions = { set_port; }
        default_action = set_port(0);
        size = 128;
    }

    apply {
        if (headers.control_packet.isValid()) {
            tell();
        } else {
            ports.apply();
            meta.depth_cells = (bit<32>) intrinsic.deq_qdepth;
            note.execute(meta.port);
        }
    }
}

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
