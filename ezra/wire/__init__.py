"""The vocabulary that goes over the wire: each operation once, for whoever serves or calls it.

An operation is a method of a handle with ``@operation(verb, path)`` (``ezra/operations.py``); that
is all that has to be written. ``wire/derivation.py`` makes of it the request (its parameters, with
the bounds that their types carry), the answer (its return type) and the words (its docstring);
``wire/handles.py`` says where each handle stands and who may use it. ``service/offered.py`` does it
by calling the method, and ``routes.py`` makes the route: the caller is checked before anything is
read. A handle of ``ezra/remote`` derives from the handle's own class, so that editors and type
checkers see the same methods; each asks the server, and a class that left one to a memory on this
side could not be made. Of a method that returns a handle ``wire/handles.py`` says what is answered
in its place, and ``service`` and ``remote`` make one of the other. What no method says (a turn that
waits for its reply, a file) is written by hand. Tests run one body through both doors. With a
``Tool`` the method is lent to models, too, with the parameters that are ``Told``: ``wire/tools.py``
makes the tools that MCP (``service/mcp*.py``) and every adapter have, of those methods and of what
``wire/agent_tools.py`` has by hand.
"""

from ..operations import Need
from .operation import NEEDS, Asked, Nothing, Operation

__all__ = ["NEEDS", "Asked", "Need", "Nothing", "Operation"]
