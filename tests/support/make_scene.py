#!/usr/bin/env python3
"""Scenes as files, for tests and for the pictures of docs/photon.md.

  make_scene.py FOLDER            the Cornell box, thrice: box.glb, box.gltf + box.bin, box.obj + box.mtl; and textured.glb
  make_scene.py FOLDER MESH.ply   also mesh.glb: the mesh of a PLY file in the box, as gold
"""
import json
import math
import struct
import sys
import zlib
from pathlib import Path

# name → colour, emission, what it is
MATERIALS = {
    "white": ((0.75, 0.75, 0.75), (0, 0, 0), "diffuse"),
    "red": ((0.7, 0.05, 0.05), (0, 0, 0), "diffuse"),
    "green": ((0.08, 0.55, 0.08), (0, 0, 0), "diffuse"),
    "lamp": ((0, 0, 0), (11, 10, 8.5), "diffuse"),
    "mirror": ((0.95, 0.95, 0.95), (0, 0, 0), "mirror"),
    "glass": ((1, 1, 1), (0, 0, 0), "glass"),
    "gold": ((0.95, 0.7, 0.35), (0, 0, 0), "mirror"),
    "clay": ((0.75, 0.6, 0.45), (0, 0, 0), "diffuse"),
}


def wall(at, u, v):
    """A parallelogram whose front is where u, then v, is counterclockwise."""
    add = lambda *vectors: tuple(map(sum, zip(*vectors)))
    return [at, add(at, u), add(at, u, v), add(at, v)], [(0, 1, 2), (0, 2, 3)]


def sphere(middle, radius, parts=48):
    points, faces = [], []
    for i in range(parts + 1):
        for j in range(2 * parts):
            a, b = math.pi * i / parts, math.pi * j / parts
            points.append(
                (
                    middle[0] + radius * math.sin(a) * math.cos(b),
                    middle[1] - radius * math.sin(a) * math.sin(b),
                    middle[2] + radius * math.cos(a),
                )
            )
    at = lambda i, j: i * 2 * parts + j % (2 * parts)
    for i in range(parts):
        for j in range(2 * parts):
            faces.append((at(i, j), at(i + 1, j + 1), at(i + 1, j)))
            faces.append((at(i, j), at(i, j + 1), at(i + 1, j + 1)))
    return points, faces


def cornell():
    """The walls of mote's own scene "cornell-empty", z up."""
    return [
        ("white", *wall((-1, -1, 0), (2, 0, 0), (0, 2, 0))),
        ("white", *wall((-1, -1, 2), (0, 2, 0), (2, 0, 0))),
        ("white", *wall((-1, 1, 0), (2, 0, 0), (0, 0, 2))),
        ("red", *wall((-1, -1, 0), (0, 2, 0), (0, 0, 2))),
        ("green", *wall((1, -1, 0), (0, 0, 2), (0, 2, 0))),
        ("lamp", *wall((-0.3, -0.3, 1.99), (0, 0.6, 0), (0.6, 0, 0))),
    ]


def read_ply(path):
    """Positions and faces of an ASCII or little-endian PLY whose vertices and faces are its first elements."""
    data = Path(path).read_bytes()
    head = data[: data.index(b"end_header")].decode().split("\n")
    body = data[data.index(b"\n", data.index(b"end_header")) + 1 :]
    counts = {w[1]: int(w[2]) for w in (l.split() for l in head) if w and w[0] == "element"}
    vertex = [l.split() for l in head[: [i for i, l in enumerate(head) if l.startswith("element face")][0]]]
    names = [w[2] for w in vertex if w and w[0] == "property"]
    if "format ascii" in "\n".join(head):
        lines = body.decode().split("\n")
        points = [tuple(map(float, l.split()[:3])) for l in lines[: counts["vertex"]]]
        faces = [tuple(map(int, l.split()[1:4])) for l in lines[counts["vertex"] : counts["vertex"] + counts["face"]]]
        return points, faces
    stride, points, faces = 4 * len(names), [], []
    for i in range(counts["vertex"]):
        points.append(struct.unpack_from("<3f", body, i * stride))
    for i in range(counts["face"]):
        faces.append(struct.unpack_from("<3i", body, counts["vertex"] * stride + i * 13 + 1))
    return points, faces


