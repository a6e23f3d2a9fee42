"""A call can be cancelled at any time: between two questions whether to go on lies little work.

Counted in processor time of one thread, which other programs do not change, and as a share of the whole call: a loop that
does not ask takes most of it.
"""
import time

import mote
import pytest

SHARE, SECONDS = 0.15, 0.1
POINTS, MANY = 120_000, 2_400_000


class Watch:
    """Notes the most work between two questions."""

    def __init__(self):
        self.begin = self.last = time.process_time()
        self.most, self.where, self.stage = 0.0, "", "the begin"

    def __call__(self, done, stage):
        now = time.process_time()
        if now - self.last > self.most:
            self.most, self.where = now - self.last, f"between {self.stage} and {stage}"
        self.last, self.stage = now, stage
        return True


@pytest.fixture(scope="module")
def clouds():
    with mote.Context(threads=1):
        few = {kind: mote.gen(kind, POINTS) for kind in ("uniform", "clusters", "city")}
        many = mote.gen("uniform", MANY // 2)
        yield {**few, "many": many, "index": mote.knn_index(many)}


CALLS = {
    "brute force, few queries": lambda clouds, watch: mote.knn(clouds["uniform"], clouds["uniform"][:512], method="brute",
                                                               progress=watch),
    "all neighbours of few": lambda clouds, watch: clouds["index"].within(1e9, clouds["many"][:8], progress=watch),
    "normals, propagated": lambda clouds, watch: mote.normals(clouds["city"], orient="propagate", progress=watch),
    "a surface": lambda clouds, watch: mote.render(clouds["city"], mode="surface", width=3000, height=2000,
                                                   progress=watch),
    "averages": lambda clouds, watch: mote.render(clouds["city"], mode="average", width=3000, height=2000,
                                                  progress=watch),
    "wide holes that are closed": lambda clouds, watch: mote.render(clouds["city"], close_pixels=40, width=1500,
                                                                    height=1000, progress=watch),
    "planes that are none": lambda clouds, watch: mote.planes(clouds["uniform"], progress=watch),
    "samples that keep their distance": lambda clouds, watch: mote.lod(clouds["many"], sampling="poisson",
                                                                       progress=watch),
    "a torus": lambda clouds, watch: mote.gen("torus", MANY, progress=watch),
}


@pytest.mark.parametrize("name", CALLS)
def test_little_work_between_two_questions(name, clouds):
    with mote.Context(threads=1):
        watch = Watch()
        CALLS[name](clouds, watch)
        watch(1, "the end")
    whole = watch.last - watch.begin
    assert watch.most <= max(SHARE * whole, SECONDS), f"{watch.most:.3f} of {whole:.3f} s {watch.where}"


@pytest.mark.parametrize("name", CALLS)
def test_the_next_call_works_after_one_that_was_cancelled(name, clouds):
    """The answer is no when about a quarter of the work is done, with two threads, or half of it by what it reports: on a
    busy machine, where threads that add to the same samples get into each other's way, a call takes several times as
    long as the next."""
    with mote.Context(threads=2):
        begin = time.process_time()
        CALLS[name](clouds, lambda done, stage: True)
        quarter = (time.process_time() - begin) / 4
        begin = time.process_time()
        with pytest.raises(mote.Cancelled):
            CALLS[name](clouds, lambda done, stage: done < 0.5 and time.process_time() - begin < quarter)
        again = mote.knn(clouds["uniform"][:1000], k=3)
        assert (again.count == 3).all()
