"""Which versions of glibc a shared library (ELF, 64 bits) needs, and how to make it need an older one.

A library that is linked today names, for each function of glibc, the newest version of it. glibc keeps the older ones
for programs that were linked before: pow@GLIBC_2.2.5 beside pow@GLIBC_2.29, pthread_create@GLIBC_2.2.5 beside that of
2.34, when threads moved into libc. lower() makes a file name those: it changes, in place,

    .gnu.version     the number of a version for each symbol
    .gnu.version_r   the list of versions, of which those that nobody names any more are unlinked

    .dynstr          the name of a function that is new, where an older one takes the same arguments: SAME_CALL

and refuses where the glibc of this machine has no older version of a function that is named. Names that a library beside
the file has (glibc_compat.c) are left without a version: then the first one that is loaded and has them is taken.
"""
import struct

SHT_DYNSYM, SHT_VERDEF, SHT_VERNEED, SHT_VERSYM, SHT_DYNAMIC = 11, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF, 6
HIDDEN = 0x8000  # of a version: not the newest one of its symbol
ANY_VERSION = 1  # the number of a symbol that names none
DT_NEEDED, DT_VERNEEDNUM = 1, 0x6FFFFFFF
# expat asks for the eight bytes of a seed; getentropy (glibc 2.25) gives up to 256, and reports an error that nobody asks
# arc4random_buf for: then the seed is what lay there, and the address of it that expat adds.
SAME_CALL = {"arc4random_buf": "getentropy"}


class Failure(Exception):
    pass


