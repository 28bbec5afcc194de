"""What a file or a program declares of a source, by kind. Pure; secrets are not looked at."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Discriminator, Field, SecretStr, StringConstraints, model_validator

from tiers.mesh import FIELDS_MAX, FieldType
from tiers.records import Name, Text, Topics

from .questions import (
    AnyField,
    Constant,
    Declared,
    Path,
    Question,
    Selection,
    SlotName,
    check_slots,
    names_in,
)
from .slots import EntitySlot

TEXT_TOKENS = 400
"""Of what a context says of an answer, where a source does not say."""

QUESTIONS_MAX = 100
ANSWER_BYTES = 1024 * 1024


class SourceSpec(Declared):
    """What every source has.

    Attributes:
        description: What it knows, for people and models.
        roles: Agents with one of these roles may ask it; every role if there are none.
        topics: Agents that hold one of these topics may; all if there are none. What was answered
            goes with the right to it.
        timeout_seconds: How long one answer may take; the step's deadline of the settings if not
            given.
        confidence: How far its answers are trusted, 0 to 1.
        text_tokens: The most tokens that an answer takes of a context.
    """

    description: Text = ""
    roles: Annotated[tuple[Name, ...], Field(max_length=100)] = ()
    topics: Topics = ()
    timeout_seconds: float | None = Field(default=None, gt=0, le=60)
    confidence: float = Field(default=1.0, ge=0, le=1)
    text_tokens: int = Field(default=TEXT_TOKENS, ge=20, le=4_000)


class TableSpec(Declared):
    """A table or view that may be read.

    Attributes:
        columns: Those that may be; no other is ever named in a query.
        schema_name: The schema that it is in, where it is not the default one; ``schema``.
        valid_from: The column from when on a row holds, if the table keeps the past.
        valid_to: Until when; empty in the rows that still hold.
        synced_at: The column whose latest value says how fresh the table is.
    """

    columns: Annotated[tuple[Path, ...], Field(min_length=1, max_length=FIELDS_MAX)]
    schema_name: Path | None = Field(default=None, alias="schema")
    valid_from: Path | None = None
    valid_to: Path | None = None
    synced_at: Path | None = None

    @model_validator(mode="after")
    def _names_columns(self) -> Self:
        if (self.valid_from is None) != (self.valid_to is None):
            raise ValueError("valid_from and valid_to belong together")
        for name in (self.valid_from, self.valid_to, self.synced_at):
            if name is not None and name not in self.columns:
                raise ValueError(f"{name!r} is none of the columns")
        return self


class SqlQuestion(Selection):
    """A question to one table."""

    table: Path


class SqlSpec(SourceSpec):
    """A database that SQLAlchemy reaches with a synchronous driver."""

    kind: Literal["sql"]
    url: SecretStr
    tables: dict[Path, TableSpec] = Field(min_length=1, max_length=100)
    questions: dict[SlotName, SqlQuestion] = Field(min_length=1, max_length=QUESTIONS_MAX)

    @model_validator(mode="after")
    def _asks_allowed_columns(self) -> Self:
        for name, question in self.questions.items():
            if question.table not in self.tables:
                raise ValueError(f"question {name} asks {question.table!r}, which is not declared")
            _check_allowed(name, question.touched, self.tables[question.table].columns)
            for slot in question.slots.values():
                if isinstance(slot, EntitySlot):
                    columns = self.tables[slot.table].columns if slot.table in self.tables else ()
                    _check_allowed(name, frozenset({slot.field}), columns)
        return self


class CollectionSpec(Declared):
    """A collection that may be read: the fields that may be, with their types."""

    fields: dict[Path, FieldType] = Field(min_length=1, max_length=FIELDS_MAX)

    @model_validator(mode="after")
    def _are_plain_paths(self) -> Self:
        for name in self.fields:
            if any(not part or part.startswith("$") for part in name.split(".")):
                raise ValueError(f"{name!r} is no path of a field")
        return self


class MongoQuestion(Selection):
    """A question to one collection."""

    collection: Path


class MongoSpec(SourceSpec):
    """A MongoDB database."""

    kind: Literal["mongodb"]
    url: SecretStr
    database: Path
    collections: dict[Path, CollectionSpec] = Field(min_length=1, max_length=100)
    questions: dict[SlotName, MongoQuestion] = Field(min_length=1, max_length=QUESTIONS_MAX)

    @model_validator(mode="after")
    def _asks_allowed_fields(self) -> Self:
        for name, question in self.questions.items():
            _check_no_entities(question)
            if question.collection not in self.collections:
                message = f"question {name} asks {question.collection!r}, which is not declared"
                raise ValueError(message)
            allowed = self.collections[question.collection].fields
            _check_allowed(name, question.touched, tuple(allowed))
        return self


class Fetched(Question):
    """A question whose answer is a document of which declared fields are taken.

    Attributes:
        fields: The fields of an answer; nothing else of the document is read.
        rows: Where the list of rows is in it, names between dots; the document itself if empty.
        total: Where it says how many rows there are.
    """

    fields: dict[SlotName, AnyField] = Field(default_factory=dict, max_length=FIELDS_MAX)
    rows: Annotated[str, StringConstraints(max_length=256)] = ""
    total: Path | None = None


class RestQuestion(Fetched):
    """A question to one address of a service.

    Attributes:
        method: GET, or POST where the service asks by it.
        path: Below the service's address, with slots in braces.
        query: Parameters.
        body: Fields of the JSON document that a POST sends.
        as_of: The parameter that takes a moment of the past, if the service knows it.
    """

    method: Literal["GET", "POST"] = "GET"
    path: Annotated[str, StringConstraints(pattern=r"^/[!-~]*$", max_length=500)]
    query: dict[Path, Constant] = Field(default_factory=dict, max_length=50)
    body: dict[Path, Constant] = Field(default_factory=dict, max_length=50)
    as_of: Path | None = None

    @model_validator(mode="after")
    def _is_an_address(self) -> Self:
        _check_no_entities(self)
        if not self.fields:
            raise ValueError("fields: name those that an answer has")
        if any(sign in self.path for sign in "?#\\") or ".." in self.path:
            raise ValueError("path holds a query, a fragment or ..")
        if self.body and self.method == "GET":
            raise ValueError("a GET has no body")
        check_slots((self.path, *self.query.values(), *self.body.values()), self.slots)
        optional = [name for name in names_in(self.path) if not self.slots[name].required]
        if optional:
            raise ValueError(f"the slot {optional[0]!r} is in the path, and is required")
        return self


class RestSpec(SourceSpec):
    """A service that answers in JSON. Headers may hold a secret from the environment."""

    kind: Literal["rest"]
    url: SecretStr
    headers: dict[Path, SecretStr] = Field(default_factory=dict, max_length=30)
    answer_bytes_max: int = Field(default=ANSWER_BYTES, ge=1_024, le=16 * ANSWER_BYTES)
    questions: dict[SlotName, RestQuestion] = Field(min_length=1, max_length=QUESTIONS_MAX)


class McpQuestion(Fetched):
    """A question to one tool of an MCP server.

    Attributes:
        tool: Its name, one of the source's ``tools``.
        arguments: What it is called with.
        as_of: The argument that takes a moment of the past, if the tool knows it.
    """

    tool: Path
    arguments: dict[Path, Constant] = Field(default_factory=dict, max_length=50)
    as_of: Path | None = None

    @model_validator(mode="after")
    def _names_slots(self) -> Self:
        _check_no_entities(self)
        check_slots(self.arguments.values(), self.slots)
        return self


class McpSpec(SourceSpec):
    """An MCP server: a program that speaks it over stdio, or an address over HTTP.

    Attributes:
        command: The program with its arguments.
        env: Its environment, besides the few variables that every program needs.
        url: The address of a server that runs, instead of a program.
        headers: What it is sent with every request.
        tools: Those that may be called; no other ever is.
        answer_chars_max: The longest answer that is read.
    """

    kind: Literal["mcp"]
    command: Annotated[tuple[Text, ...], Field(max_length=100)] = ()
    env: dict[Path, SecretStr] = Field(default_factory=dict, max_length=100)
    url: SecretStr | None = None
    headers: dict[Path, SecretStr] = Field(default_factory=dict, max_length=30)
    tools: Annotated[tuple[Path, ...], Field(min_length=1, max_length=QUESTIONS_MAX)]
    answer_chars_max: int = Field(default=200_000, ge=1_000, le=2_000_000)
    questions: dict[SlotName, McpQuestion] = Field(min_length=1, max_length=QUESTIONS_MAX)

    @model_validator(mode="after")
    def _has_one_way_in(self) -> Self:
        if bool(self.command) == (self.url is not None):
            raise ValueError("give command or url")
        if (self.env and not self.command) or (self.headers and self.url is None):
            raise ValueError("env belongs to a command, and headers to a url")
        for name, question in self.questions.items():
            if question.tool not in self.tools:
                message = f"question {name} calls {question.tool!r}, which is none of the tools"
                raise ValueError(message)
        return self


AnySpec: TypeAlias = Annotated[SqlSpec | MongoSpec | RestSpec | McpSpec, Discriminator("kind")]


def _check_allowed(question: str, touched: frozenset[str], allowed: tuple[str, ...]) -> None:
    beyond = sorted(touched - set(allowed))
    if beyond:
        raise ValueError(f"question {question} reads {beyond[0]!r}, which is not declared")


def _check_no_entities(question: Question) -> None:
    for name, slot in question.slots.items():
        if isinstance(slot, EntitySlot):
            raise ValueError(f"the slot {name!r} is an entity, which only a SQL source knows")
