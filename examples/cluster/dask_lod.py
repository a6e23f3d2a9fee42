"""Levels of detail by Dask: a task for each part, on the workers of a cluster that runs already, or of this machine.

    dask_lod.py OUT PARTS INPUT...
    DASK_SCHEDULER=tcp://head:8786 dask_lod.py /data/town 64 /data/tiles/*.laz
"""
import os
import sys

# Workers that share a machine leave cores to each other while their threads wait; read when the library is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import mote.dask  # noqa: E402


def main(out, parts, inputs):
    made = mote.dask.lod(inputs, out, part_count=int(parts))
    address = os.environ.get("DASK_SCHEDULER")
    if not address:
        return made.compute(scheduler="processes")
    from dask.distributed import Client

    with Client(address):
        return made.compute(retries=2)  # where a worker is lost, others make its parts


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    print(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
