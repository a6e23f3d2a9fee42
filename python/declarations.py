#!/usr/bin/env python3
"""Makes mote/_declarations.py and mote/_keywords.pyi of the public headers.

    declarations.py            writes both files
    declarations.py --check    says whether they are what the headers give, and changes nothing

The headers are plain C that follows STYLE.md, so the parser knows what they use: #define of numbers, enums, structs,
types of functions, functions. Anything else ends with an error that names file and line, so that nothing is left out
unseen.
"""
import keyword
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = os.path.join(HERE, "..", "include", "mote")

SCALARS = {
    "bool": "c_bool", "int": "c_int", "float": "c_float", "double": "c_double", "char": "c_char", "size_t": "c_size_t",
    "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16", "int32_t": "c_int32",
    "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
}
TOKEN = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<word>[A-Za-z_]\w*)'
                   r'|(?P<number>0[xX][\w.]*(?:[pP][+-]?\d+)?|\d[\w.]*)|(?P<string>"[^"\n]*")'
                   r'|(?P<mark>[{}()\[\]*,;=:+-])|(?P<space>\s+)', re.S)


class Failure(Exception):
    pass


class Header:
    """The tokens of one file, comments among them, and what has been read of them."""

    def __init__(self, path, facts):
        self.name = os.path.basename(path)
        self.facts = facts
        with open(path, encoding="utf-8") as file:
            self.text = self.take_directives(file.read())
        self.tokens = []
        position = 0
        while position < len(self.text):
            match = TOKEN.match(self.text, position)
            if match is None:
                self.fail(position, f"does not understand {self.text[position]!r}")
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match.group(), position))
            position = match.end()
        self.at = 0

    def fail(self, position, message):
        line = self.text.count("\n", 0, position) + 1
        raise Failure(f"{self.name}:{line}: {message}")

    def take_directives(self, text):
        """Reads lines that begin with # and leaves them empty. What only C++ sees is left out."""
        kept, skipping, lines = [], [], text.split("\n")
        i = 0
        while i < len(lines):
            line, first = lines[i], i
            while line.lstrip().startswith("#") and line.endswith("\\"):
                i += 1
                line = line[:-1] + " " + lines[i]
            i += 1
            if not line.lstrip().startswith("#"):
                kept.append("" if any(skipping) else line)
                continue
            kept.extend([""] * (i - first))
            words = line.strip()[1:].split(None, 2)
            if words[0] in ("if", "ifdef", "ifndef"):
                skipping.append(words[0] == "ifdef" and words[1] == "__cplusplus")
            elif words[0] == "endif":
                skipping.pop()
            elif words[0] == "define" and len(words) == 3 and not words[1].startswith("MOTE_API") and not any(skipping):
                self.take_constant(words[1], re.sub(r"/\*.*?\*/|//.*", "", words[2]).strip(), first)
            elif words[0] not in ("define", "include", "else"):
                raise Failure(f"{self.name}:{first + 1}: does not understand #{words[0]}")
        return "\n".join(kept)

    def take_constant(self, name, value, line):
        def number(match):
            word = match.group()
            if word in self.facts.constants:
                return repr(self.facts.constants[word])
            if word == "UINT32_MAX":
                return str(2**32 - 1)
            if re.fullmatch(r"0[xX][\w.]*[pP][+-]?\d+", word):
                return repr(float.fromhex(word))
            if re.fullmatch(r"\d[\d.]*([eE][+-]?\d+)?|0[xX][\da-fA-F]+", word.rstrip("uUlL")):
                return word.rstrip("uUlL")
            raise Failure(f"{self.name}:{line + 1}: does not understand {word} of {name}")

        expression = re.sub(r"0[xX][\w.]*[pP][+-]?\d+|[\w.]+(?:(?<=[eE])[+-]\d+)?", number, value)
        if not re.fullmatch(r"[\d.\seE()*+xa-fA-F-]+", expression):
            raise Failure(f"{self.name}:{line + 1}: does not understand the value of {name}: {value}")
        self.facts.constants[name] = eval(expression, {"__builtins__": {}})  # digits and operators alone, see above

    # ---- tokens

    def peek(self):
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "comment":
            self.at += 1
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def next(self, expected=None):
        token = self.peek()
        if token == "" or (expected is not None and token != expected):
            where = self.tokens[min(self.at, len(self.tokens) - 1)][2]
            self.fail(where, f"expects {expected or 'more'}, not {token or 'the end'!r}")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def comments(self, start):
        """The comments directly at the cursor that begin with start, without it."""
        found = []
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "comment":
            text = self.tokens[self.at][1]
            if not text.startswith(start) or (start == "///" and text.startswith("///<")):
                break
            found.append(text[len(start):].strip())
            self.at += 1
        return " ".join(found)

    # ---- declarations

    def read(self):
        while self.peek():
            if self.accept("typedef"):
                self.read_typedef()
            elif self.accept("MOTE_API"):
                self.read_function()
            else:
                self.fail(self.tokens[self.at][2], f"expects typedef or MOTE_API, not {self.peek()!r}")

    def read_typedef(self):
        if self.accept("enum"):
            self.read_enum()
        elif self.accept("struct"):
            name = self.next()
            if self.accept("{"):
                fields = self.read_fields()
                self.facts.structs[name] = fields
            else:
                self.facts.opaque.append(name)
            self.next(name)
            self.next(";")
        else:
            base = self.read_base()
            stars = self.read_stars()
            self.next("(")
            self.next("*")
            name = self.next()
            self.next(")")
            self.facts.callbacks[name] = (self.pointer_type(base, stars), self.read_parameters())
            self.next(";")

    def read_enum(self):
        name, members, value = self.next(), {}, 0
        self.next("{")
        while not self.accept("}"):
            member = self.next()
            if self.accept("="):
                value = int(self.next(), 0)
            members[member] = value
            value += 1
            self.accept(",")
        self.next(name)
        self.next(";")
        self.facts.enums[name] = members

    def read_base(self):
        while self.accept("const"):
            pass
        base = self.next()
        while self.accept("const"):
            pass
        known = (base in SCALARS or base == "void" or base in self.facts.enums or base in self.facts.structs
                 or base in self.facts.opaque or base in self.facts.callbacks)
        if not known:
            self.fail(self.tokens[self.at - 1][2], f"does not know the type {base!r}")
        return base

    def read_stars(self):
        stars = 0
        while self.accept("*"):
            stars += 1
            while self.accept("const"):
                pass
        return stars

    def read_bounds(self):
        bounds = []
        while self.accept("["):
            word = self.next()
            bounds.append(int(self.facts.constants[word] if word in self.facts.constants else word.rstrip("u")))
            self.next("]")
        return bounds

    def pointer_type(self, base, stars):
        """What ctypes calls it. Pointers are addresses, but for texts."""
        if stars == 1 and base == "char":
            return "c_char_p"
        if stars:
            return "c_void_p"
        if base == "void":
            return "None"
        return "c_int" if base in self.facts.enums else SCALARS.get(base, base)

    def read_fields(self):
        fields = []
        while True:
            doc = self.comments("///")
            if self.accept("}"):
                return fields
            base = self.read_base()
            first = len(fields)
            while True:
                stars = self.read_stars()
                if self.accept("("):
                    self.next("*")
                    name = self.next()
                    self.next(")")
                    if self.read_bounds():  # a pointer to rows
                        fields.append([name, "c_void_p", "", ""])
                    else:
                        arguments = self.read_parameters()
                        result = self.pointer_type(base, stars)
                        fields.append([name, f"CFUNCTYPE({', '.join([result] + arguments)})", "", ""])
                else:
                    name, bounds = self.next(), self.read_bounds()
                    kind = self.pointer_type(base, stars)
                    for bound in reversed(bounds):
                        kind = f"{kind} * {bound}" if "*" not in kind else f"({kind}) * {bound}"
                    fields.append([name, kind, base if base in self.facts.enums else "", ""])
                if not self.accept(","):
                    break
            self.next(";")
            doc = doc or self.comments("///<")
            for field in fields[first:]:
                field[3] = doc

    def read_parameters(self):
        parameters = []
        self.next("(")
        if self.accept("void"):
            if self.accept(")"):
                return parameters
            self.at -= 1
        while not self.accept(")"):
            base = self.read_base()
            stars = self.read_stars()
            self.next()
            stars += len(self.read_bounds())
            parameters.append(self.pointer_type(base, stars))
            self.accept(",")
        return parameters

    def read_function(self):
        base = self.read_base()
        result = self.pointer_type(base, self.read_stars())
        name = self.next()
        self.facts.functions[name] = (result, self.read_parameters())
        self.next(";")


