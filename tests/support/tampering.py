"""Every way of tampering with the export of a belief log, and whether it is found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tiers.history.chain import canonical
from tiers.history.heads import signed_bytes
from tiers.history.rotation import handed_over
from tiers.history.verification import Verification, verify_export

from .belief_exports import (
    FIRST_KEY,
    FOREIGN_KEY,
    SECOND_KEY,
    Sample,
    claiming,
    file_of,
    heads_of,
    joined,
    rechained,
    resealed,
)


class Tampered(NamedTuple):
    """What a mutation made, and how it is to be verified.

    Attributes:
        kind: What was done.
        data: The file.
        line: The one that was touched, where it is to be named; 0 where any may be.
        needs: What it takes to find it: ``nothing``, a ``key``, or an ``anchor``.
    """

    kind: str
    data: bytes
    line: int = 0
    needs: str = "nothing"


@dataclass
class Tally:
    """What came of many mutations.

    Attributes:
        kinds: How many there were of each kind.
        touched: How many of them have one line to be named.
        missed: Which were accepted.
        elsewhere: Which were found, with another line named first.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    touched: int = 0
    missed: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


def tally(count: int, seed: int, sample: Sample, foreign: Sample, path: Path) -> Tally:
    """Tamper with a sample as often as asked, each time anew, and verify what comes of it."""
    random, found = Random(seed), Tally()
    while found.kinds.total() < count:
        one = random.choice(WAYS)(sample, foreign, random)
        if one.data == sample.data:
            continue
        found.kinds[one.kind] += 1
        found.touched += one.line > 0
        verification = _verified(one, sample, path, random)
        if verification.ok:
            found.missed.append(f"{one.kind} (needs {one.needs})")
        elif one.line and verification.problems[0].line != one.line:
            told = [str(problem) for problem in verification.problems]
            found.elsewhere.append(f"{one.kind} in line {one.line}: {told}")
    return found


def _verified(found: Tampered, sample: Sample, path: Path, random: Random) -> Verification:
    """Verify what a mutation made with what it needs, and sometimes with more."""
    path.write_bytes(found.data)
    with_key = found.needs == "key" or random.random() < 0.5
    with_anchor = found.needs == "anchor" or random.random() < 0.25
    return verify_export(
        path,
        public_key=FIRST_KEY.public_hex if with_key else None,
        anchor=sample.heads[-1] if with_anchor else None,
    )


