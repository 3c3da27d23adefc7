// The detouring-port selector (section III-A2). Neighbours report their queues towards us (the QDM table), and our own
// egress reports our queues towards them.

#define DECLARE_ENTRY(P) \
    register<bit<16>>(1) depth_##P; \
    register<bit<16>>(1) own_depth_##P; \
    register<bit<48>>(1) own_told_##P;
EACH_PORT(DECLARE_ENTRY)

/// Stores the depth of a neighbour's queue towards us, as the neighbour reported it.
control NoteDepth(in port_t from, in bit<16> depth_segments) {
#define NOTE_DEPTH(P) if (from == P) { depth_##P.write(0, depth_segments); }
    apply {
        EACH_PORT(NOTE_DEPTH)
    }
}

/// Stores the depth of our queue towards a neighbour, as our egress reported it.
control NoteOwnDepth(in port_t of, in bit<16> depth_segments, in bit<48> now_ns) {
#define NOTE_OWN_DEPTH(P) \
    if (of == P) { \
        own_depth_##P.write(0, depth_segments); \
        own_told_##P.write(0, now_ns); \
    }
    apply {
        EACH_PORT(NOTE_OWN_DEPTH)
    }
}

/// Chooses the neighbour with the shortest queue among those that send the packet back; a tie goes to the lowest port.
control Choose(inout metadata_t meta) {
#define COMPARE_DEPTH(P) \
    if (may_take[P:P] == 1) { \
        depth_##P.read(depth, 0); \
        own_depth_##P.read(own, 0); \
        own_told_##P.read(told_ns, 0); \
        is_full = 0; \
        if (depth >= meta.full) { is_full = 1; } \
        if (meta.now_ns - told_ns <= meta.own_lifetime_ns && own >= meta.own_full) { \
            is_full = 1; \
            if (own > depth) { depth = own; } \
        } \
        if (is_full == 0 && depth < half) { meta.roomy[P:P] = 1; } \
        if (meta.has_choice == 0 || depth < least) { \
            meta.has_choice = 1; \
            meta.choice = P; \
            meta.choice_is_full = is_full; \
            least = depth; \
        } \
    }

    apply {
        bit<16> depth;
        bit<16> own;
        bit<48> told_ns;
        bit<16> least = 0;
        bit<1> is_full;
        bit<16> half = meta.full >> 1;
        ports_t own_bit = (ports_t) 1 << (bit<8>) meta.towards;
        ports_t may_take = meta.usable & ~own_bit;
        EACH_PORT(COMPARE_DEPTH)
    }
}
