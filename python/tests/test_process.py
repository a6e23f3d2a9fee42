"""Threads, forks, interrupts, the end of the interpreter, and what must not be left behind."""
import gc
import os
import signal
import threading
import time
import warnings

import numpy
import pytest

import mote


@pytest.fixture(scope="module")
def points():
    return numpy.random.default_rng(1).random((10000, 3))


def test_several_threads(points):
    expected = mote.knn(points, k=4).index
    shared = mote.Cloud(points)
    index = mote.knn_index(points)
    failures = []

    def work(number):
        try:
            with mote.Context(threads=1):
                for i in range(3):
                    assert (mote.knn(points, k=4).index == expected).all()
                    assert (mote.knn(shared, k=4).index == expected).all()
                    assert (index.search(k=4).index == expected).all()  # one after the other: it has one context
                    assert mote.gen("torus", 1000)[::2]["x"].shape == (500,)
        except BaseException as failure:
            failures.append(failure)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_thread_takes_its_context_along():
    """What a thread made is used, and freed, by another, after it ended."""
    made = []
    thread = threading.Thread(target=lambda: made.append(mote.gen("torus", 1000)))
    thread.start()
    thread.join()
    cloud = made.pop()
    assert mote.knn(cloud, k=1).index[7, 0] == 7
    cloud["mark"] = 1
    del cloud
    gc.collect()


def test_the_gil_is_released(points):
    """Another thread goes on while a call runs."""
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)
    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    mote.knn(points, k=2, method="brute")
    end = time.monotonic()
    stop.set()
    thread.join()
    inside = sum(begin < at < end for at in ticks)
    assert inside > 20 * (end - begin), f"{inside} ticks in {end - begin} s"


def test_what_changes_while_a_call_runs(points):
    cloud = mote.Cloud(points)
    told = []

    def progress(done, stage):
        if not told:
            for change in (lambda: cloud.__setitem__("new", 1), cloud.close, lambda: mote.gen("torus", 10)):
                try:
                    change()
                    told.append("nothing")
                except mote.StateError as error:
                    told.append(str(error))
    mote.knn(cloud, k=4, progress=progress)
    assert ["in use by a call" in told[0], "in use by a call" in told[1], "busy with the call" in told[2]] == [True] * 3
    cloud["new"] = 1


def test_progress_and_cancel(points):
    seen = []
    mote.knn(points, k=4, progress=lambda done, stage: seen.append((done, stage)))
    assert seen and all(0 <= done <= 1 and stage for done, stage in seen)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    context, held = mote._context.current(), []
    for _ in range(3):  # the traceback of what a progress function raised has clouds, until it is collected
        for call in (mote.knn, mote.normals, mote.outliers, mote.planes, mote.lod, mote.render):
            with pytest.raises(mote.Cancelled):
                call(points, progress=lambda done, stage: False)

            def fails(done, stage):
                raise ZeroDivisionError("mine")
            with pytest.raises(ZeroDivisionError, match="mine"):
                call(points, progress=fails)
        gc.collect()
        context.trim()
        held.append(context.memory_bytes)
    assert held[2] <= held[0]
    with pytest.raises(mote.KeywordError, match="progress"):
        mote.knn(points, progress=3)


def test_a_bar(python):
    code, _, errors = python("import mote; mote.gen('city', 300000, progress=True)")
    assert code == 0 and "%" in errors


INTERRUPT = """
import os, signal, sys, threading, time, numpy, mote
points = numpy.random.default_rng(1).random((300000, 3))
call = {"knn": lambda: mote.knn(points, k=60), "normals": lambda: mote.normals(points, k=150),
        "photon": lambda: mote.photon("cornell", width=1500, height=1500)}[CALL]
sent = []
def send():
    time.sleep(0.5)
    sent.append((time.monotonic(), time.process_time()))
    os.kill(os.getpid(), signal.SIGINT)
mote.gen("torus", 10)
threading.Thread(target=send).start()
try:
    for _ in range(1000):  # of a fast machine the first may be done before
        call()
    print("finished")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - sent[0][0], time.process_time() - sent[0][1])
assert mote.gen("torus", 10)["x"].shape == (10,)
"""


@pytest.mark.parametrize("call", ["knn", "normals", "photon"])
def test_interrupts(python, call):
    """Of all threads' processor time little may go by: on an idle machine a tenth of a second (docs/python.md)."""
    code, output, errors = python(INTERRUPT.replace("CALL", repr(call)))
    assert code == 0 and not errors, errors
    word, *seconds = output.split()
    print(call, *seconds)
    assert word == "interrupted" and float(seconds[1]) < 1


def test_an_interrupt_of_the_users_own(python):
    code, output, errors = python("""
import signal, os, threading, time, mote, numpy
signal.signal(signal.SIGINT, lambda *_: print("seen"))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
mote.knn(numpy.random.default_rng(1).random((12000, 3)), k=4, method="brute")
time.sleep(0.5)
assert signal.getsignal(signal.SIGINT).__name__ == "<lambda>"
""")
    assert (code, output, errors) == (0, "seen\n", "")


