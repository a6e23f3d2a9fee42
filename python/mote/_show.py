"""What a notebook shows of a cloud: a picture and its facts."""
import base64
import html
import math
import struct
import zlib

import numpy

SHOWN_POINTS = 2_000_000  # of larger clouds every so many-th point is drawn
WIDTH, HEIGHT = 480, 320


def png_of(pixels):
    """RGBA of uint8 as a PNG file."""
    height, width, _ = pixels.shape
    rows = numpy.zeros((height, 1 + 4 * width), numpy.uint8)  # each begins with its filter, none
    rows[:, 1:] = pixels.reshape(height, 4 * width)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def picture_of(cloud):
    """A PNG of the whole cloud; None of one that has nothing to show."""
    from ._errors import Error
    from ._render import render
    if cloud.closed or not all(axis in cloud for axis in "xyz") or len(cloud) == 0:
        return None
    step = -(-len(cloud) // SHOWN_POINTS)
    shown = cloud[::step] if step > 1 else cloud
    color = None if "red" in shown else ("intensity" if "intensity" in shown else "z")
    size = min(8.0, max(1.0, 1.5 * math.sqrt(WIDTH * HEIGHT / 4 / len(shown))))
    try:
        return render(shown, color=color, width=WIDTH, height=HEIGHT, point_size=size)._repr_png_()
    except Error:
        return None


def html_of(cloud):
    """A table of facts beside the picture."""
    if cloud.closed:
        return "<p>Cloud (closed)</p>"
    facts = [("points", f"{len(cloud):,}")]
    if all(axis in cloud for axis in "xyz") and cloud.device == "cpu":
        low, high = cloud.bounds
        facts += [(axis, f"{low[i]:.10g} … {high[i]:.10g}") for i, axis in enumerate("xyz")]
        unit = cloud.units.horizontal.name
        if unit:
            facts.append(("unit", unit))
    if cloud.crs:
        facts.append(("CRS", cloud.crs if len(cloud.crs) < 60 else cloud.crs[:57] + "…"))
    facts.append(("attributes", ", ".join(name for name in cloud.fields if name not in ("x", "y", "z"))))
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                   f"<td style='text-align:left'>{html.escape(text)}</td></tr>" for name, text in facts)
    picture = picture_of(cloud)
    shown = ""
    if picture is not None:
        shown = f"<img alt='the cloud' src='data:image/png;base64,{base64.b64encode(picture).decode()}'/>"
    return f"<div>{shown}<table>{rows}</table></div>"
