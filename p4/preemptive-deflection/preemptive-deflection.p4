// Preemptive Deflection by quantiles (Abdous, Sharafzadeh, Ghorbani: "Practical Packet Deflection in Datacenters",
// CoNEXT 2023; sections as printed there): a queue refuses a packet of relative priority R if it holds more than
// Q (1 - alpha R) (equation 1) or has no room. A refused packet goes to a random port that faces a switch, if it passes
// the same test there; otherwise it is dropped.

#include <core.p4>
#include <v1model.p4>
#include "../hitless.p4"
#include "../headers.p4"
#include "../ports.p4"

/// Denominator of alpha, which is in thousandths.
const bit<64> WHOLE = 1000;
/// Places of a window; one packet in SAMPLE_EVERY enters it (section 5.2).
const bit<8> WINDOW = 20;
const bit<32> SAMPLE_EVERY = 20;

/// Writes `DO(place)` for each place of the window.
#define EACH_PLACE(DO) \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) \
    DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19)

struct headers_t {
    generated_t     generated;
    ethernet_t      ethernet;
    ipv4_t          ipv4;
    priority_mark_t mark;
}

struct metadata_t {
    /// Rank of the packet, halved with each retransmission.
    bit<32> rank;
    /// Candidate queue, and its index in the register arrays, which have eight cells for each port.
    port_t  port;
    queue_t queue;
    bit<32> index;
    bit<32> capacity_bytes;
    bit<32> alpha;
    ports_t switches;
}

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
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
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

control Verify(inout headers_t headers, inout metadata_t meta) { apply {} }

/// Window of recent packets of each queue (section 4.2, "Quantile estimation").
register<bit<8>>(128) filled;
#define DECLARE_PLACE(place) register<bit<32>>(128) window_##place;
EACH_PLACE(DECLARE_PLACE)

/// Equation 1: the candidate queue must have room for the packet, and must not hold too much for its relative priority.
/// That priority is the share of smaller ranks in the window.
control Test(in metadata_t meta, out bit<1> has_passed) {
#define COMPARE_PLACE(place) \
    if (entries > place) { \
        window_##place.read(entry, meta.index); \
        if (entry < meta.rank) { smaller = smaller + 1; } \
    }

    apply {
        bit<1> has_room;
        bit<32> depth_bytes;
        bit<8> entries;
        bit<32> entry;
        bit<64> smaller = 0;
        queue_has_room(meta.port, meta.queue, has_room);
        queue_depth(meta.port, meta.queue, depth_bytes);
        filled.read(entries, meta.index);
        EACH_PLACE(COMPARE_PLACE)
        if (entries == 0) { entries = 1; }
        // depth > Q (1 - alpha smaller / entries), without a division.
        bit<64> scale = (bit<64>) entries * WHOLE;
        bit<64> threshold = (bit<64>) meta.capacity_bytes * (scale - (bit<64>) meta.alpha * smaller);
        has_passed = has_room;
        if ((bit<64>) depth_bytes * scale > threshold) { has_passed = 0; }
    }
}

/// Counts a packet that goes to the candidate queue; one in SAMPLE_EVERY replaces the oldest rank in the window.
control Enter(in metadata_t meta) {
    register<bit<32>>(128) skipped;
    register<bit<8>>(128) oldest;

#define WRITE_PLACE(place) \
    if (at == place) { window_##place.write(meta.index, meta.rank); }

    apply {
        bit<32> count;
        skipped.read(count, meta.index);
        count = count + 1;
        if (count < SAMPLE_EVERY) {
            skipped.write(meta.index, count);
        } else {
            skipped.write(meta.index, 0);
            bit<8> at;
            filled.read(at, meta.index);
            if (at < WINDOW) {
                filled.write(meta.index, at + 1);
            } else {
                oldest.read(at, meta.index);
                bit<8> next = at + 1;
                if (next == WINDOW) { next = 0; }
                oldest.write(meta.index, next);
            }
            EACH_PLACE(WRITE_PLACE)
        }
    }
}

/// Draws a random port that faces a switch, except the packet's own (section 3); without such a port, its own.
control Draw(inout metadata_t meta, in standard_metadata_t standard, in port_t own, in ports_t down) {
    action set_switches(ports_t ports) { meta.switches = ports; }
    /// Ports that face switches and are allowed for packets from `ingress_port`.
    table towards_switches {
        key = { standard.ingress_port: exact; }
        actions = { set_switches; }
        default_action = set_switches(0);
        size = 16;
    }

#define COUNT_PORT(P) if (eligible[P:P] == 1) { count = count + 1; }
    // Selects the eligible port number `drawn`.
#define PICK_PORT(P) \
    if (eligible[P:P] == 1) { \
        if (drawn == 0) { meta.port = P; } \
        drawn = drawn - 1; \
    }

    apply {
        towards_switches.apply();
        ports_t own_bit = (ports_t) 1 << (bit<8>) own;
        ports_t eligible = meta.switches & ~down & ~own_bit;
        bit<8> count = 0;
        EACH_PORT(COUNT_PORT)
        if (count > 0) {
            bit<8> drawn;
            random(drawn, 0, count - 1);
            EACH_PORT(PICK_PORT)
        }
    }
}

control ingress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    LinkStates() link_states;
    Test() test_own;
    Test() test_other;
    Draw() draw;
    Enter() enter;
    counter(16, CounterType.packets) deflected;
    counter(16, CounterType.packets) given_up;

#include "../routes.p4"

    action relieve() {}
    /// Ports with deflection.
    table relieved {
        key = { standard.egress_spec: exact; }
        actions = { relieve; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    action set_test(bit<32> capacity_bytes, bit<32> alpha_thousandths) {
        meta.capacity_bytes = capacity_bytes;
        meta.alpha = alpha_thousandths;
    }
    /// Q and alpha of equation 1.
    table settings {
        actions = { set_test; }
        default_action = set_test(150000, 100);
    }

    action look_at(port_t port) {
        meta.port = port;
        class_queue(port, meta.queue);
        meta.index = (bit<32>) port << 3 | (bit<32>) (meta.queue & 7);
    }

    apply {
        ports_t down;
        link_states.apply(headers.generated, headers.generated.isValid(), down);
        if (headers.generated.isValid()) {
            drop();
            return;
        }
        routes.apply();
        settings.apply();
        // A packet without a mark has the highest priority.
        meta.rank = 0;
        if (headers.mark.isValid()) {
            meta.rank = headers.mark.rank_bytes >> (bit<8>) headers.mark.retransmissions;
        }
        port_t own = standard.egress_spec;
        look_at(own);
        bit<1> has_passed = 1;
        if (relieved.apply().hit) {
            test_own.apply(meta, has_passed);
            if (has_passed == 0) {
                draw.apply(meta, standard, own, down);
                if (meta.port != own) {
                    class_queue(meta.port, meta.queue);
                    meta.index = (bit<32>) meta.port << 3 | (bit<32>) (meta.queue & 7);
                    test_other.apply(meta, has_passed);
                }
                if (has_passed == 0) {
                    given_up.count((bit<32>) own);
                    drop();
                    return;
                }
                deflected.count((bit<32>) own);
                send_to_queue(meta.port, meta.queue);
            }
        }
        enter.apply(meta);
    }
}

control egress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) { apply {} }

control Compute(inout headers_t headers, inout metadata_t meta) { apply {} }

control Deparse(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.generated);
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.mark);
    }
}

V1Switch(Parse(), Verify(), ingress(), egress(), Compute(), Deparse()) main;
