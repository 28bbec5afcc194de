"""What hooks of a coding agent cost: processor time of the process that the agent waits for.

Run: .venv/bin/python tests/benchmarks/hooks.py [--runs 30] [--json]

Each hook runs as the coding agent runs it, in a process of its own, with a handoff to tell and with
notes to queue. Processor time is that of the process alone, user and system, as the kernel counted
it; of the process behind the hooks nothing is in it. ``spawns`` are hooks that start that process:
here it is one that ends at once, which costs the hook the same. Every figure is of this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ezra.bridge.config import bridge_config
from ezra.bridge.hook_state import HANDOFF_CHARS_MAX, HookState

BUDGET_MS = 150.0
"""Of processor time, in the common case."""
HOOK = Path(sys.executable).parent / "ezra-hook"
CALL = "import sys; sys.executable = '/bin/true'; from ezra.bridge.hook import main; main()"


def timed(
    event: str, said: Mapping[str, object], environ: Mapping[str, str], *, spawns: bool
) -> tuple[float, float]:
    """Run a hook; return its processor time and how long it took, in milliseconds."""
    reading, writing = os.pipe()
    os.write(writing, json.dumps(said).encode())
    os.close(writing)
    program = [sys.executable, "-P", "-c", CALL] if spawns else [str(HOOK)]
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    began = time.perf_counter()
    process = os.posix_spawn(
        program[0],
        [*program, event],
        environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0), *quiet],
    )
    _, status, used = os.wait4(process, 0)
    took = time.perf_counter() - began
    os.close(reading)
    if status:
        message = f"{event} ended with {status}"
        raise RuntimeError(message)
    return (used.ru_utime + used.ru_stime) * 1000, took * 1000


def cases(folder: Path, state: HookState) -> dict[str, tuple[str, dict[str, object], bool]]:
    """Return for each case the event, what it says, and whether it may start a process."""
    notes = folder / "notes"
    notes.mkdir()
    (notes / "task.md").write_text("---\nstatus: open\n---\n# A task\n" + "words\n" * 500)
    about: dict[str, object] = {"session_id": "s", "cwd": str(folder)}
    written = {"tool_name": "Write", "tool_input": {"file_path": str(notes / "task.md")}}
    other = {"tool_name": "Edit", "tool_input": {"file_path": str(folder / "code.py")}}
    state.write_handoff("- a line of a handoff\n" * (HANDOFF_CHARS_MAX // 22))
    return {
        "session-start": ("session-start", about, False),
        "post-tool-use, a note": ("post-tool-use", {**about, **written}, False),
        "post-tool-use, another file": ("post-tool-use", {**about, **other}, False),
        "stop": ("stop", about, False),
        "session-start, spawns": ("session-start", about, True),
    }


def summed(values: list[float]) -> dict[str, float]:
    """Return the median, and what 95 of 100 stay below."""
    return {
        "p50": round(statistics.median(values), 1),
        "p95": round(statistics.quantiles(values, n=20)[-1], 1),
    }


def measured(runs: int, say: Callable[[str], None]) -> dict[str, dict[str, dict[str, float]]]:
    """Return processor time and duration of each case, in milliseconds."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {
            "PATH": os.environ["PATH"],
            "EZRA_BRIDGE_AGENT": "scout",
            "EZRA_BRIDGE_STATE": str(folder / "state"),
            "EZRA_BRIDGE_WATCH_DIRS": str(folder / "notes"),
            "EZRA_HOME": str(folder / "home"),
            "EZRA_EMBEDDER": "off",
        }
        state = HookState(bridge_config(environ))
        for case, (event, said, spawns) in cases(folder, state).items():
            say(case)
            pairs = [_run(state, event, said, environ, spawns=spawns) for _ in range(runs)]
            cpu, took = zip(*pairs, strict=True)
            found[case] = {"cpu_ms": summed(list(cpu)), "wall_ms": summed(list(took))}
    return found


def _run(
    state: HookState,
    event: str,
    said: Mapping[str, object],
    environ: Mapping[str, str],
    *,
    spawns: bool,
) -> tuple[float, float]:
    if not spawns:
        with state.draining():
            return timed(event, said, environ, spawns=False)
    with state.starting():
        state.note_start(0.0)
    return timed(event, said, environ, spawns=True)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    say = (lambda _: None) if given.json else (lambda case: print(case, file=sys.stderr))  # noqa: T201
    found = measured(max(2, given.runs), say)
    within = all(one["cpu_ms"]["p95"] <= BUDGET_MS for one in found.values())
    if given.json:
        told = {"budget_ms": BUDGET_MS, "within": within, "runs": given.runs, "hooks": found}
        print(json.dumps(told, indent=2))  # noqa: T201
        return
    print(f"{'milliseconds':30}{'cpu p50':>9}{'cpu p95':>9}{'wall p50':>10}{'wall p95':>10}")  # noqa: T201
    for case, one in found.items():
        cpu, took = one["cpu_ms"], one["wall_ms"]
        print(f"{case:30}{cpu['p50']:9}{cpu['p95']:9}{took['p50']:10}{took['p95']:10}")  # noqa: T201
    print(f"budget of processor time: {BUDGET_MS:g}; {'kept' if within else 'not kept'}")  # noqa: T201


if __name__ == "__main__":
    main()
