#!/usr/bin/env python3
"""What tests/mutants.sh runs: finds the places, makes one change at a time, and asks the tests."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build/mutants"
TREE, BUILD = WORK / "tree", WORK / "tree/build/mutants"
EQUIVALENT = ROOT / "tests/mutants_equivalent.txt"
# Code that runs only where there is a GPU, which the tests of make test do not have.
GPU_FILES = re.compile(r"cuda|_warp|las_device|las_upload|lod_parts|potree_(encode|moves|pieces|records)|device/devices\.c|device/device_cloud\.c")
HAVE_BLOCKS = re.compile(r"MOTE_HAVE_")  # what stands for a library that is not there is not compiled
GPU_BLOCKS = re.compile(r"__CUDA|__NVCC|MOTE_CUDA|__aarch64__|_WIN32|__APPLE__")

# ---- places

TOKEN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|0[xX][0-9a-fA-F]+[uUlL]*"""
    r"""|(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?[fFlL]?|\d+[eE][-+]?\d+[fF]?|\d+[uUlL]*|[A-Za-z_]\w*"""
    r"""|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S""",
    re.S,
)
OPERATORS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<": ["<=", ">="], "<=": ["<", ">"],
    ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "<<": [">>"],
    ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["|"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "|=": ["&="], "&=": ["|="], "^=": ["|="], "<<=": [">>="], ">>=": ["<<="], "++": ["--"], "--": ["++"],
}  # fmt: skip
WORDS = {"true": "false", "false": "true"}
# Left out, these leak: LeakSanitizer sees it, in make check; the tests of make test do not.
RELEASES = re.compile(r"^\s+(?:if \(.*\) )?(?:mote_free|free|fclose|close|munmap|[a-z_]+_(?:destroy|release|free|unmap))\(")
# What stands in their parentheses is a message, a size of a type, or a hint to the processor.
UNSEEN_CALLS = re.compile(
    r"^(mote_(fail|warn|log|malformed|text_malformed|stage)|[a-z_]*(fail|warn|malformed)[a-z_]*|f?printf|fputs|puts"
    r"|sizeof|static_assert|_Static_assert|_Alignas|__builtin_prefetch|__attribute__|_Pragma)$"
)
DECLARATION = re.compile(r"^\s*(?:(?:static|const|struct|enum|union|unsigned|volatile|_Thread_local)\s+)*[A-Za-z_]\w*[\s*]+(?:const\s+)?\w+\s*\[")
STATEMENT = re.compile(r"^\s+(?:if \(.*\) .*;|(?:break|continue);|[*(]*[A-Za-z_][\w.>\[\]()+*, -]*?(?:\(.*\)|\s(?:[-+*/%&|^]|<<|>>)?= .*|\+\+|--);)$")
NO_STATEMENT = re.compile(r"^\s+(?:return|goto|case|default|else|do|for|while|switch|static|const|struct|enum|typedef|[A-Za-z_]\w* \**[A-Za-z_]\w*(?:\[.*\])*(?: =|;|,)|mote_stage\()")


class Place:
    """A change: text[begin:end] of a file becomes after."""

    def __init__(self, file, text, begin, end, after, weight):
        self.file, self.begin, self.end, self.after, self.weight = file, begin, end, after, weight
        self.line = text.count("\n", 0, begin) + 1
        first = text.rfind("\n", 0, begin) + 1
        last = text.find("\n", end)
        self.before_line = text[first:last].strip()
        self.after_line = (text[first:begin] + after + text[end:last]).strip()

    def __str__(self):
        return f"{self.file}:{self.line}: {self.before_line}  →  {self.after_line}"

    def key(self):
        return (self.file, self.before_line, self.after_line)


