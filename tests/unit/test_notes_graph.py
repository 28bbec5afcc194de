"""Notes as a graph, without a memory: entities, edges and the answers that follow from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.note_oracle import Oracle, difference
from support.note_repository import TYPES, Repository, repository

from ezra.bridge.notes.blockers import check_blockers
from ezra.bridge.notes.difference import moment_of, semantic_diff
from ezra.bridge.notes.entities import Entity, Notice, entity_of, said_by
from ezra.bridge.notes.entity_graph import EntityGraph
from ezra.bridge.notes.folders import notes_in, text_of
from ezra.bridge.notes.handoff import Cards, document_of, handoff_of, readable
from ezra.bridge.notes.related import related
from ezra.bridge.notes.rules import NoteRules, rules_of
from tiers.documents import Document, document_id
from tiers.errors import ConfigError, NotFound, UsageError

AGENT = "scout one"
ID = "scout-one"
NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
RULES = rules_of(TYPES)


def note(
    path: str, text: str, *, agent: str = AGENT, revision: int = 1, **more: object
) -> Document:
    """Return a document as the shelf has a note."""
    shelf = f"notes:{agent}/notes"
    values: dict[str, object] = {"recorded_at": NOW, "changed_at": NOW, "digest": "0", **more}
    return Document(
        id=document_id("t", "g", shelf, path),
        agent_id=agent,
        shelf=shelf,
        name=path,
        text=text,
        revision=revision,
        **values,  # type: ignore[arg-type]
    )


def graph(*documents: Document, rules: NoteRules = RULES) -> EntityGraph:
    """Return the graph of notes."""
    return EntityGraph([entity_of(one, rules) for one in documents])


def graph_at(made: Repository) -> EntityGraph:
    """Return the graph of a repository as the disk has it."""
    return graph(*(note(one.name, text_of(one)) for one in notes_in(made.root)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository of more than 300 notes."""
    return repository(tmp_path_factory.mktemp("notes"), AGENT)


@pytest.fixture(scope="module")
def whole(made: Repository) -> EntityGraph:
    """Its graph."""
    return graph_at(made)


@pytest.fixture(scope="module")
def oracle(made: Repository) -> Oracle:
    """What is true of it."""
    return Oracle(made.truth, ID)


def test_every_note_is_the_entity_it_is_meant_to_be(whole: EntityGraph, oracle: Oracle) -> None:
    """Ids, types and states come from front matter, else from folders; litter is no entity."""
    assert len(whole.entities) >= 300
    assert {one.id for one in whole.entities} == set(oracle.rows)
    assert {one.id: one.status for one in whole.entities} == {
        name: oracle.status(name) for name in oracle.rows
    }
    assert {one.path: one.title for one in whole.entities} == {
        row.path: row.title for row in oracle.rows.values()
    }


def test_every_edge_is_there_and_what_leads_nowhere_is_kept(
    whole: EntityGraph, oracle: Oracle
) -> None:
    """However people write the name of a note, it is the one that is meant; ghosts stay ghosts."""
    found = {(edge.source, edge.relation, edge.target) for edge in whole.edges() if edge.target}
    assert found == oracle.edges()
    dangling = {(one.source, one.relation, one.name) for one in whole.edges() if one.target is None}
    assert dangling == oracle.dangling()
    assert len(dangling) > 5


def test_two_notes_that_claim_one_id_are_told_and_the_first_has_it(
    whole: EntityGraph, oracle: Oracle
) -> None:
    """Which of them has the id does not depend on the order in which they are read."""
    told = [(one.id, one.kept.path, one.hidden.path) for one in whole.collisions]
    assert told == oracle.doubles
    assert len(told) == 1
    both = [note(path, "---\ntype: task\n---\n") for path in (told[0][2], told[0][1])]
    (again,) = graph(*both).collisions
    assert (again.kept.path, again.hidden.path) == told[0][1:]


def test_agents_whose_names_run_together_collide_and_that_is_told() -> None:
    """Agent ``a`` with type ``b-task`` and agent ``a-b`` with type ``task`` make one id."""
    one = note("x/plan.md", "---\ntype: b-task\n---\n", agent="a")
    other = note("x/plan.md", "---\ntype: task\n---\n", agent="a-b")
    (collision,) = graph(one, other).collisions
    assert collision.id == "a-b-task-plan"
    assert {collision.kept.agent, collision.hidden.agent} == {"a", "a-b"}


