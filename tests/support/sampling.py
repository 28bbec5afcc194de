"""What the normal run takes of large families of tests; ``-m slow`` takes the others.

A family is here because its members say the same of many rows: another client of the same code, the
same script on servers instead of embedded engines, one more place to be cut off at. Which members
are taken goes by their names, so it is the same everywhere, and changes only with the names.
"""

from __future__ import annotations

import re
import zlib

_ROW = r"\[(?:.*-)?{}(?:-.*)?\]$"

FAMILIES: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), one_in)
    for pattern, one_in in (
        # A shorter form of each is always run, or one of another make.
        (r"/acceptance/test_readme_commands\.py::test_the_(requests|configuration)", 0),
        (r"/integration/test_write_points\.py::", 0),
        (r"/integration/test_replay_crash\.py::", 0),
        (r"/integration/test_provider_runtime\.py::test_the_doctor", 0),
        (r"/integration/test_archival_vectors\.py::test_the_command_waits", 0),
        (r"/acceptance/test_recall_scopes\.py::test_graphs_of_one_installation", 0),
        (r"/architecture/test_wheel\.py::test_every_module_imports", 0),
        (r"/integration/test_migrate_command\.py::test_everything_moves_to_servers_and_back", 0),
        (r"/integration/test_embedder_install\.py::test_installs_from_the_package_index", 0),
        (r"/integration/test_embedder_install\.py::test_(a_second|processes|each_installer)", 0),
        (r"/contract/test_cold_words\.py::test_other_graphs_do_not_change_the_order\[m", 0),
        # The same stores through another driver, or without transactions.
        (r"/contract/.*" + _ROW.format("motor"), 16),
        (r"/contract/.*" + _ROW.format("mongo-standalone"), 8),
        (r"/contract/test_cold_.*" + _ROW.format("mongo"), 4),
        (r"/contract/test_(warm_contract|warm_machine|embedder_contract|cold_lifetime)\.py", 3),
        # The same script with every tier on a server.
        (r"/acceptance/.*" + _ROW.format("servers"), 4),
        (r"/integration/test_tenant_bytes.*" + _ROW.format("servers"), 0),
        # One more page, operation, command or statement of the same make.
        (r"/console/test_\w+\.py::", 2),
        (r"/surfaces/test_\w+\.py::", 2),
        (r"/integration/test_(cli|audit_commands|isolation|qdrant_parity)\.py::", 2),
        # One more place to be cut off at, one more fault, one more odd text.
        (r"/integration/test_mongo_\w+\.py::test_\w*(cut|half|cut_off)\w*\[", 4),
        (r"/integration/test_mongo_(races|upgrade|steps|outage)\.py::\w+\[", 3),
        (r"/integration/test_mongo_\w+\.py::", 2),
        (r"/integration/test_hostile_model\.py::\w+\[", 4),
        (r"/acceptance/test_hostile_text\.py::\w+\[", 4),
        (r"/cli/test_doors\.py::\w+\[", 2),
    )
)  # fmt: skip
"""What the node id of a member has, and one in how many is taken; 0: none."""


def is_left_out(node_id: str) -> bool:
    """Whether the normal run leaves a test to the slow one. The first family that fits decides."""
    for family, one_in in FAMILIES:
        if family.search(node_id):
            return one_in == 0 or zlib.crc32(node_id.encode()) % one_in != 0
    return False
