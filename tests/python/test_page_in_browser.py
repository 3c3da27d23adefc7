"""The report in a browser: no text overlaps another or leaves the page, and all text is readable, also in dark mode.

Pictures of the pages are in the folder that a failure prints.
"""

import html
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from hitless.drawing.canvas import CHARACTER
from hitless.drawing.palette import Palette
from hitless.drawing.plot import Plot, Series
from hitless.drawing.svg import draw
from hitless.results import ResultsFolder
from hitless_papers.answer import chosen
from hitless_papers.answer.chosen import Mechanism
from hitless_papers.campaign import Campaign
from hitless_papers.page import render_report
from hitless_papers.registry import select
from test_screen import LINES, ROWS, _result

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LIGHT, DARK = 1, 0
"""Values of the browser's setting preferredColorScheme."""

MEASURE = """
<body style="margin:0"><iframe src="report.html" style="border:0;width:WIDTHpx;height:6000px"></iframe><pre></pre>
<script>
const luminance = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const isHidden = (element, view) => {
  if (!element.checkVisibility()) return true;
  for (; element; element = element.parentElement)
    if (view.getComputedStyle(element).clipPath !== "none") return true;
  return false;
};
const isOpaque = (colour) => !/, 0\\)$/.test(colour);
const groundOf = (element, view) => {
  for (; element; element = element.parentElement) {
    const colour = view.getComputedStyle(element).backgroundColor;
    if (isOpaque(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
document.querySelector("iframe").onload = ({ target }) => {
  const page = target.contentDocument, view = target.contentWindow, texts = [], faint = [];
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement, text = node.data.trim();
    if (!text || parent.closest("script, style, title") || isHidden(parent, view)) continue;
    const range = page.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) if (box.width && box.height) texts.push({ text, box });
    const style = view.getComputedStyle(parent);
    const colour = parent.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [colour, groundOf(parent, view)].map(luminance).sort((x, y) => y - x);
    if (range.getClientRects().length && (a + 0.05) / (b + 0.05) < 3) faint.push(text);
  }
  const overlap = [];
  texts.forEach((one, index) => texts.slice(index + 1).forEach((other) => {
    const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
    const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
    if (wide > 1 && high > 4) overlap.push([one.text, other.text]);
  }));
  // Labels of cells on narrow pages are no text nodes: they show as overflow of their cells.
  for (const cell of page.querySelectorAll("td, th")) {
    const isWider = cell.scrollWidth > cell.clientWidth + 1;
    if (isWider && !isHidden(cell, view)) overlap.push([cell.textContent, cell.dataset.label]);
  }
  const outside = texts.filter(({ box }) => box.right > WIDTH + 1 || box.left < 0).map(({ text }) => text);
  document.querySelector("pre").textContent = JSON.stringify({
    texts: texts.length, overlap, outside, faint, width: page.documentElement.scrollWidth,
    words: texts.map(({ text }) => text),
  });
};
</script>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a report that has a first screen, tables, and a picture."""
    made = tmp_path_factory.mktemp("browser")
    with pytest.MonkeyPatch.context() as patch:
        lines = tuple(replace(line, exhibit="demo/tab9") for line in LINES)
        mechanisms = (Mechanism("LinkGuardian", "a link corrupts one frame in a thousand", lines),)
        patch.setattr(chosen, "mechanisms", lambda: mechanisms)
        results = [*Campaign(select(["demo/fig1"]), seeds=3, effort="quick").results(), _result(ROWS, "demo/tab9")]
        manifest = ResultsFolder("test", made / "results").manifest(["hitless"], [], interrupted=False)
        (made / "report.html").write_text(render_report(results, manifest), encoding="utf-8")
    return made


def asked(page, scheme, *more):
    """Return the JSON that the page writes into its `pre`."""
    command = [
        BROWSER,
        *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--allow-file-access-from-files"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
        f"--user-data-dir={page.parent / 'profile'}",
        f"--blink-settings=preferredColorScheme={scheme}",
        "--virtual-time-budget=2000",
        *more,
    ]
    if more:
        picture = f"--screenshot={page.with_name(f'{page.stem}-{scheme}.png')}"
        subprocess.run([*command, picture, page.as_uri()], check=True, capture_output=True, timeout=120)
    done = subprocess.run(
        [*command, "--dump-dom", page.as_uri()], check=True, capture_output=True, text=True, timeout=120
    )
    return json.loads(html.unescape(done.stdout.partition("<pre>")[2].partition("</pre>")[0]))


def seen(folder, width, scheme):
    """Return the measures of the page at this width, and leave a picture of it."""
    page = folder / f"at-{width}.html"
    page.write_text(MEASURE.replace("WIDTH", str(width)), encoding="utf-8")
    return asked(page, scheme, f"--window-size={max(width, 500)},3000")


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed (Debian: apt-get install chromium)")
@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("width", [1400, 400])
def test_the_report_can_be_read(folder, width, scheme):
    found = seen(folder, width, scheme)
    assert found["texts"] > 60
    assert {"What each mechanism buys", "2,190 us", "Against the papers"} <= set(found["words"])
    assert found["overlap"] == [], folder
    assert found["outside"] == [], folder
    assert found["width"] <= width, folder
    assert found["faint"] == [], folder


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed (Debian: apt-get install chromium)")
@pytest.mark.parametrize(
    ("scheme", "words", "sheet"),
    [(LIGHT, "rgb(28, 30, 33)", "rgb(255, 255, 255)"), (DARK, "rgb(231, 233, 236)", "rgb(20, 23, 27)")],
)
def test_a_picture_in_a_file_follows_the_colours_of_the_system(tmp_path, scheme, words, sheet):
    plot = Plot("Tails", "FCT (us)", "share", [Series("LG", [1.0, 10.0], [0.5, 0.1])])
    page = tmp_path / "picture.html"
    ask = (
        "<pre></pre><script>const fill = (name) => getComputedStyle(document.querySelector(name)).fill;"
        'document.querySelector("pre").textContent = JSON.stringify([fill("svg text"), fill(".sheet")]);</script>'
    )
    page.write_text(draw(plot, Palette([plot]), alone=True) + ask, encoding="utf-8")
    assert asked(page, scheme) == [words, sheet]


def test_a_slanted_label_does_not_begin_left_of_the_picture():
    names = [f"leaf-spine of {rate} Gb/s" for rate in range(100, 900, 50)]
    plot = Plot("Means", "fabric", "FCT (us)", [Series("LG", names, [1.0] * len(names), style="bars")])
    picture = draw(plot, Palette([plot]))
    slanted = re.findall(r'<text x="([\d.]+)"[^>]*rotate\(-32[^>]*>([^<]*)<title>([^<]*)', picture)
    assert [whole for _, _, whole in slanted] == names
    assert all(len(shown) * CHARACTER * math.cos(math.radians(32)) <= float(x) for x, shown, _ in slanted)
    assert slanted[0][1] != names[0]
    assert slanted[-1][1] == names[-1]