def test_equal_notes_of_two_agents_are_two_entities() -> None:
    """A name in a link means the note of the same agent before another's."""
    text = "---\ntype: task\nblocked_by: other\n---\n"
    documents = [
        note(f"tasks/{name}.md", text if name == "plan" else "---\ntype: task\n---\n", agent=agent)
        for agent in ("anna", "ben")
        for name in ("plan", "other")
    ]
    found = graph(*documents)
    assert found.collisions == ()
    for agent in ("anna", "ben"):
        (edge,) = found.forward(f"{agent}-task-plan")
        assert edge.target == f"{agent}-task-other"


@pytest.mark.parametrize("depth", [1, 2, 3, 10])
def test_related_is_what_a_power_of_the_matrix_reaches(
    whole: EntityGraph, oracle: Oracle, depth: int
) -> None:
    """Each entity comes once, at its shortest distance, by a path of edges that are there."""
    edges = oracle.edges()
    for start in (f"{ID}-task-ring-one", f"{ID}-initiative-season-1", f"{ID}-person-räikkönen"):
        report = related(whole, start, depth=depth, limit=1000)
        found = {one.id: one.distance for one in report.found if one.is_indexed}
        assert found == oracle.distances(start, depth)
        assert report.left_out == 0
        for one in report.found:
            assert len(one.path) == one.distance
            at = start
            for step in one.path:
                pair = (at, step.to) if step.direction == "forward" else (step.to, at)
                assert not one.is_indexed or (pair[0], step.relation, pair[1]) in edges
                at = step.to
            assert at == one.id


def test_related_by_one_relation_and_cut_at_a_limit(whole: EntityGraph, oracle: Oracle) -> None:
    """The relation narrows each step; what the limit leaves out is counted."""
    start = f"{ID}-initiative-season-0"
    wanted = oracle.distances(start, 2, {"initiative"})
    report = related(whole, start, depth=2, relations=["initiative"], limit=5)
    assert len(report.found) == 5
    assert report.left_out == len(wanted) - 5
    assert {one.id for one in report.found} <= set(wanted)


def test_related_shows_what_is_not_indexed(whole: EntityGraph, oracle: Oracle) -> None:
    """A note that is named and not there comes in the words that name it."""
    source, _, words = min(oracle.dangling())
    (ghost,) = [one for one in related(whole, source, limit=1000).found if not one.is_indexed]
    assert (ghost.id, ghost.distance) == (words, 1)


@pytest.mark.parametrize(("name", "value"), [("depth", 0), ("depth", 11), ("limit", 0)])
def test_related_refuses_what_is_out_of_range(whole: EntityGraph, name: str, value: int) -> None:
    """The error names the argument."""
    with pytest.raises(UsageError, match=name):
        related(whole, f"{ID}-task-ring-one", **{name: value})


def test_related_names_the_relations_that_there_are(whole: EntityGraph) -> None:
    """One that is mistyped would read as if nothing were related."""
    with pytest.raises(UsageError, match=r"blocked_by, .*initiative, links_to, .*reviewed_by"):
        related(whole, f"{ID}-task-ring-one", relations=["blocks"], known=["reviewed_by"])


def test_an_entity_is_named_by_id_path_slug_or_title(whole: EntityGraph) -> None:
    """What people have at hand is enough; what is nowhere is said to be."""
    for name in (
        f"{ID}-task-ring-two",
        "tasks/ring-two.md",
        "tasks/ring-two",
        "Ring Two",
        "Round 1",
    ):
        assert whole.named(name).slug == "ring-two"
    with pytest.raises(NotFound, match="nowhere"):
        whole.named("nowhere")


def test_blockers_are_what_says_so_or_waits_for_what_is_open(
    whole: EntityGraph, oracle: Oracle
) -> None:
    """Cycles are told, and found though nothing in them says that it waits."""
    report = check_blockers(whole, NOW)
    assert {one.id for one in report.blocked} == oracle.blocked()
    ring = tuple(sorted(f"{ID}-task-ring-{one}" for one in ("one", "two", "three")))
    assert ring in report.cycles
    for cycle in report.cycles:
        assert len(cycle) > 1
        assert set(cycle) <= oracle.blocked()
    assert report.stale == 0