def blank(text, pattern):
    """The text with spaces in place of what matches, all else where it was."""
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def without_preprocessor(text):
    """Blanks comments, lines of the preprocessor, and blocks for other machines."""
    text = blank(text, re.compile(r"/\*.*?\*/|//[^\n]*", re.S))
    lines, blocks, without_library, directive = text.split("\n"), [], [], False
    for i, line in enumerate(lines):
        word = re.match(r"\s*#\s*(\w+)(.*)", line)
        if word and not directive:
            if word[1] in ("if", "ifdef", "ifndef"):
                negated = word[1] == "ifndef" or "!" in word[2]
                has_library = bool(HAVE_BLOCKS.search(word[2]))
                foreign = has_library if negated else bool(GPU_BLOCKS.search(word[2]))
                blocks.append(foreign)
                without_library.append(has_library and not negated)
            elif word[1] in ("else", "elif") and blocks:
                blocks[-1] = bool(GPU_BLOCKS.search(word[2])) or without_library[-1]
            elif word[1] == "endif" and blocks:
                blocks.pop()
                without_library.pop()
        directive = (bool(word) or directive) and line.endswith("\\")
        if word or directive or (i > 0 and lines[i - 1].endswith("\\")) or any(blocks):
            lines[i] = " " * (len(line) - 1) + "\\" if directive else " " * len(line)
    return "\n".join(line[:-1] + " " if line.endswith("\\") else line for line in lines)


def body_ranges(text):
    """From where to where function bodies go."""
    depth, previous, begin, inside, found = 0, "", 0, False, []
    for m in TOKEN.finditer(text):
        t = m.group(0)
        if t == "{":
            if depth == 0 and previous == ")":
                inside, begin = True, m.end()
            if not (depth == 0 and previous.startswith('"')):  # extern "C" {
                depth += 1
        elif t == "}" and depth > 0:
            depth -= 1
            if depth == 0 and inside:
                found.append((begin, m.start()))
                inside = False
        previous = t
    return found


def token_places(file, text, code, begin, end):
    tokens = [(m.group(0), begin + m.start(), begin + m.end()) for m in TOKEN.finditer(code[begin:end])]
    hidden, unseen = 0, []  # depths of parentheses in which nothing is changed
    for i, (t, a, b) in enumerate(tokens):
        if t == "(":
            hidden += 1
            if i > 0 and UNSEEN_CALLS.match(tokens[i - 1][0]):
                unseen.append(hidden)
        elif t == ")":
            if unseen and unseen[-1] == hidden:
                unseen.pop()
            hidden -= 1
        if unseen:
            continue
        spaced = code[a - 1] == " " and code[b : b + 1] in (" ", "\n")
        if t in OPERATORS and (spaced or t in ("++", "--")):
            for after in OPERATORS[t]:
                yield Place(file, text, a, b, after, 1.0 / len(OPERATORS[t]))
        elif t == "!" and code[b] != "=":
            yield Place(file, text, a, b, "", 1.0)
        elif t in WORDS:
            yield Place(file, text, a, b, WORDS[t], 0.5)
        elif t in ("if",) and i + 1 < len(tokens) and tokens[i + 1][0] == "(":
            close, deep = tokens[i + 1][2], 0
            for u, _, e in tokens[i + 1 :]:
                deep += (u == "(") - (u == ")")
                if deep == 0:
                    close = e
                    break
            yield Place(file, text, b + 1, close, "(!" + text[b + 1 : close] + ")", 0.5)
        elif re.match(r"(\d|0[xX])[\da-fA-F]*[uUlL]*$", t):
            line = code[code.rfind("\n", 0, a) + 1 : code.find("\n", b)]
            if DECLARATION.match(line) and code[a - 1] == "[":
                continue
            digits = re.match(r"0[xX][\da-fA-F]+|\d+", t)[0]
            value, suffix = int(digits, 8 if re.match(r"0[0-7]+$", digits) else 0), t[len(digits) :]
            for other in [value + 1] + ([value - 1] if value > 0 else []):
                after = hex(other) if digits[:2] in ("0x", "0X") else str(other)
                yield Place(file, text, a, b, after + suffix, 0.25)
        elif t == "return" and i + 1 < len(tokens) and tokens[i + 1][0] == "status" and tokens[i + 2][0] == ";":
            yield Place(file, text, tokens[i + 1][1], tokens[i + 1][2], "MOTE_OK", 1.0)


def statement_places(file, text, code, begin, end):
    """Whole statements of a line, left out."""
    at, previous = begin, "{"
    for line in code[begin:end].split("\n"):
        stripped = line.strip()
        whole = STATEMENT.match(line) and not RELEASES.match(line) and not NO_STATEMENT.match(line) and "{" not in line and "}" not in line
        call = re.match(r"\s+(\w+)\(", line)
        if whole and previous[-1:] in "{};:)" and not (call and UNSEEN_CALLS.match(call[1]) and call[1] != "if"):
            first = at + len(line) - len(line.lstrip())
            yield Place(file, text, first, at + len(line.rstrip()), ";", 0.5)
        previous = stripped or previous
        at += len(line) + 1


