"""Keywords to the structs of the library, and its structs to objects.

A keyword is a field of the C struct, by the same name (with "_" behind what Python keeps for itself: lambda_), and has
the same default. Enums are words: method="shifted".
"""
import ctypes
import difflib
import functools
import keyword as python_keyword
import operator
import re

from . import _declarations as declared
from . import _errors as errors
from . import _library as library

_INT_LIMITS = {}
for _kind in (ctypes.c_int, ctypes.c_int8, ctypes.c_uint8, ctypes.c_int16, ctypes.c_uint16, ctypes.c_int32,
              ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_size_t):
    _bits = 8 * ctypes.sizeof(_kind)
    _signed = _kind(-1).value < 0
    _INT_LIMITS[_kind] = (-(1 << (_bits - 1)), (1 << (_bits - 1)) - 1) if _signed else (0, (1 << _bits) - 1)


def nearest(word, names):
    """ — did you mean …? There are: … of a word that is none of names."""
    close = difflib.get_close_matches(word, names, 1, 0.5)
    hint = f"; did you mean {close[0]}?" if close else "."
    return f"{hint} There are: {', '.join(names)}"


def _word(name):
    return name + "_" if python_keyword.iskeyword(name) else name


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def _bytes(name, text):
    """A size as the command takes it: "4G", "512M", in 1024s."""
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text.lower())
    if parts is None:
        raise errors.ArgumentError(f"{name}: {text!r} is no size, such as 4G or 512M")
    return int(float(parts[1]) * _UNITS[parts[2]]) if "." in parts[1] else int(parts[1]) * _UNITS[parts[2]]


def whole(name, value):
    """A whole number of Python or numpy as Python's."""
    try:
        return operator.index(value)
    except TypeError:
        a_size = ', or a size, such as "4G"' if name.endswith("_bytes") else ""
        raise errors.KeywordError(f"{name} is a whole number{a_size}, not {value!r}") from None


def _number(name, kind, value):
    number = whole(name, _bytes(name, value) if isinstance(value, str) and name.endswith("_bytes") else value)
    low, high = _INT_LIMITS[kind]
    if not low <= number <= high:
        raise errors.ArgumentError(f"{name} is {number}, not in {low} to {high}")
    return number


def _enum(name, enum, value):
    names = declared.ENUMS[enum]
    if isinstance(value, str):
        if value in names:
            return names[value]
        raise errors.ArgumentError(f"{name}: there is no {value!r}{nearest(value, list(names))}")
    if not isinstance(value, bool) and value in names.values():
        return operator.index(value)
    raise errors.KeywordError(f"{name} is one of {', '.join(map(repr, names))}, not {value!r}")


def _flag(name, value):
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # numpy's own
        return bool(value)
    raise errors.KeywordError(f"{name} is True or False, not {value!r}")


def real(name, value):
    """A number of Python or numpy as Python's; a text is none."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise errors.KeywordError(f"{name} is a number, not {value!r}") from None


def reals(name, values, count):
    """So many numbers as a list."""
    try:
        found = [real(name, value) for value in values]
    except TypeError:
        found = []
    if len(found) != count or isinstance(values, (str, bytes)):
        raise errors.KeywordError(f"{name} is {count} numbers, not {values!r}")
    return found


def _text(name, value):
    if value is None or isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        try:
            value = ",".join(value)
        except TypeError:
            raise errors.KeywordError(f"{name} is text, or several names, not {value!r}") from None
    if "\0" in value:
        raise errors.ArgumentError(f"{name} holds a character 0")
    return value.encode()


def _separator(name, value):
    if isinstance(value, str) and len(value.encode()) == 1:
        return value.encode()
    raise errors.KeywordError(f"{name} is one character, not {value!r}")


def _array(name, kind, value):
    try:
        values = list(value)
    except TypeError:
        raise errors.KeywordError(f"{name} is {kind._length_} values, not {value!r}") from None
    element = kind._type_
    if issubclass(element, ctypes.Structure):
        if len(values) > kind._length_:
            raise errors.ArgumentError(f"{name}: {len(values)}, and there may be {kind._length_}")
        return kind(*[value_of(f"{name}[{i}]", element, "", one) for i, one in enumerate(values)])
    if len(values) != kind._length_:
        raise errors.ArgumentError(f"{name} is {kind._length_} values, not {len(values)}")
    return kind(*[value_of(f"{name}[{i}]", element, "", one) for i, one in enumerate(values)])


def _struct(name, kind, value):
    if isinstance(value, kind):
        return value
    try:
        items = dict(value)
    except (TypeError, ValueError):
        raise errors.KeywordError(f"{name} is a dictionary of {', '.join(fields_of(kind))}, not {value!r}") from None
    made = kind()
    fill(name, made, items, fields_of(kind))
    return made


def value_of(name, kind, enum, value):
    """A Python value as that of a field, or an error that names the field."""
    if enum:
        return _enum(name, enum, value)
    if kind is ctypes.c_bool:
        return _flag(name, value)
    if kind in _INT_LIMITS:
        return _number(name, kind, value)
    if kind in (ctypes.c_float, ctypes.c_double):
        return real(name, value)
    if kind is ctypes.c_char_p:
        return _text(name, value)
    if kind is ctypes.c_char:
        return _separator(name, value)
    if issubclass(kind, ctypes.Array):
        return _array(name, kind, value)
    return _struct(name, kind, value)


@functools.lru_cache(maxsize=None)
def fields_of(struct):
    """What a caller may set: Python's word to (field, type, enum). Pointers and reserved fields are not among them."""
    enums = declared.ENUM_FIELDS.get(struct.__name__, {})
    found = {}
    for name, kind in struct._fields_:
        if name != "reserved" and kind is not ctypes.c_void_p and not issubclass(kind, ctypes._CFuncPtr):
            found[_word(name)] = (name, kind, enums.get(name, ""))
    return found


