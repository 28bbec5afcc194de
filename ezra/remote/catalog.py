"""The catalog of a tenant on a server."""

from __future__ import annotations

from ..handles.catalog import Catalog
from ..wire import handles
from .connection import Connection
from .documents import RemoteDocuments
from .handle import RemoteHandle


class RemoteCatalog(RemoteHandle, Catalog, of=Catalog):
    """What is true for a whole tenant, on a server. Made by ``ezra.catalog()``."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, handles.CATALOG, {})

    @property
    def documents(self) -> RemoteDocuments:
        """The documents that every graph of the tenant reads, to read and to change."""
        return RemoteDocuments(self._connection, handles.CATALOG_DOCUMENTS, {})
