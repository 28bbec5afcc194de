"""Collections for the Qdrant stand-in: the real engine as a library, under the server's models.

Search, filters and word statistics are the engine's own. What only a server has (payload schema,
shards, replicas, quantization) is kept and reported, not carried out. Stricter than the engine
where the adapter must not rely on its leniency: as a server in strict mode does, it refuses to
filter by a key without an index. What is not translated here is refused, never ignored.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import qdrant_edge as edge
from qdrant_client import models

_MEMORY = Path("/dev/shm")  # noqa: S108 - where there is one: nothing here outlives the process
_INDEXED_FROM = 32
"""So many points are written before the engine makes the payload indexes that were asked for, as
in ``tiers.warm.edge_folder``: few tests write more, and making them takes longer than most do."""
IndexParams: TypeAlias = models.KeywordIndexParams | models.IntegerIndexParams
_INDEX_TYPES = {
    models.KeywordIndexParams: models.PayloadSchemaType.KEYWORD,
    models.IntegerIndexParams: models.PayloadSchemaType.INTEGER,
}


class Refused(Exception):
    """The stand-in says no, as a server would."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def untranslated(what: object) -> Refused:
    """Return the refusal of something that the stand-in does not implement."""
    return Refused(501, f"the stand-in does not implement {what}")


