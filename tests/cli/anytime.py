"""Whatever happens to a command, and whenever: its exit code and what is there afterwards say the same.

    anytime.py EVENT FILE OUTPUTS COMMAND…

EVENT happens at moments from the begin of the command to its end, and as soon as one of its outputs is there: "cut" cuts
FILE to a third, INT, TERM and HUP are signals. OUTPUTS is what the names of all outputs begin with. After exit code 0 all
of them are as the command makes them when nothing happens; after any other, which must be that of the event, everything is
as it was before: nothing, or, in a second round, older outputs of the same names (not with NONE_OLDER=1, of what replaces
nothing). Prints what was otherwise.
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

MOMENTS = 3 if os.environ.get("MOTE_TEST_FEW") == "1" else 5
CODES = {"cut": 3, "INT": 130, "TERM": 130, "HUP": 130}

event, name, outputs = sys.argv[1:4]
command = sys.argv[4:]
whole = open(name, "rb").read()


def state():
    """All files whose path begins with OUTPUTS, with their content."""
    found = {}
    for path in glob.glob(outputs + "*"):
        inside = [os.path.join(folder, f) for folder, _, files in os.walk(path) for f in files]
        for file in [path] if os.path.isfile(path) else inside:
            try:
                found[file] = open(file, "rb").read()
            except FileNotFoundError:
                pass
    return found


def there(path):
    try:
        info = os.stat(path)
        return info.st_ino, info.st_mtime_ns
    except FileNotFoundError:
        return None


def prepare(older):
    for path in glob.glob(outputs + "*"):
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    for path, content in older.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        open(path, "wb").write(content)
    if event == "cut":
        open(name, "wb").write(whole)


def begin():
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)


def wait_for(moment, process, first):
    """A share of the usual time, or until the first output is another one than now."""
    if moment is not None:
        time.sleep(moment)
        return
    before = there(first)
    while process.poll() is None and there(first) == before:
        pass


def disturb(process):
    if event == "cut":
        os.truncate(name, len(whole) // 3)
    elif process.poll() is None:
        process.send_signal(getattr(signal, "SIG" + event))


def run(moment, older, wanted):
    prepare(older)
    process = begin()
    wait_for(moment, process, min(wanted))
    disturb(process)
    said = process.communicate()[0].decode()
    after = state()
    if process.returncode == 0 and after == wanted:
        return
    is_early = process.returncode < 0 and event != "cut"  # no handler is there yet: on a busy machine that can take long
    if (process.returncode == CODES[event] or is_early) and after == older:
        return
    kind = "as before" if after == older else "whole" if after == wanted else "neither: " + " ".join(sorted(after))
    print(f"{event} at {moment}: exit code {process.returncode}, outputs {kind}: {said.strip()[-200:]}")


def main():
    prepare({})
    started = time.monotonic()
    process = begin()
    said = process.communicate()[0].decode()
    took = time.monotonic() - started
    wanted = state()
    if process.returncode != 0 or not wanted:
        sys.exit(f"the command fails by itself, or has no output: {said}")
    for older in {}, {path: b"old" for path in wanted if not os.environ.get("NONE_OLDER")}:
        for i in range(MOMENTS):
            run(took * i / (MOMENTS - 1), older, wanted)
        run(None, older, wanted)
    prepare({})
    print(len(wanted), "files")


main()
