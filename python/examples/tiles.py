#!/usr/bin/env python3
"""A file that is larger than memory: the ground of a scan, chunk by chunk, each into a file of its own.

    tiles.py [SCAN FOLDER]      without a scan, of a made-up town, into a temporary folder
"""
import os
import sys
import tempfile

import mote

if len(sys.argv) > 2:
    scan, folder = sys.argv[1:3]
else:
    folder = tempfile.mkdtemp()
    scan = os.path.join(folder, "city.laz")
    mote.write(mote.gen("city", 200_000), scan)

kept = 0
with mote.open(scan) as file:
    for number, chunk in enumerate(file.chunks(50_000)):
        ground = chunk[chunk["Classification"] == 2]  # PDAL's name, or mote's: classification
        kept += len(ground)
        if len(ground) > 0:
            mote.write(ground, os.path.join(folder, f"ground_{number}.laz"))
print(f"{kept:,} points of ground")

# The files are one cloud again.
whole = mote.read(os.path.join(folder, "ground_*.laz"))
assert len(whole) == kept
