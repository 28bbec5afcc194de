"""Documents for people: files of several formats, read, cut along their structure, and kept."""

from .draft import SHELF, Draft, drafted
from .handle import Documents, DocumentsOfAgent, DocumentsOfGraph

__all__ = ["SHELF", "Documents", "DocumentsOfAgent", "DocumentsOfGraph", "Draft", "drafted"]
