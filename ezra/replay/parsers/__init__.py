"""One parser per file format. Each turns a source into drafts; ``formats`` makes them a script."""
