"""Qdrant as the vector index of scopes too big to hold, for teams that run it already (extra `qdrant`).

A collection a scope: nothing but vectors and the record each belongs to. Point 0, which no record can
have, holds the revision the collection has reached. In the local mode (a folder, or ":memory:") the
client searches in this process and exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shared_core.errors import MissingExtra, StoreError, StoreUnavailable
from shared_core.recall.arrays import Floats, Slots

_STAMP = 0
_BATCH = 256  # points in one request
_PIECES = 16  # bits of a key that number a record's pieces, as `outer` packs them


class QdrantIndex:
    """A `ports.VectorIndex` in Qdrant; `client` is a URL, a folder, ":memory:", or a `QdrantClient` of your own."""

    def __init__(self, client: Any) -> None:
        try:
            import qdrant_client
        except ImportError as error:
            raise MissingExtra("qdrant-client", "qdrant") from error
        self._models = qdrant_client.models
        self._own = isinstance(client, str)
        if isinstance(client, str):
            where: dict[str, Any] = {"location": client} if client == ":memory:" else {"path": client}
            if "://" in client:
                where = {"url": client, "check_compatibility": False}  # which is a thread and a warning of its own
            client = qdrant_client.QdrantClient(**where)
        self._client: Any = client

    def _call(self, verb: str, *arguments: Any, **keywords: Any) -> Any:
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            return getattr(self._client, verb)(*arguments, **keywords)
        except UnexpectedResponse as error:
            raise StoreError(f"Qdrant refused {verb}: {error}") from error
        except (ResponseHandlingException, OSError) as error:
            raise StoreUnavailable(f"Qdrant can't be reached; nothing is lost, try again ({error})") from error

    def reached(self, collection: str) -> int:
        if not self._call("collection_exists", collection):
            return -1
        found = self._call("retrieve", collection, [_STAMP], with_payload=True)
        return int(found[0].payload["revision"]) if found else -1

    def write(self, collection: str, records: Sequence[int], keys: Slots, vectors: Floats) -> None:
        models = self._models
        if not self._call("collection_exists", collection):
            shape = models.VectorParams(size=int(vectors.shape[1]), distance=models.Distance.DOT)
            self._call("create_collection", collection, vectors_config=shape)
            if self._own_server:  # without it the server reads every point to find a record's
                self._call("create_payload_index", collection, "record", models.PayloadSchemaType.INTEGER)
        for start in range(0, len(records), _BATCH):
            part = [int(record) for record in records[start : start + _BATCH]]
            among = models.FieldCondition(key="record", match=models.MatchAny(any=part))
            self._call(
                "delete",
                collection,
                points_selector=models.FilterSelector(filter=models.Filter(must=[among])),
                wait=True,
            )
        for start in range(0, len(keys), _BATCH):
            part = np.asarray(keys[start : start + _BATCH], np.int64).tolist()
            points = models.Batch(
                ids=part,
                vectors=vectors[start : start + _BATCH].tolist(),
                payloads=[{"record": key >> _PIECES} for key in part],
            )
            self._call("upsert", collection, points, wait=True)

    @property
    def _own_server(self) -> bool:
        return not hasattr(self._client._client, "location")  # the local mode has no payload index

    def reach(self, collection: str, revision: int) -> None:
        size = self._call("get_collection", collection).config.params.vectors.size
        stamp = self._models.PointStruct(id=_STAMP, vector=[0.0] * size, payload={"revision": revision})
        self._call("upsert", collection, [stamp], wait=True)

    def search(self, collection: str, query: Floats, count: int, among: Slots | None = None) -> Slots:
        models = self._models
        chosen = None
        if among is not None:
            chosen = models.Filter(must=[models.HasIdCondition(has_id=np.asarray(among).tolist())])
        found = self._call(
            "query_points", collection, query=np.asarray(query, np.float32).tolist(), limit=count + 1,
            query_filter=chosen, with_payload=False,
        )  # fmt: skip
        keys = [int(point.id) for point in found.points if point.id != _STAMP]
        return np.array(keys[:count], np.int64)

    def collections(self, prefix: str) -> list[str]:
        found = self._call("get_collections").collections
        return sorted(each.name for each in found if each.name.startswith(f"{prefix}-"))

    def drop(self, collection: str) -> None:
        self._call("delete_collection", collection)

    def close(self) -> None:
        if self._own:
            self._client.close()
