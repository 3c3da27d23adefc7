// State of both ends of a protected link (section 3.5). Numbers have 17 bits; the first is the era.

/// Sender: number of the next packet (seqNo), and the first unacknowledged number.
register<number_t>(1) next_sequence;
register<number_t>(1) acknowledged_until;
/// Dummies still to send in this gap.
register<bit<8>>(1) dummies_pending;
/// reTxReqs: five consecutive losses can be requested (section 3.5).
register<bit<1>>(65536) request_0;
register<bit<1>>(65536) request_1;
register<bit<1>>(65536) request_2;
register<bit<1>>(65536) request_3;
register<bit<1>>(65536) request_4;

/// Receiver: next expected number (latestRxSeqNo + 1), next number to forward (ackNo), and the number that follows the
/// last one if that was out of range. A second frame with the suspected number confirms it.
register<number_t>(1) expected;
register<number_t>(1) ack_number;
register<number_t>(1) suspect;
register<bit<1>>(1) has_suspect;
/// Next acknowledged number plus 1, whether it is unacknowledged, and the acknowledgements still to send in this gap.
register<number_t>(1) seen;
register<bit<1>>(1) has_news;
register<bit<8>>(1) acks_pending;
/// Countdown of ackNoTimeout: its start, and whether a timer runs.
register<bit<48>>(1) countdown_from;
register<bit<1>>(1) countdown_is_armed;
/// curr_state of algorithm 2.
register<bit<1>>(1) is_pausing;
