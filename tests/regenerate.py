"""`python -m tests.regenerate [CASE …]`: write `after/` of the named fixtures (all by default) as cudafix does now.

Never writes wants or `case.toml`: what must be found is decided by people. A name selects every case that contains it.
"""

from __future__ import annotations

import sys

from tests.cases import cases
from tests.fixtures import write_after


def main(names: list[str]) -> int:
    chosen = [case for case in cases() if not names or any(name in case.id for name in names)]
    if not chosen:
        print("no such fixture", file=sys.stderr)
        return 2
    changed = [case.id for case in chosen if write_after(case)]
    print("\n".join(f"wrote {name}/after" for name in changed) or "nothing to write")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
