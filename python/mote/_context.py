"""The context: a stream of work with its memory, threads, progress and messages; and what it keeps alive.

Each thread has a context of its own, so several threads work at once without asking for it. The rules of the library
(one call at a time in a context, everything freed before it) are kept here, once for all:

    Context ── lock, pending frees ──> mote_context
       ^
    Handle (a cloud, an index, ...) ── owners ──> other handles, arrays that its memory is of
       ^
    Cloud, KnnIndex, arrays that look at its memory

An object of the library is freed when no Handle is needed any more, whatever was closed in between, and after all that
needs it, in whichever order the collector comes to them. Where that happens while a call runs in the context, in
another thread or below the call's own progress, it is freed after the call.
"""
import collections
import ctypes
import logging
import os
import _signal as signal
import sys
import threading
import warnings

from . import _declarations as declared
from . import _errors as errors
from . import _library as library
from ._parameters import Parameters

_log = logging.getLogger("mote")
_MAIN = threading.main_thread().ident
_local = threading.local()
_process = os.getpid()
_used = False  # whether this process has worked with the library
_forked = False


def _after_fork():
    global _process, _forked, _local
    _forked = _forked or _used
    _process = os.getpid()
    _local = threading.local()


os.register_at_fork(after_in_child=_after_fork)

_FORKED = ("mote was used before this process was forked, and its threads are not here: start processes by "
           "multiprocessing's \"spawn\" or \"forkserver\", or use mote in the children only")


class _State:
    """What callbacks see. Not the context itself, which would never be freed if its own callbacks held it."""

    __slots__ = ("progress", "failure", "interrupts", "messages")

    def __init__(self):
        self.progress = self.failure = self.interrupts = None
        self.messages = []


def _make_callbacks(state):
    def on_progress(user, done, stage):
        try:
            interrupts = state.interrupts
            if interrupts is not None and interrupts.failure is not None:
                return False
            if state.progress is not None and state.progress(done, stage.decode()) is False:
                return False
            return interrupts is None or interrupts.failure is None
        except BaseException as failure:  # raised again when the call has ended
            state.failure = failure
            return False

    def on_message(user, level, message):
        state.messages.append((level, message.decode(errors="replace")))

    return declared.mote_progress_fn(on_progress), declared.mote_log_fn(on_message)


def progress_of(progress):
    """What progress= asks for, as a function and one that ends it: True is a bar of tqdm, or of plain text."""
    if progress is None or progress is False:
        return None, None
    if progress is not True:
        if not callable(progress):
            raise errors.KeywordError("progress is True, False or a function of (done, stage)")
        return progress, None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        def plain(done, stage):
            print(f"\r{stage:<24} {100 * done:3.0f} %", end="", file=sys.stderr)
        return plain, lambda: print(file=sys.stderr)
    bar = tqdm(total=1.0, bar_format="{desc:<24} {percentage:3.0f}% |{bar}| {elapsed}", leave=False)

    def advance(done, stage):
        bar.set_description_str(stage, refresh=False)
        bar.n = done
        bar.update(0)
    return advance, bar.close


class _Interrupts:
    """While a call runs in the main thread, a signal's Python handler runs below the progress callback, where what it
    raises would be lost. So SIGINT's own is wrapped: what it raises cancels the call, and is raised after it. The
    wrapper is there before the context's lock is taken, so that no interrupt leaves it locked."""

    __slots__ = ("before", "failure")

    def __init__(self):
        self.before = self.failure = None

    def begin(self):
        before = signal.getsignal(signal.SIGINT)
        if callable(before):
            self.before = before
            signal.signal(signal.SIGINT, self.handle)

    def handle(self, number, frame):
        try:
            self.before(number, frame)
        except BaseException as failure:
            self.failure = failure

    def end(self):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


