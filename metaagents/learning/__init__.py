"""Learning: makes records searchable, counts their uses, promotes what is used often enough."""
