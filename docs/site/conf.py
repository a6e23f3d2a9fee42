"""Settings of Sphinx: see build.py."""
import os
import re
from pathlib import Path

project = "mote"
author = "the authors of mote"
release = version = (Path(__file__).resolve().parents[2] / "VERSION").read_text().strip()
copyright = "MIT licence"  # noqa: A001, the name that Sphinx has for it
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"mote {release}"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"light_css_variables": {"color-brand-primary": "#1c5d99", "color-brand-content": "#1c5d99"}}
html_static_path = ["static"]
html_css_files = ["site.css"]
breathe_projects = {"mote": os.environ["MOTE_XML"]}
breathe_default_project = "mote"
breathe_show_include = False
breathe_show_define_initializer = True
smartquotes = False  # they would make one dash of two
c_id_attributes = ["MOTE_API"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = ["dask"]
highlight_language = "text"
nitpicky = False

ROW = re.compile(r"^(\S+(?:, \S+)*?)  +(\S.*)$")
PARAMETER = re.compile(r"^(\w+(?: = [^:]*)?)(?:: (.*))?$")


def _escape(text):
    """No character of it is one of reStructuredText's, except for ``code``; pages of docs/ become links."""
    parts = text.split("``")
    parts[::2] = [re.sub(r"\bdocs/(\w+)\.md", r":doc:`\1`", re.sub(r"([*|`_\\])", r"\\\1", part).replace("\\_", "_"))
                  if "docs/" in part else re.sub(r"([*|`_\\])", r"\\\1", part) for part in parts[::2]]
    return "``".join(parts)


def columns_to_definitions(app, what, name, obj, options, lines):
    """Docstrings are plain text: rows of two columns, and the list of parameters, become definitions; indented lines
    stay as they stand."""
    out, in_code, in_row, pattern = [], False, False, ROW
    for line in lines:
        row = pattern.match(line)
        in_code = line.startswith("    ") and bool(line.strip()) or in_code and not line.strip()
        if line.strip() == "Parameters":
            pattern = PARAMETER
            out += ["", ".. rubric:: Parameters", ""]
        elif in_code:
            out += ["", "::", ""] if line.strip() and not (out and out[-1].startswith("    ")) else []
            out.append(line)
        elif row:
            out += ["", f"``{row.group(1)}``", f"  {_escape(row.group(2) or '')}".rstrip() or "  .", ""]
        elif line.strip() and in_row:
            out[-2] += " " + _escape(line.strip())
        else:
            out.append(_escape(line))
        in_row = bool(row or in_row and line.strip()) and not in_code
    lines[:] = out + [""]


def setup(app):
    app.connect("autodoc-process-docstring", columns_to_definitions)
