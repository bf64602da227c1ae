"""A job without a snippet: what another process handed over is looked at by one that can be
believed, because nothing of an agent's ever ran in it."""

from types import ModuleType
from typing import Any

from _countersign import inputs, spec
from _countersign.contracts import Contract
from _countersign.errors import Refused


def run(setup: spec.Setup, libraries: dict[str, ModuleType], contract: Contract) -> Any:
    """What the contract certifies. The last input is what was handed over."""
    try:
        *given, handed = spec.read_job(setup).inputs
        if spec.digest_of(handed.fd) != handed.sha256:
            raise spec.Mismatch("what was handed over is not what arrived")
        values = inputs.load(given, libraries.get("pandas"))
    except (spec.Mismatch, ValueError) as error:
        raise Refused("SandboxError", str(error)) from None
    return contract.certify(values, spec.read_all(handed.fd))
