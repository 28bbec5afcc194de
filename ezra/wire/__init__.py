"""The vocabulary that goes over the wire: each operation once, for whoever serves or calls it."""

from .operation import NEEDS, Asked, Need, Nothing, Operation

__all__ = ["NEEDS", "Asked", "Need", "Nothing", "Operation"]