def test_a_blocker_is_stale_after_the_days_and_released_when_what_it_waits_for_ended() -> None:
    """Days count from the last change of the note."""
    found = graph(
        note("a.md", "---\nstatus: done\n---\n"),
        note("b.md", "---\nstatus: blocked\nblocked_by: [a]\n---\n", changed_at=NOW - timedelta(3)),
        note("c.md", "---\nstatus: waiting\nblocked_by: ghost\n---\n"),
    )
    report = check_blockers(found, NOW, stale_days=3)
    first, second = report.blocked
    assert (first.title, first.days, first.is_stale, first.is_released) == ("b", 3, True, True)
    assert (second.title, second.is_stale, second.is_released) == ("c", False, False)
    assert [(one.id, one.is_indexed) for one in second.blockers] == [("ghost", False)]
    assert report.stale == 1
    assert check_blockers(found, NOW, stale_days=4).stale == 0


def test_a_difference_says_what_the_oracle_says(tmp_path: Path) -> None:
    """Two states of a repository, changed at random, are compared section by section."""
    made = repository(tmp_path, AGENT, count=120, seed=4)
    before, told_before = graph_at(made), Oracle(made.tell("before.txt"), ID)
    gone = sorted(path for path, one in made.notes.items() if one.type == "decision")[:5]
    made.remove(*gone)
    made.change_status(40)
    after, told_after = graph_at(made), Oracle(made.truth, ID)
    found = semantic_diff(before, after, NOW - timedelta(1), NOW)
    wanted = difference(told_before, told_after)
    for section, ids in wanted.items():
        assert {one.id for one in getattr(found, section)} == ids, section
    assert len(wanted["changed_status"]) > 20
    assert sum(one.before for one in found.breakdown.values()) == len(told_before.rows)
    assert sum(one.after for one in found.breakdown.values()) == len(told_after.rows)
    again = semantic_diff(after, before, NOW - timedelta(1), NOW)
    assert {one.id for one in again.created} == wanted["removed"]


def test_a_moved_note_is_the_same_entity_and_activity_is_counted_by_revisions() -> None:
    """A path may change without anything being created or removed."""
    old = graph(note("a/x.md", "---\ntype: task\nstatus: open\n---\n", revision=2))
    new = graph(note("b/x.md", "---\ntype: task\nstatus: done\n---\n", revision=4))
    found = semantic_diff(old, new, NOW - timedelta(1), NOW)
    assert (found.created, found.removed) == ((), ())
    assert [(one.before, one.after) for one in found.completed] == [("open", "done")]
    assert [one.revisions for one in found.most_active] == [4]


def test_the_ends_of_a_difference_are_dates_or_times() -> None:
    """A date as the end is the end of that day; what is neither is refused by name.

    A time of another zone is shown as the UTC that the answer says it is.
    """
    assert moment_of("from", "2026-05-01", is_end=False) == datetime(2026, 5, 1, tzinfo=UTC)
    assert moment_of("to", "2026-05-01", is_end=True) == datetime(2026, 5, 2, tzinfo=UTC)
    zoned = moment_of("to", "2026-05-01T10:00+02:00", is_end=True)
    assert zoned.isoformat() == "2026-05-01T08:00:00+00:00"
    for wrong in ("yesterday", "2026-13-01", "9999-12-31", "0001-01-01T00:00+02:00"):
        with pytest.raises(UsageError, match="to"):
            moment_of("to", wrong, is_end=True)


def test_two_days_in_the_wrong_order_are_refused(whole: EntityGraph) -> None:
    """Also where the earlier day ends as the later one begins: nothing could have changed."""
    since = moment_of("from", "2026-05-15", is_end=False)
    for day in ("2026-05-14", "2026-05-01"):
        with pytest.raises(UsageError, match="a moment after 2026-05-15"):
            semantic_diff(whole, whole, since, moment_of("to", day, is_end=True))


