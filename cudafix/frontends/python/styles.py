"""How a file of Python calls the API: the module's own name for the bindings, its check function, its style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cudafix.findings import Edit

RUNTIME = "cuda.bindings.runtime"
DRIVER = "cuda.bindings.driver"
CUPY = "cupy.cuda.runtime"
NEW_DRIVER = "cuda_driver"
"""What an import that is added calls the driver bindings."""


@dataclass(slots=True)
class Style:
    """One way in which a file calls the API: `wrapper(module.cudaFree(p))`.

    `api` is the binding module, `module` its name in the file, `wrapper` the check function ("" where there is none).
    `unwraps`: the check returns a single result bare. `uses` counts how often the file does it.
    """

    api: str
    module: str
    wrapper: str
    unwraps: bool
    uses: int = 0

    def call(self, name: str, arguments: str) -> str:
        """A call as a statement."""
        return self._checked(f"{self.module}.{self._spelled(name)}({arguments})")

    def result(self, name: str, arguments: str) -> str:
        """A call as an expression: its one result."""
        call = f"{self.module}.{self._spelled(name)}({arguments})"
        if self.api == CUPY:
            return call
        return f"{self.wrapper}({call})" if self.wrapper and self.unwraps else f"{call}[1]"

    def constant(self, name: str) -> str:
        return f"{self.module}.{name}"

    def _checked(self, call: str) -> str:
        return f"{self.wrapper}({call})" if self.wrapper else call

    def _spelled(self, name: str) -> str:
        """The name of a runtime function (without `cuda`) in this module."""
        if self.api == CUPY:
            return name[0].lower() + name[1:]
        return f"{'cu' if self.api == DRIVER else 'cuda'}{name}"


@dataclass(frozen=True, slots=True)
class Bindings:
    """How one file calls the API, by the text in front of a call's arguments. `driver` is its name for the driver
    bindings, "" if it imports none; `import_driver` then brings one in, beside the import of the runtime bindings.
    """

    styles: Mapping[str, Style]
    driver: str
    import_driver: Edit | None
