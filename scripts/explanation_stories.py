"""The stories that scripts/explanation-pictures draws: one way of a few packets through each mechanism."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, pi, sin
from typing import TypeAlias

WIDTH = 560
SHIFT_S = 0.3  # in which a queue moves up by a place

Waypoint: TypeAlias = tuple[float, float, float]  # second, x, y


@dataclass(frozen=True)
class Mover:
    """What moves: a shape around the origin, and where it is when. Before and after that it is not there."""

    shape: str
    way: Sequence[Waypoint]


@dataclass(frozen=True)
class Story:
    """A picture: what stands in it, what moves, what is told below, and the second shown where nothing may move."""

    name: str
    title: str
    description: str
    height: int
    cycle_s: float
    still_s: float
    scene: Sequence[str]
    movers: Sequence[Mover]
    told: Mapping[float, str] = field(default_factory=dict)

    def all_movers(self) -> list[Mover]:
        """What moves, and the words below: each is there from its second until the next one's."""
        ends = [*self.told, self.cycle_s + 0.4][1:]
        return [
            *self.movers,
            *(
                words(WIDTH / 2, self.height - 20, (begin, end - 0.4), label, "middle")
                for (begin, label), end in zip(self.told.items(), ends, strict=True)
            ),
        ]


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A line of words that begins at x, or is centred there where its kind says so."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{words}</text>'


def box(left: float, top: float, right: float, bottom: float, kind: str = "box") -> str:
    """A rectangle."""
    return f'<rect class="{kind}" x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" rx="6"/>'


def line(path: str, kind: str = "line", *, arrow: bool = True) -> str:
    """A line, by default with a head at its end."""
    return f'<path class="{kind}" d="{path}"{" marker-end=" + chr(34) + "url(#to)" + chr(34) if arrow else ""}/>'


def waypoints(way: str) -> list[Waypoint]:
    """From "second x,y; second x,y"."""
    numbers = [[float(number) for number in point.replace(",", " ").split()] for point in way.split(";")]
    return [(second, x, y) for second, x, y in numbers]


def packet(label: str, *parts: str | Sequence[Waypoint], kind: str = "packet") -> Mover:
    """A packet with its number, and the parts of its way, one after the other."""
    half = 16 + 4 * max(0, len(label) - 2)
    way = [point for part in parts for point in (waypoints(part) if isinstance(part, str) else part)]
    return Mover(f"{box(-half, -14, half, 14, kind)}{text(0, 6, label, 'on-copy' if kind == 'copy' else 'on')}", way)


def cross(x: float, y: float, begin: float, end: float) -> Mover:
    """The mark of what is lost, dropped or broken."""
    return Mover('<path class="harm" d="M-11 -11 L11 11 M11 -11 L-11 11"/>', [(begin, x, y), (end, x, y)])


def words(x: float, y: float, times: tuple[float, float], label: str, kind: str) -> Mover:
    """Words that are there for a time."""
    return Mover(text(0, 0, label, kind), [(time, x, y) for time in times])


def waiting(begin: float, index: int, places: Sequence[float], y: float, leaves: Sequence[float]) -> list[Waypoint]:
    """The way in a FIFO queue of the packet that is served as number `index`, and out at the right edge."""
    way: list[Waypoint] = []
    for number in range(index + 1):
        leave = leaves[number]
        ahead = index - number
        if leave <= begin:
            continue
        way += [(begin, places[ahead], y)] if not way else []
        way += [(leave, places[ahead], y)]
        way += [(leave + SHIFT_S, places[ahead - 1], y)] if ahead else [(leave + 0.9, WIDTH - 16, y)]
    return way


def around(begin: float, end: float, centre: tuple[float, float], radii: tuple[float, float]) -> list[Waypoint]:
    """Round and round in a ring, from its top on, once in 2.4 s."""
    steps = round((end - begin) / 0.1)
    turns = [(begin + 0.1 * step, 2 * pi * 0.1 * step / 2.4) for step in range(steps + 1)]
    return [(time, centre[0] + radii[0] * sin(turn), centre[1] - radii[1] * cos(turn)) for time, turn in turns]