class Context:
    """One stream of work. Every function works in the context of its thread, which makes one when it needs it; another
    is given by ``context=`` or set by ``with``::

        with mote.Context(threads=2, memory_limit_bytes=4 << 30):
            neighbours = mote.knn(cloud, k=8)

    device              "auto", "cpu" or "cuda"; device_index: which GPU; gpus: several, bit i for GPU i
    threads             of the CPU; 0: all cores. Results do not depend on it
    memory_limit_bytes  more than this fails as if memory had run out; 0: no bound. device_memory_limit_bytes: the same
                        of each GPU; 0: as much there
    stream              a CUDA stream of the caller's (an integer, or what has __cuda_stream__ or .ptr or .cuda_stream),
                        on which all work is put in order
    progress            a function of (done, stage), called between steps; one that returns False cancels. True: a bar
    """

    def __init__(self, *, progress=None, stream=None, **parameters):
        global _used
        self._pointer = None
        if _forked:
            raise errors.StateError(_FORKED)
        params = _CONTEXT_PARAMETERS.make(parameters)
        gpus = params.gpus
        self.device_index = (gpus & -gpus).bit_length() - 1 if gpus else params.device_index
        self._state = _State()
        self._progress = progress
        progress_of(None if progress is True else progress)
        self._callbacks = _make_callbacks(self._state)
        params.progress, params.log = self._callbacks
        self.stream = None if stream is None else _stream_address(stream)
        params.stream = self.stream
        pointer = ctypes.c_void_p()
        status = library.mote_context_create(ctypes.byref(params), ctypes.byref(pointer))
        if status:
            told = "; ".join(text for _, text in self._state.messages)
            raise errors.error_of(status, told or "a context cannot be made")
        _used = True
        self._process = _process
        self._closed = False
        self._lock = threading.Lock()
        self._owner = 0
        self._pending = collections.deque()
        self._before = []
        self._needed_by, self._is_over = {}, False
        self._pointer = pointer

    # ---- calls

    def _check(self):
        if self._closed:
            raise errors.StateError("the context is closed")
        if self._process != _process or _forked:
            raise errors.StateError(_FORKED)
        me = threading.get_ident()
        if self._owner == me and self._lock.locked():
            raise errors.StateError("the context is busy with the call whose progress this is: use another context")
        return me

    def _drain(self):
        """With the lock."""
        while self._pending:
            free, pointer = self._pending.popleft()
            free(pointer)

    def _free(self, free, pointer):
        """Frees what was made in this context: now, or when the call that runs in it has ended. It may be called by the
        collector, anywhere in Python's code, also while this thread has the lock."""
        if self._process != _process:
            return  # a copy in a forked process: the memory goes with the process
        self._pending.append((free, pointer))
        self._free_pending()

    def _end(self):
        pointer, self._pointer = self._pointer, None
        if pointer and self._process == _process:  # no Handle is left, so no call runs
            self._drain()
            library.mote_context_destroy(pointer)

    def _free_pending(self):
        if self._pending and not self._lock.locked():
            with self._lock:
                self._drain()

    def _message(self, status):
        """The library's, which it then forgets."""
        if not status:
            return ""
        message = library.mote_context_message(self._pointer).decode(errors="replace")
        library.mote_context_clear(self._pointer)
        return message or library.mote_status_name(status).decode()

    def _call(self, function, *arguments, progress=None):
        """Calls a function that returns a status; raises on failure, or what the progress function or a signal raised.
        What the call makes must be in a Handle before, as an interrupt may be raised though it succeeded."""
        me, state = self._check(), self._state
        wanted = self._progress if progress is None else progress
        advance, finish = progress_of(wanted) if wanted else (None, None)
        interrupts = None
        if me == _MAIN:
            interrupts = _Interrupts()
            interrupts.begin()
        try:
            with self._lock:
                self._owner = me
                state.progress, state.interrupts, state.failure, state.messages = advance, interrupts, None, []
                try:
                    status = function(*arguments)
                    message = self._message(status)
                finally:
                    failure, messages = state.failure, state.messages
                    state.progress = state.interrupts = None
                    self._drain()
                    self._owner = 0
        finally:
            if interrupts is not None:
                interrupts.end()
            if finish is not None:
                finish()
            self._free_pending()
        if interrupts is not None and interrupts.failure is not None:
            raise interrupts.failure
        if failure is not None:
            raise failure
        if status:
            raise errors.error_of(status, message)
        if messages:
            _tell(messages)

    def _brief(self, function, *arguments):
        """The same of a function that returns at once: nothing can interrupt it, and it reports no progress."""
        me = self._check()
        with self._lock:
            self._owner = me
            try:
                status = function(*arguments)
                message = self._message(status)
            finally:
                self._drain()
                self._owner = 0
        if status:
            raise errors.error_of(status, message)

    def _run(self, function, *arguments):
        """Calls what returns no status."""
        me = self._check()
        with self._lock:
            self._owner = me
            try:
                return function(*arguments)
            finally:
                self._drain()
                self._owner = 0

    # ---- for the caller

    def wait(self):
        """Waits until the GPU has done all work given to this context."""
        self._call(library.mote_context_wait, self._pointer)

    def trim(self):
        """Gives back what calls keep for the next ones."""
        self._run(library.mote_context_trim, self._pointer)

    @property
    def threads(self):
        return self._run(library.mote_context_threads, self._pointer)

    @property
    def backend(self):
        """"cpu" or "cuda"; under "auto" what the last call used."""
        return self._run(library.mote_context_backend, self._pointer).decode()

    @property
    def memory_bytes(self):
        """Bytes that the context holds now."""
        return self._run(library.mote_context_memory_bytes, self._pointer)

    @property
    def memory_peak_bytes(self):
        return self._run(library.mote_context_memory_peak_bytes, self._pointer)

    @property
    def uploaded_bytes(self):
        """Bytes of points that calls have copied from the host to GPUs so far."""
        return self._run(library.mote_context_uploaded_bytes, self._pointer)

    def close(self):
        """Ends it: later calls raise StateError. Its memory is freed when nothing that was made in it is left."""
        self._closed = True

    def __enter__(self):
        self._before.append(getattr(_local, "context", None))
        _local.context = self
        return self

    def __exit__(self, *_):
        _local.context = self._before.pop()
        if not self._before:
            self.close()

    def __del__(self):
        if self._pointer:
            _end_when_free(self)

    def __reduce__(self):
        raise TypeError("a context belongs to its process: make one in the other")


