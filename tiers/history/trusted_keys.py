"""Which keys a verification trusts, and what to say about the others. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ..errors import IntegrityError
from .findings import Problems
from .rotation import Rotation, TrustedKey, check_rotations, trusted_keys
from .signing import key_id


class Trust:
    """The keys that count, beginning with one that was known before.

    Args:
        public_key: That one; ``None`` where none was given.
        rotations: Each with its line, by which keys took each other's place.
        problems: Where to tell what is wrong with them.
        former_keys: Keys of other homes that count as well, at any time: the log came from there.
        is_complete: Whether no other rotation may have been lost.

    Attributes:
        is_given: Whether there is a key to trust.
        key_ids: Of keys that have signed something, in the order in which they were seen.
    """

    def __init__(
        self,
        public_key: str | None,
        rotations: Sequence[tuple[int, Rotation]],
        problems: Problems,
        *,
        former_keys: Iterable[str] = (),
        is_complete: bool = True,
    ) -> None:
        chain = [rotation for _, rotation in rotations]
        wrong = check_rotations(chain)
        for index, problem in wrong.items():
            problems.add(f"the rotation is not right: {problem}", line=rotations[index][0])
        self.is_given = public_key is not None
        self.key_ids: list[str] = []
        self._is_broken = bool(wrong) or not is_complete
        self._known: set[str] = {one.to_key for one in chain} | {one.from_key for one in chain}
        self._trusted: dict[str, TrustedKey] = {}
        if public_key is None:
            return
        self._trusted = {public_key: TrustedKey(public_key)}
        if not self._is_broken:
            try:
                keys = trusted_keys(public_key, chain)
            except IntegrityError as error:
                problems.add(f"the rotations say: {error.reason}", line=rotations[0][0])
            else:
                self._trusted = {one.public_key: one for one in keys}
        for former in former_keys:
            self._trusted.setdefault(former, TrustedKey(former))

    def note(self, public_key: str) -> None:
        """Take in that a key has signed something that verifies."""
        name = key_id(public_key)
        if name not in self.key_ids:
            self.key_ids.append(name)

    def counts(self, public_key: str, moment: datetime) -> bool:
        """Return whether what a key signs at a moment counts."""
        key = self._trusted.get(public_key)
        return key is not None and key.counts_at(moment)

    def refusal(self, public_key: str, moment: datetime, *, is_seal: bool = False) -> str | None:
        """Return why a signature is wrong to be there, although it verifies; else ``None``.

        A key from before the one that was given has its place in the chain of keys; heads that it
        signed do not count, which is not wrong, but a seal must count. Where the chain is broken,
        which was told, nothing can be told of other keys.
        """
        if not self.is_given or self._is_broken or self.counts(public_key, moment):
            return None
        name = key_id(public_key)
        if public_key in self._trusted:
            return f"it is signed by key {name} at a time when that key did not count"
        if public_key in self._known and not is_seal:
            return None
        return (
            f"it is signed by key {name}, which is not to be trusted: a key of another home, or "
            "somebody's who forged it. If the log was moved from a home whose 'ezra audit key' "
            f"is {public_key}, trust it by EZRA_FORMER_KEYS or --former-key"
        )
