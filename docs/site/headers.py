"""The C API: a page per header, by Doxygen and Breathe.

Comments of the headers are plain text with aligned columns:

    /// Estimates one unit normal per point.
    /// cloud    n points
    /// Returns  MOTE_OK, MOTE_ERROR_MEMORY

As a filter of Doxygen this script makes @param, @returns and paragraphs of them.
"""
import re
import subprocess
import sys
from pathlib import Path

COMMENT = re.compile(r"^(\s*)///(?!<) ?(.*)$")
ROW = re.compile(r"^([A-Za-z_][\w, ]*?)  +(\S.*)$")
HEADINGS = ("Cost", "Source", "Errors", "Note", "Threads", "Memory")
DOXYFILE = """
PROJECT_NAME = mote
INPUT = {tree}/include/mote
FILE_PATTERNS = *.h
OUTPUT_DIRECTORY = {out}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_OUTPUT = xml
XML_PROGRAMLISTING = NO
OPTIMIZE_OUTPUT_FOR_C = YES
TYPEDEF_HIDES_STRUCT = YES
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
JAVADOC_AUTOBRIEF = NO
EXTRACT_ALL = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = MOTE_API= MOTE_HD= __attribute__(x)=
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_IF_DOC_ERROR = NO
WARN_NO_PARAMDOC = NO
WARN_IF_INCOMPLETE_DOC = NO
FILTER_PATTERNS = *.h="{python} {script}"
"""


def _escape(text):
    """No character of it is a command of Doxygen; pages of docs/ become links."""
    text = re.sub(r"([\\@&$#<>%\"])", r"\\\1", text)
    return re.sub(r"\bdocs/(\w+)\.md", r'<a href="../\1.html">\1</a>', text)


def _rows(lines):
    """The lines of a comment: rows of columns become commands of Doxygen."""
    for line in lines:
        match = ROW.match(line)
        if match is None:
            yield _escape(line)
            continue
        name, text = match.group(1), _escape(match.group(2))
        if name == "Returns":
            yield f"@returns {text}"
        elif name in HEADINGS:
            yield f"@par {name}"
            yield text
        else:
            yield f"@param {name.replace(', ', ',')} {text}"


def filtered(text):
    """A header with the commands of Doxygen in its comments."""
    out, comment, indent = [], [], ""
    is_first = True
    for line in text.split("\n"):
        match = COMMENT.match(line)
        if match:
            indent = match.group(1)
            comment.append(match.group(2))
            continue
        if comment:
            head = ["@file", ""] if is_first else []
            if is_first:
                title = comment[0].removeprefix("mote: ")
                comment[0] = title[:1].upper() + title[1:]
            out += [f"{indent}/// {row}" for row in head + list(_rows(comment))]
            comment, is_first = [], False
        # Behind a field: what stands there is text, too.
        before, mark, after = line.partition("///<")
        out.append(before + mark + _escape(after) if mark else line)
    return "\n".join(out)


def run_doxygen(tree, out):
    text = DOXYFILE.format(tree=tree, out=out, python=sys.executable, script=Path(__file__).resolve())
    subprocess.run(["doxygen", "-"], input=text, text=True, check=True)


def make_pages(tree, source):
    """c/index.md, and a page of each header."""
    folder = source / "c"
    folder.mkdir()
    rows = []
    names = sorted(path.stem for path in (tree / "include/mote").glob("*.h") if path.stem != "mote")
    for name in names:
        first = (tree / f"include/mote/{name}.h").read_text().split("\n", 1)[0]
        line = re.sub(r"^/// mote: ", "", first).split(". ")[0].rstrip(".")
        rows.append(f"| [{name}.h]({name}.md) | {line} |\n")
        (folder / f"{name}.md").write_text(f"# {name}.h\n\n```{{doxygenfile}} {name}.h\n:project: mote\n```\n")
    (folder / "index.md").write_text(
        "# C API\n\n`#include <mote/mote.h>` brings all of it. How to link, and what holds for all functions: "
        "[the library](../library.md); programs: [examples](../examples.md).\n\n| header | has |\n|---|---|\n"
        + "".join(rows) + "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n")


if __name__ == "__main__":
    sys.stdout.write(filtered(Path(sys.argv[1]).read_text()))
