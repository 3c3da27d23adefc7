"""Mean windows, in segments, when each packet is lost with probability p: Reno and CUBIC without any simulator.

A window grows by its rule, round trip by round trip, until a number of packets drawn from an exponential distribution
has passed, then shrinks. `switch`: CUBIC's estimate of Reno grows by a whole segment once it reaches the window before
the loss (RFC 9438, section 4.3); Linux never switches.
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


for loss, rtt in [(1e-3, 0.0202), (3e-3, 0.0202), (3e-4, 0.2)]:
    rfc, linux = cubic(loss, rtt, True), cubic(loss, rtt, False)
    print(f"p {loss:g} RTT {rtt} s: Reno {reno(loss):.1f}, CUBIC by RFC 9438 {rfc:.1f}, as in Linux {linux:.1f}")
