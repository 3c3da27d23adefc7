// The state of the two ends of a protected link (section 3.5). Numbers have 17 bits, of which the first is the era.

/// Sender: the number of the next packet (seqNo), and the first that is not acknowledged.
register<number_t>(1) next_sequence;
register<number_t>(1) acknowledged_until;
/// Dummies that are still to be sent in this gap.
register<bit<8>>(1) dummies_pending;
/// reTxReqs: losses in a row that can be requested (section 3.5: 5).
register<bit<1>>(65536) request_0;
register<bit<1>>(65536) request_1;
register<bit<1>>(65536) request_2;
register<bit<1>>(65536) request_3;
register<bit<1>>(65536) request_4;

/// Receiver: the number that should come next (latestRxSeqNo, and one), that which is to be forwarded next (ackNo), and
/// where numbers go on if the last one, which was too far off, was right.
register<number_t>(1) expected;
register<number_t>(1) ack_number;
register<number_t>(1) suspect;
register<bit<1>>(1) has_suspect;
/// What acknowledgements say, less one; whether none has said it, and how many are still to be sent in this gap.
register<number_t>(1) seen;
register<bit<1>>(1) has_news;
register<bit<8>>(1) acks_pending;
/// The countdown of ackNoTimeout: since when, and whether a timer runs.
register<bit<48>>(1) countdown_from;
register<bit<1>>(1) countdown_is_armed;
/// curr_state of algorithm 2.
register<bit<1>>(1) is_pausing;
