#!/usr/bin/env python3
"""A picture of a scan, coloured by height, and which point each pixel shows.

    picture.py [SCAN [OUT.png]]
"""
import os
import sys
import tempfile

import mote

cloud = mote.read(sys.argv[1]) if len(sys.argv) > 1 else mote.gen("city", 300_000)
out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(tempfile.mkdtemp(), "scan.png")

picture = mote.render(cloud, width=960, height=540, color="z", map="terrain", point_size=3, want=("color", "index"))
picture.save(out)
middle = picture.index[270, 480]
print(f"{out}: {picture.color.shape[1]} x {picture.color.shape[0]}")
if middle != 2**32 - 1:
    print("in the middle:", cloud.xyz[middle])
