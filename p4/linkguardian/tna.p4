// LinkGuardian for Tofino (Joshi et al., SIGCOMM 2023, sections 3.1 to 3.5, appendix A), with state for 256 ports.
// Numbers are kept in the upper 17 bits of a word, so that signed differences go round the circle of both eras.

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"

const bit<16> ETHERTYPE_DATA = 0x9D20;
const bit<16> ETHERTYPE_ACK = 0x9D21;
const bit<16> ETHERTYPE_PAUSE = 0x8808;
const bit<2> TYPE_DATA = 0;
const bit<2> TYPE_ACK = 1;
const bit<2> TYPE_ACK_WITH_LOSS = 2;
const bit<2> TYPE_TX_BUFFERED = 3;
const bit<32> ONE = 0x8000;
const PortId_t RECIRCULATION_PORT = 68;
const MirrorType_t MIRROR_LOSS = 1;
const MirrorType_t MIRROR_COPY = 2;
/// What egress finds before a packet.
const bit<8> IS_NORMAL = 0;
const bit<8> IS_LOSS = 1;
const bit<8> IS_COPY = 2;

/// Three bytes (section 3.5), behind which the packet's own type follows.
header data_t {
    bit<2>  packet_type;
    bit<1>  channel;
    bit<1>  era;
    bit<1>  retransmitted;
    bit<1>  dummy;
    bit<1>  blocking;
    bit<1>  rx_buffered;
    bit<16> sequence;
    bit<16> ether_type;
}

header ack_t {
    bit<2>  packet_type;
    bit<1>  piggybacked;
    bit<1>  era;
    bit<1>  channel;
    bit<3>  zero;
    bit<16> acknowledged;
    bit<16> ether_type;
}

header loss_t {
    bit<8>  count;
    bit<16> first_lost;
}

header bridge_t {
    bit<8>  kind;
    bit<32> seen;
    bit<32> first_lost;
    bit<16> home;
}

struct headers_t {
    bridge_t   bridge;
    ethernet_t ethernet;
    ack_t      ack;
    loss_t     loss;
    data_t     data;
    ipv4_t     ipv4;
}

struct metadata_t {
    bit<8>     port;
    bit<32>    number;
    bit<32>    behind;
    bit<32>    acknowledged;
    bit<32>    expected;
    bit<32>    gap;
    bit<32>    front;
    bit<32>    ahead;
    bit<32>    latest;
    bit<32>    away;
    bit<16>    lost_0;
    bit<16>    lost_1;
    bit<16>    lost_2;
    bit<16>    lost_3;
    bit<16>    lost_4;
    bit<1>     requested_0;
    bit<1>     requested_1;
    bit<1>     requested_2;
    bit<1>     requested_3;
    bit<1>     requested_4;
    bit<8>     ticks;
    MirrorId_t session;
}

