"""The verb of a scope that recalls: rank, fetch, score, and let the user's own hooks have their say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput, LimitExceeded
from shared_core.notebook import Shown
from shared_core.recall import hooks, score
from shared_core.recall.allow import allowed
from shared_core.recall.explain import Origins, origins, reason
from shared_core.recall.fold import folded, is_mixed
from shared_core.recall.question import Query, Question, question
from shared_core.recall.rank import Ranking, cosines, matched, rank
from shared_core.recall.where import Where, parse
from shared_core.steps import Steps, both
from shared_core.store import ledger
from shared_core.store.rows import instant, micros
from shared_core.turns import in_turn
from shared_core.values import Hit, Kind, Record, Triple, aware
from shared_core.verbs.handle import Handle
from shared_core.writing.conflict import address
from shared_core.writing.intake import fraction, identifier, kind_of, storable

if TYPE_CHECKING:
    from collections.abc import Callable


_SPARE = 50  # candidates looked at beyond k where something decides after the ranking
Hits = list[Hit]
Names = list[str]
Scored = list[tuple[int, Hit]]


class Recalling(Handle):
    """What `Scope` does to recall."""

    def _search(
        self,
        query: Query,
        *,
        k: int = 5,
        kinds: Collection[str] | None = None,
        where: Mapping[str, Any] | None = None,
        min_score: float = 0.0,
        as_of: datetime | None = None,
        session: str | None = None,
        exclude: Iterable[str] = (),
        explain: bool = False,
    ) -> Steps[Hits]:
        """The `k` records that answer a question best.

        `query` is a text, or a list of messages: then the newest user message leads and the earlier
        ones give context. `kinds` and `where` filter before the cut; `session` keeps to one
        conversation; `exclude` leaves out record ids; `as_of` searches what was true at that time.
        The score of a hit is the record's own likeness to the question, in [0, 1]: max(0, cosine)
        of its best piece, raised by matched words, 1.0 for identical text; `min_score` cuts by it.
        The order comes from words, meaning and the talk around each turn together, and from
        `settings.recall.expand` and `rerank` where those are set. A blank query gives []. With
        `explain` each hit says what it is made of and where it comes from.

        Raises `InvalidInput` for an unknown operator or kind, a negative k or a naive `as_of`,
        `EmbedderMismatch` if the database was embedded with another model.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add_many(["Green tea keeps me awake", "My bike is red", "乌龙茶很好喝"])
        >>> [hit.record.text for hit in scope.search("乌龙茶", k=1)]
        ['乌龙茶很好喝']
        """
        return (
            yield from self._seek(
                query, k=k, kinds=kinds, where=where, min_score=min_score, as_of=as_of, session=session,
                exclude=exclude, explain=explain,
            )
        )  # fmt: skip

    search, asearch = both(_search, taken=in_turn)

    def _seek(
        self, query: Query, *, k: int, kinds: Collection[str] | None = None, where: Mapping[str, Any] | None = None,
        min_score: float = 0.0, as_of: datetime | None = None, session: str | None = None, exclude: Iterable[str] = (),
        explain: bool = False, hooked: bool = True,
    ) -> Steps[Hits]:  # fmt: skip
        """`search`; without `hooked` as the memory itself asks, which no expansion or reranker is paid for."""
        engine = self._live()
        settings = engine.settings
        if not isinstance(k, int) or isinstance(k, bool) or k < 0:
            raise InvalidInput(f"k is a whole number from 0, not {k!r}")
        if k > settings.limits.k:
            raise LimitExceeded(f"k is {k}; limits.k is {settings.limits.k}")
        wanted = kinds_of(kinds)
        tree = parse(where)
        at = None if as_of is None else micros(aware(as_of, "as_of"))
        fraction(min_score, "min_score")
        if session is not None:
            identifier(session, "session", settings)
        left_out = [exclude] if isinstance(exclude, str) else list(exclude)
        engine.ready()
        names = self._speakers()
        query = self._as_asked(query)
        asked = question(query, settings, instant(engine.now()), names or (), self._relatives)
        if asked is None or k == 0 or names is None:
            return Shown()
        yield from self._embedded(asked)
        further = (yield from self._further(query, asked, names)) if hooked else []
        top = settings.recall.rerank_top if hooked and settings.recall.rerank is not None else 0
        found = self._recall(asked, further, max(k, top), wanted, tree, min_score, at, session, left_out, explain)
        if top:
            found = yield from self._reranked(asked.text, found, top, explain)
        if settings.facts.time_to_live and settings.facts.past_it == "flag":
            found.sort(key=lambda pair: pair[1].record.stale)
        engine.accessed([seq for seq, _ in found[:k]], engine.now())
        return Shown(score.shown([hit for _, hit in found[:k]]))

    def _likest(self, query: Query, kind: Kind, k: int, where: Where | None = None) -> Steps[Scored]:
        """The `k` records of one kind that are most like a question, by their own score alone.

        For kinds of which there are few: ranking all records once more would cost as much as the search.
        """
        engine = self._engine
        engine.ready()
        now = engine.now()
        asked = question(query, engine.settings, instant(now))
        if asked is None or k < 1:
            return []
        yield from self._embedded(asked)
        with engine.store.look() as tx:
            scope = self._find(tx)
        if scope is None:
            return []
        bonus = engine.settings.recall.word_bonus
        with engine.recalling(scope, where) as (tx, index):
            mask = allowed(index, now=now, kinds=frozenset((kind,)), where=where)
            slots = index["live"].nonzero()[0] if mask is None else mask.nonzero()[0]
            near = cosines(index, asked.lead, slots).clip(min=0.0)
            held = matched(index, asked, slots)  # as `score.coverage` of each text, out of the index
            likely = near + (1 - near) * bonus * held
            best = (-likely).argsort(kind="stable")[:k]
            own = {int(index["seq"][slots[place]]): (float(near[place]), float(held[place])) for place in best}
            records = self._records(tx, [*own])
        found = []
        for seq, record in records.items():
            same = score.same_text(asked.text, record.text)
            value = score.own_score(*own[seq], identical=same, word_bonus=bonus)
            found.append((seq, Hit(record=record, score=value)))
        return sorted(found, key=lambda pair: (-pair[1].score, pair[1].record.id))

    def _embedded(self, asked: Question) -> Steps[None]:
        vectors = []
        for view in asked.views:
            vectors.append((yield from self._engine.model.query(view.text)))
        asked.embedded(vectors)

    def _speakers(self) -> Names | None:
        """The names of those who speak in this scope; None where there is nothing to search."""
        with self._engine.store.look() as tx:
            scope = self._find(tx)
        if scope is None:
            return None
        with self._engine.recalling(scope) as (_, index):
            return index.names

    def _relatives(self, relation: str) -> Names:
        """The names of those who stand in a relation to the user."""
        topic, _ = address("fact", "", Triple("user", relation, "?"))
        with self._engine.store.look() as tx:
            return [row[0] for row in tx.rows("objects_on_topic", {"scope": self._find(tx), "topic": topic})]

    # ------------------------------------------------------------------ hooks

    def _further(self, query: Query, asked: Question, names: Names) -> Steps[list[Question]]:
        """The questions that `settings.recall.expand` has beside the one asked, embedded."""
        engine = self._engine
        settings = engine.settings.recall
        hook: Any = settings.expand
        if hook is None:
            return []
        read: Callable[[Any], Any] = lambda answer: answer  # noqa: E731
        argument = asked.text
        if hook == "llm":
            from shared_core.recall import expansion

            hook, argument = engine.llm, expansion.prompt(query, settings.expansions)
            read = expansion.parse
        longest = engine.settings.limits.query_chars
        texts = yield from hooks.expanded(
            hook, argument, lambda answer: hooks.queries_of(read(answer), asked.text, settings.expansions, longest),
            settings.hook_seconds,
        )  # fmt: skip
        made = [question(text, engine.settings, instant(engine.now()), names, self._relatives) for text in texts]
        further = [each for each in made if each is not None]
        for each in further:
            yield from self._embedded(each)
        return further

    def _reranked(self, text: str, found: Scored, top: int, explain: bool) -> Steps[Scored]:
        """The first `top` hits in the order of `settings.recall.rerank`, the rest after them as they were."""
        settings = self._engine.settings.recall
        first = found[:top]
        if settings.rerank is None or len(first) < 2:
            return found
        texts = [hooks.told(hit.record) for _, hit in first]
        order = yield from hooks.reranked(settings.rerank, text, texts, settings.hook_seconds)
        if order is None:
            return found
        chosen: Scored = []
        for place in order.places:
            seq, hit = first[place]
            if explain:
                parts = {**hit.parts, "rerank.from": float(place + 1)}
                parts |= {} if order.scores is None else {"rerank": order.scores[place]}
                hit = hit.model_copy(update={"parts": parts, "reason": f"{hit.reason}; reranked from {place + 1}"})
            chosen.append((seq, hit))
        return chosen + found[top:]

    # ------------------------------------------------------------------ ranking

    def _recall(
        self, asked: Question, further: Sequence[Question], k: int, kinds: frozenset[Kind] | None,
        where: Where | None, min_score: float, as_of: int | None, session: str | None, exclude: Sequence[str],
        explain: bool,
    ) -> Scored:  # fmt: skip
        """Rank, fetch and score, on one state of the rows; at least `k` hits, if there are."""
        engine = self._engine
        now = engine.now()
        settings = engine.settings.recall
        by_mix = not score.is_plain(settings.mix)
        facts = engine.settings.facts
        ages = bool(facts.time_to_live) and facts.past_it == "flag"
        with engine.store.look() as tx:
            scope = self._find(tx)
        if scope is None:
            return []
        with engine.recalling(scope, where) as (tx, index):
            number = None
            if session is not None:
                found = tx.rows("find_session", {"scope": scope, "name": session})
                if not found:
                    return []
                number = found[0][0]
            seqs = ledger.seqs_of(tx, scope, filter(storable, exclude))
            if seqs:  # nor is what was read from them an answer
                seqs += [row[0] for row in tx.rows("derived_only_from", {"seqs": str(seqs)})]
            mask = allowed(index, now=now, kinds=kinds, where=where, session=number, exclude=seqs, as_of=as_of)
            count = max(4 * k, _SPARE) if min_score or by_mix or ages else k
            mixed = as_of is None and is_mixed(index, kinds)  # of the past, facts know more than turns
            most = max(2 * count, _SPARE) if mixed else count
            ranking = rank(index, asked, mask, most, further, settings.expansion_weight)
            ranking = folded(tx, index, asked, ranking, count, mask) if mixed else ranking
            ordered = [int(seq) for seq in index["seq"][ranking.slots]]
            records = self._records(tx, ordered)
            told = origins(tx, ordered) if explain else None
            held = matched(index, asked, ranking.slots)  # as `score.coverage` of each text, out of the index
        hits = self._scored(asked, ranking, held.tolist(), ordered, records, told)
        if by_mix:
            at = instant(now)
            relevance = dict(zip(ordered, ranking.relevance.tolist(), strict=True))
            worth = {seq: score.mixed(relevance[seq], hit.record, settings.mix, at)[0] for seq, hit in hits}
            hits.sort(key=lambda pair: (-worth[pair[0]], pair[1].record.id))
        return [(seq, hit) for seq, hit in hits if hit.score >= min_score]

    def _scored(
        self, asked: Question, ranking: Ranking, held: Sequence[float], seqs: Sequence[int],
        records: Mapping[int, Record], told: Origins | None,
    ) -> Scored:  # fmt: skip
        bonus = self._engine.settings.recall.word_bonus
        now = instant(self._engine.now())
        relevance = ranking.relevance
        found: Scored = []
        for place, seq in enumerate(seqs):
            record = records.get(seq)
            if record is None:
                continue
            covered = held[place]
            cosine = float(ranking.cosines[place])
            same = (covered >= 1.0 or not asked.asked) and score.same_text(asked.text, record.text)
            value = score.own_score(cosine, covered, identical=same, word_bonus=bonus)
            if told is None:
                found.append((seq, Hit(record=record, score=value, parts={}, reason="")))
                continue
            parts = {"score": value, "cosine": cosine, "matched": covered}
            parts |= score.mixed(float(relevance[place]), record, self._engine.settings.recall.mix, now)[1]
            parts |= {f"rank.{name}": float(values[place]) for name, values in ranking.parts.items()}
            sources = told.sources.get(seq, ())
            why = reason(record, asked.asked, parts, sources, told.replaced.get(seq))
            found.append((seq, Hit(record=record, score=value, parts=parts, reason=why, sources=sources)))
        return found


def kinds_of(kinds: Collection[str] | None) -> frozenset[Kind] | None:
    """The kinds that a caller names; None for all of them. Raises `InvalidInput` for an unknown one."""
    if kinds is None:
        return None
    if isinstance(kinds, str):
        kinds = [kinds]
    return frozenset(Kind(kind_of(kind)) for kind in kinds)
