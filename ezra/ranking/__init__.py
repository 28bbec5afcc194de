"""What recall decides by itself, once the engines have answered. Pure: same input, same order.

``cues`` reads a question and ``times`` when it is about, ``pool`` puts what the engines found into
one pool with its conversation around it, ``scoring`` weighs every candidate, ``priors`` knows age,
use and where a record belongs, ``choosing`` folds what says the same and keeps one kind from
crowding out the others.
"""
