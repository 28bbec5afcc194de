"""What a request looks like, by the name of its operation: the bodies in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TURN = {"message": "how long do the medium tyres last?", "speaker": "race engineer"}
_RECALL = {"query": "medium tyre life", "limit": 10, "kinds": ["fact", "rule"]}
_STATEMENT = {"subject": "medium tyre", "predicate": "lasts", "object": "18 laps"}
_REASON = {"reason": "the driver asked for it"}
_DOCUMENT = {"name": "tyres.md", "content": "# Tyres\n\nMediums last about 18 laps.\n"}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "graph.create": {
        "session_graph_id": "race-weekend-imola-2026",
        "inherits_from": ["race-weekend-monaco-2026"],
        "merge_strategy": "highest_trust",
    },
    "graph.configure": {"budget": {"tokens": 2_000_000}},
    "graph.inherit": {"parent": "race-weekend-bahrain-2026"},
    "graph.recall": _RECALL,
    "graph.search_memory": {"text": "tyres", "grain": "daily", "max_days_ago": 30},
    "graph.receipts_of": {"turn_ids": ["01985a4c-0000-7000-8000-000000000000"]},
    "graph.redact": {"record_ids": ["01985a4c-0000-7000-8000-000000000000"], **_REASON},
    "graph.erase": {"user_id": "driver-16", **_REASON},
    "graph.holding": {"subject": "Jane Miller"},
    "graph.purge": {**_REASON},
    "graph.forget": _REASON,
    "graph.correct": {"text": "Mediums last about 20 laps.", **_REASON},
    "graph.promote": _REASON,
    "graph.demote": _REASON,
    "tenant.erase": {"user_id": "driver-16", **_REASON},
    "agent.spawn": {"topics": ["tyres", "strategy"], "role": "race strategist"},
    "agent.turn": _TURN,
    "agent.complete": _TURN,
    "turn.reply": {
        "response": "About 18 laps.",
        "tool_outputs": [{"tool": "telemetry", "output": "stint 1: 17 laps, stint 2: 19 laps"}],
    },
    "agent.record": {"turns": [{**_TURN, "response": "About 18 laps.", "ref": "imola-1"}]},
    "agent.remember": {"what": "Mediums last about 18 laps.", "topics": ["tyres"]},
    "agent.forget": _REASON,
    "agent.forget_facts": {"ids": ["01985a4c-0000-7000-8000-000000000000"], **_REASON},
    "agent.recall": _RECALL,
    "agent.search_memory": {"text": "tyres", "grain": "daily", "max_days_ago": 30},
    "agent.recall_archival": {"query": "medium tyre life", "limit": 5},
    "agent.commit": {
        "claim": "Start on mediums.",
        "topic": "tyres",
        "key": ["start", "compound"],
        "value": "medium",
    },
    "agent.knowledge.add": _STATEMENT,
    "agent.knowledge.update": _STATEMENT,
    "agent.knowledge.entity": {"name": "medium tyre"},
    "agent.knowledge.path": {"start": "medium tyre", "end": "Imola"},
    "graph.knowledge.add": _STATEMENT,
    "graph.knowledge.entity": {"name": "medium tyre"},
    "agent.board.send": {"to": ["race-engineer"], "text": "Box this lap.", "priority": "high"},
    "agent.board.inbox": {"unread": True},
    "agent.board.log": {"action": "stop", "text": "2.3 seconds", "tags": ["pit"]},
    "agent.board.start_task": {"title": "Change the front wing"},
    "agent.documents.put": {**_DOCUMENT, "topics": ["tyres"]},
    "graph.documents.put": _DOCUMENT,
    "graph.documents.named": {"shelf": "files", "name": "tyres.md"},
    "catalog.documents.put": _DOCUMENT,
    "beliefs.revert": _REASON,
    "beliefs.redact": _REASON,
    "graph.taint.roll_back": {"record_id": "01985a4c-0000-7000-8000-000000000000", **_REASON},
    "graph.taint.undo": _REASON,
    "graph.taint.confirm": _REASON,
    "beliefs.rewind": {"turn": 15, "reason": "what came after was a test"},
    "lifecycle.retain": {"dry_run": True},
}
