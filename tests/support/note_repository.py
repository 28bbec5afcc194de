"""Makes repositories of Markdown notes as people keep them, and writes down what is true of them.

What is true goes into a file of tab-separated lines beside the repository, which
``support.note_oracle`` reads: nothing of the code under test is used for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

TYPES = "initiatives=initiative,tasks=task,people=person,decisions=decision"
"""The map of folders that the notes are made for."""
STATUSES = (
    "open",
    "in-progress",
    "blocked",
    "Waiting",
    "On Hold",
    "done",
    "completed",
    "dropped",
    "",
)
NAMES = ("Räikkönen", "佐藤 琢磨", "Новак", "Zoë d'Arc", "ابن سينا", "🏁", "अमित", "Pato O.Ward")
BREAKS = ("none", "unclosed", "yaml", "list", "alias", "empty", "field", "relation")
"""What may be wrong with a note; the last two are wrong in one field only."""
LIST_BREAK = frozenset({"field", "relation"})
RELATIONS = ("initiative", "blocked_by", "depends_on")


@dataclass(frozen=True)
class Note:
    """A note, and what is true of it.

    Attributes:
        path: Where it is in the repository.
        type: What it is.
        slug: Its part of the id.
        title: What it is called.
        status: As it is written.
        targets: What it names: relation, path of the note that is meant (or the words of what is
            nowhere), and how it is written.
        wrong: What is wrong with it.
        text: What else it says.
    """

    path: str
    type: str
    slug: str
    title: str
    status: str = ""
    targets: tuple[tuple[str, str, str], ...] = ()
    wrong: str = ""
    text: str = "Nothing more is known."

    @property
    def said(self) -> str:
        """The file's text."""
        links = [how for relation, _, how in self.targets if relation == "links_to"]
        seen = "".join(f"\nSee [[{how}]] too." for how in links)
        hidden = "\n\n```\n[[no link in code]]\n```\nand `[[none here]]`.\n"
        body = f"# {self.title}\n\n{self.text}\n{seen}{hidden}"
        if self.wrong and self.wrong not in LIST_BREAK:
            return _broken(self.wrong, f"# {self.title}\n\n{self.text}\n")
        return f"---\n{''.join(self._front())}---\n{body}"

    def _front(self) -> Iterator[str]:
        yield f"type: {self.type}\n"
        yield f'title: "{self.title}"\n'
        if self.status:
            yield f"status: {self.status}\n"
        if self.wrong == "field":
            yield "priority: {very: high}\n"
        if self.wrong == "relation":
            yield "reviewed: true\ndepends_on: true\n"
        for relation in RELATIONS:
            named = [how for kind, _, how in self.targets if kind == relation]
            if len(named) == 1:
                yield f"{relation}: {named[0]}\n"
            elif named:
                yield f"{relation}:\n" + "".join(f"  - {how}\n" for how in named)


def _broken(wrong: str, body: str) -> str:
    return {
        "none": body,
        "unclosed": f"---\ntype: task\ntitle: never ends\n\n{body}",
        "yaml": f"---\ntype: [task\nstatus: open\n---\n{body}",
        "list": f"---\n- one\n- two\n---\n{body}",
        "alias": f"---\na: &a [1]\nb: *a\n---\n{body}",
        "empty": f"---\n---\n{body}",
    }[wrong]


@dataclass
class Repository:
    """A folder of notes on the disk, and the file that says what is true of them.

    Attributes:
        root: The watched folder.
        truth: The file of what is true.
        agent: Whose entities they will be.
        notes: By path.
    """

    root: Path
    truth: Path
    agent: str
    random: Random
    notes: dict[str, Note] = field(default_factory=dict)

    def write(self, *notes: Note) -> None:
        """Write notes, and everything that is true now."""
        for note in notes:
            self.notes[note.path] = note
            file = self.root / note.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(note.said, encoding="utf-8")
        self.tell()

    def remove(self, *paths: str) -> None:
        """Remove notes."""
        for path in paths:
            del self.notes[path]
            (self.root / path).unlink()
        self.tell()

    def change_status(self, count: int) -> list[str]:
        """Give notes other statuses and return their paths."""
        sound = [path for path, one in sorted(self.notes.items()) if not one.wrong]
        changed = self.random.sample(sound, count)
        for path in changed:
            note = self.notes[path]
            others = [one for one in STATUSES if one != note.status]
            self.write(replace(note, status=self.random.choice(others)))
        return changed

    def tell(self, name: str = "") -> Path:
        """Write down what is true now, into a file of another name if one is given; return it."""
        truth = self.truth.with_name(name) if name else self.truth
        lines = []
        for note in self.notes.values():
            told = ("note", note.path, note.type, note.slug, note.status, note.title, note.wrong)
            lines.append("\t".join(told))
            if not note.wrong or note.wrong in LIST_BREAK:
                lines += ["\t".join(("edge", note.path, *target[:2])) for target in note.targets]
        truth.write_text("\n".join(lines), encoding="utf-8")
        return truth


