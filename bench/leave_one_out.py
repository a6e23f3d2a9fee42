#!/usr/bin/env python3
"""Tells which numbers of the search for planes decide anything: each is changed alone, the scenes of planes_scenes_test
are tried anew, and what changes is told beside what changes by chance.

    bench/leave_one_out.py BUILD [FOLDER_OR_FILE ...] [--factors 0.7,1.4] [--set NAME=VALUE ...]
                           [--scenes 5-6:15000:0-16,18-38] [--against FILE]

BUILD is a built folder of preset test. Without --set each "#define NAME number" of the files is tried with each factor;
FILE:NAME=VALUE tries that value alone (a rule is switched off by a limit that nothing reaches), and several joined by
commas are tried at once. --scenes: seeds, points and kinds, as `planes_scenes_test table` takes them. The sources are
left as they are: only the files that see a number are compiled anew, in a folder of their own.

A line: what was changed, planes found, false and in pieces, each beside what it was, the scenes that are better, worse
and otherwise different, and the seconds of the processor. "same": no scene differs. Where better and worse are about
even, the number decides nothing: the sign test's chance is printed."""
import argparse
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile

DEFINE = re.compile(r'^(#define ([A-Z][A-Z_0-9]*) +(?:\\\n +)?)([0-9][0-9.]*(?:e-?[0-9]+)?)(u|f)?(?= |$)', re.M)
SCENE = re.compile(r' seed.* (\d+) planes +(\d+) found.*?(\d+) false +(\d+) split.* ([\d.]+) s')
KIND = re.compile(r'(\S.*?) +\d+ planes +\d+ found')


def sources(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, _, files in os.walk(path):
            for name in sorted(files):
                if name.endswith(('.c', '.h')):
                    yield os.path.join(folder, name)


def numbers(paths):
    for path in sorted(sources(paths)):
        with open(path, encoding='utf-8') as file:
            for match in DEFINE.finditer(file.read()):
                yield path, match.group(2), match.group(3), match.group(4) or ''


def scaled(value, suffix, factor):
    if suffix == 'u' or re.fullmatch(r'[0-9]+', value):
        return str(max(round(int(value) * factor), 0)) + suffix
    return repr(float(value) * factor) + suffix


class Bench:
    """Builds planes_scenes_test with some numbers changed, and runs it."""

    def __init__(self, build, scenes):
        self.build = os.path.abspath(build)
        self.seeds, self.points, kinds = scenes.split(':')
        self.kinds = kinds.split(',')
        with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
            entries = json.load(file)
        self.entries = {e['file']: e for e in entries if '/src/planes/' in e['file'] and 'mote_objects.dir' in e['command']}
        commands = subprocess.run(['ninja', '-C', self.build, '-t', 'commands', 'planes_scenes_test'],
                                  capture_output=True, text=True, check=True).stdout.splitlines()
        self.link = next(c for c in reversed(commands) if '-o tests/planes_scenes_test ' in c)
        self.link = self.link.replace(': && ', '').replace(' && :', '')

    def compile(self, folder, changes):
        """changes: {path: text}. Returns the objects."""
        headers = [p for p in changes if p.endswith('.h')]
        objects = []
        for path, text in changes.items():
            if path in headers:
                inside = os.path.relpath(path, os.path.join(path[:path.rindex('/src/planes/')], 'src'))
                target = os.path.join(folder, 'overlay', inside)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, 'w', encoding='utf-8') as file:
                    file.write(text)
        for path, entry in self.entries.items():
            if path not in changes and not headers:
                continue
            text = changes.get(path)
            if text is None:
                with open(path, encoding='utf-8') as file:
                    text = file.read()
            source = os.path.join(folder, os.path.basename(path))
            with open(source, 'w', encoding='utf-8') as file:
                file.write(text)
            words = shlex.split(entry['command'])
            at = words.index('-o')
            target = source + '.o'
            words[at + 1] = target
            words = [source if w == path else w for w in words if w != '-Werror']
            words[1:1] = ['-I' + os.path.join(folder, 'overlay'), '-I' + os.path.dirname(path), '-w']
            subprocess.run(words, cwd=entry['directory'], check=True)
            objects.append(target)
        return objects

    def run(self, changes, limit):
        """The planes, found, false and split of each scene, and seconds; None: it does not end, or not well."""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, 'scenes')
            try:
                objects = ' '.join(self.compile(folder, changes))
                link = self.link.replace('-o tests/planes_scenes_test ', f'{objects} -o {program} ')
                subprocess.run(link, shell=True, cwd=self.build, check=True)
                scenes, seconds = {}, 0
                for kinds in self.kinds:
                    out = subprocess.run([program, 'table', self.seeds, self.points, kinds, 'v'], capture_output=True,
                                         text=True, check=True, timeout=limit).stdout
                    waiting = []
                    for line in out.splitlines():
                        match = SCENE.match(line)
                        if match:
                            waiting.append((tuple(int(match.group(k)) for k in range(1, 5)), float(match.group(5))))
                            continue
                        kind = KIND.match(line)
                        for number, (counts, taken) in enumerate(waiting if kind else []):
                            scenes[kind.group(1), number] = counts
                            seconds += taken
                        waiting = [] if kind else waiting
                return scenes, seconds
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                return None, 0