LINKGUARDIAN = Story(
    name="linkguardian",
    title="LinkGuardian: a corrupted packet is sent again, and order is kept",
    description="Packets 1, 2 and 3 cross a link; a copy of each is kept. 2 is corrupted and dropped. 3 arrives, shows"
    " the gap and is held back. A loss notification goes back. Two copies of 2 come; the second is dropped as a"
    " duplicate. 2 leaves, then 3.",
    height=290,
    cycle_s=12,
    still_s=7.1,
    scene=[
        text(124, 30, "upstream switch", "name middle"),
        text(436, 30, "downstream switch", "name middle"),
        box(44, 44, 204, 226),
        box(356, 44, 516, 226),
        line("M2 84 H42"),
        line("M206 84 H354"),
        line("M518 84 H558"),
        line("M354 172 H206", "back"),
        text(280, 212, "loss notification", "small middle"),
        box(60, 130, 188, 210, "half"),
        text(124, 152, "copies", "small middle"),
        box(372, 130, 500, 210, "half"),
        text(436, 152, "held back", "small middle"),
    ],
    movers=[
        packet("1", "1.2 180,84; 1.8 84,184; 5.7 84,184", kind="copy"),
        packet("2", "2.0 180,84; 2.6 124,184; 5.9 124,184", kind="copy"),
        packet("3", "2.8 180,84; 3.4 164,184; 5.7 164,184", kind="copy"),
        packet("1", "0.2 18,84; 1.2 188,84; 2.3 372,84; 3.3 542,84"),
        packet("2", "1.0 18,84; 2.0 188,84; 2.5 272,84"),
        packet("2", "2.6 280,84; 3.0 346,84", kind="lost"),
        cross(356, 84, 3.1, 7.2),
        words(280, 64, (2.7, 7.2), "2 corrupted", "small bad middle"),
        packet("3", "1.8 18,84; 2.8 188,84; 3.9 372,84; 4.5 436,184; 8.2 436,184; 8.7 480,84; 9.3 542,84"),
        packet("lost 2", "4.3 340,172; 5.4 220,172; 5.6 190,172", kind="lost"),
        packet("2", "5.9 124,184; 6.3 188,84; 7.4 372,84; 8.4 542,84", kind="copy"),
        packet("2", "6.4 124,184; 6.8 188,84; 7.9 372,84; 8.3 404,106; 9.6 404,106", kind="copy"),
        cross(404, 106, 8.4, 9.6),
        words(464, 114, (8.4, 9.6), "dropped", "small bad middle"),
    ],
    told={
        0.2: "Packets are numbered, and a copy of each is kept.",
        2.5: "Packet 2 is corrupted, and dropped on arrival.",
        4.2: "3 shows the gap: 3 is held back, 2 is reported.",
        5.9: "2 is sent again, here in two copies.",
        8.0: "2 leaves, then 3. The duplicate is dropped.",
    },
)

RING = ((140.0, 200.0), (78.0, 48.0))

SQR = Story(
    name="sqr",
    title="SQR: copies of what was on a link when it died leave by another way",
    description="Packets leave by a link, and a copy of each goes round in a ring. Copy 1 is retired when its packet"
    " must have arrived. The link dies with packets 2 and 3 on it. Copies 2 and 3 stay in the ring, and packets 4 and"
    " 5 are kept back. Once there is a way, 2, 3, 4 and 5 leave on it, in order.",
    height=330,
    cycle_s=12,
    still_s=8.4,
    scene=[
        text(180, 28, "switch", "name middle"),
        box(44, 42, 316, 272),
        line("M2 84 H42"),
        line("M318 84 H558"),
        line("M318 242 H558"),
        text(438, 60, "the link", "small middle"),
        text(438, 218, "backup path", "small middle"),
        f'<ellipse class="loop" cx="{RING[0][0]:g}" cy="{RING[0][1]:g}" rx="{RING[1][0]:g}" ry="{RING[1][1]:g}"/>',
        text(140, 198, "copies", "small middle"),
        text(140, 220, "in the ring", "small middle"),
    ],
    movers=[
        packet("1", "1.0 290,84", around(1.7, 3.5, *RING), kind="copy"),
        packet("2", "2.0 290,84", around(2.7, 7.8, *RING), "8.3 300,242; 9.8 542,242", kind="copy"),
        packet("3", "2.6 290,84", around(3.3, 8.4, *RING), "8.9 300,242; 10.4 542,242", kind="copy"),
        packet("1", "0.2 18,84; 1.0 290,84; 2.4 542,84"),
        packet("2", "1.2 18,84; 2.0 290,84; 3.2 506,84"),
        packet("3", "1.8 18,84; 2.6 290,84; 3.2 398,84"),
        packet("2", "3.3 506,84; 4.2 506,84", kind="lost"),
        packet("3", "3.3 398,84; 4.2 398,84", kind="lost"),
        cross(452, 84, 3.2, 11.6),
        words(438, 116, (3.2, 11.6), "dead", "small bad middle"),
        packet("4", "4.5 18,84; 5.4 290,84; 9.2 290,84; 9.6 300,242; 11.1 542,242"),
        packet("5", "5.3 18,84; 6.2 252,84; 9.2 252,84; 9.5 290,84; 9.9 290,84; 10.2 300,242; 11.7 542,242"),
        words(264, 122, (5.6, 9.0), "kept back", "small middle"),
    ],
    told={
        0.2: "Each packet leaves; a copy goes round in the ring.",
        3.2: "The link dies with packets 2 and 3 on it.",
        4.6: "Found dead: copies and later packets are kept.",
        7.8: "There is a way: all leave on it, in order.",
    },
)