def test_fork(python):
    text = """
import os, sys, mote, numpy, pickle, gc
cloud = mote.gen("torus", 1000)
index = mote.knn_index(cloud)
child = os.fork()
if child == 0:
    for use in (lambda: mote.gen("torus", 10), lambda: index.search(), lambda: mote.knn(cloud), mote.Context):
        try:
            use()
            os._exit(1)
        except mote.StateError as error:
            assert "forked" in str(error) and "spawn" in str(error)
    x = cloud["x"].sum()
    del cloud, index
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(index.search().index) == 1000
"""
    assert python(text)[0] == 0
    before = """
import os, mote
child = os.fork()
if child == 0:
    os._exit(0 if len(mote.gen("torus", 10)) == 10 else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    assert python(before)[0] == 0, "a child may use what its parent did not"


def test_spawned_processes(python, tmp_path):
    mote.write(mote.gen("city", 5000), tmp_path / "city.las")
    (tmp_path / "work.py").write_text("""
import multiprocessing, mote
def work(cloud):
    return len(cloud), cloud.hash()
if __name__ == "__main__":
    cloud = mote.read("city.las")
    parts = [cloud[i:i + 1000] for i in range(0, 5000, 1000)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(work, parts) == [work(part) for part in parts]
""")
    code, _, errors = python("import runpy; runpy.run_path('work.py', run_name='__main__')")
    assert code == 0, errors


def test_the_end_of_the_interpreter(python):
    """While a call runs in a daemon thread; while objects live; by an exception."""
    for end, expected in (("", 0), ("sys.exit(3)", 3)):
        code, _, errors = python(f"""
import os, sys, threading, time, numpy, mote
points = numpy.random.default_rng(1).random((100000, 3))
index, cloud = mote.knn_index(points), mote.Cloud(points)
x = cloud["x"]
threading.Thread(target=lambda: mote.knn(points, k=4, method="brute", progress=lambda d, s: None), daemon=True).start()
time.sleep(0.3)
{end}
""")
        assert code == expected and "Fatal" not in errors, (end, code, errors)


def test_memory_limits():
    with mote.Context(memory_limit_bytes=1 << 20) as context:
        with pytest.raises(mote.MemoryError) as told:
            mote.gen("city", 1_000_000)
        assert isinstance(told.value, MemoryError) and "memory" in str(told.value)
        assert len(mote.gen("torus", 100)) == 100 and context.memory_peak_bytes <= 1 << 20
    with pytest.raises(mote.StateError, match="closed"):
        mote.gen("torus", 10, context=context)
    with pytest.raises(mote.KeywordError, match="mote.Context"):
        mote.gen("torus", 10, context=3)
    with mote.Context(threads=1) as outer:
        with mote.Context(threads=2) as inner:
            assert mote._context.current() is inner
        assert mote._context.current() is outer and outer.threads == 1 and outer.backend == "cpu"


def test_errors_have_the_library_s_message(tmp_path):
    (tmp_path / "bad.las").write_bytes(b"LASF" + bytes(400))
    for path, kind in ((tmp_path / "bad.las", mote.FormatError), (tmp_path / "nowhere.las", mote.IOError),
                       (tmp_path, mote.Error)):
        with pytest.raises(kind) as told:
            mote.read(path)
        assert str(path) in str(told.value)
    with pytest.raises(OSError):
        mote.read(tmp_path / "nowhere.las")
    cloud = mote.gen("torus", 10)
    for path, told in ((tmp_path / "x.unknown", "unknown"), (tmp_path / "no" / "x.las", "x.las")):
        with pytest.raises(mote.Error, match=told):
            mote.write(cloud, path)
    assert not list(tmp_path.glob("*.part"))
    for keywords, told in (({"bounds": 3}, "bounds"), ({"bounds": (1, 2, 3)}, "not 3"), ({"selekt": "x"}, "select"),
                           ({"separator": "ab"}, "one character"), ({"salvage": 1}, "True or False"),
                           ({"resolution": "x"}, "number"), ({"select": 5}, "several names")):
        with pytest.raises(mote.ArgumentError, match=told):
            mote.read(tmp_path / "bad.las", **keywords)
    for source in (5, None, [], [3]):
        with pytest.raises(mote.ArgumentError):
            mote.read(source)


def test_warnings_are_python_s(tmp_path):
    points = numpy.zeros((5, 3))
    points[2] = numpy.nan
    with pytest.warns(mote.Warning, match="finite") as told:
        mote.write(points, tmp_path / "a.las")
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(mote.Warning):
            mote.write(points, tmp_path / "a.las")


def test_a_file_that_is_cut_while_it_is_looked_at(tmp_path):
    path = tmp_path / "city.las"
    mote.write(mote.gen("city", 50000), path)
    cloud = mote.read(path)
    x = cloud.column("x").stored
    os.truncate(path, 20000)
    assert x[-1] == 0, "zeros, and no crash"
    with pytest.raises(mote.IOError, match="city.las"):
        cloud.check()
    with pytest.raises(mote.IOError, match="city.las"):
        mote.knn(cloud)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Tensor:
    def __init__(self, cloud):
        self.__dlpack__, self.__dlpack_device__ = cloud.__dlpack__, cloud.__dlpack_device__


LEAKS = {
    "knn": lambda p, c, i, t: mote.knn(p, k=2), "cloud": lambda p, c, i, t: mote.Cloud(p)[:5].xyz,
    "search": lambda p, c, i, t: i.search(k=2), "within": lambda p, c, i, t: i.within(0.01).index,
    "normals": lambda p, c, i, t: mote.normals(c, k=4), "columns": lambda p, c, i, t: (c["x"], c.fields, c.bounds),
    "dlpack": lambda p, c, i, t: (c.__dlpack__(), mote.Cloud(_Tensor(c))), "hash": lambda p, c, i, t: c.hash(),
    "gen": lambda p, c, i, t: mote.gen("torus", 50), "context": lambda p, c, i, t: mote.Context(threads=1),
    "error": lambda p, c, i, t: _raises(lambda: mote.knn(c, k=0)),
    "refused": lambda p, c, i, t: _raises(lambda: mote.gen("nothing", 5)),
    "new": lambda p, c, i, t: mote.Cloud(p).__setitem__("n", 1), "read": lambda p, c, i, t: mote.read(t)["x"],
}


def _raises(call):
    try:
        call()
    except mote.Error:
        pass


@pytest.mark.parametrize("name", LEAKS)
def test_nothing_leaks(name, tmp_path):
    """10,000 calls in all kinds together; of each kind, memory grows by less than 40 bytes a call."""
    calls = 750
    with mote.Context(threads=1) as context:
        points = numpy.random.default_rng(1).random((200, 3))
        cloud = mote.Cloud(points)
        index = mote.knn_index(cloud)
        path = tmp_path / "a.las"
        mote.write(mote.gen("city", 100), path)
        for _ in range(200):
            LEAKS[name](points, cloud, index, path)
        gc.collect()
        held, resident = context.memory_bytes, resident_bytes()
        for _ in range(calls):
            LEAKS[name](points, cloud, index, path)
        gc.collect()
        assert context.memory_bytes == held
        grown = resident_bytes() - resident
    assert grown < 40 * calls + 300_000, f"{grown} bytes in {calls} calls"


def test_interrupts_leave_no_lock_behind(python):
    """Signals at any moment of small calls: each is raised, and the next call works."""
    code, output, errors = python("""
import os, signal, threading, time, numpy, mote
points = numpy.random.default_rng(1).random((50, 3))
cloud = mote.Cloud(points)
stop, seen = False, 0
def send():
    while not stop:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.003)