def sign_chance(better, worse):
    """How likely so uneven a count, or more so, is by chance."""
    n, least = better + worse, min(better, worse)
    if n == 0:
        return 1.0
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(least + 1)) / 2 ** n)


def told(name, base, now, seconds):
    if now is None:
        return f'{name:48s} does not end, or fails'
    if now == base:
        return f'{name:48s} same  {seconds:.1f} s'
    sums = [[sum(counts[k] for counts in result.values()) for k in range(1, 4)] for result in (base, now)]
    worth = {scene: now[scene][1] - now[scene][2] - now[scene][3] - (c[1] - c[2] - c[3]) for scene, c in base.items()}
    better, worse = sum(w > 0 for w in worth.values()), sum(w < 0 for w in worth.values())
    other = sum(now[scene] != base[scene] and worth[scene] == 0 for scene in base)
    kinds = {}
    for (kind, _), w in worth.items():
        kinds[kind] = kinds.get(kind, 0) + w
    most = sorted((k for k in kinds.items() if k[1] != 0), key=lambda k: -abs(k[1]))[:5]
    return (f'{name:48s} {sums[1][0] - sums[0][0]:+5d} found {sums[1][1] - sums[0][1]:+4d} false '
            f'{sums[1][2] - sums[0][2]:+4d} split; {better} better {worse} worse {other} other, chance '
            f'{sign_chance(better, worse):.2f}  {seconds:.1f} s  ' + ' '.join(f'{k} {w:+d}' for k, w in most))


def change(texts, path, name, value):
    if path not in texts:
        with open(path, encoding='utf-8') as file:
            texts[path] = file.read()
    texts[path], count = re.subn(rf'^(#define {name} +(?:\\\n +)?)\S+', rf'\g<1>{value}', texts[path], flags=re.M)
    if count != 1:
        sys.exit(f'{path}: no "#define {name}"')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('paths', nargs='*', default=[])
    parser.add_argument('--factors', default='0.7,1.4')
    parser.add_argument('--set', nargs='+', default=[])
    parser.add_argument('--scenes', default='5-6:15000:0-16,18-38')
    args = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [os.path.abspath(p) for p in args.paths or [os.path.join(root, 'src/planes/local')]]
    os.environ['OMP_NUM_THREADS'] = '1'
    bench = Bench(args.build, args.scenes)
    base, seconds = bench.run({}, None)
    if base is None:
        sys.exit('the scenes cannot be tried')
    sums = [sum(counts[k] for counts in base.values()) for k in range(4)]
    print(f'{sums[1]} of {sums[0]} planes found, {sums[2]} false, {sums[3]} split, {seconds:.1f} s', flush=True)
    tries = []
    for path, name, value, suffix in numbers(paths) if not args.set else ():
        for factor in args.factors.split(','):
            to = scaled(value, suffix, float(factor))
            tries.append((f'{os.path.basename(path)} {name} {value} -> {to}', [(path, name, to)]))
    folders = [p if os.path.isdir(p) else os.path.dirname(p) for p in paths]
    for many in args.set:
        changes = []
        for one in many.split(','):
            file, _, rest = one.partition(':')
            name, _, to = rest.partition('=')
            changes.append((next(p for f in folders for p in sources([f]) if os.path.basename(p) == file), name, to))
        tries.append((many, changes))
    for name, changes in tries:
        texts = {}
        for path, define, to in changes:
            change(texts, path, define, to)
        print(told(name, base, *bench.run(texts, 20 * seconds + 60)), flush=True)


if __name__ == '__main__':
    main()
