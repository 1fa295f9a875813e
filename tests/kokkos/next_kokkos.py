#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Makes, from an installed Kokkos or its headers, in place, what is known of the next minor release.

    next_kokkos.py <folder> [--version 5.3.0] [--constraints] [--lose-resize]

ViewTraits::specialize is gone (kokkos/kokkos#9478). With --constraints the conditions of deep_copy and of
mirrors in a space are constraints, instead of defaulted parameters, and ViewTraits::impl_is_customized has
another name, too. With --lose-resize Kokkos' resize calls a function of another name than impl_resize, so
that this library does not take part. DynRankView does not compile with it.
"""

import argparse
import pathlib
import re


def closing(text, begin):
    """The index behind the bracket that closes the one at `begin`."""
    depth = 0
    for i in range(begin, len(text)):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("a bracket is not closed")


def without_specialize(path, text):
    name = r"typename\s+(?:\w+::)*\w+(?:<[^<>;(){}]*>)?(?:::traits)?::\s*specialize\b"
    text = re.sub(name, "void", text)
    if path.name in ("Kokkos_ViewTraits.hpp", "Kokkos_DynRankView.hpp"):
        text = re.sub(r"\n  using specialize\s*=[^;]*;", "", text)
    return text


def with_constraints(text):
    """enable_if_t<condition>* = nullptr, and template parameters with such a default, become constraints."""
    changed = 0
    while match := re.search(r",\s*std::enable_if_t(<)", text):
        end = closing(text, match.start(1))
        condition = text[match.end() : end - 1]
        tail = re.match(r"\s*\*\s*=\s*nullptr\s*\)", text[end:])
        if tail:
            text = text[: match.start()] + f") requires (bool({condition}))" + text[end + tail.end() :]
            changed += 1
        else:
            text = text[: match.start(1) - 1] + "_T" + text[match.start(1) :]  # another use: left as it is
    text = text.replace("std::enable_if__T<", "std::enable_if_t<")
    parameter = r",\s*(?:class|typename)(?: Enable)?\s*=\s*std::enable_if_t(<)"
    at = 0
    while match := re.compile(parameter).search(text, at):
        end = closing(text, match.start(1))
        at = match.end()
        if tail := re.match(r"\s*>", text[end:]):
            condition = text[match.end() : end - 1]
            text = text[: match.start()] + f">\n  requires (bool({condition}))" + text[end + tail.end() :]
            changed += 1
    if changed < 20:
        raise SystemExit(f"only {changed} constraints: Kokkos has changed, and so must this script")
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--version", default="5.3.0")
    parser.add_argument("--constraints", action="store_true")
    parser.add_argument("--lose-resize", action="store_true")
    options = parser.parse_args()
    major, minor, patch = map(int, options.version.split("."))

    seen = set()
    for path in sorted(options.folder.rglob("*")):
        if path.suffix not in (".hpp", ".h", ".cmake") or not path.is_file():
            continue
        before = text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if path.suffix == ".hpp":
            text = without_specialize(path, text)
        if options.constraints:
            text = text.replace("impl_is_customized", "impl_is_changed")
        if path.name == "Kokkos_CopyViews.hpp":
            text = with_constraints(text) if options.constraints else text
            text = text.replace("impl_resize", "impl_resize_view") if options.lose_resize else text
        if path.name == "KokkosCore_config.h":
            text = re.sub(r"(KOKKOS_VERSION) \d+", rf"\g<1> {major * 10000 + minor * 100 + patch}", text)
            for part, number in (("MAJOR", major), ("MINOR", minor), ("PATCH", patch)):
                text = re.sub(rf"(KOKKOS_VERSION_{part}) \d+", rf"\g<1> {number}", text)
        if path.name == "KokkosConfigVersion.cmake":
            text = re.sub(r'(PACKAGE_VERSION) "[\d.]+"', rf'\g<1> "{options.version}"', text)
        if text != before:
            seen.add(path.name)
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
    for needed in ("Kokkos_ViewTraits.hpp", "Kokkos_CopyViews.hpp", "KokkosCore_config.h"):
        if needed not in seen:
            raise SystemExit(f"nothing was changed in {needed}: is {options.folder} a Kokkos before 5.3?")


main()
