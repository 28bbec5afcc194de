"""The write guard: what in a text would poison a memory, and what is done about it."""
