"""The vocabulary that goes over the wire: each operation once, for whoever serves or calls it.

An operation is a method of a handle with ``@operation(verb, path)`` (``ezra/operations.py``);
that is all that has to be written. ``wire/derivation.py`` makes of it the request (its
parameters, with the bounds that their types carry), the answer (its return type) and the words
(its docstring); ``wire/handles.py`` says where each handle stands and who may use it.
``service/offered.py`` does it by calling the method, and ``routes.py`` makes the route: the
caller is checked before anything is read. A handle of ``ezra/remote`` derives from the handle's
own class, so that editors and type checkers see the same methods; each asks the server, and a
class that left one to a memory on this side could not be made. What a method does not say alone
(a turn that waits for its reply, the handle that a method returns, a file) is written by hand in
``wire``, ``service`` and ``remote``. Tests run one body through both doors. What a model is told
of a tool (name, description, arguments) is said once too, in ``wire/tools.py``: MCP
(``service/mcp*.py``) and every adapter take it from there.
"""

from .operation import NEEDS, Asked, Need, Nothing, Operation

__all__ = ["NEEDS", "Asked", "Need", "Nothing", "Operation"]