_CONTEXT_PARAMETERS = Parameters("mote.Context", "mote_context_params", "mote_context_defaults",
                                 without=("progress", "progress_user", "log", "log_user", "stream", "allocator"))


def _stream_address(stream):
    for ask in (lambda: int(stream), lambda: int(stream.__cuda_stream__()[1]), lambda: int(stream.cuda_stream),
                lambda: int(stream.ptr)):
        try:
            return ask()
        except (TypeError, ValueError, AttributeError):
            continue
    raise errors.KeywordError("stream is the address of a CUDA stream, or an object with __cuda_stream__")


def current(context=None):
    """The context that a call works in: the one given, else that of this thread."""
    if context is not None:
        if not isinstance(context, Context):
            raise errors.KeywordError(f"context is a mote.Context, not {type(context).__name__}")
        return context
    context = getattr(_local, "context", None)
    if context is None:
        context = _local.context = Context()
    return context


def _tell(messages):
    """Warnings go to Python's warnings, where the user's own code called; all else to the log named "mote"."""
    level, frame = 2, sys._getframe(1)
    package = os.path.dirname(__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    for kind, text in messages:
        if kind == declared.MOTE_LOG_WARNING:
            warnings.warn(errors.in_keywords(text), errors.Warning, stacklevel=level)
        else:
            _log.info(text)


def _end_when_free(owner):
    """Ends a context or a Handle that nobody refers to. The collector ends what is in one cycle in any order: then it
    waits for what needs it."""
    owner._is_over = True
    if not owner._needed_by:
        owner._end()


def _is_gone(one, owner):
    """Of an owner of what has ended."""
    owner._needed_by.pop(id(one), None)
    if owner._is_over and not owner._needed_by:
        owner._end()


class Handle:
    """An object of the library, freed when this is. owners: what it needs as long as it lives."""

    __slots__ = ("context", "pointer", "free", "owners", "lock", "users", "_needed_by", "_is_over")

    def __init__(self, context, free, owners=()):
        self.context = context
        self.pointer = ctypes.c_void_p()
        self.free = free
        self.owners = owners
        self.lock = threading.Lock()
        self.users = 0  # calls that run with it
        self._needed_by, self._is_over = {}, False
        for owner in owners:
            if isinstance(owner, Handle):
                owner._needed_by[id(self)] = None
        context._needed_by[id(self)] = None

    @property
    def out(self):
        return ctypes.byref(self.pointer)

    def _end(self):
        if self.pointer:
            self.context._free(self.free, self.pointer)
        for owner in self.owners:
            if isinstance(owner, Handle):
                _is_gone(self, owner)
        _is_gone(self, self.context)

    def __del__(self):
        _end_when_free(self)


class Closable:
    """What has a Handle, and may be closed. Arrays that look at its memory stay valid: they hold the Handle."""

    _handle = None

    def _use(self):
        if self._handle is None:
            raise errors.StateError(f"the {type(self).__name__} is closed")
        return self._handle

    @property
    def uploaded_bytes(self):
        """Bytes of points that calls have copied from the host to GPUs so far."""
        return self._run(library.mote_context_uploaded_bytes, self._pointer)

    def close(self):
        """Gives it up: later use raises StateError. Memory is freed when no array looks at it any more."""
        handle = self._handle
        if handle is not None and handle.users:
            raise errors.StateError(f"the {type(self).__name__} is in use by a call in another thread")
        self._handle = None

    @property
    def closed(self):
        return self._handle is None

    def __enter__(self):
        self._use()
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled: pickle the cloud, and make it anew")


class using:
    """Counts a call as a user of handles, so that what must not change meanwhile does not."""

    __slots__ = ("handles",)

    def __init__(self, *handles):
        self.handles = [handle for handle in handles if handle is not None]

    def __enter__(self):
        for handle in self.handles:
            with handle.lock:
                handle.users += 1

    def __exit__(self, *_):
        for handle in self.handles:
            with handle.lock:
                handle.users -= 1


def devices():
    """What there is to compute on, as facts: kind, index, usable, memory_bytes, name, reason."""
    from ._parameters import facts_of
    count = library.mote_devices(None, 0)
    rows = (declared.mote_device_info * count)()
    library.mote_devices(rows, count)
    return [facts_of(row) for row in rows]
