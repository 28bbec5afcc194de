"""Replay: real conversations played through the runtime, one agent per speaker."""
