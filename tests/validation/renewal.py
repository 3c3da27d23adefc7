"""Mean windows, in segments, for independent losses with probability p: Reno and CUBIC without any simulator.

A window grows by its rule, round trip by round trip, until a number of packets drawn from an exponential distribution
has passed, then shrinks. `switch`: CUBIC's estimate of Reno grows by a whole segment once it reaches the window before
the loss (RFC 9438, section 4.3); Linux never switches.

`cubic_packets` loses each packet independently and repairs a loss in a round trip: by RFC 9438, and in Linux's integers
(net/ipv4/tcp_cubic.c, without the cubic term, which is zero at 110 us).
"""

import random

C, BETA = 0.4, 0.7


def cubic(loss: float, rtt: float, switch: bool, losses: int = 40_000) -> float:
    random.seed(1)
    window, maximum, packets, rounds = 50.0, 0.0, 0.0, 0
    for _ in range(losses):
        before = window
        maximum = window * (1 + BETA) / 2 if window < maximum else window
        start = max(2.0, BETA * window)
        plateau = ((maximum - start) / C) ** (1 / 3) if maximum > start else 0.0
        left, time, estimate = random.expovariate(loss), 0.0, start
        while left > 0:
            window = max(start, maximum + C * (time - plateau) ** 3, estimate)
            left -= window
            packets += window
            rounds += 1
            time += rtt
            estimate += 1 if switch and estimate >= before else 3 * (1 - BETA) / (1 + BETA)
    return packets / rounds


def reno(loss: float, losses: int = 40_000) -> float:
    random.seed(1)
    window, packets, rounds = 50.0, 0.0, 0
    for _ in range(losses):
        window = max(2.0, window / 2)
        left = random.expovariate(loss)
        while left > 0:
            left -= window
            packets += window
            rounds += 1
            window += 1
    return packets / rounds


def cubic_packets(loss: float, *, integers: bool, rounds: int = 1_000_000) -> float:
    draw = random.Random(1).random  # noqa: S311 - chance, no secret
    window, before, estimate, packets, acks, credit, reno = 50.0, 50.0, 50.0, 0.0, 0, 0, 50
    for _ in range(rounds):
        whole = int(window) if integers else int(window) + (draw() < window % 1)
        packets += whole
        if any(draw() < loss for _ in range(whole)):
            before = window
            window = max(2, int(window) * 717 // 1024) if integers else max(2.0, BETA * window)
            packets += window
            rounds += 1
            estimate, reno, acks, credit = window, int(window), 0, 0
        elif not integers:
            estimate += 1 if estimate >= before else 3 * (1 - BETA) / (1 + BETA)
            window = max(window, estimate)
        for _ in range(whole if integers else 0):
            acks += 1
            if acks > (int(window) * 15) >> 3:
                acks, reno = 0, reno + 1
            if reno > window:
                credit += 1
                if credit >= max(2, window // (reno - window)):
                    credit, window = 0, window + 1
    return packets / rounds


for loss, rtt in [(1e-3, 0.0202), (3e-3, 0.0202), (3e-4, 0.2)]:
    rfc, linux = cubic(loss, rtt, True), cubic(loss, rtt, False)
    print(f"p {loss:g} RTT {rtt} s: Reno {reno(loss):.1f}, CUBIC by RFC 9438 {rfc:.1f}, as in Linux {linux:.1f}")
for loss in (1e-3, 1e-2):
    rfc, linux = (cubic_packets(loss, integers=integers) for integers in (False, True))
    print(f"p {loss:g}, a packet at a time: RFC 9438 {rfc:.1f}, Linux's integers {linux:.1f}")
