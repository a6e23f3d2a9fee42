"""Pages whose commands are run: a fence of ```{run} becomes the commands, and what they print."""
import re
import subprocess
import tempfile
from pathlib import Path

FENCE = re.compile(r"^```\{run\}\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]*\]\(made/([^)]+)\)")


def run(page, environment):
    """Pictures that the commands make are named made/NAME in the page."""
    with tempfile.TemporaryDirectory(prefix="mote-docs-") as folder:

        def replace(match):
            commands = match.group(1)
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode != 0:
                raise SystemExit(f"{page}: {commands}{done.stdout}")
            printed = f"```text\n{done.stdout.rstrip()}\n```\n" if done.stdout.strip() else ""
            return f"```sh\n{commands}```\n{printed}"

        text = FENCE.sub(replace, page.read_text())
        (page.parent / "made").mkdir(exist_ok=True)
        for name in PICTURE.findall(text):
            (page.parent / "made" / name).write_bytes((Path(folder) / name).read_bytes())
        page.write_text(text)
