"""What can go wrong, as exceptions. Each has the library's own message, which names file, place and cause."""
import builtins


class Error(Exception):
    """Whatever mote raises, but for KeyboardInterrupt."""


class ArgumentError(Error, ValueError):
    """The caller's mistake: a parameter out of range, an array of the wrong shape or type, a missing column."""


class KeywordError(ArgumentError, TypeError):
    """A keyword that the function does not have, or a value of the wrong type for one."""


class ColumnError(ArgumentError, KeyError):
    """A column that the cloud does not have."""

    __str__ = Exception.__str__  # KeyError's shows its message as a key


class FormatError(Error, ValueError):
    """The input is malformed, or its coordinates are out of range."""


class MemoryError(Error, builtins.MemoryError):
    """An allocation failed, or the limit of the context was reached."""


class IOError(Error, OSError):
    """A file cannot be opened, read or written."""


class DiskError(IOError):
    """No space is left where the output goes."""


class PipeError(IOError):
    """The output is a pipe, and its reader has closed it."""


class ChangedError(IOError):
    """A file is gone, or is another now than a plan or an octree was made of."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but this build, or this device, cannot do it."""


class DeviceError(Error, RuntimeError):
    """The GPU or its driver failed."""


class Cancelled(Error):
    """The progress callback returned False."""


class StateError(Error, RuntimeError):
    """Used after it was closed, after a fork, or from two threads at once."""


class Warning(UserWarning):
    """What the library tells beside the result: what it left out, or guessed."""


_OF_STATUS = {1: ArgumentError, 2: FormatError, 3: MemoryError, 4: IOError, 5: DiskError, 6: UnsupportedError,
              7: DeviceError, 8: Cancelled, 9: PipeError, 10: ChangedError}


# The options of the command that messages of the library advise, as keywords.
_KEYWORDS = {"--salvage": "salvage=True", "--columns": "columns=", "--crs": "crs=", "--memory": "memory_limit_bytes="}


def in_keywords(message):
    """A message of the library, which is made for the command, with the words of Python."""
    for option, keyword in _KEYWORDS.items():
        message = message.replace(f"{option} ", f"{keyword} ")
    return message


def error_of(status, message):
    """The exception of a status of the library."""
    return _OF_STATUS.get(status, Error)(in_keywords(message))
