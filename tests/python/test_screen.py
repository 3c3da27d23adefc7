"""The first screen: its content and its layout."""

import pytest
from rich.console import Console

from hitless.cli import grid
from hitless.runs.result import Result
from hitless_papers import Exact, Factor, Gain, Range, Row, Shape, Unjudged
from hitless_papers.answer import chosen, verdicts
from hitless_papers.answer.chosen import Line, Mechanism
from hitless_papers.answer.gains import gains
from hitless_papers.answer.screen import first_screen
from hitless_papers.cli import screen, show


def _result(rows, name="demo/fig1", shortened=()):
    return Result(name, "A title", 1, shortened, rows=list(rows), complete=True)


ROWS = [
    Row("loss", "100G", "p99.9 FCT", "us", 2_186.4),
    Row("LG", "100G", "p99.9 FCT", "us", 38.8),
    Row("LG", "100G", "p99.9 FCT, loss over it", "times", 56.35, 51.0, judge=Gain(better="higher")),
    Row("LG", "1e-2", "goodput", "Gb/s", 9.2, 9.2, judge=Exact()),
    Row("none", "1e-2", "goodput", "Gb/s", 4.37, 1.46, judge=Factor()),
    Row("all", "", "order", "", None, judge=Shape(holds=True, statement="none <= LG")),
    Row("LG", "lengthy setting of an incast, window 10", "median", "us", 800.0, Range(100.0, 200.0), judge=Factor()),
]
LINES = (
    Line(
        "p99.9 FCT of 143 B",
        "demo/fig1",
        ratio=("LG", "100G", "p99.9 FCT, loss over it"),
        protected=("LG", "100G", "p99.9 FCT"),
        bare=("loss", "100G", "p99.9 FCT"),
    ),
    Line(
        "goodput", "demo/fig1", protected=("LG", "1e-2", "goodput"), bare=("none", "1e-2", "goodput"), better="higher"
    ),
    Line("not measured", "demo/fig1", protected=("LG", "1e-9", "goodput")),
)


def test_a_gain_has_both_values_the_ratio_and_the_worst_verdict():
    [found] = gains([Mechanism("LinkGuardian", "loss", LINES), Mechanism("SQR", "failure", LINES[2:])], [_result(ROWS)])
    tail, goodput = found.lines
    assert (tail.bare, tail.protected, tail.ratio, tail.paper) == ("2,190 us", "38.8 us", "56.4x", "51x")
    assert tail.verdict == "within"
    assert (goodput.bare, goodput.protected, goodput.ratio) == ("4.37 Gb/s", "9.2 Gb/s", "2.11x")
    assert (goodput.paper, goodput.verdict) == ("6.3x", "differs")


def test_what_is_zero_with_the_mechanism_has_no_ratio():
    rows = [Row("none", "", "lost", "", 40.0), Row("LG", "", "lost", "", 0.0, 0.0, judge=Exact())]
    line = Line("lost", "demo/fig1", protected=("LG", "", "lost"), bare=("none", "", "lost"))
    [found] = gains([Mechanism("LG", "loss", (line,))], [_result(rows)])
    assert [(gain.bare, gain.protected, gain.ratio, gain.paper) for gain in found.lines] == [
        ("40", "0", "\N{EN DASH}", "0")
    ]


@pytest.mark.parametrize(
    ("unit", "bare", "expected"),
    [("us", 30.0, "1.3x slower"), ("KB", 30.0, "1.3x worse"), ("us", 39.99, "1x"), ("us", 80.0, "2x")],
)
def test_a_loss_is_no_gain_below_1(unit, bare, expected):
    rows = [Row("none", "", "m", unit, bare), Row("LG", "", "m", unit, 40.0)]
    line = Line("m", "demo/fig1", protected=("LG", "", "m"), bare=("none", "", "m"))
    [found] = gains([Mechanism("LG", "loss", (line,))], [_result(rows)])
    assert [gain.ratio for gain in found.lines] == [expected]


def test_the_tally_says_how_far_off():
    found = verdicts.tally("LG", [_result(ROWS)])
    assert (found.near, found.allowed, found.statements, found.differs, found.unjudged) == (1, 1, 1, 2, 2)
    assert found.judged == 5


