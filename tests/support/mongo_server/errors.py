"""What the stand-in answers when it does not do what was asked: MongoDB's codes and names."""

from __future__ import annotations

from typing import Any, NoReturn

CODE_NAMES = {
    2: "BadValue",
    6: "HostUnreachable",
    7: "HostNotFound",
    8: "UnknownError",
    9: "FailedToParse",
    14: "TypeMismatch",
    20: "IllegalOperation",
    26: "NamespaceNotFound",
    27: "IndexNotFound",
    40: "ConflictingUpdateOperators",
    43: "CursorNotFound",
    48: "NamespaceExists",
    50: "MaxTimeMSExpired",
    59: "CommandNotFound",
    66: "ImmutableField",
    67: "CannotCreateIndex",
    68: "IndexAlreadyExists",
    72: "InvalidOptions",
    85: "IndexOptionsConflict",
    86: "IndexKeySpecsConflict",
    89: "NetworkTimeout",
    91: "ShutdownInProgress",
    112: "WriteConflict",
    117: "ConflictingOperationInProgress",
    121: "DocumentValidationFailure",
    171: "CannotIndexParallelArrays",
    189: "PrimarySteppedDown",
    225: "TransactionTooOld",
    238: "NotImplemented",
    251: "NoSuchTransaction",
    256: "TransactionCommitted",
    262: "ExceededTimeLimit",
    263: "OperationNotSupportedInTransaction",
    8000: "AtlasError",
    9001: "SocketException",
    10107: "NotWritablePrimary",
    10334: "BSONObjectTooLarge",
    11000: "DuplicateKey",
    11600: "InterruptedAtShutdown",
    11602: "InterruptedDueToReplStateChange",
    13435: "NotPrimaryNoSecondaryOk",
    13436: "NotPrimaryOrSecondary",
    31082: "SearchNotEnabled",
}
RETRYABLE_WRITE_CODES = frozenset(
    {6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436}
)  # the codes a server itself marks as retryable on a numbered write
TRANSIENT = "TransientTransactionError"


class CommandError(Exception):
    """A command, or one statement of it, is answered with an error.

    Attributes:
        code: MongoDB's number.
        errmsg: What the driver shows.
        labels: Error labels of the reply.
        details: Further fields of the error, e.g. ``keyPattern``.
    """

    def __init__(
        self,
        code: int,
        errmsg: str,
        *,
        labels: tuple[str, ...] = (),
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {errmsg}")
        self.code = code
        self.errmsg = errmsg
        self.labels = labels
        self.details = details or {}

    def reply(self) -> dict[str, Any]:
        """Return the answer to a command that failed as a whole."""
        reply = {"ok": 0.0, "errmsg": self.errmsg, "code": self.code, **self.details}
        reply["codeName"] = CODE_NAMES.get(self.code, f"Location{self.code}")
        if self.labels:
            reply["errorLabels"] = list(self.labels)
        return reply

    def write_error(self, index: int) -> dict[str, Any]:
        """Return the entry of ``writeErrors`` for the statement at ``index``."""
        return {"index": index, "code": self.code, "errmsg": self.errmsg, **self.details}


class Blocked(Exception):
    """What is to be written is held by an open transaction."""


def refuse(what: str) -> NoReturn:
    """Answer that MongoDB may know this, but the stand-in does not."""
    raise CommandError(238, f"the stand-in for MongoDB does not implement {what}")


def bad_value(message: str) -> NoReturn:
    """Answer that an argument is not acceptable."""
    raise CommandError(2, message)


def only(known: frozenset[str], given: dict[str, Any], where: str) -> None:
    """Refuse a document with a field that is not ``known``."""
    unknown = [field for field in given if field not in known]
    if unknown:
        refuse(f"{where}: field {unknown[0]!r}")
