"""Proof: signed heads of a graph's log, proofs against them, verification, and exports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from tiers.errors import Conflict, CorruptRecord, NotFound, UsageError
from tiers.evidence import ChainedAudit
from tiers.history.chain import FIRST_PREVIOUS_HASH
from tiers.history.differences import differences
from tiers.history.export import ExportSeal, ExportWriter
from tiers.history.heads import signed_head
from tiers.history.merkle import (
    Frontier,
    consistency_proof,
    inclusion_proof,
    root_of,
    verify_inclusion,
)
from tiers.history.signing import SigningKey
from tiers.history.verification import LogVerifier, Verification
from tiers.paging import pages_of
from tiers.records import (
    AuditFilter,
    BeliefEvent,
    BranchPoint,
    LoggedBelief,
    Scope,
    SignedHead,
    TrustRow,
)

from ..runtime import Runtime
from .future_events import future_events

__all__ = ["Exported", "Inclusion", "Verification", "Witness", "anchor_of"]

EVENTS_PER_PAGE = 1_000
HEADS_PER_PAGE = 1_000
EXPORT_ATTEMPTS_MAX = 5
READS_MAX = 3
SIGNING_ATTEMPTS_MAX = 20
PROBLEMS_MAX = 100
HEAD_BYTES_MAX = 1_000_000

R = TypeVar("R")
Pages: TypeAlias = AsyncGenerator[tuple[R, ...], None]


@dataclass(frozen=True)
class Inclusion:
    """The proof that an event is one of the first ``size`` of a log.

    Attributes:
        event: The event.
        size: How many events the tree has.
        root: Its root, in hexadecimal digits: that of a signed head of this size.
        proof: The audit path of RFC 9162, in hexadecimal digits.
    """

    event: BeliefEvent
    size: int
    root: str
    proof: tuple[str, ...]

    def holds(self) -> bool:
        """Whether the event, by its hash, is in the tree of this root."""
        path = tuple(bytes.fromhex(one) for one in self.proof)
        leaf = bytes.fromhex(self.event.hash)
        return verify_inclusion(leaf, self.event.seq - 1, self.size, path, bytes.fromhex(self.root))


@dataclass(frozen=True)
class Exported:
    """What an export has written.

    Attributes:
        path: The file.
        events: How many events are in it.
        redacted: Of these, how many whose content was destroyed.
        heads: How many signed heads.
        last_hash: The hash of the last event.
        key_id: Of the key that sealed it; ``None`` without one.
    """

    path: Path
    events: int
    redacted: int
    heads: int
    last_hash: str
    key_id: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**asdict(self), "path": str(self.path)}


class Witness:
    """Vouches for the belief log of one graph."""

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        self._runtime = runtime
        self._scope = scope

    async def sign(self) -> SignedHead:
        """Sign the log as it is now and keep the head; return the last one when nothing is new.

        Raises:
            ConfigError: There is no key.
            NotFound: The log is empty.
        """
        key = await self._runtime.signer.needed()
        size = await self._runtime.history.seq_at(self._scope)
        if not size:
            raise NotFound("event in the belief log of", self._scope.graph_id)
        for _ in range(SIGNING_ATTEMPTS_MAX):
            last = await self._runtime.heads.last_head(self._scope)
            if last is not None and (
                last.size > size or (last.size == size and last.public_key == key.public_hex)
            ):
                return last
            head = await self._head(size, is_kept=True)
            if head is None:
                raise NotFound("event in the belief log of", self._scope.graph_id)
            if await self._runtime.heads.put_head(self._scope, head):
                return head  # else somebody else was first
        raise Conflict(f"heads of {self._scope.graph_id}", "the next head", "others' heads")

    async def sign_if_grown(self) -> bool:
        """Sign the log if it has grown since it was last signed, and there is a key."""
        if await self._runtime.signer.key() is None:
            return False
        size = await self._runtime.history.seq_at(self._scope)
        last = await self._runtime.heads.last_head(self._scope)
        if not size or (last is not None and last.size >= size):
            return False
        await self.sign()
        return True

    async def branch_point(self, seq: int, turn: int) -> BranchPoint:
        """Return the reference by which a branch names the log's first ``seq`` events."""
        head = await self._head(seq) if seq else None
        if head is None:
            tree, last_hash = Frontier(), FIRST_PREVIOUS_HASH
            async with aclosing(self._events(0, seq)) as pages:
                async for page in pages:
                    for event in page:
                        tree.append(bytes.fromhex(event.hash))
                        last_hash = event.hash
            root = tree.root().hex()
        else:
            last_hash, root = head.last_hash, head.root
        return BranchPoint(
            graph_id=self._scope.graph_id,
            seq=seq,
            last_hash=last_hash,
            root=root,
            turn=turn,
            head=head,
        )

    async def prove(self, seq: int, size: int | None) -> Inclusion:
        """Return the proof that event ``seq`` is among the first ``size``.

        Raises:
            NotFound: It is not.
        """
        last = await self._runtime.history.seq_at(self._scope)
        size = last if size is None else size
        if not 1 <= seq <= size <= last:
            raise NotFound("event", f"{seq} of {size} in a log of {last}")
        (event,) = await self._runtime.history.events(self._scope, seq - 1, 1)
        leaves = await self._leaves(size)
        path, root = await asyncio.to_thread(_path_and_root, leaves, seq - 1)
        return Inclusion(event, size, root.hex(), tuple(one.hex() for one in path))

    async def prove_growth(self, old_size: int, size: int | None) -> tuple[str, ...]:
        """Return the proof that the first ``old_size`` events are the beginning of ``size``.

        Raises:
            NotFound: The log does not have as many.
        """
        last = await self._runtime.history.seq_at(self._scope)
        size = last if size is None else size
        if not 1 <= old_size <= size <= last:
            raise NotFound("events", f"{old_size} of {size} in a log of {last}")
        leaves = await self._leaves(size)
        path = await asyncio.to_thread(consistency_proof, leaves, old_size)
        return tuple(one.hex() for one in path)

    async def verify(self, *, public_key: str | None, anchor: SignedHead | None) -> Verification:
        """Check the log, and the stored projection and heads against it.

        When something was redacted while the log was read, it is read again. Events whose time lies
        in the future are told as warnings of a sound log: they are as they were made.
        """
        found = await self._verified_again(public_key, anchor)
        if not found.ok:
            return found
        ahead = await future_events(self._runtime, self._scope)
        return found if ahead is None else found.model_copy(update={"warnings": (str(ahead),)})

    async def _verified_again(
        self, public_key: str | None, anchor: SignedHead | None
    ) -> Verification:
        for _ in range(READS_MAX - 1):
            before = await self._redactions()
            found = await self._verified(public_key, anchor)
            if found.ok or await self._redactions() == before:
                return found
        return await self._verified(public_key, anchor)

    async def check_arrived(self) -> None:
        """Refuse a log, and what is stored of it, that somebody has put in and that do not fit.

        Whoever has signed it need not be known here.

        Raises:
            Conflict: They do not; says what is wrong first.
        """
        checker = LogVerifier(self._scope.tenant, self._scope.graph_id)
        await self._feed(checker)
        found = checker.result()
        if not found.ok:
            what = f"belief log of session graph {self._scope.graph_id!r}"
            raise Conflict(what, "beliefs that follow from it", str(found.problems[0]))

    async def _verified(self, public_key: str | None, anchor: SignedHead | None) -> Verification:
        rotations = await self._runtime.signer.rotations()
        checker = LogVerifier(
            self._scope.tenant,
            self._scope.graph_id,
            public_key=public_key or await self._first_key(),
            anchor=anchor,
            rotations=rotations,
            former_keys=self._runtime.settings.former_keys,
        )
        try:
            await self._feed(checker)
        except CorruptRecord as error:
            checker.add_problem(str(error))
        return checker.result()

    async def _feed(self, checker: LogVerifier) -> None:
        """Read everything that is verified, the marks of what there is first."""
        checker.add_marks(await self._runtime.evidence.marks(self._scope))
        await self._read_into(checker)
        if checker.is_whole:
            for problem in await self._unlike(checker):
                checker.add_problem(problem)
            for problem in await self._runtime.evidence.misfiled(self._scope):
                checker.add_problem(problem)

    async def _read_into(self, taking: LogVerifier | ExportWriter) -> None:
        """Read the log, its heads and what the audit feed says of it, page by page."""
        async with aclosing(self._logged()) as pages:
            async for page in pages:
                await asyncio.to_thread(taking.add_entries, page)
        async with aclosing(self._heads()) as pages_of_heads:
            async for heads in pages_of_heads:
                await asyncio.to_thread(taking.add_heads, heads)
        async with aclosing(self._audited()) as pages_of_audit:
            async for audited in pages_of_audit:
                await asyncio.to_thread(taking.add_audit, audited)

    async def export(self, path: Path) -> Exported:
        """Write the log, its heads and what vouches for its keys into one file.

        Raises:
            UsageError: The file cannot be written.
            Conflict: Beliefs were redacted while it was written, again and again.
        """
        key = await self._runtime.signer.key()
        await self.sign_if_grown()
        done = await self._written_again(path, key)
        return Exported(
            path=path,
            events=done.events,
            redacted=done.redacted,
            heads=done.heads,
            last_hash=done.last_hash,
            key_id=None if key is None else key.key_id,
        )

    async def _written_again(self, path: Path, key: SigningKey | None) -> ExportSeal:
        for _ in range(EXPORT_ATTEMPTS_MAX - 1):
            with suppress(Conflict):
                return await self._written(path, key)
        return await self._written(path, key)

    async def _written(self, path: Path, key: SigningKey | None) -> ExportSeal:
        owner = (self._scope.tenant, self._scope.graph_id)
        writer = ExportWriter(path, *owner, self._runtime.clock(), key)
        try:
            await asyncio.to_thread(writer.open)
            await self._read_into(writer)
            return await asyncio.to_thread(writer.finish, await self._runtime.signer.rotations())
        finally:
            await asyncio.to_thread(writer.close)

    async def _first_key(self) -> str | None:
        """Return the first public key that this installation has had."""
        rotations = await self._runtime.signer.rotations()
        if rotations:
            return rotations[0].from_key
        key = await self._runtime.signer.key()
        return None if key is None else key.public_hex

    async def _unlike(self, checker: LogVerifier) -> list[str]:
        """Return in what the stored projection differs from what the log comes to."""
        problems: list[str] = []
        fold, seen = checker.fold, 0
        read = partial(self._runtime.history.projected, self._scope)
        stored = pages_of(read, lambda row: row.belief.committed_seq, EVENTS_PER_PAGE)
        async with aclosing(stored) as pages:
            async for page in pages:
                seen += len(page)
                problems += await asyncio.to_thread(
                    lambda rows: list(differences(fold, rows)), page
                )
                if len(problems) >= PROBLEMS_MAX:
                    break
        if seen != len(fold.beliefs) and not problems:
            problems.append(f"{len(fold.beliefs)} beliefs in the log, {seen} are stored")
        rows: tuple[TrustRow, ...] = await self._runtime.history.trusts(self._scope)
        trusts = {(row.agent_id, row.topic): row.trust for row in rows}
        if trusts != fold.trust:
            problems.append("trust is stored unlike the log says")
        return problems[:PROBLEMS_MAX]

    async def _head(self, size: int, *, is_kept: bool = False) -> SignedHead | None:
        """Return a signed head of the first ``size`` events, not kept yet; ``None`` without a key.

        It goes on from the last head that is not longer.
        """
        key = await self._runtime.signer.key()
        if key is None:
            return None
        last = await self._runtime.heads.last_head(self._scope)
        head = last if last is not None and last.size <= size else None
        reached = await self._runtime.evidence.last_audited(self._scope) if is_kept else None
        audit = (0, "") if reached is None else (reached.seq, reached.hash)
        now = self._runtime.clock()

        def signed(before: SignedHead | None, page: tuple[BeliefEvent, ...]) -> SignedHead:
            return signed_head(before, page, key, now, kept=last, audit=audit, is_kept=is_kept)

        if head is not None and head.size == size:
            return await asyncio.to_thread(signed, head, ())
        async with aclosing(self._events(head.size if head else 0, size)) as pages:
            async for page in pages:
                head = await asyncio.to_thread(signed, head, page)
        return head

    async def _leaves(self, size: int) -> list[bytes]:
        leaves: list[bytes] = []
        async with aclosing(self._events(0, size)) as pages:
            async for page in pages:
                leaves += [bytes.fromhex(event.hash) for event in page]
        return leaves

    async def _events(self, after: int, until: int) -> Pages[BeliefEvent]:
        """Yield pages of events after one ``seq``, up to another."""
        while after < until:
            limit = min(EVENTS_PER_PAGE, until - after)
            page = await self._runtime.history.events(self._scope, after, limit)
            if not page:
                return
            yield page
            after = page[-1].seq

    async def _redactions(self) -> int | None:
        """Return how many redactions the audit feed has: no read across one is to be trusted.

        ``None`` if it cannot be read.
        """
        read = partial(self._runtime.log.audit, self._scope, only=AuditFilter(kinds=("redacted",)))
        found = 0
        try:
            async for page in pages_of(read, lambda event: event.seq, EVENTS_PER_PAGE):
                found += len(page)
        except CorruptRecord:
            return None  # the verification itself says so
        return found

    def _logged(self) -> Pages[LoggedBelief]:
        """Yield pages of the log to its end, which explains contents that are missing."""
        read = partial(self._runtime.history.logged, self._scope)
        return pages_of(read, lambda entry: entry.event.seq, EVENTS_PER_PAGE)

    def _audited(self) -> Pages[ChainedAudit]:
        read = partial(self._runtime.evidence.audited, self._scope)
        return pages_of(read, lambda event: event.seq, EVENTS_PER_PAGE)

    def _heads(self) -> Pages[SignedHead]:
        read = partial(self._runtime.heads.heads, self._scope)
        return pages_of(read, lambda head: head.size, HEADS_PER_PAGE)


def anchor_of(path: Path) -> SignedHead:
    """Return a head that was kept in a file.

    Raises:
        UsageError: It cannot be read, or holds none.
    """
    try:
        if path.stat().st_size > HEAD_BYTES_MAX:
            raise UsageError("anchor", str(path), "a file that holds one signed head")
        return SignedHead.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError("anchor", str(path), "a file that holds one signed head") from error


def _path_and_root(leaves: list[bytes], index: int) -> tuple[tuple[bytes, ...], bytes]:
    return inclusion_proof(leaves, index), root_of(leaves)
