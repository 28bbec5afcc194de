"""The rules of belief history, pure and the same for every engine.

``chain`` says how events hang together, ``plan`` which events a change makes, ``fold`` what a log
comes to, ``spans`` how a moment of the past is found without reading what lies before it.
"""