class Library:
    """The parts of a file that say what it needs of others, and what it has for them."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise Failure(f"{path} is no ELF file of 64 bits, little-endian")
        start, = struct.unpack_from("<Q", self.data, 0x28)
        size, count = struct.unpack_from("<HH", self.data, 0x3A)
        self.sections = {}
        self.links = []
        for i in range(count):
            _, kind, _, _, offset, length, link, _ = struct.unpack_from("<IIQQQQII", self.data, start + i * size)
            self.links.append((offset, length))
            self.sections.setdefault(kind, (offset, length, link))
        self.strings = self.links[self.sections[SHT_DYNSYM][2]][0]

    def text(self, offset):
        begin = self.strings + offset
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def needs(self):
        """(file, version name, number, place of the record, place of the record before or of the file's head)."""
        if SHT_VERNEED not in self.sections:
            return
        at = self.sections[SHT_VERNEED][0]
        while True:
            _, count, file, first, following = struct.unpack_from("<HHIII", self.data, at)
            before, record = None, at + first
            for _ in range(count):
                _, _, number, name, step = struct.unpack_from("<IHHII", self.data, record)
                yield self.text(file), self.text(name), number & ~HIDDEN, record, before, at
                before, record = record, record + step
            if not following:
                return
            at += following

    def symbols(self):
        """(name, whether it is defined here, number of its version, place of that number)."""
        offset, length, _ = self.sections[SHT_DYNSYM]
        numbers = self.sections.get(SHT_VERSYM, (None,))[0]
        for i in range(1, length // 24):
            name, _, _, section = struct.unpack_from("<IBBH", self.data, offset + 24 * i)
            place = None if numbers is None else numbers + 2 * i
            yield self.text(name), section != 0, struct.unpack_from("<H", self.data, place)[0] if place else 1, place

    def defined_versions(self):
        """Number to name of the versions that this library has."""
        names = {}
        if SHT_VERDEF in self.sections:
            at = self.sections[SHT_VERDEF][0]
            while True:
                _, _, number, _, _, first, following = struct.unpack_from("<HHHHIII", self.data, at)
                names[number] = self.text(struct.unpack_from("<I", self.data, at + first)[0])
                if not following:
                    break
                at += following
        return names

    def needed_files(self):
        offset, length, _ = self.sections[SHT_DYNAMIC]
        entries = [struct.unpack_from("<qQ", self.data, offset + 16 * i) for i in range(length // 16)]
        return [self.text(value) for kind, value in entries if kind == DT_NEEDED]


def number_of(version):
    """"GLIBC_2.28" as (2, 28); None of other names."""
    if not version.startswith("GLIBC_"):
        return None
    try:
        return tuple(int(part) for part in version[len("GLIBC_"):].split("."))
    except ValueError:
        return None


def exported(path):
    """The names that a library has for others."""
    return {name for name, defined, *_ in Library(path).symbols() if defined}


def newest_need(path):
    """The newest version of glibc that a file names, as (2, n)."""
    found = [number_of(version) for _, version, *_ in Library(path).needs()]
    return max([version for version in found if version], default=(2, 2, 5))[:2]


def _history(paths):
    """For each function, the versions that glibc's own libraries have of it."""
    found = {}
    for path in paths:
        library = Library(path)
        names = library.defined_versions()
        for name, defined, number, _ in library.symbols():
            version = number_of(names.get(number & ~HIDDEN, ""))
            if defined and version:
                found.setdefault(name, set()).add(version)
    return found


def _elf_hash(name):
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def _place_text(library, text, spare):
    """Where a text stands among the names of a file, as an offset. One that is not there yet takes the place of names
    that nothing refers to any more: spare, a set of them."""
    begin, length = library.links[library.sections[SHT_DYNSYM][2]]
    names = bytes(library.data[begin:begin + length])
    at = names.find(b"\0" + text.encode() + b"\0")
    if at >= 0:
        return at + 1
    places = sorted((names.index(b"\0" + name.encode() + b"\0") + 1, name) for name in spare)
    for i, (start, _) in enumerate(places):
        end = start
        for place, name in places[i:]:
            if place != end:
                break
            end += len(name) + 1
        if end - start > len(text):
            library.data[begin + start:begin + end] = text.encode().ljust(end - start, b"\0")
            spare.difference_update(name for place, name in places if start <= place < end)
            return start
    raise Failure(f"{library.path}: there is no room for the name {text}")


def _rename(library, record, text, spare):
    """Gives the record of a version another name."""
    name = _place_text(library, text, spare)
    struct.pack_into("<I", library.data, record, _elf_hash(text))
    struct.pack_into("<I", library.data, record + 8, name)


def _plan(library, limit, history, beside):
    """Of each function that names too new a version: the place of its number, its file, its version until then; no
    version where a library beside this one has it."""
    versions = {number: (file, version) for file, version, number, *_ in library.needs()}
    for name, defined, number, place in library.symbols():
        file, version = versions.get(number & ~HIDDEN, ("", ""))
        if defined or not version or (number_of(version) or (0,)) <= limit:
            continue
        if name in beside:
            yield place, file, None, name
            continue
        older = [v for v in history.get(name, ()) if v <= limit]
        if not older:
            raise Failure(f"{library.path}: {name} is new in {version}")
        yield place, file, max(older), name


def _rename_calls(library, limit):
    """Gives calls of functions that are too new the names of older ones, in place."""
    versions = {number: version for _, version, number, *_ in library.needs()}
    begin, length = library.links[library.sections[SHT_DYNSYM][2]]
    for name, defined, number, _ in list(library.symbols()):
        older = SAME_CALL.get(name)
        if older is None or defined or (number_of(versions.get(number & ~HIDDEN, "")) or (0,)) <= limit:
            continue
        at = library.data.find(b"\0" + name.encode() + b"\0", begin, begin + length) + 1
        library.data[at:at + len(name)] = older.encode().ljust(len(name), b"\0")


def lower(path, limit, of_glibc, beside=()):
    """Makes a file need glibc of at most limit, e.g. (2, 28). of_glibc: libc.so.6, libm.so.6 and the others of this
    machine; beside: names that a library beside it has instead. Each function gets the version that it would have got on a machine of that glibc: the newest until then.
    Returns the functions that now name an older version; the file is as it was where one cannot."""
    library = Library(path)
    _rename_calls(library, limit)
    plan = list(_plan(library, limit, _history(of_glibc), beside))
    numbers = {(file, number_of(version)): number for file, version, number, *_ in library.needs()}
    newer = {(file, version): record for file, version, _, record, *_ in library.needs()
             if (number_of(version) or (0,)) > limit}
    spare = {version for _, version in newer}
    for _, file, version, name in plan:
        if version is None or (file, version) in numbers:
            continue
        free = [key for key in newer if key[0] == file]
        if not free:
            raise Failure(f"{path}: {name} needs a record for GLIBC_{'.'.join(map(str, version))} of {file}")
        _rename(library, newer[free[0]], "GLIBC_" + ".".join(map(str, version)), spare)
        numbers[file, version] = numbers[file, number_of(free[0][1])]
        del newer[free[0]]
    for place, file, version, _ in plan:
        struct.pack_into("<H", library.data, place, ANY_VERSION if version is None else numbers[file, version])
    _forget_newer(library, {record for record in newer.values()})
    with open(path, "wb") as file:
        file.write(library.data)
    return [name for *_, name in plan]


def _forget_newer(library, records):
    """Takes records out of their lists."""
    while True:
        for _, version, _, record, before, head in library.needs():
            if record not in records:
                continue
            step, = struct.unpack_from("<I", library.data, record + 12)
            count, = struct.unpack_from("<H", library.data, head + 2)
            if count == 1:
                raise Failure(f"{library.path}: nothing but new versions is named of a file")
            if before is None:
                first, = struct.unpack_from("<I", library.data, head + 8)
                struct.pack_into("<I", library.data, head + 8, first + step)
            else:
                gap, = struct.unpack_from("<I", library.data, before + 12)
                struct.pack_into("<I", library.data, before + 12, gap + step if step else 0)
            struct.pack_into("<H", library.data, head + 2, count - 1)
            break
        else:
            return