def placed(points, height, middle, turn):
    """Scaled to a height, its lowest point on the floor below middle; y of the mesh becomes z."""
    points = [(x, -z, y) for x, y, z in points]
    c, s = math.cos(turn), math.sin(turn)
    points = [(c * x - s * y, s * x + c * y, z) for x, y, z in points]
    low = [min(p[k] for p in points) for k in range(3)]
    high = [max(p[k] for p in points) for k in range(3)]
    scale = height / (high[2] - low[2])
    zero = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]]
    return [tuple((p[k] - zero[k]) * scale + middle[k] for k in range(3)) for p in points]


# ---- glTF: y is up, so that z of here is y of there


class Gltf:
    def __init__(self):
        self.data = b""
        self.json = {
            "asset": {"version": "2.0", "generator": "make_scene.py"},
            "scene": 0,
            "scenes": [{"nodes": [0, 1]}],
            # A turned, moved and scaled node, so that transforms are seen to work.
            "nodes": [
                {"rotation": [-math.sqrt(0.5), 0, 0, math.sqrt(0.5)], "scale": [0.5] * 3, "children": [2]},
                {"camera": 0, "translation": [0, 1, 4.9]},
                {"mesh": 0, "scale": [2] * 3},
            ],
            "cameras": [{"type": "perspective", "perspective": {"yfov": math.radians(29.5), "znear": 0.01}}],
            "meshes": [{"primitives": []}],
            "materials": [],
            "accessors": [],
            "bufferViews": [],
        }
        self.materials = {}

    def view(self, data):
        self.data += b"\0" * (-len(self.data) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)})
        self.data += data
        return len(self.json["bufferViews"]) - 1

    def accessor(self, data, kind, component, count, **more):
        self.json["accessors"].append(
            {"bufferView": self.view(data), "type": kind, "componentType": component, "count": count, **more}
        )
        return len(self.json["accessors"]) - 1

    def material(self, name):
        if name not in self.materials:
            color, emission, kind = MATERIALS[name]
            m = {
                "name": name,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [*color, 1],
                    "metallicFactor": 1 if kind == "mirror" else 0,
                    "roughnessFactor": 0 if kind == "mirror" else 1,
                },
            }
            if kind == "glass":
                m["extensions"] = {
                    "KHR_materials_transmission": {"transmissionFactor": 1},
                    "KHR_materials_volume": {"thicknessFactor": 1},
                    "KHR_materials_ior": {"ior": 1.5},
                }
            if any(emission):
                m["emissiveFactor"] = [e / max(emission) for e in emission]
                m["extensions"] = {"KHR_materials_emissive_strength": {"emissiveStrength": max(emission)}}
            self.materials[name] = len(self.json["materials"])
            self.json["materials"].append(m)
        return self.materials[name]

    def add(self, material, points, faces, coordinates=None):
        corners = [c for f in faces for c in f]
        small = len(points) < 65536
        packed = struct.pack(f"<{len(corners)}{'H' if small else 'I'}", *corners)
        flat = [x for p in points for x in p]
        primitive = {
            "attributes": {"POSITION": self.accessor(struct.pack(f"<{len(flat)}f", *flat), "VEC3", 5126, len(points))},
            "indices": self.accessor(packed, "SCALAR", 5123 if small else 5125, len(corners)),
            "material": self.material(material) if isinstance(material, str) else material,
        }
        if coordinates:
            flat = [x for p in coordinates for x in p]
            primitive["attributes"]["TEXCOORD_0"] = self.accessor(
                struct.pack(f"<{len(flat)}f", *flat), "VEC2", 5126, len(coordinates)
            )
        self.json["meshes"][0]["primitives"].append(primitive)

    def write(self, path):
        buffer = {"byteLength": len(self.data)}
        if path.suffix == ".gltf":
            path.with_suffix(".bin").write_bytes(self.data)
            self.json["buffers"] = [{**buffer, "uri": path.with_suffix(".bin").name}]
            path.write_text(json.dumps(self.json, indent=1))
            return
        self.json["buffers"] = [buffer]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        data = self.data + b"\0" * (-len(self.data) % 4)
        path.write_bytes(
            struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data))
            + struct.pack("<I4s", len(text), b"JSON")
            + text
            + struct.pack("<I4s", len(data), b"BIN\0")
            + data
        )


