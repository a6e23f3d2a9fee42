"""Plots of bench/results/history.jsonl: bars with the lowest and highest run, the newest figure of each case."""
import html
import json
import re

GPU, CPU = "NVIDIA H200", "Intel(R) Xeon(R) Processor, 2 cores"
# name: (title, unit, what a line of the history has, pattern of the case: its group is the label of the bar)
PLOTS = {
    "lod_sizes": ("Octree in the memory of a GPU, by points; more is better", "G points/s",
                  {"bench": "lod resident", "machine": GPU, "case": "rgb random"}, None),
    "lod_files": ("From LAS to a Potree folder, 2 CPU cores; more is better", "M points/s",
                  {"bench": "lod", "backend": "cpu"}, r"^(.*)$"),
    "laz": ("Reading and writing LAZ, 2 CPU cores; more is better", "M points/s",
            {"bench": "laz", "machine": CPU}, r"^(.*)$"),
    "knn_shapes": ("10 neighbours of each of 1 M points on a GPU, by shape; less is better", "ms",
                   {"bench": "knn", "machine": GPU, "points": 1000000}, r"^(.*), file order, k = 10, both$"),
    "knn_cpu": ("10 neighbours of each of 1 M points, 2 CPU cores; less is better", "ms",
                {"bench": "knn", "machine": CPU, "points": 1000000, "threads": 2}, r"^(.*, (?:file|Morton) order), k = 10, both$"),
    "planes": ("All planes of a cloud on a GPU; less is better", "s", {"bench": "planes", "machine": GPU}, r"^(.*)$"),
}
WIDTH, LABEL, ROW, MOST_ROWS = 720, 230, 24, 16


def _newest(history, wanted, pattern):
    """{label: line}, in the order in which the cases first came."""
    found = {}
    for line in history:
        if any(not str(line.get(key, "")).startswith(str(value)) if key == "machine" else line.get(key) != value
               for key, value in wanted.items()):
            continue
        match = re.match(pattern, line["case"]) if pattern else True
        if match:
            label = match.group(1) if pattern else f"{line['points'] / 1e6:,.0f} M points"
            found[label] = line
    rows = sorted(found.items(), key=lambda row: row[1]["points"]) if pattern is None else list(found.items())
    # Cases that the last runs no longer had are history.
    last = max((line["date"] for _, line in rows), default="")[:8]
    return [row for row in rows if pattern is None or row[1]["date"][:8] >= last][:MOST_ROWS]


def _round(value):
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def bars(title, unit, rows):
    """An SVG that is read by itself: title, bars, figures, and where they come from."""
    height = 34 + ROW * len(rows) + 22
    most = max(line["high"] for _, line in rows)
    scale = (WIDTH - LABEL - 110) / most
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
           f'font-family="system-ui, sans-serif" font-size="13">',
           f"<title>{html.escape(title)}</title>",
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           f'<text x="4" y="18" font-weight="600" fill="#222">{html.escape(title)}</text>']
    for number, (label, line) in enumerate(rows):
        top = 34 + ROW * number
        middle = top + 8.5
        end, low, high = (LABEL + line[name] * scale for name in ("median", "low", "high"))
        out += [f'<text x="{LABEL - 8}" y="{top + 13}" text-anchor="end" fill="#333">{html.escape(label)}</text>',
                f'<rect x="{LABEL}" y="{top}" width="{end - LABEL:.1f}" height="17" fill="#4682b4"/>',
                f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {top + 5}v7M{high:.1f} {top + 5}v7" '
                f'stroke="#16324a" fill="none"/>',
                f'<text x="{max(end, high) + 7:.1f}" y="{top + 13}" fill="#222">{_round(line["median"])} {unit}</text>']
    commits = sorted({line["commit"] for _, line in rows})
    source = f"{rows[0][1]['machine']}; commit {', '.join(commits[:4])}; {max(line['date'] for _, line in rows)[:10]}"
    out += [f'<text x="4" y="{height - 6}" font-size="11" fill="#666">{html.escape(source)}</text>', "</svg>"]
    return "\n".join(out) + "\n"


def make(history_file, folder):
    folder.mkdir()
    history = [json.loads(line) for line in history_file.read_text().splitlines()]
    for name, (title, unit, wanted, pattern) in PLOTS.items():
        rows = _newest(history, {**wanted, "unit": unit}, pattern)
        if not rows:
            raise SystemExit(f"{history_file} has no line for the plot {name}")
        (folder / f"{name}.svg").write_text(bars(title, unit, rows))
