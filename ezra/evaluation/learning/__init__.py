"""Evaluation of learning: is what was said learnt, and nothing else? No model judges."""