def repository(folder: Path, agent: str, count: int = 320, seed: int = 8) -> Repository:
    """Make a repository of some ``count`` notes: ``folder/notes``, and ``folder/truth.txt``."""
    random = Random(seed)
    made = Repository(folder / "notes", folder / "truth.txt", agent, random)
    notes = list(_drafts(count, random))
    written = [_with_targets(note, notes, agent, random) for note in notes]
    for place, wrong in enumerate(BREAKS, 1):
        # What is wrong stands in the place of a relation.
        kept = tuple(one for one in written[-place].targets if one[0] != "depends_on")
        written[-place] = replace(written[-place], wrong=wrong, targets=kept)
    made.write(*written, *_twins(), *_ring(agent))
    _litter(made.root)
    return made


def _drafts(count: int, random: Random) -> Iterator[Note]:
    for number in range(max(4, count // 20)):
        name = f"Season {number}"
        yield Note(
            f"initiatives/season-{number}.md", "initiative", f"season-{number}", name, "open"
        )
    for number, name in enumerate(NAMES):
        slug = _slug(name)
        yield Note(f"people/{name}.md", "person", slug, f"{name} ({number})")
    for number in range(count // 10):
        path = f"decisions/2026/d {number:03}.md"
        yield Note(
            path, "decision", f"d-{number:03}", f"Decision {number}", random.choice(STATUSES)
        )
    done = max(4, count // 20) + len(NAMES) + count // 10
    for number in range(max(20, count - done)):
        team = random.choice(("aero", "engine", "pit crew"))
        path = f"tasks/{team}/T_{number:04}.md"
        status = random.choice(STATUSES)
        yield Note(path, "task", f"t-{number:04}", f"Task {number}: check the {team}", status)


def _slug(name: str) -> str:
    """Return the part of an id that each of ``NAMES`` must have, worked out by hand."""
    return {
        "Räikkönen": "räikkönen",
        "佐藤 琢磨": "佐藤-琢磨",
        "Новак": "новак",
        "Zoë d'Arc": "zoë-d-arc",
        "ابن سينا": "ابن-سينا",
        "🏁": "ced6d25b",
        "अमित": "अमित",
        "Pato O.Ward": "pato-o-ward",
    }[name]


def _with_targets(note: Note, notes: list[Note], agent: str, random: Random) -> Note:
    if note.type == "person":
        return note
    tasks = [one for one in notes if one.type == "task" and one is not note]
    wanted = [
        ("initiative", random.choice([one for one in notes if one.type == "initiative"])),
        *(("blocked_by", one) for one in random.sample(tasks, random.choice((0, 0, 1, 2)))),
        *(("depends_on", one) for one in random.sample(tasks, random.choice((0, 1, 3)))),
        *(("links_to", one) for one in random.sample(notes, random.choice((0, 1, 2)))),
    ]
    targets = [
        (relation, other.path, _written(relation, note, other, agent, random))
        for relation, other in wanted
        if other is not note
    ]
    if random.random() < 0.1:
        ghost = f"ghost-{random.randrange(5)}"
        targets.append((random.choice(("blocked_by", "links_to")), ghost, ghost))
    return replace(note, targets=tuple(targets))


def _written(relation: str, note: Note, other: Note, agent: str, random: Random) -> str:
    """Return one of the ways in which people name a note."""
    up = "../" * note.path.count("/")
    bare = other.path.removesuffix(".md")
    if relation == "links_to":
        return random.choice((bare, other.slug, f"{other.slug}|that", f"{other.slug}#Plan"))
    return random.choice(
        (
            f"{agent}-{other.type}-{other.slug}",
            other.slug,
            f'"{up}{other.path}"',
            f'"{bare}"',
            f'"[[{other.slug}]]"',
            f"[[{other.slug}]]",
            f'"[[{bare}|shown]]"',
            f"{{id: {other.slug}, weight: 0.5}}",
            f"{other.type}-{other.slug}",
        )
    )


def _twins() -> list[Note]:
    """Return two notes that claim one id."""
    return [
        Note("tasks/aero/Same name.md", "task", "same-name", "The first of them", "open"),
        Note("tasks/engine/same-name.md", "task", "same-name", "The second of them", "blocked"),
    ]


def _ring(agent: str) -> list[Note]:
    """Return notes that wait for each other."""
    names = ("ring-one", "ring-two", "ring-three")
    return [
        Note(
            f"tasks/{name}.md",
            "task",
            name,
            f"Round {place}",
            "open",
            (("blocked_by", f"tasks/{other}.md", f"{agent}-task-{other}"),),
        )
        for place, (name, other) in enumerate(zip(names, names[1:] + names[:1], strict=True))
    ]


def _litter(root: Path) -> None:
    """Write what stands beside notes and is no entity."""
    for path in (
        "index.md",
        "tasks/_index.md",
        "README.md",
        "tasks/archive/old.md",
        "Archive/older.md",
        ".obsidian/cache.md",
        "tasks/.draft.md",
    ):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("---\ntype: task\n---\nNot an entity.\n")
    (root / "tasks" / "photo.png").write_bytes(b"\x89PNG\x00")
    (root / "tasks" / "outside.md").symlink_to(root.parent / "truth.txt")
