"""Live data from outside of memory: sources with declared questions, asked under policy.

A source is a database, a service or a tool whose owner declares what may be asked of it. Whoever
asks, in plain words or by name, fills validated slots of declared questions and nothing else.
"""

from .file import source_of, sources_of_file
from .mesh import Mesh, opened_mesh
from .questions import AnyAsk, MeshAsk, ask_of
from .source import Access, Connector, QuestionAbout, SlotAbout, Source, SourceAbout, sees

__all__ = [
    "Access",
    "AnyAsk",
    "Connector",
    "Mesh",
    "MeshAsk",
    "QuestionAbout",
    "SlotAbout",
    "Source",
    "SourceAbout",
    "ask_of",
    "opened_mesh",
    "sees",
    "source_of",
    "sources_of_file",
]
