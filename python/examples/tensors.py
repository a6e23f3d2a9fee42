#!/usr/bin/env python3
"""A torch tensor in, normals out, without a copy: on the CPU, and on a GPU where torch and mote have one."""
import sys

try:
    import torch
except ImportError:
    print("skipped: torch is not there")
    sys.exit(0)

import mote

on_gpu = torch.cuda.is_available() and any(device.kind == "cuda" and device.usable for device in mote.devices())
for device in ["cpu", "cuda"] if on_gpu else ["cpu"]:
    points = torch.rand(100_000, 3, device=device)
    found = mote.normals(points, k=12)
    normals = torch.from_dlpack(found.normals)
    print(device, tuple(normals.shape), "lengths", normals.norm(dim=1).min().item(), normals.norm(dim=1).max().item())
    # The tensor itself, as a cloud, and back: the same memory.
    assert torch.from_dlpack(mote.Cloud(points, copy=False)).data_ptr() == points.data_ptr()
