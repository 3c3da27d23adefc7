// Egress pipeline of tna.p4: numbers, acknowledgements, notifications, and waiting copies.

struct egress_headers_t {
    ethernet_t ethernet;
    round_t    round;
    ack_t      ack;
    loss_t     loss;
    data_t     data;
    pause_t    pause;
}

struct egress_metadata_t {
    bridge_t   bridge;
    bit<8>     link;
    bit<1>     is_link;
    bit<1>     blocking;
    bit<32>    number;
    bit<16>    seen;
    bit<8>     era;
    bit<8>     bridge_era;
    bit<8>     dummies;
    bit<8>     acks;
    bit<8>     is_deep;
    bit<8>     was_deep;
    bit<8>     kind;
    bit<16>    quanta;
    MirrorId_t session;
    MirrorId_t dummy_session;
    MirrorId_t ack_session;
    MirrorId_t copy_session;
}

parser EgressParse(packet_in packet, out egress_headers_t headers, out egress_metadata_t meta,
                   out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.link = 0;
        meta.is_link = 0;
        meta.blocking = 0;
        meta.kind = 0;
        meta.quanta = 0;
        meta.session = 0;
        meta.is_deep = 0;
        meta.was_deep = 0;
        packet.extract(meta.bridge);
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHERTYPE_ROUND: round;
            ETHERTYPE_ACK: ack;
            ETHERTYPE_DATA: data;
            default: accept;
        }
    }
    state round {
        packet.extract(headers.round);
        transition select(headers.round.ether_type) {
            ETHERTYPE_DATA: data;
            ETHERTYPE_ACK: ack;
            default: accept;
        }
    }
    state ack {
        packet.extract(headers.ack);
        transition select(headers.ack.ether_type) {
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
    action set_link(bit<8> link, bit<1> blocking, MirrorId_t copy_session, MirrorId_t dummy_session,
                    MirrorId_t ack_session) {
        meta.link = link;
        meta.blocking = blocking;
        meta.copy_session = copy_session;
        meta.dummy_session = dummy_session;
        meta.ack_session = ack_session;
        meta.is_link = 1;
    }
    /// Protected links, each with its order mode and its mirror sessions: to the recirculation port, and to the two
    /// self-replenishing queues with priority below the normal queue (sections 3.1 and 3.2).
    table links {
        key = { intrinsic.egress_port: exact; }
        actions = { set_link; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    /// seqNo; bit 16 is the era.
    Register<bit<32>, bit<8>>(256, 0) next_sequence;
    RegisterAction<bit<32>, bit<8>, bit<32>>(next_sequence) take_number = {
        void apply(inout bit<32> value, out bit<32> number) {
            number = value;
            value = value + 1;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(next_sequence) read_number = {
        void apply(inout bit<32> value, out bit<32> number) { number = value; }
    };
    /// Whether a dummy or an acknowledgement must be sent. Otherwise the packets of the self-replenishing queues only
    /// circulate.
#define PENDING(name) \
    Register<bit<8>, bit<8>>(256, 0) name##_pending; \
    RegisterAction<bit<8>, bit<8>, bit<8>>(name##_pending) expect_##name = { \
        void apply(inout bit<8> value) { value = 1; } \
    }; \
    RegisterAction<bit<8>, bit<8>, bit<8>>(name##_pending) use_##name = { \
        void apply(inout bit<8> value, out bit<8> before) { \
            before = value; \
            value = 0; \
        } \
    };
    PENDING(dummies)
    PENDING(acks)
    /// latestRxSeqNo and its era, for acknowledgements.
    Register<bit<16>, bit<8>>(256, 0xFFFF) latest_received;
    RegisterAction<bit<16>, bit<8>, bit<16>>(latest_received) note_seen = {
        void apply(inout bit<16> value) { value = meta.bridge.seen; }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(latest_received) read_seen = {
        void apply(inout bit<16> value, out bit<16> seen) { seen = value; }
    };
    Register<bit<8>, bit<8>>(256, 1) latest_era;
    RegisterAction<bit<8>, bit<8>, bit<8>>(latest_era) note_era = {
        void apply(inout bit<8> value) { value = meta.bridge_era; }
    };
    RegisterAction<bit<8>, bit<8>, bit<8>>(latest_era) read_era = {
        void apply(inout bit<8> value, out bit<8> era) { era = value; }
    };
    /// curr_state of algorithm 2, for the link of the passing packet.
    Register<bit<8>, bit<8>>(256, 0) states;
    RegisterAction<bit<8>, bit<8>, bit<8>>(states) change_state = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
            value = meta.is_deep;
        }
    };
    action is_deep(MirrorId_t session) {
        meta.is_deep = 1;
        meta.quanta = 0xFFFF;
        meta.session = session;
    }
    action is_shallow(MirrorId_t session) {
        meta.is_deep = 0;
        meta.quanta = 0;
        meta.session = session;
    }
    /// Thresholds of the reordering buffer (algorithm 2), and the session to the other end of the link. A depth between
    /// the thresholds matches no entry.
    table depths {
        key = {
            meta.bridge.link: exact;
            intrinsic.deq_qdepth: range;
        }
        actions = { is_deep; is_shallow; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    action do_take_number() { meta.number = take_number.execute(meta.link); }
    action do_read_number() { meta.number = read_number.execute(meta.link); }
    action do_expect_dummies() { expect_dummies.execute(meta.link); }
    action do_use_dummies() { meta.dummies = use_dummies.execute(meta.link); }
    action do_expect_acks() { expect_acks.execute(meta.link); }
    action do_use_acks() { meta.acks = use_acks.execute(meta.link); }
    action do_note_seen() { note_seen.execute(meta.link); }
    action do_read_seen() { meta.seen = read_seen.execute(meta.link); }
    action take_era() { meta.bridge_era = (bit<8>) meta.bridge.era; }
    action do_note_era() { note_era.execute(meta.link); }
    action do_read_era() { meta.era = read_era.execute(meta.link); }
    action do_change_state() { meta.was_deep = change_state.execute(meta.bridge.link); }

    /// Headers are written in two steps: constant fields first, then bits from registers.
    action open_data(bit<1> dummy) {
        headers.data.setValid();
        headers.data.packet_type = TYPE_DATA;
        headers.data.channel = 0;
        headers.data.era = 0;
        headers.data.retransmitted = 0;
        headers.data.dummy = dummy;
        headers.data.blocking = 0;
        headers.data.rx_buffered = 0;
    }
    action open_ack(bit<1> piggybacked) {
        headers.ack.setValid();
        headers.ack.packet_type = TYPE_ACK;
        headers.ack.piggybacked = piggybacked;
        headers.ack.era = 0;
        headers.ack.channel = 0;
        headers.ack.zero = 0;
    }
    action write_number() {
        headers.data.era = meta.number[16:16];
        headers.data.sequence = meta.number[15:0];
    }
    action write_mode() { headers.data.blocking = meta.blocking; }
    action write_seen() {
        headers.ack.era = meta.era[0:0];
        headers.ack.acknowledged = meta.seen;
    }
    action chain_both() {
        headers.data.ether_type = headers.ethernet.ether_type;
        headers.ack.ether_type = ETHERTYPE_DATA;
        headers.ethernet.ether_type = ETHERTYPE_ACK;
    }
    action chain_dummy() {
        headers.data.ether_type = ETHERTYPE_NOTHING;
        headers.round.setInvalid();
        headers.ethernet.ether_type = ETHERTYPE_DATA;
    }
    action chain_ack() {
        headers.ack.ether_type = ETHERTYPE_NOTHING;
        headers.round.setInvalid();
        headers.ethernet.ether_type = ETHERTYPE_ACK;
    }
    action open_notification() {
        headers.ack.setValid();
        headers.ack.packet_type = TYPE_ACK_WITH_LOSS;
        headers.ack.piggybacked = 0;
        headers.ack.era = 0;
        headers.ack.channel = 0;
        headers.ack.zero = 0;
    }
    action fill_notification() {
        headers.ack.era = meta.bridge.era;
        headers.ack.acknowledged = meta.bridge.seen;
        headers.ack.ether_type = ETHERTYPE_NOTHING;
        headers.loss.setValid();
        headers.loss.count = meta.bridge.lost[7:0];
        headers.loss.first_lost = meta.bridge.first_lost;
        headers.data.setInvalid();
        headers.ethernet.ether_type = ETHERTYPE_ACK;
    }
    /// A copy starts with the link's number, and loses its acknowledgement, which would be out of date.
    action become_copy() {
        headers.round.setValid();
        headers.round.kind = IS_NORMAL;
        headers.round.link = meta.bridge.link;
        headers.round.ether_type = ETHERTYPE_DATA;
        headers.ethernet.ether_type = ETHERTYPE_ROUND;
        headers.ack.setInvalid();
        headers.data.packet_type = TYPE_TX_BUFFERED;
    }
    action mark_as_again() { headers.data.retransmitted = 1; }
    action become_pause() {
        headers.ethernet.destination = 0x0180C2000001;
        headers.ethernet.ether_type = ETHERTYPE_PAUSE;
        headers.pause.setValid();
        headers.pause.operation = 0x0101;
        headers.pause.classes = 1;
        headers.pause.quanta = meta.bridge.seen;
        headers.pause.others = 0;
        headers.round.setInvalid();
        headers.data.setInvalid();
    }
    action keep_copy() {
        for_deparser.mirror_type = MIRROR;
        meta.kind = IS_COPY;
        meta.session = meta.copy_session;
    }
    action replenish_dummy() {
        for_deparser.mirror_type = MIRROR;
        meta.kind = IS_DUMMY;
        meta.session = meta.dummy_session;
    }
    action replenish_ack() {
        for_deparser.mirror_type = MIRROR;
        meta.kind = IS_ACK;
        meta.session = meta.ack_session;
    }
    action tell_depth() {
        for_deparser.mirror_type = MIRROR;
        meta.kind = IS_PAUSE;
    }
    action end() { for_deparser.drop_ctl = 1; }

    apply {
        links.apply();
        take_era();
        if (meta.bridge.kind == IS_LOSS) {
            open_notification();
            fill_notification();
            do_note_seen();
            do_note_era();
        } else if (meta.bridge.kind == IS_SEEN) {
            do_note_seen();
            do_note_era();
            do_expect_acks();
            end();
        } else if (meta.bridge.kind == IS_COPY) {
            become_copy();
            mark_as_again();
        } else if (meta.bridge.kind == IS_PAUSE) {
            become_pause();
        } else if (meta.bridge.kind == IS_DUMMY) {
            open_data(1);
            do_read_number();
            do_use_dummies();
            write_number();
            chain_dummy();
            replenish_dummy();
            if (meta.dummies == 0) { end(); }
        } else if (meta.bridge.kind == IS_ACK) {
            open_ack(0);
            do_read_seen();
            do_read_era();
            do_use_acks();
            write_seen();
            chain_ack();
            replenish_ack();
            if (meta.acks == 0) { end(); }
        } else if (meta.is_link == 1 && !headers.data.isValid()) {
            open_data(0);
            open_ack(1);
            do_take_number();
            do_expect_dummies();
            do_read_seen();
            do_read_era();
            do_use_acks();
            write_number();
            write_mode();
            write_seen();
            chain_both();
            keep_copy();
        } else if (headers.round.isValid() && headers.data.rx_buffered == 1) {
            if (depths.apply().hit) {
                do_change_state();
                if (meta.was_deep != meta.is_deep) { tell_depth(); }
            }
        }
    }
}

control EgressDeparse(packet_out packet, inout egress_headers_t headers, in egress_metadata_t meta,
                      in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror() mirror;
    apply {
        if (for_deparser.mirror_type == MIRROR) {
            mirror.emit<bridge_t>(meta.session, { meta.kind, meta.link, 0, 0, meta.quanta, 0, 0 });
        }
        packet.emit(headers);
    }
}
