"""The vocabulary that goes over the wire: each operation once, for whoever serves or calls it."""

from .operation import Asked, Need, Nothing, Operation, Verb

__all__ = ["Asked", "Need", "Nothing", "Operation", "Verb"]
