# The front door. Everything is built by CMake; see CMakePresets.json.
#   make          build/release/mote
#   make test     for the work in between: unit, reference, command-line, golden and fuzz-corpus tests on the CPU
#   make check    everything that continuous integration runs: also sanitizers, the emulated GPU, analyser, browser
#                 (CONTRIBUTING.md says how long that takes)
#   make demo     a city in the browser         make bench    the benchmarks
#   make deps     install what is needed        make format   clang-format on all sources
#   make viewer   the web page                  make wheel    mote for Python, into dist/      make clean
#   make deb      packages for Debian, into dist/   make docs    the site of the documentation, into build/docs/html
#   make tarball  the command for any Linux with glibc 2.28 (2018) or later, into dist/
# Variables: IN=scan.las (demo), POINTS=5M (demo), PORT=8080 (demo), NO_VIEW=1 (demo stops before serving), JOBS=n,
#            CMAKE_FLAGS=-D… (test, check, deb)

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
POINTS ?= 5M
PORT ?=
PYTHON ?= python3
MOTE := build/release/mote
DEMO_MOTE := build/native/mote
VIEWER_INPUTS := $(wildcard viewer/package.json viewer/package-lock.json viewer/*.mjs viewer/*.js viewer/*.html \
                            viewer/src/* viewer/src/*/* viewer/src/*/*/* viewer/wasm/* src/io/laz/* src/measure/* src/shapes/* \
                            cli/render/up_rule.*)

.PHONY: all deps viewer demo test check bench wheel tarball deb docs clean format

all: build/release/build.ninja
	cmake --build build/release --target mote_command mote_shared -j $(JOBS)

# What failed halfway is made again.
.DELETE_ON_ERROR:

build/%/build.ninja: CMakeLists.txt CMakePresets.json
	cmake --preset $*

deps:
	cmake/install_deps.sh

# The page is built once, and again when a source of it is newer.
viewer: viewer/dist/index.html

viewer/dist/index.html: $(VIEWER_INPUTS)
ifneq ($(wildcard viewer/package.json),)
	cd viewer && npm run build
else
	@echo "viewer: there is no viewer/package.json here" && exit 1
endif

# For the GPU of this machine, or for none: making the kernels for every GPU, as make all does, takes minutes.
demo: deps viewer
	cmake --preset native
	cmake --build build/native --target mote_command -j $(JOBS)
	mkdir -p demo
ifdef IN
	$(DEMO_MOTE) lod $(IN) -o demo/demo.mote
else
	test -s demo/city-$(POINTS).las || $(DEMO_MOTE) gen city -o demo/city-$(POINTS).las -n $(POINTS)
	$(DEMO_MOTE) lod demo/city-$(POINTS).las -o demo/demo.mote
endif
ifndef NO_VIEW
	$(DEMO_MOTE) view demo/demo.mote $(if $(PORT),--port $(PORT))
endif

# Fewer cases of the same kinds (MOTE_TEST_FEW), and no packages: that is for make check. Some tests wait more than they
# work: one more runs beside as many as there are cores.
test:
	cmake --preset test $(CMAKE_FLAGS)
	cmake --build build/test -j $(JOBS)
	MOTE_TEST_FEW=1 tests/run.py build/test --output-on-failure --no-tests=error -LE packages -j $$(($(JOBS) + 1))

# Everything is a test of ctest, so the last line is its summary; a test that cannot run here says why and is listed as
# skipped. Labels: ctest --test-dir build/ci -L cli (golden, check). The corpora of the fuzzers, scripts about what is
# broken (label watched) and the kernels on the emulated GPU run once, under the sanitizers (check_sanitizers). One more
# runs beside as many as there are cores: browsers and servers wait. MOTE_TEST_ALL=1 tries all of which a commit takes a
# share (CONTRIBUTING.md).
check: deps
	cmake --preset ci -DMOTE_CHECKS=ON $(CMAKE_FLAGS)
	cmake --build build/ci -j $(JOBS)
	cmake --preset asan-ubsan $(CMAKE_FLAGS)
	cmake --build build/asan-ubsan -j $(JOBS)
	tests/run.py build/ci --with build/asan-ubsan --output-on-failure -LE watched -j $$(($(JOBS) + 1))

bench: all
	$(MOTE) bench order
	$(MOTE) bench lod

# PYTHON runs the script, and needs nothing beside itself.
wheel: build/release/build.ninja
	cmake --build build/release --target mote_shared -j $(JOBS)
	$(PYTHON) python/wheel.py build/release dist

# With the page of mote view where it was built (make viewer).
tarball: all
	$(PYTHON) python/tarball.py build/release dist

# In a copy of the sources, with the flags of Debian; tests/programs/deb.sh tries what comes of it.
deb:
	JOBS=$(JOBS) cmake/deb.sh dist $(CMAKE_FLAGS)

# Pages of docs/, and what is made of the headers, the docstrings, the tables of options and the benchmarks' history. It
# says what it lacks.
docs: all
	$(PYTHON) docs/site/build.py build/release build/docs

format:
	git ls-files '*.c' '*.h' '*.cu' | xargs clang-format -i

clean:
	rm -rf build demo dist viewer/dist