def _flip(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Change a byte into any other."""
    data = bytearray(sample.data)
    at = random.randrange(len(data))
    line = data.count(b"\n", 0, at) + 1
    data[at] ^= random.choice([1 << random.randrange(8), random.randrange(1, 256)])
    return Tampered("flip", bytes(data), line)


def _flip_briefly(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Change a byte of a line other than an event's, of which there are few."""
    number = random.choice([1, *range(len(sample.entries) + 2, len(sample.lines) + 1)])
    lines = [bytearray(one) for one in sample.lines]
    lines[number - 1][random.randrange(len(lines[number - 1]))] ^= 1 << random.randrange(8)
    return Tampered("flip beside events", joined([bytes(one) for one in lines]), number)


def _insert_byte(sample: Sample, _: Sample, random: Random) -> Tampered:
    data = bytearray(sample.data)
    at = random.randrange(len(data))
    line = data.count(b"\n", 0, at) + 1
    data.insert(at, random.randrange(256))
    return Tampered("insert a byte", bytes(data), line)


def _remove_byte(sample: Sample, _: Sample, random: Random) -> Tampered:
    data = bytearray(sample.data)
    at = random.randrange(len(data))
    line = data.count(b"\n", 0, at) + 1
    del data[at]
    return Tampered("remove a byte", bytes(data), line)


def _truncate(sample: Sample, _: Sample, random: Random) -> Tampered:
    return Tampered("truncate", sample.data[: random.randrange(len(sample.data))])


def _truncate_lines(sample: Sample, _: Sample, random: Random) -> Tampered:
    return Tampered("end early", joined(sample.lines[: random.randrange(len(sample.lines))]))


def _delete(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Leave a line out. What comes after an event or the header is not what should be there."""
    lines, count = list(sample.lines), len(sample.entries)
    at = random.randrange(len(lines))
    del lines[at]
    return Tampered("delete a line", joined(lines), at + 1 if at < count else 0)


def _duplicate(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Repeat a line elsewhere. An event among others is the one that should not be there."""
    lines, count = list(sample.lines), len(sample.entries)
    at, to = random.randrange(len(lines)), random.randrange(len(lines) + 1)
    lines.insert(to, lines[at])
    is_event = 1 <= at <= count and 1 <= to <= count + 1
    line = max(to, at + 1) + 1 if to in {at, at + 1} else to + 1
    return Tampered("duplicate a line", joined(lines), line if is_event else 0)


def _swap(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Let two lines change places. The first of two events is the one that comes too early."""
    lines, count = list(sample.lines), len(sample.entries)
    one, other = sorted(random.sample(range(len(lines)), 2))
    lines[one], lines[other] = lines[other], lines[one]
    is_event = one >= 1 and other <= count
    return Tampered("swap lines", joined(lines), one + 1 if is_event else 0)


def _splice(sample: Sample, foreign: Sample, random: Random) -> Tampered:
    """Put lines of another graph's export in the place of some, or between them."""
    lines = list(sample.lines)
    at, count = random.randrange(len(lines)), random.randint(1, 5)
    other = random.randrange(min(len(foreign.lines), len(lines)))
    taken = foreign.lines[other : other + count]
    if random.random() < 0.5:
        at = min(at, len(lines) - 1)
        lines[at : at + len(taken)] = taken
    else:
        lines[at:at] = taken
    return Tampered("splice", joined(lines))


def _splice_sealed(sample: Sample, foreign: Sample, random: Random) -> Tampered:
    """Take over events of another graph with the whole chain made anew."""
    at = random.randrange(len(sample.entries))
    owner = {"graph_id": sample.log.scope.graph_id}
    taken = [
        one.model_copy(update={"event": one.event.model_copy(update=owner)})
        for one in foreign.entries[at : at + 3]
    ]
    entries = rechained([*sample.entries[:at], *taken, *sample.entries[at:]], at)
    return Tampered("splice, sealed anew", file_of(sample, entries), needs=_proof(random))


def _rewrite_tail(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Let an event say something else and make everything after it anew, but for signatures."""
    at = random.choice(
        [
            index
            for index, one in enumerate(sample.entries)
            if one.event.kind == "committed" and one.content is not None
        ]
    )
    entries = list(sample.entries)
    entries[at] = claiming(entries[at], "Nobody ever said otherwise.")
    entries = rechained(entries, at)
    heads = [one for one in sample.heads if one.size <= at or random.random() < 0.3]
    return Tampered("rewrite the tail", file_of(sample, entries, heads), needs=_proof(random))


def _cut_tail(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Leave the last events out, with heads that do not show it."""
    until = random.randrange(1, len(sample.entries))
    heads = [one for one in sample.heads if one.size <= until]
    data = file_of(sample, sample.entries[:until], heads)
    return Tampered("cut the tail", data, needs=_proof(random))


def _backdate(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Let an event have been made by another agent, a moment earlier, or during another turn."""
    at = random.randrange(len(sample.entries))
    event = sample.entries[at].event
    change: dict[str, Any] = random.choice(
        [
            {"agent_id": "nobody"},
            {"recorded_at": event.recorded_at - timedelta(microseconds=1)},
            {"turn": event.turn + 1},
            {"belief_id": "another"},
        ]
    )
    entries = list(sample.entries)
    entries[at] = entries[at].model_copy(update={"event": event.model_copy(update=change)})
    entries = rechained(entries, at)
    return Tampered("change an event, sealed anew", file_of(sample, entries), needs=_proof(random))


def _hide_content(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Let a content be gone, as if it had been redacted."""
    at = random.choice([n for n, one in enumerate(sample.entries) if one.content is not None])
    entries = list(sample.entries)
    entries[at] = entries[at].model_copy(update={"content": None, "salt": None})
    return Tampered("hide a content", file_of(sample, entries), needs="key")


def _drop_head(sample: Sample, _: Sample, random: Random) -> Tampered:
    heads = list(sample.heads)
    del heads[random.randrange(len(heads))]
    return Tampered("drop a head", file_of(sample, sample.entries, heads), needs="key")


def _forge_head(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Change a signed head, and sign it with another key, or with none."""
    at = random.randrange(len(sample.heads))
    change: dict[str, Any] = random.choice(
        [
            {"turn": sample.heads[at].turn + 1},
            {"signed_at": sample.heads[at].signed_at + timedelta(seconds=1)},
            {"public_key": FOREIGN_KEY.public_hex},
        ]
    )
    head = sample.heads[at].model_copy(update=change)
    if random.random() < 0.5:
        head = head.model_copy(update={"public_key": FOREIGN_KEY.public_hex})
        head = head.model_copy(update={"signature": FOREIGN_KEY.sign(signed_bytes(head))})
    heads = [*sample.heads[:at], head, *sample.heads[at + 1 :]]
    return Tampered("forge a head", file_of(sample, sample.entries, heads), needs="key")


def _take_over(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Sign everything anew with a key of one's own, which claims to follow the true ones."""
    entries = list(sample.entries)
    entries[0] = claiming(entries[0], "Nobody ever said otherwise.")
    entries = rechained(entries, 0)
    sizes = [one.size for one in sample.heads]
    heads = heads_of([one.event for one in entries], sizes, lambda _: FOREIGN_KEY)
    claimed = handed_over(FOREIGN_KEY, SECOND_KEY, _moment_of(sample))
    forged = claimed.model_copy(
        update={"from_key": SECOND_KEY.public_hex, "to_key": FOREIGN_KEY.public_hex}
    )
    rotations = random.choice(
        [
            (),
            sample.rotations,
            (*sample.rotations, forged),
            (*sample.rotations, claimed),
            (handed_over(FOREIGN_KEY, FIRST_KEY, _moment_of(sample)),),
        ]
    )
    data = file_of(sample, entries, heads, rotations, FOREIGN_KEY)
    return Tampered("take over", data, needs=_proof(random))


def _reseal(sample: Sample, _: Sample, random: Random) -> Tampered:
    """Change only the header, and seal the file anew: unsigned, or with a key of one's own."""
    header = json.loads(sample.lines[0])
    header["exported_at"] = header["exported_at"].replace("2026", "2027")
    lines = [canonical(header), *sample.lines[1:]]
    key = random.choice([None, FOREIGN_KEY, FIRST_KEY])
    return Tampered("seal anew", joined(resealed(lines, key)), needs="key")


def _moment_of(sample: Sample) -> datetime:
    """Return a moment at which the second key counts."""
    return sample.heads[-1].signed_at


def _proof(random: Random) -> str:
    return random.choice(("key", "anchor"))


WAYS: tuple[Callable[[Sample, Sample, Random], Tampered], ...] = (
    *(_flip for _ in range(6)),
    *(_flip_briefly for _ in range(3)),
    _insert_byte,
    _remove_byte,
    _truncate,
    _truncate_lines,
    _delete,
    _duplicate,
    _swap,
    _splice,
    _splice_sealed,
    _rewrite_tail,
    _cut_tail,
    _backdate,
    _hide_content,
    _drop_head,
    _forge_head,
    _take_over,
    _reseal,
)
