#!/usr/bin/env python3
"""Planes of a scan as GeoJSON polygons, for a map: roofs, walls and ground by their slope.

    planes_to_geojson.py [SCAN [OUT.geojson]]
"""
import json
import sys

import numpy

import mote

cloud = mote.read(sys.argv[1]) if len(sys.argv) > 1 else mote.gen("city", 100_000)
found = mote.planes(cloud)

features = []
for number, plane in enumerate(found):
    ring = plane.hull.tolist()
    features.append({
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring + ring[:1]]},
        "properties": {
            "plane": number, "points": plane.inliers, "area": round(plane.area, 3), "rms": round(plane.rms, 5),
            "slope_deg": round(float(numpy.degrees(numpy.arccos(abs(plane.normal[2])))), 2),
        },
    })
text = json.dumps({"type": "FeatureCollection", "features": features}, indent=1)
if len(sys.argv) > 2:
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)
print(f"{len(found)} planes, {sum(feature['properties']['slope_deg'] < 80 for feature in features)} of them no walls")
