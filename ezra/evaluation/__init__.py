"""Evaluation: is what answers a question among the first that recall returns? No model judges."""