def find_places(files):
    places = []
    for file in files:
        text = (TREE / file).read_text()
        code = without_preprocessor(text)
        assert len(code) == len(text)
        for begin, end in body_ranges(code):
            places += token_places(file, text, code, begin, end)
            places += statement_places(file, text, code, begin, end)
    return places


# ---- the copy, and what is built of it


def run(command, **more):
    return subprocess.run(command, check=True, text=True, **more)


def copy_tree():
    """Copies what git has and would have; files that are the same keep their time, so that they are built once."""
    names = run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True).stdout.split("\0")
    names = [n for n in names if n and (ROOT / n).is_file()]
    for old in TREE.rglob("*"):
        if old.is_file() and BUILD not in old.parents and str(old.relative_to(TREE)) not in set(names):
            old.unlink()
    for name in names:
        source, target = ROOT / name, TREE / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        os.utime(target)


class Base:
    """The build of the unchanged tree: how each source is compiled, who includes it, how all is linked."""

    def __init__(self, jobs):
        data = os.environ.get("MOTE_SHARED_DATA", str(ROOT.parent / "shared/data"))
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        run(["cmake", "--preset", "mutants", f"-DMOTE_SHARED_DATA={data}", *launcher], cwd=TREE, stdout=subprocess.DEVNULL)
        run(["cmake", "--build", str(BUILD), "-j", str(jobs)], stdout=subprocess.DEVNULL)
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        self.compile = {}  # object → command
        self.includes = {}  # file → objects
        for c in commands:
            words = shlex.split(c["command"])
            if words[0].endswith("ccache"):
                words = words[1:]
            self.compile[words[words.index("-o") + 1]] = words
        dump = run(["ninja", "-C", str(BUILD), "-t", "deps"], capture_output=True).stdout
        target = None
        for line in dump.split("\n"):
            if line.startswith("    "):
                path = os.path.normpath(BUILD / line.strip())
                if path.startswith(str(TREE) + "/") and target in self.compile:
                    self.includes.setdefault(os.path.relpath(path, TREE), set()).add(target)
            elif line:
                target = line.split(":")[0]
        self.library, self.command = self.link_line("libmote_whole"), self.link_line("mote")
        listing = run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"], capture_output=True).stdout
        self.tests = [t for t in json.loads(listing)["tests"] if "command" in t]
        self.passes, self.lock = {}, threading.Lock()

    def link_line(self, name):
        # The last command that makes the file, without its neighbours (": && cc … && :").
        listing = run(["ninja", "-C", str(BUILD), "-t", "commands", "mote"], capture_output=True).stdout
        for line in reversed(listing.split("\n")):
            for part in line.split("&&"):
                words = shlex.split(part)
                if "-o" in words and os.path.basename(words[words.index("-o") + 1]).split(".so")[0] == name:
                    return words
        sys.exit(f"mutants: nothing links {name}")

    def files(self):
        of_code = [f for f in sorted(self.includes) if f.startswith(("src/", "cli/")) and f.endswith((".c", ".h"))]
        return [f for f in of_code if not GPU_FILES.search(f)]

    def passes_unchanged(self, test, limit):
        with self.lock:
            known = self.passes.get(test["name"])
        if known is None:
            known = run_test(test, BUILD, WORK / "unchanged", limit) is None
            with self.lock:
                self.passes[test["name"]] = known
            if not known:
                print(f"mutants: {test['name']} fails without any change, and is not asked", flush=True)
        return known


# ---- one change


def near(test, file):
    """How near a test is to a file, 0 the nearest; 9: it has nothing to do with it by name."""
    name, path = test["name"].removeprefix("cli_"), pathlib.PurePath(file)
    words = [w for w in re.split(r"[_/]", str(path.with_suffix("")).removeprefix("src/").removeprefix("cli/cmd_")) if w]
    families = {
        "xyz": "text", "text": "xyz ply pcd ptx", "unite": "inputs", "order": "lod knn", "las": "laz unite", "laz": "las copc",
        "copc": "lod laz", "potree": "lod", "lod": "potree copc golden", "knn": "normals npz outliers", "normals": "outliers density",
        "planes": "", "core": "cloud pool kept subset golden las ply", "gen": "planes", "cli": "usage help info convert lod paths",
        "rows": "ply pcd ptx unite", "input": "inputs", "output": "convert permission disk", "writer": "convert laz", "reader": "laz convert",
        "formats": "convert info paths", "math": "eigen3 planes normals knn", "view": "view", "server": "view", "simd": "laz",
    }  # fmt: skip
    if path.stem in name or (words[-1] in name and words[0] in name):
        return 0
    for rank, w in enumerate(words[:3]):
        if re.search(rf"(^|_){w}", name):
            return 1 + rank
    for w in words:
        if any(re.search(rf"(^|_){f}", name) for f in families.get(w, "").split()):
            return 5
    return 6 if name == "golden" or (file.startswith("cli/") and test["name"].startswith("cli_")) else 9


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))