class Collection:
    """One collection: a shard of the real engine, and what a server would remember about it."""

    def __init__(self, made: models.CreateCollection) -> None:
        _only(made, "vectors sparse_vectors hnsw_config quantization_config metadata")
        self.made = made
        self.schema: dict[str, IndexParams] = {}
        self._written = 0
        self._due: dict[str, edge.UpdateOperation] = {}
        self.status = models.CollectionStatus.GREEN
        self.optimizer_error: str | None = None
        memory = _MEMORY if _MEMORY.is_dir() else None
        self._folder = Path(tempfile.mkdtemp(prefix="ezra-qdrant-", dir=memory))
        self._shard = edge.EdgeShard.create(str(self._folder / "shard"), _config(made))

    def close(self) -> None:
        """Give back the shard and its folder."""
        self._shard.close()
        shutil.rmtree(self._folder)

    def info(self) -> models.CollectionInfo:
        """Return what a server says about a collection."""
        made = self.made
        points = self.count(None)
        failed = self.optimizer_error
        return models.CollectionInfo(
            status=self.status,
            optimizer_status=models.OptimizersStatusOneOf1(error=failed)
            if failed
            else models.OptimizersStatusOneOf.OK,
            points_count=points,
            indexed_vectors_count=0,
            segments_count=self._shard.info().segments_count,
            payload_schema={
                key: models.PayloadIndexInfo(
                    data_type=_INDEX_TYPES[type(params)], params=params, points=points
                )
                for key, params in self.schema.items()
            },
            config=models.CollectionConfig(
                params=models.CollectionParams(
                    vectors=made.vectors,
                    sparse_vectors=made.sparse_vectors,
                    shard_number=made.shard_number or 1,
                    replication_factor=made.replication_factor or 1,
                    write_consistency_factor=made.write_consistency_factor or 1,
                ),
                hnsw_config=_hnsw(made),
                optimizer_config=models.OptimizersConfig(
                    default_segment_number=0, flush_interval_sec=5
                ),
                quantization_config=made.quantization_config,
                metadata=made.metadata,
            ),
        )

    def index(self, asked: models.CreateFieldIndex) -> None:
        """Make a payload index; one that is there is made again."""
        params = asked.field_schema
        if isinstance(params, models.KeywordIndexParams):
            keyword = edge.KeywordIndexParams(
                is_tenant=params.is_tenant, enable_hnsw=params.enable_hnsw
            )
            made = edge.UpdateOperation.create_field_index(asked.field_name, keyword)
        elif isinstance(params, models.IntegerIndexParams):
            integer = edge.IntegerIndexParams(
                lookup=params.lookup, range=params.range, enable_hnsw=params.enable_hnsw
            )
            made = edge.UpdateOperation.create_field_index(asked.field_name, integer)
        else:
            raise untranslated(params)
        self._due[asked.field_name] = made
        self._make_indexes()
        self.schema[asked.field_name] = params

    def index_all(self, schema: Mapping[str, IndexParams]) -> None:
        """Make the payload indexes of another collection."""
        for key, params in schema.items():
            self.index(models.CreateFieldIndex(field_name=key, field_schema=params))

    def _make_indexes(self) -> None:
        while self._due and self._written >= _INDEXED_FROM:
            self._update(self._due.pop(next(iter(self._due))))

    def update(self, asked: models.UpdateCollection) -> None:
        """Take over another configuration of the graph, which is not there."""
        _only(asked, "hnsw_config")
        former = self.made.hnsw_config or models.HnswConfigDiff()
        given = {} if asked.hnsw_config is None else asked.hnsw_config.model_dump(exclude_none=True)
        changed = former.model_copy(update=given)
        self.made = self.made.model_copy(update={"hnsw_config": changed})

    def unindex(self, key: str) -> None:
        """Forget a payload index, behind everybody's back."""
        if self._due.pop(key, None) is None:
            self._update(edge.UpdateOperation.delete_field_index(key))
        del self.schema[key]

    def upsert(self, points: Iterable[models.PointStruct]) -> None:
        """Write points whole."""
        converted = [
            edge.Point(str(point.id), _vectors(point), point.payload or {}) for point in points
        ]
        self._update(edge.UpdateOperation.upsert_points(converted))
        self._written += len(converted)
        self._make_indexes()

    def delete(self, selector: models.FilterSelector | models.PointIdsList) -> None:
        """Remove points by condition or id."""
        if isinstance(selector, models.FilterSelector):
            condition = self._filter(selector.filter)
            self._update(edge.UpdateOperation.delete_points_by_filter(condition))
        else:
            ids = [str(one) for one in selector.points]
            self._update(edge.UpdateOperation.delete_points(ids))

    def empty(self) -> None:
        """Remove every point."""
        self._update(edge.UpdateOperation.delete_points_by_filter(edge.Filter()))

    def count(self, condition: models.Filter | None) -> int:
        """Count exactly."""
        found = None if condition is None else self._filter(condition)
        return self._shard.count(edge.CountRequest(exact=True, filter=found))

    def scroll(self, asked: models.ScrollRequest) -> dict[str, Any]:
        """Return points in order of id."""
        _only(asked, "offset limit filter with_payload with_vector")
        limit = asked.limit or 10
        request = edge.ScrollRequest(
            offset=asked.offset,
            limit=limit,
            filter=None if asked.filter is None else self._filter(asked.filter),
            with_payload=asked.with_payload,
            with_vector=asked.with_vector,
        )
        points, following = self._shard.scroll(request)
        return {
            "points": [
                {"id": str(one.id), "payload": one.payload, "vector": _plain(one.vector)}
                for one in points
            ],
            "next_page_offset": None if following is None else str(following),
        }

    def query(self, asked: models.QueryRequest) -> dict[str, Any]:
        """Return the nearest points of one leg, best first."""
        _only(asked, "query using filter params limit with_payload")
        request = edge.QueryRequest(
            limit=asked.limit or 10,
            query=_nearest(asked.query, asked.using),
            params=self._params(asked.params),
            filter=None if asked.filter is None else self._filter(asked.filter),
            with_payload=asked.with_payload,
        )
        return {
            "points": [
                {"id": str(one.id), "version": 0, "score": one.score, "payload": one.payload}
                for one in self._shard.query(request)
            ]
        }

    def _params(self, asked: models.SearchParams | None) -> edge.SearchParams | None:
        if asked is None:
            return None
        _only(asked, "idf quantization")
        if asked.quantization is not None and self.made.quantization_config is None:
            raise Refused(400, "quantization is asked of a collection without it")
        if asked.idf is None:
            return None
        if not isinstance(asked.idf, models.IdfCorpusParams):
            raise untranslated(asked.idf)
        return edge.SearchParams(idf=edge.IdfParams(corpus=self._filter(asked.idf.corpus)))

    def _filter(self, asked: models.Filter) -> edge.Filter:
        _only(asked, "must should must_not")
        return edge.Filter(
            must=[self._condition(one) for one in _listed(asked.must)],
            should=[self._condition(one) for one in _listed(asked.should)],
            must_not=[self._condition(one) for one in _listed(asked.must_not)],
        )

    def _condition(
        self, asked: models.Condition
    ) -> edge.FieldCondition | edge.HasIdCondition | edge.Filter:
        if isinstance(asked, models.HasIdCondition):
            return edge.HasIdCondition({str(one) for one in asked.has_id})
        if isinstance(asked, models.Filter):
            return self._filter(asked)
        if not isinstance(asked, models.FieldCondition):
            raise untranslated(asked)
        _only(asked, "key match range is_empty")
        if asked.key not in self.schema:
            raise Refused(400, f'Index required but not found for "{asked.key}"')
        if isinstance(asked.match, models.MatchValue):
            return edge.FieldCondition(asked.key, match=edge.MatchValue(asked.match.value))
        if isinstance(asked.match, models.MatchAny):
            return edge.FieldCondition(asked.key, match=edge.MatchAny(asked.match.any))
        if isinstance(asked.range, models.Range):
            bounds = asked.range.model_dump(include={"gt", "gte", "lt", "lte"})
            return edge.FieldCondition(asked.key, range=edge.RangeFloat(**bounds))
        if asked.is_empty:
            return edge.FieldCondition(asked.key, is_empty=True)
        raise untranslated(asked)

    def _update(self, operation: edge.UpdateOperation) -> None:
        try:
            self._shard.update(operation)
        except Exception as error:
            # The engine raises this very class; anything else is a mistake of ours.
            if type(error) is not Exception:
                raise
            raise Refused(400, "Wrong input") from error


