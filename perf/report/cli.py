# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""The commands of report.py."""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import sys
import traceback

from .check import Check
from .compare import CONTEXT, Comparison, Question
from .figures import Page
from .goals import KINDS, Goal, load_goals
from .results import ResultsError, Run, condense, load, load_all
from .sections import make_report, why_no_pictures

# The exit codes of the programs that measure; 2 is an error in arguments or files.
SUCCESS, FALLS_SHORT, CANNOT_JUDGE, SKIPPED = 0, 1, 3, 4
_ACCEPTANCE = "--check-acceptance"
GOALS = pathlib.Path(__file__).resolve().parent / "goals.json"

_USAGE = """report.py RESULTS.json                                   a report beside it: RESULTS.html
report.py RESULTS.json... --check                        which acceptance goals and targets are missed
report.py RESULTS.json... --check=acceptance             the same; the exit code is that of acceptance
report.py RESULTS.json... --output REPORT.html           a report: one file, with its pictures inside
report.py compare OLD.json NEW.json                      what got slower, and how sure that is
report.py figures PAGE.md... [--write]                   whether the tables marked in pages are those of the results
report.py condense RESULTS.json... OUT.json              the small form, that all commands read as well"""


def _check(runs: list[Run], goals: list[Goal], kinds: tuple[str, ...], is_verbose: bool) -> int:
    """Prints all goals; the exit code depends on those of `kinds`, and on errors."""
    check = Check(runs, goals)
    for line in check.lines(tuple(set(KINDS) - set(kinds)), is_verbose):
        print(line)
    if check.errors or any(check.short(kind) for kind in kinds):
        return FALLS_SHORT
    return SUCCESS if any(check.of(kind) for kind in kinds) else SKIPPED


def _fraction(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError(text)
    return value


def _compare(arguments: list[str]) -> int:
    question = Question()
    parser = argparse.ArgumentParser(
        prog="report.py compare",
        description="Exits with 1 if a case got slower, by more than --minimum and by more than chance; with 3 if none"
                    " did as far as can be told, but some cannot be judged: a change of --judge could go unnoticed.",
        epilog=f"Says where these differ: {', '.join(CONTEXT)}.")
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--quantity", choices=["seconds", "ratio"], default=question.quantity,
                        help="time, or ratio to the baseline, which a faster or slower machine changes less")
    parser.add_argument("--minimum", type=_fraction, default=question.minimum,
                        help="smallest change that counts (%(default)s)")
    parser.add_argument("--judge", type=_fraction, default=question.judge,
                        help="a change that must not go unnoticed (%(default)s)")
    parser.add_argument("--significance", type=_fraction, default=question.significance,
                        help="chance of any false alarm that is accepted (%(default)s)")
    parser.add_argument("--filter", default=question.pattern, metavar="REGEX", help="only cases whose name has a match")
    parser.add_argument("--verbose", action="store_true", help="every case that cannot be judged, not the five worst")
    options = parser.parse_args(arguments)
    question = Question(options.quantity, options.minimum, options.judge, options.significance, options.filter)
    comparison = Comparison(load(options.old), load(options.new), question)
    for line in comparison.lines(options.old, options.new, options.verbose):
        print(line)
    if comparison.slower or comparison.errors:
        return FALLS_SHORT
    return CANNOT_JUDGE if comparison.unjudged else SUCCESS


def _condense(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="report.py condense")
    parser.add_argument("results", type=pathlib.Path, nargs="+", help="files of one run, as of its groups")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--anonymous", action="store_true", help="with numbers for the names of hosts, to be published")
    options = parser.parse_args(arguments)
    runs = load_all(options.results)
    if len(runs) > 1:
        raise ResultsError(f"these are {len(runs)} runs, and not one: {', '.join(run.title for run in runs)}")
    options.out.write_text(condense(runs[0], options.anonymous), encoding="utf-8")
    return SUCCESS


def _figures(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="report.py figures", description="Exits with 1 if a table marked in a page is not that of its results.")
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="write the right ones into the pages")
    options = parser.parse_args(arguments)
    pages = [Page(path) for path in options.pages]
    wrong = [words for page in pages for words in page.wrong]
    for path, page in zip(options.pages, pages):
        if not page.tells_origin:
            wrong.append(f"{path}: does not tell the origin of its tables (add the mark that README.md describes)")
    for words in wrong:
        print(words)
    if options.write:
        for page in pages:
            page.write()
    print(f"{sum(page.marked for page in pages)} tables, {len(wrong)}"
          f" {'were' if options.write else 'are'} not those of the results")
    return FALLS_SHORT if wrong and not options.write else SUCCESS


def _write_report(runs: list[Run], goals: list[Goal], page: pathlib.Path | None, folder: pathlib.Path | None) -> None:
    text, pictures = make_report(runs, goals)
    if why := why_no_pictures():
        print(f"no pictures: {sys.executable} {why}", file=sys.stderr)
    files = {folder / f"{name}.svg": picture for name, picture in pictures.items()} if folder else {}
    if page:
        files[page if page.suffix.lower() in (".html", ".htm") else page / "report.html"] = text
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        print(path)


def _report(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="report.py", usage="\n" + _USAGE)
    parser.add_argument("results", type=pathlib.Path, nargs="+",
                        help="files of several runs are taken together, as of 1, 2 and 4 GPUs")
    parser.add_argument("--check", dest="kinds", action="store_const", const=KINDS,
                        help="exit with 1 if a goal is missed or a result wrong, with 4 if no goal is meant for these")
    parser.add_argument(_ACCEPTANCE, dest="kinds", action="store_const", const=("acceptance",),
                        help="the same of what must hold on any sound machine: targets alone fail nothing")
    parser.add_argument("--verbose", action="store_true", help="every case that falls short, and all that is reached")
    parser.add_argument("--goals", type=pathlib.Path, default=GOALS)
    parser.add_argument("--output", type=pathlib.Path, metavar="PATH",
                        help="the page to write, or a folder for report.html")
    parser.add_argument("--pictures", type=pathlib.Path, metavar="DIR", help="the pictures of the page as SVG, too")
    # An option with an optional value would take a following file name for its value.
    options = parser.parse_args([argument.replace("--check=acceptance", _ACCEPTANCE) for argument in arguments])
    if not (options.kinds or options.output or options.pictures):
        options.output = options.results[0].with_suffix(".html")
    runs, goals = load_all(options.results), load_goals(options.goals)
    if options.output or options.pictures:
        _write_report(runs, goals, options.output, options.pictures)
    if options.kinds:
        return _check(runs, goals, options.kinds, options.verbose)
    return FALLS_SHORT if any(run.errors() for run in runs) else SUCCESS


def _give_up_output() -> None:
    """Drops what could not be written: else Python tries again when it ends, and exits with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    command = {"compare": _compare, "condense": _condense, "figures": _figures}.get(arguments[0] if arguments else "")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # where it has no µ
    try:
        code = command(arguments[1:]) if command else _report(arguments)
        print(end="", flush=True)
        return code
    except (ResultsError, OSError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        _give_up_output()
    except re.error as error:
        print(f"report.py: bad regular expression {error.pattern!r}: {error}", file=sys.stderr)
    except Exception:  # 1 would say that something got slower
        traceback.print_exc()
    return 2