ROUNDS = (74.0, 122.0, 170.0, 218.0)
SENT_X = 520.0
TURNS = "0 432,74; 6.2 432,74; 6.4 432,122; 7.9 432,122; 8.1 432,170; 8.9 432,170; 9.1 432,218; 12 432,218"


def _queued(name: str, begin: float, turn: int, slot: int, leave: float, sent: int) -> Mover:  # noqa: PLR0917
    """A packet of AFQ: to the queue of its round, to the scheduler when that has its turn, and onto the line."""
    x, y, sent_y = 392 - 40 * slot, ROUNDS[turn], 258 - 34 * sent
    enter = f"{begin} 18,146; {begin + 0.5} 98,146; {begin + 1} {x},{y}; {leave - 0.5} {x},{y}; {leave - 0.2} 392,{y}"
    serve = f"{leave + 0.2} 452,{y}; {leave + 0.5} 452,40; {leave + 0.7} {SENT_X},40"
    stay = f"{leave + 1.1} {SENT_X},{sent_y}; 12 {SENT_X},{sent_y}"
    return packet(name, enter, serve, stay, kind="packet" if name.startswith("A") else "other")


AFQ = Story(
    name="afq",
    title="AFQ: each queue is a round, in which each flow may send as much",
    description="Four queues stand for rounds 1 to 4. A flow's bid says in which round its packet leaves. Flow A sends"
    " five packets: one goes into each round, and the fifth, too far ahead, is dropped. Flow B sends two later, which"
    " go into rounds 1 and 2. The scheduler serves round after round: A1, B1, A2, B2, A3, A4.",
    height=330,
    cycle_s=12,
    still_s=8.4,
    scene=[
        line("M2 146 H70"),
        text(40, 118, "arrive", "small middle"),
        box(72, 126, 124, 166, "half"),
        text(98, 118, "bid", "small middle"),
        text(444, 262, "scheduler", "small middle"),
        *(box(190, y - 20, 416, y + 20, "half") for y in ROUNDS),
        *(text(200, y + 6, f"round {index}", "small") for index, y in enumerate(ROUNDS, 1)),
        line("M452 238 V40 H518", "loop", arrow=False),
        box(SENT_X - 26, 60, SENT_X + 26, 280),
        text(SENT_X, 24, "sent", "name middle"),
        text(294, 34, "one queue for each round", "name middle"),
    ],
    movers=[
        Mover('<path class="head" d="M-9 -8 L-9 8 L8 0 z"/>', waypoints(TURNS)),
        _queued("A1", 0.2, 0, 0, 4.8, 0),
        _queued("A2", 0.7, 1, 0, 6.5, 2),
        _queued("A3", 1.2, 2, 0, 8.6, 4),
        _queued("A4", 1.7, 3, 0, 9.5, 5),
        packet("A5", "2.2 18,146; 2.7 98,146; 3.1 98,236; 8.6 98,236"),
        cross(98, 236, 3.2, 8.6),
        words(98, 274, (3.2, 8.6), "too far ahead", "small bad middle"),
        _queued("B1", 2.9, 0, 1, 5.6, 1),
        _queued("B2", 3.4, 1, 1, 7.3, 3),
    ],
    told={
        0.2: "Flow A sends much. Each packet has its round.",
        3.0: "Flow B comes later, and has places in rounds 1 and 2.",
        4.8: "The scheduler empties one queue after the other.",
        9.6: "B1 waited for one packet of A, not for four.",
    },
)

PLACES = (384.0, 350.0, 316.0, 282.0, 248.0)
LEAVES = (3.3, 4.5, 5.7, 6.9, 8.1, 9.3, 10.5)
QUEUE_Y = 232.0


def _detoured(label: str, begin: float, enter: float, index: int) -> Mover:
    """A packet of RIMM that goes to the neighbour and back twice, each time in 2.2 s, and then into the queue."""
    rounds = [
        f"{time} 120,232; {time + 0.2} 86,204; {time + 0.7} 86,92; {time + 1.5} 176,92; {time + 2} 176,204"
        for time in (begin, begin + 2.2)
    ]
    arrive, back = f"{begin - 0.6} 18,232", f"{begin + 4.4} 120,232"
    return packet(label, arrive, *rounds, back, waiting(enter, index, PLACES, QUEUE_Y, LEAVES), kind="other")