parser IngressParse(packet_in packet, out headers_t headers, out metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_ACK: ack;
            ETHERTYPE_DATA: data;
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ack {
        packet.extract(headers.ack);
        transition select(headers.ack.packet_type, headers.ack.ether_type) {
            (TYPE_ACK_WITH_LOSS, _): loss;
            (_, ETHERTYPE_DATA): data;
            (_, ETHERTYPE_IPV4): ipv4;
            default: accept;
        }
    }
    state loss {
        packet.extract(headers.loss);
        transition accept;
    }
    state data {
        packet.extract(headers.data);
        transition select(headers.data.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(headers.ipv4);
        transition accept;
    }
}

control Ingress(inout headers_t headers, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action send(PortId_t port) { for_tm.ucast_egress_port = port; }
    action drop() { for_deparser.drop_ctl = 1; }
    table routes {
        key = { headers.ipv4.destination: lpm; }
        actions = { send; drop; }
        default_action = drop();
        size = 1024;
    }

    action set_port(bit<8> port, MirrorId_t session) {
        meta.port = port;
        meta.session = session;
    }
    /// The protected links, and the mirror session of notifications of each.
    table links {
        key = { intrinsic.ingress_port: exact; }
        actions = { set_port; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    action read_number() {
        meta.number = headers.data.era ++ headers.data.sequence ++ 15w0;
        meta.behind = headers.data.era ++ headers.data.sequence ++ 15w0x7FFF;
    }
    action read_acknowledged() { meta.acknowledged = headers.ack.era ++ headers.ack.acknowledged ++ 15w0; }

    /// Sender: latestRxSeqNo as it was last acknowledged.
    Register<bit<32>, bit<8>>(256, 0) latest_acknowledged;
    RegisterAction<bit<32>, bit<8>, bit<32>>(latest_acknowledged) acknowledge = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            if ((int<32>) (meta.acknowledged - value) > 0) { value = meta.acknowledged; }
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(latest_acknowledged) read_acknowledgement = {
        void apply(inout bit<32> value, out bit<32> latest) { latest = value; }
    };

    /// reTxReqs (section 3.5, "Handling consecutive packet losses").
#define REQUEST(place) \
    Register<bit<1>, bit<16>>(65536, 0) requests_##place; \
    RegisterAction<bit<1>, bit<16>, bit<1>>(requests_##place) set_##place = { \
        void apply(inout bit<1> value) { value = 1; } \
    }; \
    RegisterAction<bit<1>, bit<16>, bit<1>>(requests_##place) take_##place = { \
        void apply(inout bit<1> value, out bit<1> requested) { \
            requested = value; \
            value = 0; \
        } \
    }; \
    action do_set_##place() { set_##place.execute(meta.lost_##place); } \
    action do_take_##place() { meta.requested_##place = take_##place.execute(meta.lost_##place); }
    REQUEST(0)
    REQUEST(1)
    REQUEST(2)
    REQUEST(3)
    REQUEST(4)
    action index_losses() {
        meta.lost_0 = headers.loss.first_lost;
        meta.lost_1 = headers.loss.first_lost + 1;
        meta.lost_2 = headers.loss.first_lost + 2;
        meta.lost_3 = headers.loss.first_lost + 3;
        meta.lost_4 = headers.loss.first_lost + 4;
    }
    action index_copy() {
        meta.lost_0 = headers.data.sequence;
        meta.lost_1 = headers.data.sequence;
        meta.lost_2 = headers.data.sequence;
        meta.lost_3 = headers.data.sequence;
        meta.lost_4 = headers.data.sequence;
    }

    action go_round() { for_tm.ucast_egress_port = RECIRCULATION_PORT; }
    action retransmit(MulticastGroupId_t copies) {
        headers.data.packet_type = TYPE_DATA;
        headers.data.retransmitted = 1;
        for_tm.mcast_grp_a = copies;
        for_tm.qid = 7;
    }
    /// A copy that was acknowledged: it ends, unless it was requested; then it is multicast (section 3.5).
    table retransmissions {
        key = {
            meta.requested_0: ternary;
            meta.requested_1: ternary;
            meta.requested_2: ternary;
            meta.requested_3: ternary;
            meta.requested_4: ternary;
        }
        actions = { retransmit; drop; }
        default_action = drop();
        size = 8;
    }

    /// Receiver: the number that should come next.
    Register<bit<32>, bit<8>>(256, 0) expected;
    RegisterAction<bit<32>, bit<8>, bit<32>>(expected) expect = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            if ((int<32>) (meta.behind - value) > 0) { value = meta.behind + 1; }
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(expected) read_expected = {
        void apply(inout bit<32> value, out bit<32> next) { next = value; }
    };
    /// ackNo (algorithm 1).
    Register<bit<32>, bit<8>>(256, 0) ack_number;
    RegisterAction<bit<32>, bit<8>, bit<32>>(ack_number) take_turn = {
        void apply(inout bit<32> value, out bit<32> front) {
            front = value;
            if (value == meta.number) { value = value + ONE; }
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(ack_number) give_up = {
        void apply(inout bit<32> value, out bit<32> front) {
            front = value;
            if (value != meta.expected) { value = value + ONE; }
        }
    };
    /// Timer packets since the last progress (section 3.5, "Preventing transmission stalls").
    Register<bit<8>, bit<8>>(256, 0) countdown;
    RegisterAction<bit<8>, bit<8>, bit<8>>(countdown) restart = {
        void apply(inout bit<8> value) { value = 0; }
    };

    action wait() {
        headers.data.rx_buffered = 1;
        for_tm.ucast_egress_port = RECIRCULATION_PORT;
    }
    action deliver() {
        headers.ethernet.ether_type = headers.data.ether_type;
        headers.data.setInvalid();
    }
    action subtract_expected() { meta.gap = meta.number - meta.expected; }
    action subtract_front() { meta.ahead = meta.number - meta.front; }
    action subtract_latest() { meta.away = meta.number - meta.latest; }
    action notify() { for_deparser.mirror_type = MIRROR_LOSS; }
    action drop_header() {
        headers.ethernet.ether_type = headers.ack.ether_type;
        headers.ack.setInvalid();
    }

    apply {
        headers.bridge.setValid();
        headers.bridge.kind = IS_NORMAL;
        links.apply();
        routes.apply();
        read_number();
        read_acknowledged();
        if (headers.ack.isValid()) { meta.latest = acknowledge.execute(meta.port); }
        else { meta.latest = read_acknowledgement.execute(meta.port); }
        if (headers.loss.isValid()) { index_losses(); } else { index_copy(); }
        if (headers.loss.isValid()) {
            do_set_0();
            if (headers.loss.count > 1) { do_set_1(); }
            if (headers.loss.count > 2) { do_set_2(); }
            if (headers.loss.count > 3) { do_set_3(); }
            if (headers.loss.count > 4) { do_set_4(); }
            drop();
        } else if (headers.data.isValid() && headers.data.packet_type == TYPE_TX_BUFFERED) {
            subtract_latest();
            if (meta.away[31:31] == 0 && meta.away != 0) {
                go_round();
            } else {
                do_take_0();
                do_take_1();
                do_take_2();
                do_take_3();
                do_take_4();
                retransmissions.apply();
            }
        } else if (headers.data.isValid()) {
            if (headers.data.retransmitted == 0 && headers.data.rx_buffered == 0) {
                meta.expected = expect.execute(meta.port);
                subtract_expected();
                if (meta.gap != 0) { notify(); }
                headers.bridge.seen = meta.number;
            } else {
                meta.expected = read_expected.execute(meta.port);
            }
            if (headers.data.dummy == 1) {
                drop();
            } else {
                meta.front = take_turn.execute(meta.port);
                subtract_front();
                if (meta.ahead == 0) { deliver(); } else if (meta.ahead[31:31] == 1) { drop(); } else { wait(); }
            }
        } else if (headers.ack.isValid()) {
            drop_header();
        }
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror() mirror;
    apply {
        if (for_deparser.mirror_type == MIRROR_LOSS) {
            mirror.emit<bridge_t>(meta.session, { IS_LOSS, meta.number, meta.expected, (bit<16>) meta.port });
        }
        packet.emit(headers);
    }
}

struct egress_headers_t {
    ethernet_t ethernet;
    ack_t      ack;
    loss_t     loss;
    data_t     data;
}

struct egress_metadata_t {
    bridge_t   bridge;
    bit<8>     port;
    bit<1>     is_protected;
    bit<32>    number;
    bit<32>    seen;
    bit<32>    lost;
    bit<8>     pending;
    bit<8>     acks;
    bit<8>     is_deep;
    bit<8>     was_deep;
    MirrorId_t session;
}

parser EgressParse(packet_in packet, out egress_headers_t headers, out egress_metadata_t meta,
                   out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.extract(meta.bridge);
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_DATA: data;
            default: accept;
        }
    }
    state data {
        packet.extract(headers.data);
        transition accept;
    }
}

control Egress(inout egress_headers_t headers, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    action protect(bit<8> port, MirrorId_t session) {
        meta.port = port;
        meta.session = session;
        meta.is_protected = 1;
    }
    table links {
        key = { intrinsic.egress_port: exact; }
        actions = { protect; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    /// seqNo.
    Register<bit<32>, bit<8>>(256, 0) next_sequence;
    RegisterAction<bit<32>, bit<8>, bit<32>>(next_sequence) take_number = {
        void apply(inout bit<32> value, out bit<32> number) {
            number = value;
            value = value + ONE;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(next_sequence) read_number = {
        void apply(inout bit<32> value, out bit<32> number) { number = value; }
    };
    /// Dummies that are still to be sent in this gap (section 3.2).
    Register<bit<8>, bit<8>>(256, 0) dummies_pending;
    RegisterAction<bit<8>, bit<8>, bit<8>>(dummies_pending) expect_gap = {
        void apply(inout bit<8> value) { value = 1; }
    };
    RegisterAction<bit<8>, bit<8>, bit<8>>(dummies_pending) use_dummy = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
            value = 0;
        }
    };
    /// latestRxSeqNo, which acknowledgements tell.
    Register<bit<32>, bit<8>>(256, 0) latest_received;
    RegisterAction<bit<32>, bit<8>, bit<32>>(latest_received) note_seen = {
        void apply(inout bit<32> value, out bit<32> seen) {
            if ((int<32>) (meta.bridge.seen - value) > 0) { value = meta.bridge.seen; }
            seen = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(latest_received) read_seen = {
        void apply(inout bit<32> value, out bit<32> seen) { seen = value; }
    };
    /// curr_state of algorithm 2.
    Register<bit<8>, bit<8>>(256, 0) states;
    RegisterAction<bit<8>, bit<8>, bit<8>>(states) change_state = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
            value = meta.is_deep;
        }
    };
    action is_deep() { meta.is_deep = 1; }
    action is_shallow() { meta.is_deep = 0; }
    /// The thresholds of the reordering buffer, for either state (algorithm 2).
    table depths {
        key = { intrinsic.deq_qdepth: range; }
        actions = { is_deep; is_shallow; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    action add_data() {
        headers.data.setValid();
        headers.data.packet_type = TYPE_DATA;
        headers.data.channel = 0;
        headers.data.era = meta.number[31:31];
        headers.data.retransmitted = 0;
        headers.data.dummy = 0;
        headers.data.blocking = 1;
        headers.data.rx_buffered = 0;
        headers.data.sequence = meta.number[30:15];
        headers.data.ether_type = headers.ethernet.ether_type;
    }
    action add_ack() {
        headers.ack.setValid();
        headers.ack.packet_type = TYPE_ACK;
        headers.ack.piggybacked = 1;
        headers.ack.era = meta.seen[31:31];
        headers.ack.channel = 0;
        headers.ack.zero = 0;
        headers.ack.acknowledged = meta.seen[30:15];
        headers.ack.ether_type = ETHERTYPE_DATA;
        headers.ethernet.ether_type = ETHERTYPE_ACK;
    }
    action stamp_dummy() {
        headers.data.era = meta.number[31:31];
        headers.data.sequence = meta.number[30:15];
    }
    action make_notification() {
        headers.ack.setValid();
        headers.ack.packet_type = TYPE_ACK_WITH_LOSS;
        headers.ack.piggybacked = 0;
        headers.ack.era = meta.bridge.seen[31:31];
        headers.ack.channel = 0;
        headers.ack.zero = 0;
        headers.ack.acknowledged = meta.bridge.seen[30:15];
        headers.loss.setValid();
        headers.loss.count = meta.lost[22:15];
        headers.loss.first_lost = meta.bridge.first_lost[30:15];
        headers.data.setInvalid();
        headers.ethernet.ether_type = ETHERTYPE_ACK;
    }
    action count_lost() { meta.lost = meta.bridge.seen - meta.bridge.first_lost; }
    action keep_copy() { for_deparser.mirror_type = MIRROR_COPY; }
    action become_copy() { headers.data.packet_type = TYPE_TX_BUFFERED; }
    action end() { for_deparser.drop_ctl = 1; }

    apply {
        links.apply();
        if (meta.bridge.kind == IS_LOSS) {
            count_lost();
            make_notification();
            note_seen.execute(meta.port);
        } else if (meta.bridge.kind == IS_COPY) {
            become_copy();
        } else if (meta.is_protected == 1) {
            if (headers.data.isValid() && headers.data.dummy == 1) {
                meta.number = read_number.execute(meta.port);
                meta.pending = use_dummy.execute(meta.port);
                stamp_dummy();
                if (meta.pending == 0) { end(); }
            } else if (!headers.data.isValid()) {
                meta.number = take_number.execute(meta.port);
                expect_gap.execute(meta.port);
                meta.seen = read_seen.execute(meta.port);
                add_data();
                add_ack();
                keep_copy();
            }
        } else if (headers.data.isValid() && headers.data.rx_buffered == 1) {
            depths.apply();
            meta.was_deep = change_state.execute(meta.bridge.home[7:0]);
        }
    }
}

control EgressDeparse(packet_out packet, inout egress_headers_t headers, in egress_metadata_t meta,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror() mirror;
    apply {
        if (for_deparser.mirror_type == MIRROR_COPY) {
            mirror.emit<bridge_t>(meta.session, { IS_COPY, meta.number, 0, (bit<16>) meta.port });
        }
        packet.emit(headers);
    }
}

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
