"""How people state things: clauses, whom they are about, what they say of them, and when. Pure.

English. ``claims_of`` in ``claims`` is the way in: a text becomes the claims it makes, each with
subject, attribute, value and time. What nobody here can read makes no claim; ``as_said`` tells the
sentence whole where its marks (``lasting``) say that it lasts. The words and frames are tables, so
that a way of saying something is a line of data.
"""
