#!/usr/bin/env bash
# The layers of ARCHITECTURE.md hold: a folder includes those below it, nothing includes or calls in a circle, plain C
# knows nothing of CUDA, the command nothing of the library's inside, and no product file knows the tests.
#   layers.sh SOURCES BUILD
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/layers.py" "$1" "$2"
