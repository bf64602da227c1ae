"""The contracts: what a snippet is given and what it must leave. One file each."""

from importlib import import_module

from _countersign.contracts.base import Contract


def of(name: str) -> type[Contract]:
    """The class of the contract with this name."""
    found: type[Contract] = import_module(f"_countersign.contracts.{name}").CONTRACT
    return found