class Facts:
    def __init__(self):
        self.constants, self.enums, self.structs, self.callbacks, self.functions = {}, {}, {}, {}, {}
        self.opaque = []


def read_headers(folder):
    """All headers, in the order in which the umbrella needs them: each after what it includes."""
    facts, done = Facts(), []

    def visit(name):
        if name in done or name == "mote.h":
            return
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            for included in re.findall(r'^#include "(\w+\.h)"', file.read(), re.M):
                visit(included)
        done.append(name)
        Header(path, facts).read()

    for name in sorted(os.listdir(folder)):
        visit(name)
    return facts


def short_names(members):
    """What a caller writes for each member of an enum: its name behind what all have in common, in lower case."""
    common = os.path.commonprefix(list(members))
    cut = common.rfind("_") + 1
    return {name[cut:].lower(): value for name, value in members.items()}


def declarations_text(facts):
    out = ['"""Made of include/mote/ by python/declarations.py, and not by hand: what the public headers declare."""',
           "from ctypes import (CFUNCTYPE, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int8,",
           "                    c_int16, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64,",
           "                    c_void_p)", ""]
    for name, value in facts.constants.items():
        out.append(f"{name} = {value!r}")
    out += ["", "# What a caller writes for the members of each enum.", "ENUMS = {"]
    for name, members in facts.enums.items():
        out.append(f"    {name!r}: {short_names(members)!r},")
    out.append("}")
    for name, members in facts.enums.items():
        out += [f"{member} = {value}" for member, value in members.items()]
    for name, (result, arguments) in facts.callbacks.items():
        out.append(f"{name} = CFUNCTYPE({', '.join([result] + arguments)})")
    for name, fields in facts.structs.items():
        out += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        out += [f"        ({field!r}, {kind})," for field, kind, _, _ in fields]
        out.append("    ]")
    out += ["", "", "# Fields that are enums, and of which.", "ENUM_FIELDS = {"]
    for name, fields in facts.structs.items():
        enums = {field: enum for field, _, enum, _ in fields if enum}
        if enums:
            out.append(f"    {name!r}: {enums!r},")
    out += ["}", "", "# What the headers say of each field of what a call is given or gives.", "FIELD_DOCS = {"]
    for name, fields in facts.structs.items():
        docs = {field: doc for field, _, _, doc in fields if doc and field != "reserved"}
        if docs:
            out.append(f"    {name!r}: {{")
            out += [f"        {field!r}: {doc!r}," for field, doc in docs.items()]
            out.append("    },")
    out += ["}", "", "# result, arguments", "FUNCTIONS = {"]
    for name, (result, arguments) in facts.functions.items():
        tail = "," if len(arguments) == 1 else ""
        out.append(f"    {name!r}: ({result}, ({', '.join(arguments)}{tail})),")
    out += ["}", ""]
    return "\n".join(out)


