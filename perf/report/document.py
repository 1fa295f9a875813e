# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""A text with tables and pictures that is written as Markdown and as HTML."""

from __future__ import annotations

import html

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; }
img { max-width: 100%; }
summary { cursor: pointer; font-weight: bold; }
"""


class Document:
    """Grows block by block; all text is plain text."""

    def __init__(self, title: str):
        self._title = title
        self._markdown = [f"# {title}"]
        self._html = [f"<h1>{html.escape(title)}</h1>"]

    def heading(self, text: str, level: int = 2) -> None:
        self._markdown.append(f"{'#' * level} {_plain(text)}")
        self._html.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def text(self, text: str) -> None:
        self._markdown.append(_plain(text))
        self._html.append(f"<p>{html.escape(text)}</p>")

    def picture(self, name: str, description: str) -> None:
        """The picture NAME.svg beside the document."""
        self._markdown.append(f"![{_plain(description)}]({name}.svg)")
        self._html.append(f'<p><img src="{name}.svg" alt="{html.escape(description)}"></p>')

    def table(self, heading: list[str], rows: list[list[str]], folded: str = "") -> None:
        """A table; one that is folded opens on a click on the text given."""
        lines = [[_plain(cell) for cell in line] for line in [heading, *rows]]
        lines.insert(1, ["---"] * len(heading))
        markdown = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heading)
        body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                         for row in rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
        if folded:
            summary = f"<details><summary>{html.escape(folded)}</summary>"
            markdown = f"{summary}\n\n{markdown}\n\n</details>"
            table = f"{summary}\n{table}</details>"
        self._markdown.append(markdown)
        self._html.append(table)

    def markdown(self) -> str:
        return "\n\n".join(self._markdown) + "\n"

    def html(self) -> str:
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                f"<title>{html.escape(self._title)}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
                + "\n".join(self._html) + "\n</body></html>\n")


def _plain(text: str) -> str:
    """Keeps Markdown from reading marks into plain text."""
    for mark in "\\`*<|":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())
