#!/usr/bin/env python3
"""Runs a notebook in the folder that it is started in; the first cell that fails ends it.

    notebook.py FILE.ipynb
"""
import sys

import nbclient
import nbformat

book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
pictures = sum("image/png" in output.get("data", {}) for output in outputs)
if pictures == 0:
    sys.exit(f"{sys.argv[1]} shows no picture")
print(f"{sys.argv[1]}: {len(outputs)} outputs, {pictures} of them pictures")
