"""A job without a snippet: a process that never ran an agent's code, and so can be trusted, checks what another
process handed over."""

from types import ModuleType
from typing import Any

from _countersign import inputs, spec
from _countersign.contracts import Contract
from _countersign.errors import Refused


def run(setup: spec.Setup, libraries: dict[str, ModuleType], contract: Contract) -> Any:
    """Returns the contract's certified result. The last input is what was handed over."""
    try:
        *given, handed = spec.read_job(setup).inputs
        if spec.digest_of(handed.fd) != handed.sha256:
            raise spec.Mismatch("what was handed over is not what arrived")
        values = inputs.load(given, libraries.get("pandas"))
    except (spec.Mismatch, ValueError) as error:
        raise Refused("SandboxError", str(error)) from None
    return contract.certify(values, spec.read_all(handed.fd))
