"""``python -m ezra`` is ``ezra``, for who has no folder of installed commands on the path."""

from __future__ import annotations

import sys

from .cli import NAME, main

if __name__ == "__main__":
    sys.argv[0] = NAME  # whoever is told which program has the folder would read __main__.py
    main()