def _only(asked: Any, names: str) -> None:
    """Refuse a model in which anything else is set."""
    passed_on = "shard_number replication_factor write_consistency_factor on_disk_payload"
    known = {*names.split(), *(passed_on.split() if "metadata" in names else ())}
    given = {name for name in asked.model_fields_set if getattr(asked, name) not in (None, False)}
    if given - known:
        raise untranslated(f"{type(asked).__name__} with {sorted(given - known)}")


def _config(made: models.CreateCollection) -> edge.EdgeConfig:
    if not isinstance(made.vectors, dict):
        raise untranslated("vectors without a name")
    for params in made.vectors.values():
        _only(params, "size distance on_disk")
    for params in (made.sparse_vectors or {}).values():
        _only(params, "index modifier")
    return edge.EdgeConfig(
        vectors={
            name: edge.EdgeVectorParams(
                size=params.size, distance=getattr(edge.Distance, params.distance.value)
            )
            for name, params in made.vectors.items()
        },
        sparse_vectors={
            name: edge.EdgeSparseVectorParams(
                modifier=edge.Modifier.Idf if params.modifier == models.Modifier.IDF else None
            )
            for name, params in (made.sparse_vectors or {}).items()
        },
        wal_enabled=False,
    )


def _hnsw(made: models.CreateCollection) -> models.HnswConfig:
    given = {} if made.hnsw_config is None else made.hnsw_config.model_dump(exclude_none=True)
    defaults = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000}
    return models.HnswConfig(**{**defaults, **given})


def _vectors(point: models.PointStruct) -> dict[str, Any]:
    if not isinstance(point.vector, dict):
        raise untranslated("vectors without a name")
    return {
        name: edge.SparseVector(vector.indices, vector.values)
        if isinstance(vector, models.SparseVector)
        else vector
        for name, vector in point.vector.items()
    }


def _nearest(query: Any, using: str | None) -> edge.Query:
    if isinstance(query, models.NearestQuery):
        query = query.nearest
    if isinstance(query, models.SparseVector):
        return edge.Query.Nearest(edge.SparseVector(query.indices, query.values), using=using)
    if isinstance(query, list):
        return edge.Query.Nearest(query, using=using)
    raise untranslated(query)


def _listed(conditions: Any) -> list[Any]:
    if conditions is None:
        return []
    return conditions if isinstance(conditions, list) else [conditions]


def _plain(vectors: Any) -> Any:
    if vectors is None:
        return None
    return {
        name: {"indices": vector.indices, "values": vector.values}
        if isinstance(vector, edge.SparseVector)
        else vector
        for name, vector in vectors.items()
    }
