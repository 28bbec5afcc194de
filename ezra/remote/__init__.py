"""ezra on a server, with the same methods as in process: ``Ezra.connect(url, token=…)``."""
