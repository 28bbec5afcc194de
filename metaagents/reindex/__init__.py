"""The re-embedding agent: builds the warm index of a new embedding model behind the old one."""
