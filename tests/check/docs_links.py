#!/usr/bin/env python3
"""Every page of a site is reached from index.html, and every link within it leads to a page and a place that is there.

    docs_links.py HTML
"""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

NOT_LINKED = {"genindex.html", "search.html", "py-modindex.html"}  # by the theme alone


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def main():
    root = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in root.rglob("*.html")}
    wrong, reached, waiting = [], set(), [root / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.add(path)
        for link in pages[path].links:
            target = urlparse(link)
            if target.scheme or target.netloc:
                continue
            found = (path.parent / unquote(target.path)).resolve() if target.path else path
            if not found.exists():
                wrong.append(f"{path.relative_to(root)}: {link}: there is no such file")
            elif found in pages:
                waiting.append(found)
                if target.fragment and target.fragment not in pages[found].ids:
                    wrong.append(f"{path.relative_to(root)}: {link}: there is no such place")
    lost = [path.relative_to(root) for path in pages if path not in reached and path.name not in NOT_LINKED]
    wrong += [f"{path}: no page leads there" for path in lost]
    print("\n".join(sorted(wrong)) or f"{len(reached)} pages are reached, and no link is dead")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
