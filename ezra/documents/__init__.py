"""Documents for people: files of several formats, read, cut along their structure, and kept.

What is exported is loaded when it is first asked for: a process that reads a file needs little.

* The last revision stands in ``documents``, former ones in ``document_revisions``, passages in
  ``passages``. A passage is current while ``until`` is empty. One that a revision repeats word
  for word under the same headings stays the same record, with its vector. Retired ones leave
  every answer about now and stay for questions to the past.
* A revision is compare-and-set on its number. The id of a document follows from tenant, graph,
  shelf and name, so a writer names the revision that it follows; who comes too late is told
  ``Conflict``. Who sees a former revision must see the document as it stands and as it was: its
  topics may have been narrower.
* Ancestors. The warm index answers for their documents as they are now; by words each ancestor
  that carries documents (the catalog does) is asked in its own graph, at once and as of a moment.
* Redaction of a passage takes its document: text kept whole and passages beside it may say the
  same. The name goes too.
* A task changes by versions. ``Board.change`` takes the next version only, with the action that
  tells of it, in one step. Recipients and read state are in the engine's query; an inbox is read
  out of an index.
* Long documents in MongoDB. New passages are stored page by page as ``staged``, where nothing
  finds them; one transaction then changes the document and shows them. So no transaction has to
  index 20,000 passages in its time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .draft import SHELF, Draft, drafted
    from .handle import Documents, DocumentsOfAgent, DocumentsOfGraph

__all__ = ["SHELF", "Documents", "DocumentsOfAgent", "DocumentsOfGraph", "Draft", "drafted"]

_OF_DRAFT = ("SHELF", "Draft", "drafted")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has that name
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(".draft" if name in _OF_DRAFT else ".handle", __name__), name)
