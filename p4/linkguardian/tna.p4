// LinkGuardian for Tofino (Joshi et al., SIGCOMM 2023, sections 3.1 to 3.5, appendix A), with state for both ends of
// 256 links. Numbers have 16 bits and are compared by the sign of their difference, which is right up to half of the
// circle, like the paper's correction of the era. Frames carry the era as in the paper.

#include <core.p4>
#include <tna.p4>
#include "../tna.p4"

const bit<16> ETHERTYPE_DATA = 0x9D20;
const bit<16> ETHERTYPE_ACK = 0x9D21;
const bit<16> ETHERTYPE_ROUND = 0x9D22;
/// EtherType after an explicit acknowledgement, which carries no packet.
const bit<16> ETHERTYPE_NOTHING = 0x9D23;
const bit<16> ETHERTYPE_PAUSE = 0x8808;
const bit<2> TYPE_DATA = 0;
const bit<2> TYPE_ACK = 1;
const bit<2> TYPE_ACK_WITH_LOSS = 2;
const bit<2> TYPE_TX_BUFFERED = 3;
/// Port of the packet generator, which only timer packets use.
const PortId_t TIMER_PORT = 68;
/// Port in loopback mode for recirculating packets.
const PortId_t RECIRCULATION_PORT = 60;
const MirrorType_t MIRROR = 1;
/// Timer packets of a link until the packet at the front is given up: 10 us at 10 million timer packets per second.
const bit<16> ACK_NO_TIMEOUT = 100;
/// Kinds of frames in egress.
const bit<8> IS_NORMAL = 0;
const bit<8> IS_LOSS = 1;
const bit<8> IS_SEEN = 2;
const bit<8> IS_COPY = 3;
const bit<8> IS_DUMMY = 4;
const bit<8> IS_ACK = 5;
const bit<8> IS_PAUSE = 6;

/// Roles of packets in ingress: not part of the link's protocol, timer packet, first of a self-replenishing queue,
/// notification, kept copy, original, dummy, and late packet (retransmitted, or buffered for its turn).
const bit<8> ROLE_NONE = 0;
const bit<8> ROLE_TIMER = 1;
const bit<8> ROLE_FIRST = 2;
const bit<8> ROLE_LOSS = 3;
const bit<8> ROLE_COPY = 4;
const bit<8> ROLE_ORIGINAL = 5;
const bit<8> ROLE_DUMMY = 6;
const bit<8> ROLE_LATE = 7;

/// Data header of three bytes (section 3.5), followed by the packet's EtherType.
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

/// Follows the Ethernet header of a recirculating frame, and names its link. The control plane sends a link's first
/// dummy and first acknowledgement with the same header, and `kind` set.
header round_t {
    bit<8>  kind;
    bit<8>  link;
    bit<16> ether_type;
}

/// Header from the packet generator, which here makes a packet for each link.
header timer_t {
    bit<8>  application;
    bit<8>  zero;
    bit<16> batch;
    bit<8>  packet_high;
    bit<8>  link;
}

/// Priority flow control; only the class of protected packets is used.
header pause_t {
    bit<16>  operation;
    bit<16>  classes;
    bit<16>  quanta;
    bit<112> others;
}

/// Precedes a packet between the pipelines, and a mirrored packet.
header bridge_t {
    bit<8>  kind;
    bit<8>  link;
    bit<7>  zero;
    bit<1>  era;
    bit<16> seen;
    bit<16> first_lost;
    bit<16> lost;
}

struct headers_t {
    bridge_t   bridge;
    timer_t    timer;
    ethernet_t ethernet;
    round_t    round;
    ack_t      ack;
    loss_t     loss;
    data_t     data;
    ipv4_t     ipv4;
}

/// Cell of ackNo.
struct front_t {
    bit<16> number;
    bit<16> ticks;
}

