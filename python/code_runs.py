#!/usr/bin/env python3
"""Writes src/io/crs/code_runs.h: the units of every reference system of EPSG, out of PROJ's database.

    python3 python/code_runs.py [/usr/share/proj/proj.db] > src/io/crs/code_runs.h

Systems with following codes and the same units are one run; src/io/crs/code_units.c says how a run is written.
"""
import sqlite3
import sys

DEGREE = 9102
SAME = {9108: DEGREE, 9122: DEGREE}  # degrees, with a word on how they are written
# What one byte can say of a run; code_units.c has the same numbers.
GAPS, UNITS, LENGTHS = 5, 8, 6
COLUMNS = 120


def systems(database):
    """{code: (unit of x and y, unit of heights)}; 0: the system has no such axis."""
    axes = {}
    for authority, system, order, unit in database.execute(
            "select coordinate_system_auth_name, coordinate_system_code, coordinate_system_order, uom_code from axis"):
        axes.setdefault((authority, system), {})[order] = SAME.get(unit, unit)
    units = {}
    for table in ("projected_crs", "geodetic_crs", "vertical_crs"):
        for code, authority, system in database.execute(
                f"select code, coordinate_system_auth_name, coordinate_system_code from {table} where auth_name = 'EPSG'"):
            own = axes[authority, system]
            if table == "vertical_crs":
                units[int(code)] = 0, own[1]
            else:
                assert own[1] == own[2], code
                units[int(code)] = own[1], own.get(3, 0)
    for code, flat, heights in database.execute(
            "select code, horiz_crs_code, vertical_crs_code from compound_crs where auth_name = 'EPSG'"):
        units[int(code)] = units[int(flat)][0], units[int(heights)][1]
    return units


def runs_of(units):
    """[first code, last code, units]"""
    runs = []
    for code in sorted(units):
        if runs and runs[-1][1] == code - 1 and runs[-1][2] == units[code]:
            runs[-1][1] = code
        else:
            runs.append([code, code, units[code]])
    return runs


def rest(value, most):
    """What a field of a run's first byte has no room for: seven bits a byte, the low ones first."""
    if value < most:
        return []
    value -= most
    coded = []
    while value >= 128:
        coded.append(value % 128 + 128)
        value //= 128
    return [*coded, value]


def encode(runs, pairs):
    coded, next_code = [], 0
    for first, last, units in runs:
        fields = (first - next_code, GAPS - 1), (pairs.index(units), UNITS - 1), (last - first, LENGTHS - 1)
        (gap, _), (unit, _), (length, _) = ((min(value, most), most) for value, most in fields)
        coded.append((gap * UNITS + unit) * LENGTHS + length)
        for value, most in fields:
            coded += rest(value, most)
        next_code = last + 1
    return coded


def rows(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > COLUMNS:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*lines, line])


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/proj/proj.db"
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    (version,) = database.execute("select value from metadata where key = 'EPSG.VERSION'").fetchone()
    units = systems(database)
    runs = runs_of(units)
    counts = {}
    for _, _, pair in runs:
        counts[pair] = counts.get(pair, 0) + 1
    pairs = sorted(counts, key=lambda pair: (-counts[pair], pair))
    print(f"""\
/* Units of the {len(units)} systems of the EPSG Dataset {version} in {len(runs)} runs; written by python/code_runs.py.
   code_units.c says how, and reads it. */
#ifndef MOTE_CODE_RUNS_H
#define MOTE_CODE_RUNS_H

#include <stdint.h>

#define CODE_RUNS_VERSION "{version}"

/* clang-format off */

/* Codes of the units of x and y, and of heights; 0: the system has no such axis. The commonest are first. */
static const uint16_t code_run_units[][2] = {{
{rows("{%d, %d}" % pair for pair in pairs)}
}};

static const uint8_t code_runs[] = {{
{rows(str(byte) for byte in encode(runs, pairs))}
}};
/* clang-format on */

#endif""")


main()
