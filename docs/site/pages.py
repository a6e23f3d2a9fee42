"""The pages of the tree, with links that lead to where the site has them, and a page per command."""
import json
import re
import shutil
import subprocess

# What stays out of the site: notes of those who work on mote. A remark in brackets, or a short sentence, that leads
# there is left out; any other link becomes plain text.
LEFT_OUT = ("docs/decisions/", "docs/history/", "docs/speed/", "docs/site/")
# Pages from outside of docs/, by where the site has them.
OTHERS = {"examples/README.md": "examples.md", "CHANGELOG.md": "changelog.md", "ARCHITECTURE.md": "architecture.md",
          "bench/results/README.md": "benchmark_history.md"}
# Folders and files that a page of the site tells of.
ALIASES = {"python/examples": "examples.md", "examples": "examples.md"}
# A fence, a link or an image (three groups), or `code`: links within code are none.
PIECE = re.compile(r"^ *```.*?^ *```|(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
PLOT = re.compile(r"<!-- plot (\w+) -->")
_LINK_OUT = r"\[[^\]]*\]\((?:\.\./)*(?:decisions|history|speed)/[^)\s]+\)"
_INNER = r"(?:[^()]|\]\([^()]*\))*"
REMARK = re.compile(rf"\s*\({_INNER}?{_LINK_OUT}{_INNER}\)")
CLAUSE = re.compile(rf";\s[^.;|\[\]]{{0,100}}{_LINK_OUT}\.")
SENTENCE = re.compile(rf"(?<=\.)\s+[^.;|\[\]]{{0,100}}{_LINK_OUT}(?:,\s+{_LINK_OUT})*\.")
NOTES = re.compile(r"<!-- notes -->.*?<!-- /notes -->\n*", re.DOTALL)


def site_pages(tree):
    """{path in the tree: path in the site}"""
    found = {}
    for page in sorted((tree / "docs").rglob("*.md")):
        name = page.relative_to(tree).as_posix()
        if not name.startswith(LEFT_OUT):
            found[name] = name.removeprefix("docs/")
    return found | OTHERS


def _normal(path):
    parts = []
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def _relative(target, page):
    """From a page of the site to a target in it."""
    return "../" * page.count("/") + target


def _target(name, known):
    """Where the site has a file of the tree; None: it does not."""
    if name.startswith("include/mote/") and name.endswith(".h"):
        return f"c/{name.removeprefix('include/mote/').removesuffix('.h')}.md"
    if name.startswith(("docs/images/", "examples/", "python/examples/")) and name.endswith((".png", ".svg", ".c", ".py", ".ipynb")):
        return name.removeprefix("docs/") if name.startswith("docs/images/") else f"examples.md#{name.split('/')[-1].replace('.', '')}"
    return known.get(name) or ALIASES.get(name)


def links_of_site(text, page, known):
    """The text of a page of the tree, as the site has it."""
    place = known[page]

    def change(match):
        is_image, words, target = match.groups()
        if target is None or target.startswith(("http:", "https:", "mailto:", "#")):
            return match.group(0)
        path, _, heading = target.partition("#")
        found = _target(_normal(f"{page.rpartition('/')[0]}/{path}"), known)
        if found is None:
            return words
        found, _, own = found.partition("#")
        heading = heading or own
        return f"{is_image}[{words}]({_relative(found, place)}{'#' + heading if heading else ''})"

    text = SENTENCE.sub("", CLAUSE.sub(".", REMARK.sub("", NOTES.sub("", text))))
    text = PIECE.sub(change, text)
    return PLOT.sub(lambda match: f"![{match.group(1)}]({_relative(f'plots/{match.group(1)}.svg', place)})", text)


def copy(tree, source):
    known = site_pages(tree)
    for name, place in known.items():
        target = source / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(links_of_site((tree / name).read_text(), name, known))
    shutil.copytree(tree / "docs/images", source / "images")
    for page in (tree / "docs/site").glob("*.md.in"):
        shutil.copy(page, source / page.stem)
    for name in sorted(path for pattern in ("examples/*.c", "python/examples/*.py") for path in tree.glob(pattern)):
        with open(source / "examples.md", "a") as page:
            language = "c" if name.suffix == ".c" else "python"
            page.write(f"\n## {name.name}\n```{language}\n{name.read_text()}```\n")
    for name in sorted((tree / "examples").glob("*.ipynb")):
        with open(source / "examples.md", "a") as page:
            page.write(f"\n## {name.name}\n{_cells(name)}")


def _cells(notebook):
    """The text and the code of a notebook, without what it prints; its headings are below that of its name."""
    text = ""
    for cell in json.loads(notebook.read_text())["cells"]:
        source = "".join(cell["source"])
        text += f"```python\n{source}\n```\n\n" if cell["cell_type"] == "code" else re.sub(r"^#+", "###", source) + "\n\n"
    return text


def make_commands(mote, folder):
    """commands/index.md, and commands/mote-NAME.md of each."""
    folder.mkdir()
    names = subprocess.run([mote, "help", "--names"], check=True, capture_output=True, text=True).stdout.split()
    page = subprocess.run([mote, "help", "--markdown"], check=True, capture_output=True, text=True).stdout
    hidden = "\n```{toctree}\n:hidden:\n\n" + "".join(f"mote-{name}\n" for name in names) + "```\n"
    (folder / "index.md").write_text(f"# Commands\n\n{page}\nWhat all of them have in common: "
                                     f"[the command](../command.md).\n{hidden}")
    for name in names:
        text = subprocess.run([mote, "help", "--markdown", name], check=True, capture_output=True, text=True).stdout
        text = re.sub(r"\bdocs/([\w\\]+)\.md", lambda match: _guide(match.group(1).replace("\\", "")), text)
        (folder / f"mote-{name}.md").write_text(text)


def _guide(name):
    return f"[{name.replace('_', ' ')}](../{name}.md)"