def png(width, height, color):
    rows = b"".join(b"\0" + bytes(c for x in range(width) for c in color(x, y)) for y in range(height))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def write_obj(path, parts):
    lines, first = [f"mtllib {path.with_suffix('.mtl').name}"], 1
    for material, points, faces in parts:
        lines += [f"usemtl {material}"]
        lines += ["v %.9g %.9g %.9g" % (x, z, -y) for x, y, z in points]  # y up
        if len(points) == 4:
            lines += ["f " + " ".join(str(i - 4) for i in range(4))]  # a quadrangle, counted from the end
        else:
            lines += ["f %d %d %d" % tuple(first + c for c in f) for f in faces]
        first += len(points)
    path.write_text("\n".join(lines) + "\n")
    lines = []
    for name, (color, emission, kind) in MATERIALS.items():
        lines += [f"newmtl {name}", "Kd %g %g %g" % color, "Ks %g %g %g" % color, "Ke %g %g %g" % emission]
        lines += ["Ni 1.5", "illum %d" % {"diffuse": 2, "mirror": 3, "glass": 7}[kind]]
    path.with_suffix(".mtl").write_text("\n".join(lines) + "\n")


def write_gltf(path, parts):
    gltf = Gltf()
    for part in parts:
        gltf.add(*part)
    gltf.write(path)


def write_textured(path):
    """A checked floor, a point and a spot light."""
    gltf = Gltf()
    image = png(16, 16, lambda x, y: (230, 190, 60) if (x // 8 + y // 8) % 2 else (40, 60, 150))
    gltf.json["images"] = [{"bufferView": gltf.view(image), "mimeType": "image/png"}]
    gltf.json["textures"] = [{"source": 0}]
    gltf.json["materials"] = [
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0, "roughnessFactor": 1}}
    ]
    points, faces = wall((-1, -1, 0), (2, 0, 0), (0, 2, 0))
    gltf.add(0, points, faces, [(0, 4), (4, 4), (4, 0), (0, 0)])
    gltf.add("white", *wall((-1, 1, 0), (2, 0, 0), (0, 0, 2)))
    gltf.add("glass", *sphere((0.4, -0.1, 0.45), 0.45, 32))
    gltf.json["extensionsUsed"] = ["KHR_lights_punctual"]
    gltf.json["extensions"] = {
        "KHR_lights_punctual": {
            "lights": [
                {"type": "point", "intensity": 2, "color": [1, 0.9, 0.8]},
                {"type": "spot", "intensity": 20, "spot": {"innerConeAngle": 0.2, "outerConeAngle": 0.4}},
            ]
        }
    }
    gltf.json["scenes"][0]["nodes"] += [3, 4]
    light = lambda i: {"KHR_lights_punctual": {"light": i}}
    gltf.json["nodes"].append({"translation": [-0.8, 1.8, 0.8], "extensions": light(0)})
    down = [-math.sin(math.pi / 4), 0, 0, math.cos(math.pi / 4)]
    gltf.json["nodes"].append({"translation": [0.4, 2, 0.1], "rotation": down, "extensions": light(1)})
    gltf.write(path)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    parts = cornell()
    for name in ("box.glb", "box.gltf"):
        write_gltf(folder / name, parts)
    write_obj(folder / "box.obj", parts)
    write_textured(folder / "textured.glb")
    if len(sys.argv) > 2:
        points, faces = read_ply(sys.argv[2])
        mesh = ("clay", placed(points, 0.75, (-0.3, 0.35, 0), -0.35), faces)
        write_gltf(folder / "mesh.glb", parts + [mesh, ("glass", *sphere((0.48, -0.3, 0.34), 0.34, 64))])
        write_obj(folder / "mesh.obj", parts + [mesh])


if __name__ == "__main__":
    main()