def run_test(test, build, folder, limit):
    """None if it passes (or is skipped), otherwise why not."""
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    scratch = folder / "tmp" / test["name"]
    scratch.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ, MOTE_TEST_FEW="1", MOTE_GOLDEN_THREADS="7 1", TMPDIR=str(scratch))
    for entry in properties.get("ENVIRONMENT", []):
        env.update([entry.split("=", 1)])
    command = list(test["command"])
    if build != BUILD:
        # before what the caller has there: a library that is not found would fail every test
        env["LD_LIBRARY_PATH"] = ":".join([str(build), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
        command = [str(build / "mote") if c == str(BUILD / "mote") and (build / "mote").exists() else c for c in command]
        own = build / os.path.basename(command[0])
        command[0] = str(own) if own.is_file() and os.access(own, os.X_OK) else command[0]
    process = subprocess.Popen(command, cwd=properties.get("WORKING_DIRECTORY"), env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=limits)  # fmt: skip
    why = None
    try:
        code = process.wait(timeout=limit)
        if code not in (0, properties.get("SKIP_RETURN_CODE", 0)):
            why = f"exit code {code}"
    except subprocess.TimeoutExpired:
        why = f"no end after {limit} s"
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    subprocess.run(["chmod", "-R", "u+rwx", str(scratch)], stderr=subprocess.DEVNULL)
    shutil.rmtree(scratch, ignore_errors=True)
    return why


OF_TESTS = re.compile(r"tests/CMakeFiles/(\w+_test|\w+_fuzz|mote_reference)\.dir")


def compile_changed(base, place, folder, target):
    """Compiles the object `target` with the change. Returns its path, or None if the compiler refuses."""
    words, output = list(base.compile[target]), str(folder / target.replace("/", "_"))
    words[words.index("-o") + 1] = output
    source = words.index("-c") + 1
    if words[source] == str(TREE / place.file):
        words[source] = str(folder / place.file)
        words.insert(1, "-I" + str((TREE / place.file).parent))
    for option in ("-MF", "-MT"):
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    words = [w for w in words if w not in ("-MD", "-Werror")]
    for folder_name in ("cli", "src"):
        words.insert(1, f"-I{folder / folder_name}")
    done = subprocess.run([*words, "-w"], cwd=BUILD, stderr=subprocess.DEVNULL)
    return output if done.returncode == 0 else None


def link_again(base, made, folder, wanted):
    """Links the programs of tests whose link command `wanted` accepts, with the objects made; their names."""
    listing = run(["ninja", "-C", str(BUILD), "-t", "commands", "all"], capture_output=True).stdout
    names = set()
    for part in (p for line in listing.split("\n") for p in line.split("&&") if " -o tests/" in p and " -c " not in p):
        words = shlex.split(part)
        if not wanted(words):
            continue
        at = words.index("-o") + 1
        name = os.path.basename(words[at])
        words = [made.get(w, w) for w in words]
        words[at] = str(folder / name)
        if "libmote_command_parts.a" in part:
            words[at + 1 : at + 1] = [o for t, o in made.items() if "mote_command_parts.dir" in t]
        if subprocess.run(words, cwd=BUILD, stderr=subprocess.DEVNULL).returncode == 0:
            names.add(name)
    return names


def rebuild_tests(base, place, folder):
    """A test of inline functions includes the changed header: it is built with the change, too. Their names."""
    made = {}
    for target in sorted(base.includes[place.file]):
        if OF_TESTS.search(target) and "/mote_reference.dir/" not in target:
            made[target] = compile_changed(base, place, folder, target)
    made = {t: o for t, o in made.items() if o is not None}
    return link_again(base, made, folder, lambda words: any(w in made for w in words)) if made else set()


def build_change(base, place, folder):
    """Compiles what the change touches and links it; False if the compiler refuses."""
    changed = folder / place.file
    changed.parent.mkdir(parents=True, exist_ok=True)
    text = (TREE / place.file).read_text()
    changed.write_text(text[: place.begin] + place.after + text[place.end :])
    made = {}
    for target in sorted(base.includes[place.file]):
        if OF_TESTS.search(target):
            continue  # at first, tests that include a changed header keep what they had: they are to judge
        made[target] = compile_changed(base, place, folder, target)
        if made[target] is None:
            return False
    for words, output in ((base.library, "libmote_whole"), (base.command, "mote")):
        link = [made.get(w, w) for w in words]
        if link == words:
            continue
        at = link.index("-o") + 1
        link[at] = str(folder / os.path.basename(link[at]))
        if subprocess.run(link, cwd=BUILD, stderr=subprocess.DEVNULL).returncode != 0:
            return False
    parts = {t: o for t, o in made.items() if "mote_command_parts.dir" in t}
    if parts:
        link_again(base, parts, folder, lambda words: any(w.endswith("libmote_command_parts.a") for w in words))
    return True


def try_change(base, place, number, options):
    """("killed", test), ("refused", "") or ("lived", "")."""
    folder = WORK / f"change_{number}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        if not build_change(base, place, folder):
            return "refused", ""
        tests = sorted(base.tests, key=lambda t: (near(t, place.file), t["name"].startswith(("cli_bench", "cli_inter"))))
        for test in tests:
            if options.near and near(test, place.file) >= 9:
                break
            why = run_test(test, folder, folder, options.limit)
            if why is not None and base.passes_unchanged(test, options.limit):
                return "killed", f"{test['name']}: {why}"
        rebuilt = rebuild_tests(base, place, folder) if place.file.endswith(".h") else set()
        for test in (t for t in tests if os.path.basename(t["command"][0]) in rebuilt):
            why = run_test(test, folder, folder, options.limit)
            if why is not None and base.passes_unchanged(test, options.limit):
                return "killed", f"{test['name']}, built with the change: {why}"
        return "lived", ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def known_equivalents():
    """Rows FILE | BEFORE | AFTER | REASON; those whose code is no longer there are named."""
    known = {}
    for line in EQUIVALENT.read_text().split("\n") if EQUIVALENT.exists() else []:
        if line.strip() and not line.startswith("#"):
            cells = [c.strip() for c in line.split(" ¦ ")]
            known[(cells[0], cells[1], cells[2])] = cells[3]
    return known


def main():
    parser = argparse.ArgumentParser(prog="tests/mutants.sh")
    parser.add_argument("count", type=int, metavar="N")
    parser.add_argument("seed", metavar="SEED")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=60, help="seconds that a test may take")
    parser.add_argument("--only", default="")
    parser.add_argument("--near", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    copy_tree()
    base = Base(options.jobs)
    places = [p for p in find_places(base.files()) if re.search(options.only, str(p))]
    chance = random.Random(options.seed)
    places.sort(key=lambda p: -(chance.random() ** (1 / p.weight)))  # N of them without replacement, by weight
    chosen, known = places[: options.count], known_equivalents()
    print(f"mutants: {len(places)} places in {len(base.files())} files; {len(chosen)} of them by seed {options.seed}", flush=True)
    if options.list:
        for p in chosen:
            print(p)
        return 0
    results, start = {"killed": [], "refused": [], "lived": [], "equivalent": []}, time.time()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {}
        for number, place in enumerate(chosen):
            if place.key() in known:
                results["equivalent"].append(place)
            else:
                waiting[pool.submit(try_change, base, place, number, options)] = place
        for done in concurrent.futures.as_completed(waiting):
            verdict, why = done.result()
            results[verdict].append(waiting[done])
            print(f"{verdict:8} {waiting[done]}{'  (' + why + ')' if why else ''}", flush=True)
    lived = sorted(results["lived"], key=lambda p: (p.file, p.line))
    print(f"\nmutants: seed {options.seed}: {len(results['killed'])} killed, {len(results['refused'])} did not compile, "
          f"{len(results['equivalent'])} known to change nothing, {len(lived)} lived; {time.time() - start:.0f} s")  # fmt: skip
    for place in lived:
        print(place)
    return 0 if 100 * len(lived) <= 3 * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
