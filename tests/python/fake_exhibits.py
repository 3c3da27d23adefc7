"""Exhibits over the fake simulator: every feature and every failure of an exhibit."""

from hitless.analysis import percentile, percentile_interval, percentile_ratio
from hitless.drawing.plot import Plot, Series, tail_series
from hitless_papers import Exact, Exhibit, Gain, Point, Row, Shape, exhibit, rising

SCHEMES = {"none": 10.0, "LG": 10.2, "loss": 400.0}


def _times_us(run):
    table = run.table("messages")
    return ((table["delivered_ps"] - table["started_ps"]) / 1e6).to_list()


@exhibit("demo/fig1", title="Completion times <of> 143 B messages", headline=True)
class Figure1(Exhibit):
    def points(self, context):
        messages = context.length("messages", full=300_000, normal=3_000, quick=2_000)
        for scheme, median_us in SCHEMES.items():
            yield Point(scheme, {"scheme": scheme, "median_us": median_us, "messages": messages}, keep=("messages",))

    def rows(self, runs, context):
        times = {scheme: _times_us(runs[scheme]) for scheme in SCHEMES}
        for scheme, values in times.items():
            interval = percentile_interval(values, 99.9)
            yield Row(scheme, "100G 1e-3", "p99.9 FCT", "us", percentile(values, 99.9), interval=interval)
        ratio, interval = percentile_ratio(times["loss"], times["LG"], 99.9)
        judge = Gain(better="higher")
        yield Row("LG", "100G 1e-3", "p99.9 FCT, loss / LG", "times", ratio, 51.0, interval=interval, judge=judge)
        medians = [percentile(values, 50) for values in times.values()]
        yield Row("all", "", "median FCT", "us", None, judge=Shape(rising(medians), "none <= LG <= loss"))
        yield Row("LG", "header", "bytes", "bytes", 3.0, 4.0, judge=Exact(), note="one byte less than in the paper")

    def plots(self, runs, context):
        series = [tail_series(scheme, _times_us(runs[scheme])) for scheme in SCHEMES]
        yield Plot("Tail </script>", "FCT (us)", "share at or above", series, "log", "log", "Time to delivery.")
        medians = [percentile(_times_us(runs[scheme]), 50) for scheme in SCHEMES]
        yield Plot("Medians", "scheme", "FCT (us)", [Series("median", list(SCHEMES), medians, style="bars")])

    def tables(self, runs, context):
        return {f"messages {scheme}": runs[scheme].table("messages") for scheme in SCHEMES}


@exhibit("demo/tab2", title="Arithmetic", headline=True)
class Table2(Exhibit):
    def rows(self, runs, context):
        yield Row("LG", "MTU", "overhead", "%", 100 * 3 / 1538, 0.195, judge=Exact())


@exhibit("demo/slow", title="Two short points and many long ones")
class Slow(Exhibit):
    def points(self, context):
        for number in range(8):
            yield Point(f"point {number}", {"seconds": 0.05 if number < 2 else 30.0}, replica=number)

    def rows(self, runs, context):
        for number in range(8):
            yield Row("none", str(number), "messages", "", float(runs[f"point {number}"].table("messages").height))


@exhibit("demo/long", title="Points that each take a while, in a campaign that may be interrupted")
class Long(Exhibit):
    def points(self, context):
        for number in range(6):
            yield Point(f"point {number}", {"scheme": f"s{number}", "seconds": 0.5}, replica=number, keep=("messages",))

    def rows(self, runs, context):
        for number in range(6):
            times = _times_us(runs[f"point {number}"])
            yield Row(f"s{number}", "", "mean FCT", "us", sum(times) / len(times))
        yield Row("all", "", "drops", "", float(sum(runs[key].summary.drops["corruption"] for key in runs)))


@exhibit("demo/endless", title="Points of which none ends before a test interrupts it")
class Endless(Exhibit):
    def points(self, context):
        for number in range(2):
            yield Point(f"point {number}", {"seconds": 300.0}, replica=number)

    def rows(self, runs, context):
        yield Row("none", "", "messages", "", float(runs["point 0"].table("messages").height))


@exhibit("demo/failing", title="A run that fails beside one that does not")
class Failing(Exhibit):
    def points(self, context):
        yield Point("good", {})
        yield Point("bad", {"fails": True})

    def rows(self, runs, context):
        yield Row("good", "", "runs", "", 1.0 if "good" in runs else None)
        yield Row("bad", "", "transmissions", "", runs["bad"].summary["transmissions"])


@exhibit("demo/broken", title="An exhibit with a fault of its own")
class Broken(Exhibit):
    def points(self, context):
        yield Point("good", {})

    def rows(self, runs, context):
        yield Row("good", "", "runs", "", 1.0)
        raise ZeroDivisionError("mean of nothing")
