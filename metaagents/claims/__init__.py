"""Claims: what a text states, by whom and how surely, and whether somebody stated it before."""
