"""The contract `script`: plain Python; stdout and files are all it leaves."""

from _countersign.contracts.base import Contract


class Script(Contract):
    """Nothing beside what every contract does."""


CONTRACT = Script