struct metadata_t {
    bit<8>     link;
    bit<8>     kind;
    bit<8>     role;
    bit<1>     era;
    bit<16>    seen;
    bit<16>    behind;
    bit<16>    expected;
    bit<16>    gap;
    bit<16>    front;
    bit<16>    ahead;
    bit<16>    latest;
    bit<16>    away;
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
    MirrorId_t session;
}

parser IngressParse(packet_in packet, out headers_t headers, out metadata_t meta,
                    out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        transition select(intrinsic.ingress_port) {
            TIMER_PORT: timer;
            default: ethernet;
        }
    }
    state timer {
        packet.extract(headers.timer);
        meta.link = headers.timer.link;
        meta.role = ROLE_TIMER;
        transition accept;
    }
    state ethernet {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_ROUND: round;
            ETHERTYPE_ACK: ack;
            ETHERTYPE_DATA: data;
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state round {
        packet.extract(headers.round);
        meta.link = headers.round.link;
        transition select(headers.round.kind) {
            IS_NORMAL: data;
            default: first;
        }
    }
    state first {
        meta.role = ROLE_FIRST;
        transition accept;
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
        meta.role = ROLE_LOSS;
        transition accept;
    }
    state data {
        packet.extract(headers.data);
        transition select(headers.data.packet_type, headers.data.retransmitted, headers.data.dummy,
                          headers.data.rx_buffered) {
            (TYPE_TX_BUFFERED, _, _, _): copy;
            (_, 0, 0, 0): original;
            (_, 0, 1, 0): dummy;
            default: late;
        }
    }
    state copy {
        meta.role = ROLE_COPY;
        transition inside;
    }
    state original {
        meta.role = ROLE_ORIGINAL;
        transition inside;
    }
    state dummy {
        meta.role = ROLE_DUMMY;
        transition inside;
    }
    state late {
        meta.role = ROLE_LATE;
        transition inside;
    }
    state inside {
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
#include "../tna-routes.p4"

    action set_link(bit<8> link, MirrorId_t session) {
        meta.link = link;
        meta.session = session;
    }
    /// Protected links, and each link's mirror session for messages to its other end: a queue with priority over the
    /// normal one.
    table links {
        key = { intrinsic.ingress_port: exact; }
        actions = { set_link; NoAction; }
        default_action = NoAction();
        size = 256;
    }
    action send_first(PortId_t port, QueueId_t queue) {
        headers.bridge.kind = headers.round.kind;
        for_tm.ucast_egress_port = port;
        for_tm.qid = queue;
    }
    /// Port and queue for the first dummy and the first acknowledgement of a link.
    table first_ones {
        key = {
            headers.round.kind: exact;
            meta.link: exact;
        }
        actions = { send_first; drop; }
        default_action = drop();
        size = 512;
    }

    /// Sender: latestRxSeqNo from the last acknowledgement. Egress stamps acknowledgements in the order of departure,
    /// so the last one is the most recent. The number before the first one is 0xFFFF.
    Register<bit<16>, bit<8>>(256, 0xFFFF) latest_acknowledged;
    RegisterAction<bit<16>, bit<8>, bit<16>>(latest_acknowledged) acknowledge = {
        void apply(inout bit<16> value) { value = headers.ack.acknowledged; }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(latest_acknowledged) read_acknowledgement = {
        void apply(inout bit<16> value, out bit<16> latest) { latest = value; }
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
    action do_take_##place() { meta.requested_##place = take_##place.execute(headers.data.sequence); }
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

    action go_round() { for_tm.ucast_egress_port = RECIRCULATION_PORT; }
    action retransmit(MulticastGroupId_t copies, QueueId_t queue) {
        headers.ethernet.ether_type = ETHERTYPE_DATA;
        headers.round.setInvalid();
        headers.data.packet_type = TYPE_DATA;
        for_tm.mcast_grp_a = copies;
        for_tm.qid = queue;
    }
    /// Number of retransmissions of a lost packet: a multicast group with as many copies (section 3.4).
    table repairs {
        key = { meta.link: exact; }
        actions = { retransmit; drop; }
        default_action = drop();
        size = 256;
    }

    /// Receiver: next expected number. Originals and dummies arrive in order.
    Register<bit<16>, bit<8>>(256, 0) expected;
    RegisterAction<bit<16>, bit<8>, bit<16>>(expected) expect = {
        void apply(inout bit<16> value, out bit<16> before) {
            before = value;
            value = meta.behind;
        }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(expected) read_expected = {
        void apply(inout bit<16> value, out bit<16> next) { next = value; }
    };
    /// ackNo (algorithm 1), and the timer packets since its last increment (section 3.5, "Preventing transmission
    /// stalls").
    Register<front_t, bit<8>>(256) ack_number;
    RegisterAction<front_t, bit<8>, bit<16>>(ack_number) take_turn = {
        void apply(inout front_t value, out bit<16> front) {
            front = value.number;
            if (value.number == headers.data.sequence) {
                value.number = value.number + 1;
                value.ticks = 0;
            }
        }
    };
    RegisterAction<front_t, bit<8>, bit<16>>(ack_number) count_down = {
        void apply(inout front_t value) {
            if (value.number == meta.expected) {
                value.ticks = 0;
            } else if (value.ticks >= ACK_NO_TIMEOUT) {
                value.number = value.number + 1;
                value.ticks = 0;
            } else {
                value.ticks = value.ticks + 1;
            }
        }
    };

    action wait() {
        headers.round.setValid();
        headers.round.kind = IS_NORMAL;
        headers.round.link = meta.link;
        headers.round.ether_type = ETHERTYPE_DATA;
        headers.ethernet.ether_type = ETHERTYPE_ROUND;
        headers.ack.setInvalid();
        headers.data.rx_buffered = 1;
        headers.bridge.link = meta.link;
        for_tm.ucast_egress_port = RECIRCULATION_PORT;
    }
    action deliver() {
        headers.ethernet.ether_type = headers.data.ether_type;
        headers.round.setInvalid();
        headers.ack.setInvalid();
        headers.data.setInvalid();
    }
    action drop_acknowledgement() {
        headers.ethernet.ether_type = headers.ack.ether_type;
        headers.ack.setInvalid();
    }
    action is_behind_number() { meta.behind = headers.data.sequence + 1; }
    action is_behind_dummy() { meta.behind = headers.data.sequence; }
    action do_acknowledge() { acknowledge.execute(meta.link); }
    action do_read_acknowledgement() { meta.latest = read_acknowledgement.execute(meta.link); }
    action do_expect() { meta.expected = expect.execute(meta.link); }
    action do_read_expected() { meta.expected = read_expected.execute(meta.link); }
    action do_take_turn() { meta.front = take_turn.execute(meta.link); }
    action do_count_down() { count_down.execute(meta.link); }
    action subtract_expected() { meta.gap = headers.data.sequence - meta.expected; }
    action subtract_front() { meta.ahead = headers.data.sequence - meta.front; }
    action subtract_latest() { meta.away = headers.data.sequence - meta.latest; }
    /// Tells egress of the link's port, where acknowledgements are made, the last number seen or the missing numbers.
    action tell(bit<8> kind) {
        for_deparser.mirror_type = MIRROR;
        meta.kind = kind;
        meta.seen = meta.behind - 1;
        meta.era = headers.data.era;
    }
    action flip_era() { meta.era = meta.era ^ 1; }

    /// Each register is accessed by one table, for all roles of a packet.
    table acknowledgements {
        key = {
            headers.ack.isValid(): exact;
            meta.role: exact;
        }
        actions = { do_acknowledge; do_read_acknowledgement; NoAction; }
        const entries = {
            (true, ROLE_NONE): do_acknowledge();
            (true, ROLE_LOSS): do_acknowledge();
            (true, ROLE_ORIGINAL): do_acknowledge();
            (true, ROLE_DUMMY): do_acknowledge();
            (true, ROLE_LATE): do_acknowledge();
            (false, ROLE_COPY): do_read_acknowledgement();
        }
        const default_action = NoAction();
        size = 8;
    }
    table expectations {
        key = { meta.role: exact; }
        actions = { do_expect; do_read_expected; NoAction; }
        const entries = {
            ROLE_ORIGINAL: do_expect();
            ROLE_DUMMY: do_expect();
            ROLE_TIMER: do_read_expected();
        }
        const default_action = NoAction();
        size = 4;
    }
    table turns {
        key = { meta.role: exact; }
        actions = { do_take_turn; do_count_down; NoAction; }
        const entries = {
            ROLE_ORIGINAL: do_take_turn();
            ROLE_LATE: do_take_turn();
            ROLE_TIMER: do_count_down();
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        headers.bridge.setValid();
        headers.bridge.kind = IS_NORMAL;
        if (!headers.timer.isValid() && !headers.round.isValid()) { links.apply(); }
        if (headers.ipv4.isValid()) { routes.apply(); }
        if (headers.data.dummy == 1) { is_behind_dummy(); } else { is_behind_number(); }
        acknowledgements.apply();
        expectations.apply();
        turns.apply();
        subtract_latest();
        subtract_expected();
        subtract_front();
        if (meta.role == ROLE_FIRST) {
            first_ones.apply();
        } else if (meta.role == ROLE_TIMER) {
            drop();
        } else if (meta.role == ROLE_COPY) {
            if (meta.away[15:15] == 0 && meta.away != 0) {
                go_round();
            } else {
                do_take_0();
                do_take_1();
                do_take_2();
                do_take_3();
                do_take_4();
                if (meta.requested_0 == 1 || meta.requested_1 == 1 || meta.requested_2 == 1 ||
                    meta.requested_3 == 1 || meta.requested_4 == 1) {
                    repairs.apply();
                } else {
                    drop();
                }
            }
        } else if (meta.role == ROLE_LOSS) {
            index_losses();
            do_set_0();
            if (headers.loss.count > 1) { do_set_1(); }
            if (headers.loss.count > 2) { do_set_2(); }
            if (headers.loss.count > 3) { do_set_3(); }
            if (headers.loss.count > 4) { do_set_4(); }
            drop();
        } else if (headers.data.isValid()) {
            if (meta.role != ROLE_LATE) {
                if (meta.gap != 0) { tell(IS_LOSS); } else { tell(IS_SEEN); }
                // The number before the first dummy of a new era is in the old era.
                if (meta.role == ROLE_DUMMY && headers.data.sequence == 0) { flip_era(); }
            }
            if (meta.role == ROLE_DUMMY) {
                drop();
            } else if (meta.ahead == 0 || headers.data.blocking == 0) {
                deliver();
            } else if (meta.ahead[15:15] == 1) {
                drop();
            } else {
                wait();
            }
        } else if (headers.ack.isValid()) {
            if (headers.ack.ether_type == ETHERTYPE_NOTHING) { drop(); } else { drop_acknowledgement(); }
        }
    }
}

control IngressDeparse(packet_out packet, inout headers_t headers, in metadata_t meta,
                       in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror() mirror;
    apply {
        if (for_deparser.mirror_type == MIRROR) {
            mirror.emit<bridge_t>(meta.session,
                                  { meta.kind, meta.link, 0, meta.era, meta.seen, meta.expected, meta.gap });
        }
        packet.emit(headers.bridge);
        packet.emit(headers.ethernet);
        packet.emit(headers.round);
        packet.emit(headers.ack);
        packet.emit(headers.data);
        packet.emit(headers.ipv4);
    }
}

#include "tna-egress.p4"

Pipeline(IngressParse(), Ingress(), IngressDeparse(), EgressParse(), Egress(), EgressDeparse()) pipe;
Switch(pipe) main;
