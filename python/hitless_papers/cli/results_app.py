"""`hitless results`: results of the exhibits, kept in a checkout, and the tables of its pages."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.errors import BadInput

results_app = typer.Typer(
    no_args_is_help=True, help="Keep what the exhibits showed, and render the tables of the docs."
)

Root = Annotated[Path, typer.Option(help="The checkout that has the pages.", file_okay=False, exists=True)]


@results_app.command()
def durations(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders that hitless reproduce has written.")
    ],
) -> None:
    """Put how long exhibits took into this program's own list, which `hitless reproduce --list` shows."""
    from hitless.terminal.console import print_note
    from hitless_papers.durations import FILE, refresh

    added = refresh(folders)
    print_note(f"{len(added)} exhibits are refreshed in {FILE}")


@results_app.command()
def add(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders that hitless reproduce has written.")
    ],
    root: Root = Path(),
    tails: Annotated[
        bool, typer.Option("--tails", help="Only tails of recorded exhibits; these runs may be incomplete.")
    ] = False,
) -> None:
    """Put what runs found into docs/results.json; it replaces older results of the same exhibits.

    A folder has all seeds of its exhibits; with fewer than three a row has no
    verdict, unless it is arithmetic. Pictures of explained tails go to
    docs/evidence/results/pictures:

      hitless reproduce lg --quick --seeds 3 --out lg
      hitless results add lg
      hitless results render
    """
    from hitless.terminal.console import print_note
    from hitless.whole_file import file_name
    from hitless_papers.registry import entries
    from hitless_papers.summary.document import PICTURES, Summary, tails_of
    from hitless_papers.summary.pages import SUMMARY

    path = root / SUMMARY
    summary = Summary.read(path)
    added = summary.add(folders, [entry.id for entry in entries()], only_tails=tails)
    summary.write(path)
    pictures = {name: picture for folder in folders for name, picture in tails_of(folder).items()}
    for name in filter(pictures.__contains__, map(file_name, added)):
        (root / PICTURES).mkdir(parents=True, exist_ok=True)
        pictures[name].save(root / PICTURES / f"{name}-tail.svg")
    what = f"tails of {len(added)} exhibits" if tails else f"{len(added)} exhibits"
    print_note(f"{path}: {what} added, {len(summary.exhibits)} exhibits in all; hitless results render shows them")


@results_app.command()
def render(
    root: Root = Path(),
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail where a table is out of date.")] = False,
) -> None:
    """Render the tables of README.md and of pages in docs from docs/results.json.

    A table is between <!-- results: counts --> (or chosen, causes, maps,
    differs ID..., rows ID...) and <!-- end of results -->.
    """
    from hitless.terminal.console import print_note
    from hitless_papers.summary.pages import render as render_pages

    stale = [page for page in render_pages(root) if not page.is_current]
    if check and stale:
        names = ", ".join(str(page.path) for page in stale)
        raise BadInput("tables do not say what docs/results.json says", where=names, hint="hitless results render")
    for page in stale:
        page.path.write_text(page.wanted, encoding="utf-8")
        print_note(f"rendered {page.path}")