thread = threading.Thread(target=send)
end = time.monotonic() + 2
began = False
while time.monotonic() < end:
    try:
        if not began:
            began = True
            thread.start()
        while True:
            mote.knn(cloud, k=1), mote.Cloud(points).bounds, mote.Cloud(points)["x"]
    except KeyboardInterrupt:
        seen += 1
while thread.is_alive():
    try:
        stop = True
        thread.join()
        time.sleep(0.05)
    except KeyboardInterrupt:
        pass
assert not mote._context.current()._lock.locked() and mote.knn(cloud, k=1).index[5, 0] == 5
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(seen)
""")
    assert code == 0 and int(output) > 10, (output, errors)


def test_what_ends_in_one_cycle(python):
    """The collector ends a context, a cloud and an index on it in any order, also when the interpreter exits."""
    code, output, errors = python("""
import gc, numpy, mote, mote._context as context
ended = []
free = context.Context._free
context.Context._free = lambda self, function, pointer: (ended.append((id(self), function.__name__)),
                                                         free(self, function, pointer))
end = context.Context._end
context.Context._end = lambda self: (ended.append((id(self), "context")), end(self))

def make():
    made = mote.Context(threads=1)
    box = [made, mote.knn_index(mote.Cloud(numpy.random.rand(100, 3), context=made), context=made)]
    box.reverse() if len(ended) % 2 else None
    box.append(box)

for _ in range(20):
    make()
gc.collect()
orders, of = [], {}
for owner, name in ended:  # one context may end between what belongs to another
    of.setdefault(owner, []).append(name)
    if name == "context":
        orders.append(of.pop(owner))
assert orders == [["mote_knn_destroy", "mote_cloud_destroy", "context"]] * 20 and not of, ended
kept = [mote.knn_index(numpy.random.rand(100, 3))]
kept.append(lambda: kept)
print("done")
""")
    assert (code, output, errors) == (0, "done\n", "")
