"""Markdown notes as a graph: files become entities, their front matter relations between them.

Pure where it can be: what is known of notes follows from the documents that a shelf holds, and
nothing is stored twice. Only ``indexing``, ``syncing`` and ``reading`` talk to a memory, and only
``folders`` and ``note_files`` to the disk.
"""
