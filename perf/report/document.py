# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""A page with tables and pictures, in one HTML file that needs no other."""

from __future__ import annotations

import base64
import html

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; }
img { max-width: 100%; }
summary { cursor: pointer; font-weight: bold; }
.verdict { border-left: 0.6rem solid #888; background: #f6f6f6; padding: 0.4rem 1.2rem; }
.good { border-color: #009e73; }
.bad { border-color: #d55e00; }
@media print { h2, h3 { break-after: avoid; } img, tr, .verdict { break-inside: avoid; } }
"""


class Document:
    """Grows block by block; all text is plain text."""

    def __init__(self, title: str):
        self._title = title
        self._blocks = [f"<h1>{html.escape(title)}</h1>"]

    def heading(self, text: str, level: int = 2) -> None:
        self._blocks.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def text(self, text: str) -> None:
        self._blocks.append(f"<p>{html.escape(text)}</p>")

    def verdict(self, is_good: bool | None, words: str, reasons: list[str]) -> None:
        """In a box; None is neither good nor bad."""
        look = {True: " good", False: " bad", None: ""}[is_good]
        items = "".join(f"<li>{html.escape(reason)}</li>" for reason in reasons)
        self._blocks.append(f'<div class="verdict{look}"><h2>{html.escape(words)}</h2><ul>{items}</ul></div>')

    def picture(self, svg: str, description: str) -> None:
        data = base64.b64encode(svg.encode()).decode()
        self._blocks.append(f'<p><img alt="{html.escape(description)}" src="data:image/svg+xml;base64,{data}"></p>')

    def table(self, heading: list[str], rows: list[list[str]], folded: str = "") -> None:
        """A table; one with the text `folded` closes on a click on it."""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heading)
        body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                         for row in rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
        if folded:
            table = f"<details open><summary>{html.escape(folded)}</summary>\n{table}</details>"
        self._blocks.append(table)

    def html(self) -> str:
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                f"<title>{html.escape(self._title)}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
                + "\n".join(self._blocks) + "\n</body></html>\n")