def fill(owner, struct, values, fields):
    """Sets fields of a struct by keywords."""
    for word, value in values.items():
        field = fields.get(word)
        if field is None:
            raise errors.KeywordError(f"{owner} has no parameter {word!r}{nearest(str(word), list(fields))}")
        name, kind, enum = field
        if isinstance(value, dict) and issubclass(kind, ctypes.Structure):
            fill(f"{owner}({word})", getattr(struct, name), value, fields_of(kind))  # the others keep their defaults
            continue
        if name == "lights":
            value = list(value)
        setattr(struct, name, value_of(word, kind, enum, value))
        if name == "lights":
            struct.light_count = len(value)


class Parameters:
    """The keywords of a function: those of a struct of the library, with its defaults."""

    def __init__(self, owner, struct, defaults, without=()):
        self.owner = owner
        self.struct = getattr(declared, struct)
        self.defaults = getattr(library, defaults)
        self.fields = {word: field for word, field in fields_of(self.struct).items() if word not in without}

    def make(self, values, *arguments):
        params = self.defaults(*arguments)
        if values:
            fill(self.owner, params, values, self.fields)
        return params

    def document(self, function):
        """Appends each keyword, its default and what the header says of it to the function's docstring."""
        arguments = (None,) * len(self.defaults.argtypes)
        defaults = self.defaults(*arguments)
        docs = declared.FIELD_DOCS.get(self.struct.__name__, {})
        lines = [function.__doc__.rstrip(), "", "    Parameters"]
        for word, (name, _, enum) in self.fields.items():
            default = plain(getattr(defaults, name), enum)
            default = f" = {default!r}" if isinstance(default, (int, float, str, bool)) else ""
            lines.append(f"    {word}{default}" + (f": {docs[name]}" if name in docs else ""))
        function.__doc__ = "\n".join(lines) + "\n"
        return function


class Facts:
    """What a call found, as attributes; also by name in brackets."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __getitem__(self, name):
        return self.__dict__[name]

    def keys(self):
        return self.__dict__.keys()

    def __repr__(self):
        inside = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items() if not name.startswith("_"))
        return f"{type(self).__name__}({inside})"


def plain(value, enum=""):
    """A field of a struct as Python has it."""
    if enum:
        for word, number in declared.ENUMS[enum].items():
            if number == value:
                return word
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, ctypes.Array):
        return tuple(plain(one) for one in value)
    if isinstance(value, ctypes.Structure):
        return facts_of(value)
    return value


def facts_of(struct, kind=Facts):
    """A struct of the library as an object of attributes."""
    enums = declared.ENUM_FIELDS.get(type(struct).__name__, {})
    return kind(**{name: plain(getattr(struct, name), enums.get(name, ""))
                   for name, form in struct._fields_ if name != "reserved" and form is not ctypes.c_void_p
                   and not issubclass(form, ctypes._CFuncPtr)})