def test_a_handoff_fits_its_size_and_says_what_it_left_out(whole: EntityGraph) -> None:
    """The payload is not longer than asked for, and nothing is missing without being counted."""
    for chars in (2_000, 10_000, 60_000):
        found = handoff_of(AGENT, whole, Cards(), NOW + timedelta(hours=1), chars=chars)
        assert len(str(document_of(found))) <= chars * 1.05
        total = len(found.updated) + found.left_out.get("updated", 0)
        assert total == len(whole.entities)
        assert f"and {found.left_out['updated']} more" in readable(found)
    assert handoff_of(AGENT, whole, Cards(), NOW + timedelta(hours=9), chars=9_000).updated == ()


def test_what_is_wrong_with_a_note_is_told_with_its_line(
    whole: EntityGraph, oracle: Oracle
) -> None:
    """Each kind of damage gives a notice; sound notes give none."""
    noticed = {one.path for one in whole.entities if one.notices}
    assert noticed == oracle.wrong

    def only(text: str) -> Notice:
        (found,) = said_by("a.md", text, RULES).notices
        return found

    assert (only("# no front\n").line, only("# no front\n").problem) == (
        1,
        "there is no front matter",
    )
    assert only("---\ntype: task\nstatus: [a\n---\n").line >= 3
    field = only("---\ntype: task\nstatus: {a: b}\n---\n")
    assert (field.line, field.expected) == (3, "status: one word or line")
    assert only("---\ntype: task\nblocked_by: [ok, true]\n---\n").line == 3


def test_fields_are_read_in_any_case_of_letters() -> None:
    """Word, list and relation, and the line of what is wrong with one."""
    said = said_by("a.md", "---\nStatus: Done\nTAGS: [pit]\nBlocked_By: b\n---\nText.", RULES)
    assert (said.status, said.tags, [one.target for one in said.references]) == (
        "done",
        ("pit",),
        ["b"],
    )
    (notice,) = said_by("a.md", "---\ntype: task\nStatus: {a: b}\n---\n", RULES).notices
    assert notice.line == 3


def test_values_of_relations_are_read_as_people_write_them() -> None:
    """Strings with commas, lists, links that YAML takes for lists in lists, and mappings."""
    text = (
        "---\nblocked_by: a, [[b c|shown]]\ndepends_on: [[d]]\n"
        "initiative: {id: e, weight: 1}\nowner: ['[[f]]', 7]\n---\n"
        "[[g#part]] ![[h|x]] `[[no]]`\n~~~\n[[nor this]]\n~~~\n[[g]] [[#own heading]]\n"
    )
    rules = rules_of(relations="owner")
    told = [(one.relation, one.target) for one in said_by("a.md", text, rules).references]
    assert sorted(told) == [
        ("blocked_by", "a"), ("blocked_by", "b c"), ("depends_on", "d"), ("initiative", "e"),
        ("links_to", "g"), ("links_to", "h"), ("owner", "7"), ("owner", "f"),
    ]  # fmt: skip


def test_the_type_is_the_notes_own_else_the_maps_else_the_folders() -> None:
    """Of nested folders the nearest that the map knows counts; a note without a folder is one."""
    assert RULES.type_of("tasks/aero/x.md", None) == "task"
    assert RULES.type_of("tasks/x.md", "Big Idea") == "big-idea"
    assert RULES.type_of("Meeting Notes/x.md", None) == "meeting-notes"
    assert RULES.type_of("x.md", None) == "note"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("EZRA_BRIDGE_TYPES", "tasks"),
        ("EZRA_BRIDGE_TYPES", "work/tasks=task"),
        ("EZRA_BRIDGE_RELATIONS", "links_to"),
    ],
)
def test_a_malformed_configuration_is_refused_by_name(variable: str, value: str) -> None:
    """The error names the variable and shows how it is written."""
    with pytest.raises(ConfigError, match=variable):
        rules_of(*((value,) if "TYPES" in variable else ("", value)))


def test_an_entity_is_the_same_however_often_it_is_read(
    whole: EntityGraph, made: Repository
) -> None:
    """Ids are idempotent."""

    def told(found: EntityGraph) -> list[Entity]:
        return list(found.entities)

    assert told(graph_at(made)) == told(whole)