RIMM = Story(
    name="rimm",
    title="RIMM: a neighbour holds what a queue has no room for",
    description="A burst lifts the queue above alpha. Packets 3 and 4 go to the neighbouring switch with the shortest"
    " queue. 3 comes back while the queue is still above alpha, and goes round again. 4 comes back before 3, too"
    " early, and goes round again. Then 3 and 4 enter the queue, and all leave in order.",
    height=336,
    cycle_s=12,
    still_s=5.0,
    scene=[
        box(44, 20, 416, 112),
        text(180, 48, "neighbour with the", "name"),
        text(180, 72, "shortest queue", "name"),
        box(44, 172, 416, 284),
        text(180, 200, "switch", "name"),
        line(f"M2 {QUEUE_Y:g} H42"),
        line(f"M418 {QUEUE_Y:g} H558"),
        line("M86 172 V114", "back"),
        line("M176 112 V170", "back"),
        box(226, 212, 406, 252, "half"),
        line("M299 204 V262", "limit", arrow=False),
        text(299, 278, "alpha", "small bad middle"),
    ],
    movers=[
        *(packet("", waiting(0, index, PLACES, QUEUE_Y, LEAVES), kind="rest") for index in range(3)),
        packet("1", "0.2 18,232", waiting(1.2, 3, PLACES, QUEUE_Y, LEAVES)),
        packet("2", "0.7 18,232", waiting(1.7, 4, PLACES, QUEUE_Y, LEAVES)),
        _detoured("3", 2.0, 6.8, 5),
        _detoured("4", 2.9, 7.8, 6),
    ],
    told={
        0.2: "A burst: the queue passes alpha.",
        1.9: "Later packets, 3 and 4, go to the neighbour.",
        4.0: "Too early: 3 above alpha, then 4 before 3.",
        6.6: "Below alpha, and in order: 3 enters, then 4.",
    },
)

SLOTS = (352.0, 316.0, 280.0, 244.0, 208.0)
SERVED = (5.8, 7.6, 9.0, 20.0, 21.0)
SIMPLE_Y, PREEMPTIVE_Y = 66.0, 238.0
PREEMPTED = "5.8 244,238; 6.1 280,238; 7.6 280,238; 7.9 316,238; 9.0 316,238; 9.3 352,238; 10 352,238"


def _port(y: float, name: str, rule: str) -> list[str]:
    """A row of the picture: a queue, its port, and another port below it."""
    return [
        text(14, y - 40, name, "name"),
        line(f"M2 {y:g} H182"),
        box(184, y - 22, 376, y + 22, "half"),
        line(f"M378 {y:g} H558"),
        text(466, y - 12, "port", "small middle"),
        line(f"M104 {y:g} V{y + 54:g} H558", "back"),
        text(466, y + 35, "another port", "small middle"),
        text(14, y + 96, rule),
    ]


def _standing(label: str, index: int, y: float) -> Mover:
    """A packet that is in the queue from the beginning, and still if it is not served in time."""
    way = [point for point in waiting(0, index, SLOTS, y, SERVED) if point[0] <= 10]
    way += [(10, way[-1][1], y)] if index > 2 else []
    return packet(label, way, kind="other" if label == "1" else "packet")


DEFLECTION = Story(
    name="deflection",
    title="Simple and Preemptive Deflection: what leaves by another port",
    description="Two queues with five places. Simple: the queue is full, so the packet that arrives, though urgent,"
    " leaves by another port; later there is room, and one enters. Preemptive: with three places taken a packet that"
    " is less urgent than all leaves by another port, and the urgent one behind it enters.",
    height=390,
    cycle_s=10,
    still_s=5.1,
    scene=[
        *_port(SIMPLE_Y, "Simple Deflection", "Full: whatever arrives leaves by another port."),
        *_port(PREEMPTIVE_Y, "Preemptive Deflection", "Not yet full: the less urgent 9 leaves, 1 enters."),
        line(f"M280 {PREEMPTIVE_Y - 30:g} V{PREEMPTIVE_Y + 28:g}", "limit", arrow=False),
        text(324, PREEMPTIVE_Y - 34, "tau for 9", "small bad middle"),
        text(14, 372, "Number: what remains of the flow; 1 is most urgent.", "small"),
    ],
    movers=[
        *(_standing(label, index, SIMPLE_Y) for index, label in enumerate("95739")),
        packet("1", "0.6 18,66; 1.6 104,66; 2.0 104,66; 2.5 104,120; 6.6 542,120", kind="other"),
        packet("9", "5.6 18,66; 6.6 104,66; 7.2 208,66; 7.6 208,66; 7.9 244,66; 9.0 244,66; 9.3 280,66; 10 280,66"),
        *(_standing(label, index, PREEMPTIVE_Y) for index, label in enumerate("537")),
        packet("9", "2.0 18,238; 3.0 104,238; 3.4 104,238; 3.8 104,292; 7.4 542,292"),
        packet("1", "3.4 18,238; 4.3 104,238; 5.2 244,238", PREEMPTED, kind="other"),
    ],
)

STORIES = (LINKGUARDIAN, SQR, AFQ, RIMM, DEFLECTION)
