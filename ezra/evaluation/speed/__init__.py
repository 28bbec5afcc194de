"""What a turn, a recall and a recording take on this machine: ``ezra bench``.

Each figure is measured in a process of its own, beside a baseline of the same run; ``sections`` is
where to begin. Processor time comes first: the clocks of shared machines lie.
"""