def hint_of(facts, kind, enum):
    if enum:
        names = ", ".join(repr(name) for name in short_names(facts.enums[enum]))
        return f"Literal[{names}]"
    if kind in ("c_bool",):
        return "bool"
    if kind in ("c_float", "c_double"):
        return "float"
    if kind == "c_char":
        return "str"
    if kind == "c_char_p":
        return "str | Iterable[str] | None"
    if kind in facts.structs:
        return "Mapping[str, object]"
    if "*" in kind:
        return "Iterable[Mapping[str, object]]" if kind.split()[0] in facts.structs else "Iterable[float]"
    return "int"


def parameters_text(facts):
    """A TypedDict for each struct of parameters: editors and type checkers know the keywords by it."""
    out = ["# Made of include/mote/ by python/declarations.py, and not by hand: the keywords of each function.",
           "from typing import Iterable, Literal, Mapping, TypedDict", ""]
    for name, fields in facts.structs.items():
        chosen = name.endswith("_params") or name in ("mote_camera", "mote_photon_emission", "mote_photon_gathering")
        if not chosen:
            continue
        title = "".join(word.capitalize() for word in name[len("mote_"):].split("_"))
        out.append(f"class {title}(TypedDict, total=False):")
        for field, kind, enum, _ in fields:
            if field != "reserved" and kind != "c_void_p" and "FUNCTYPE" not in kind and kind not in facts.callbacks:
                word = field + "_" if keyword.iskeyword(field) else field
                out.append(f"    {word}: {hint_of(facts, kind, enum)}")
        out.append("")
    return "\n".join(out)


def main(arguments):
    folder = HEADERS
    checking = "--check" in arguments
    rest = [argument for argument in arguments if argument != "--check"]
    if rest:
        folder = rest[0]
    try:
        facts = read_headers(folder)
    except Failure as failure:
        print(f"declarations: {failure}", file=sys.stderr)
        return 1
    made = {"_declarations.py": declarations_text(facts), "_keywords.pyi": parameters_text(facts)}
    code = 0
    for name, text in made.items():
        path = os.path.join(HERE, "mote", name)
        if not checking:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                print(f"declarations: python/mote/{name} is not what include/mote/ gives: run python/declarations.py",
                      file=sys.stderr)
                code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