@pytest.mark.parametrize(
    ("measured", "paper", "factor"),
    [
        (2.0, 1.0, 2.0),
        (1.0, 2.0, 2.0),
        (5.0, Range(10.0, 20.0), 2.0),
        (15.0, Range(10.0, 20.0), 1.0),
        (0.0, 0.0, 1.0),
        (1.0, 0.0, float("inf")),
        (-1.0, 1.0, float("inf")),
        (None, 1.0, None),
        (1.0, None, None),
    ],
)
def test_distances(measured, paper, factor):
    assert verdicts.distance(measured, paper) == factor


def test_the_largest_disagreement_of_each_exhibit():
    worse = [Row("none", "1e-2", "goodput", "Gb/s", 9.0, 1.0, judge=Factor())]
    found = first_screen([_result(ROWS), _result(worse, "demo/tab2")]).differences
    assert [(one.exhibit, one.off) for one in found] == [("demo/tab2", "9x off"), ("demo/fig1", "4x off")]


def test_reasons_are_counted_without_what_differs_from_row_to_row():
    judges = [Unjudged("judged once, above: a"), Unjudged("judged once, above: b"), Unjudged()]
    rows = [Row("LG", str(number), "m", "", 1.0, judge=judge) for number, judge in enumerate(judges)]
    assert verdicts.reasons([_result(rows)]).most_common() == [
        ("judged once, above", 2),
        ("the paper has no number", 1),
    ]


@pytest.fixture
def printed(monkeypatch, capsys):
    def at(width, call):
        console = Console(width=width, highlight=False, emoji=False)
        for module in (grid, screen, show):
            monkeypatch.setattr(module, "stdout", console)
        with console.capture() as capture:
            call()
        return capture.get()

    return at


@pytest.mark.parametrize("width", [60, 80, 120])
def test_at_60_columns_cells_break_in_words_and_a_column_is_lost(printed, width, monkeypatch):
    made = [Mechanism("LinkGuardian", "a link corrupts one frame in a thousand", LINES)]
    monkeypatch.setattr(chosen, "mechanisms", lambda: tuple(made))
    results = [_result(ROWS, shortened=["4 ms of traffic instead of 10,000"]), _result(ROWS, "demo/tab2")]
    text = printed(width, lambda: screen.print_screen(first_screen(results)))
    assert max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) <= 45
    for words in (
        "2,190 us",
        "38.8 us",
        "56.4x",
        "51x",
        "within",
        "beyond",
        "differs",
        "judged",
        "100 to 200",
        "instead of",
    ):
        assert words in text
    text = printed(width, lambda: show.print_result(results[0]))
    assert max(map(len, text.splitlines())) <= width
    for words in ("lengthy setting of an incast", "100 to 200", "800", "p99.9 FCT loss over it", "not judged"):
        assert set(words.split()) <= set(text.replace(",", " ").split())


def test_no_chosen_line_wraps_at_80_columns_beside_a_loss(printed, monkeypatch):
    rows = [Row(scheme, "", "m", "Gb/s", value) for scheme, value in (("none", 9.99), ("LG", 4.44))]
    rows += [Row("none", "", "t", "us", 1_000.0), Row("LG", "", "t", "us", 1_410.0)]
    made = [
        Mechanism(
            "LG",
            "loss",
            tuple(
                Line(line.words, "demo/fig1", protected=("LG", "", name), bare=("none", "", name))
                for name, line in zip("mt" * len(mechanism.lines), mechanism.lines, strict=False)
            ),
        )
        for mechanism in chosen.mechanisms()
    ]
    monkeypatch.setattr(chosen, "mechanisms", lambda: tuple(made))
    text = printed(80, lambda: screen.print_screen(first_screen([_result(rows)])))
    for mechanism in made:
        for line in mechanism.lines:
            assert line.words in text


def test_every_chosen_line_is_of_an_exhibit_and_says_what_it_compares():
    for mechanism in chosen.mechanisms():
        assert mechanism.trouble
        assert 1 <= len(mechanism.lines) <= 5
        for line in mechanism.lines:
            assert line.rows
            assert "/" in line.exhibit
