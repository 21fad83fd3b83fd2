"""Every number of the memory in one place: defaults, limits, and what each is for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from math import isclose, log
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from shared_core.errors import InvalidInput


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Limits(_Section):
    """Upper bounds on what one call may bring in; going over one raises `LimitExceeded`."""

    text_chars: int = Field(4_000_000, ge=1, description="characters in one record's text")
    batch: int = Field(100_000, ge=1, description="records or messages in one call")
    query_chars: int = Field(400_000, ge=1, description="characters in a query")
    k: int = Field(10_000, ge=1, description="results asked for")
    metadata_bytes: int = Field(1_000_000, ge=1, description="bytes of one record's metadata as JSON")
    metadata_depth: int = Field(32, ge=1, description="levels of nesting in metadata")
    id_chars: int = Field(1_000, ge=1, description="characters in a user, agent, session or record id")


class Window(_Section):
    """Sliding window (A1) and importance-aware window (A2)."""

    policy: Literal["sliding", "importance", "summary"] = Field(
        "sliding",
        description="the newest turns (A1), A2 when over the token limit, or the running summary and what follows it (A4)",
    )
    max_turns: int = Field(20, ge=0, description="turns kept; a turn is a user message and all that answers it")
    max_tokens: int = Field(4096, ge=0, description="tokens kept")
    keep_turns: int = Field(2, ge=0, description="newest turns A2 never weighs against older ones")


class Summary(_Section):
    """The running summary of what leaves the window (A4).

    It is due when the messages after it are past `window.max_turns` or `window.max_tokens`.
    """

    llm: Literal["now", "later", "never"] = Field(
        "now",
        description="whether a memory with an LLM asks it when a message makes a summary due, at `summarise()`, or not",
    )
    keep_turns: int = Field(5, ge=1, description="newest turns that stay verbatim when the older ones are folded in")
    target_chars: int = Field(500, ge=40, description="characters a summary aims at")
    max_chars: int = Field(1_000, ge=80, description="characters no summary exceeds, whoever wrote it")
    share: float = Field(0.4, gt=0, lt=1, description="largest share of a window's tokens that its summary takes")
    batch_tokens: int = Field(6_000, ge=256, description="tokens of talk folded in one go; longer talk takes several")


class Snapshot(_Section):
    """Facts and state so far (A5)."""

    llm: Literal["now", "later", "never"] = Field(
        "later",
        description="whether a memory with an LLM asks it after each turn, at `take_snapshot()`, or not; "
        "what the LLM has not seen yet is told by rules",
    )
    max_chars: int = Field(1_200, ge=80, description="characters no snapshot exceeds")
    facts: int = Field(8, ge=0, description="facts read from the conversation, the most important first")
    lines: int = Field(5, ge=1, description="decisions, parameters and promises, the newest of each")
    entities: int = Field(12, ge=0, description="names, the last mentioned first")
    line_chars: int = Field(140, ge=20, description="characters of one line")


class Importance(_Section):
    """How A2 weighs a message: `base` plus what its text adds, at most 1; and what A3 holds on to."""

    base: float = 0.5
    keyword: float = Field(0.1, description="times the keyword's own weight, once for each keyword found")
    user: float = Field(0.1, description="for a user's message")
    long: float = Field(0.1, description="for a text of more than `long_chars` characters")
    long_chars: int = 200
    digit: float = Field(0.05, description="for any digit in the text")
    retained: float = Field(0.8, ge=0, le=1, description="least weight of a user's constraint or a task's result (A3)")
    keywords: dict[str, float] = Field(
        default_factory=lambda: {
            "remember": 2.0, "记住": 2.0,
            "important": 2.0, "重要": 2.0,
            "password": 3.0, "密码": 3.0,
            "username": 2.0, "用户名": 2.0,
            "preference": 1.8, "偏好": 1.8,
            "address": 1.8, "地址": 1.8,
            "always": 1.5, "总是": 1.5,
            "forever": 1.5, "永远": 1.5,
            "like": 1.5, "喜欢": 1.5,
            "config": 1.5, "配置": 1.5,
            "don't": 1.3, "不要": 1.3,
        }
    )  # fmt: skip


class Mix(_Section):
    """What is weighed into a hit's place besides relevance (C1).

    The default is relevance alone, since it recalls best (`docs/recall.md` has every mix's figures).
    Relevance is the ranker's value in [0, 1], 1 for the best; a hit's score stays the record's own.
    `recall.score` has the formulas, `Mix.preset` ready mixes.
    """

    form: Literal["sum", "product"] = Field(
        "sum", description="a weighted mean, or relevance times the weighted sum of the rest"
    )
    relevance: float = Field(1.0, ge=0, description="weight of relevance; of no use in a product")
    recency: float = Field(
        0.0, ge=0, description="weight of recency: halved every half-life; 1/(1 + days) in a product"
    )
    importance: float = Field(0.0, ge=0, description="weight of importance")
    frequency: float = Field(0.0, ge=0, description="weight of accesses: log(1+n)/5, at most 1; n/10 in a product")
    half_life_hours: float = Field(24.0, gt=0, description="age at which recency is 0.5")
    recency_of: Literal["event", "access"] = Field(
        "event", description="age since it happened (or was stored), or since it was last recalled"
    )

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Mix:
        """A ready mix, by name; `changes` are fields of it that shall differ.

        - `relevance`: the default, relevance alone.
        - `balanced`: 0.4 relevance + 0.3 recency + 0.2 importance + 0.1 frequency, half-life 24 h.
        - `recently_used`: 0.6 relevance + 0.2 importance + 0.2 recency of the last access, which falls
          by 0.01 an hour (e^(-0.01 h), so half-life 69.3 h).
        - `shares`: alpha * relevance + beta * recency + gamma * frequency; `alpha`, `beta` and `gamma`
          (0.6, 0.3, 0.1) sum to 1.
        - `product`: relevance * (0.5 importance + 0.3/(1 + days) + 0.2 min(1, accesses/10)).

        Raises `InvalidInput` for an unknown name or field, and for shares that do not sum to 1.

        >>> Mix.preset("balanced").recency, Mix.preset("shares", alpha=0.5, beta=0.5, gamma=0).frequency
        (0.3, 0.0)
        """
        if name not in _MIXES:
            raise InvalidInput(f"no mix {name!r}; known: {', '.join(_MIXES)}")
        given = dict(_MIXES[name])
        if name == "shares":
            shares = [changes.pop(greek, given[part]) for greek, part in _SHARES.items()]
            if not all(isinstance(share, int | float) for share in shares) or not isclose(sum(shares), 1, abs_tol=1e-9):
                raise InvalidInput(f"alpha, beta and gamma sum to 1, not {' + '.join(map(str, shares))}")
            given |= dict(zip(_SHARES.values(), shares, strict=True))
        try:
            return cls(**(given | changes))
        except ValidationError as error:
            raise InvalidInput(f"mix {name!r}: {error}") from error


_MIXES: dict[str, dict[str, Any]] = {
    "relevance": {},
    "balanced": {"relevance": 0.4, "recency": 0.3, "importance": 0.2, "frequency": 0.1},
    "recently_used": {
        "relevance": 0.6, "importance": 0.2, "recency": 0.2, "half_life_hours": log(2) / 0.01, "recency_of": "access",
    },
    "shares": {"relevance": 0.6, "recency": 0.3, "frequency": 0.1},
    "product": {"form": "product", "importance": 0.5, "recency": 0.3, "frequency": 0.2},
}  # fmt: skip
_SHARES = {"alpha": "relevance", "beta": "recency", "gamma": "frequency"}


class Recall(_Section):
    """How a question finds its memories."""

    mix: Mix = Field(
        default_factory=Mix, description="what is weighed beside relevance; the name of a ready mix will do"
    )
    expand: Literal["llm"] | Callable[[str], Any] | None = Field(
        None,
        description='further questions to ask beside the one given: a callable, or "llm" for the memory\'s own LLM',
    )
    expansions: int = Field(3, ge=1, description="further questions asked, at most")
    expansion_weight: float = Field(0.5, ge=0, description="weight of each further question against the one given")
    rerank: Callable[[str, list[str]], Any] | None = Field(
        None, description="reorders the first hits: from a query and texts to a score each, or to their order"
    )
    rerank_top: int = Field(20, ge=1, description="hits the reranker sees; those after them keep their order")
    hook_seconds: float = Field(10.0, gt=0, description="longest wait for `expand` or `rerank`; then it goes without")
    word_bonus: float = Field(0.5, ge=0, le=1, description="how far matched words close the gap from cosine to 1")
    candidates: int = Field(200, ge=1, description="records each leg (meaning, words) proposes")
    exact_limit: int = Field(
        200_000, ge=1, description="vectors in one scope up to which search is exact; past it IVF, or what `dense` says"
    )
    dense: Literal["faiss", "pgvector", "qdrant"] | Callable[..., Any] = Field(
        "faiss",
        description="where the vectors of larger scopes are searched: in this process, in the PostgreSQL server "
        "of the memory, in Qdrant, or in the `ports.VectorIndex` that a callable makes of the store",
    )
    qdrant: str = Field(
        "http://localhost:6333", min_length=1, description="where Qdrant is: a URL, or a folder for its local mode"
    )
    probes: int = Field(32, ge=1, description="IVF lists visited for a query")
    piece_words: int = Field(60, ge=1, description="longest piece the embedder is given, in words")
    piece_chars: int = Field(400, ge=1, description="longest piece the embedder is given, in characters")

    @field_validator("mix", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return Mix.preset(value) if isinstance(value, str) else value


class Context(_Section):
    """What `Session.context` puts together (C4)."""

    recent_messages: int = Field(6, ge=0, description="newest messages always in the context, if they fit")
    memories: int = Field(400, ge=0, description="the most memories considered for the budget")
    recent_share: float = Field(
        0.5, ge=0, le=1, description="largest share of the budget for recent talk, unless the rest needs less"
    )
    least_memories: int = Field(3, ge=0, description="memories always in the context, if they fit: the first ones")
    least_events: int = Field(3, ge=0, description="the same of past events, if there are relevant ones")
    relevant: float = Field(
        0.5, ge=0, le=1, description="score from which an event beyond the first memories is relevant"
    )
    line_tokens: int = Field(20, ge=1, description="tokens of a usual line: no more are looked for than could fit")
    rank_decay: float = Field(1.5, ge=0, description="a line at place r of the ranking is worth (r + 1)^-rank_decay")
    length_worth: float = Field(0.8, ge=0, le=1, description="times tokens^length_worth: the longer of two says more")
    exact_cells: int = Field(
        400_000, ge=0, description="lines times tokens up to which the best choice is worked out; above it is greedy"
    )
    entities: int = Field(3, ge=0, description="entities named in the question of which the graph tells")
    knowledge_share: float = Field(0.15, ge=0, le=1, description="largest share of the budget for what the graph tells")
    rules: int = Field(3, ge=0, description="procedures that match the question")
    rules_share: float = Field(0.15, ge=0, le=1, description="largest share of the budget for procedures")
    task_share: float = Field(0.2, ge=0, le=1, description="largest share of the budget for the current task")
    summary_share: float = Field(0.2, ge=0, le=1, description="largest share of the budget for the running summary")


class Facts(_Section):
    """Facts out of talk, and how they change (D1 to D5)."""

    extract: bool = Field(True, description="take facts out of messages; a message is stored whatever comes of it")
    extractor: Callable[..., Any] | None = Field(
        None, description="takes the place of the built-in rules: `extract(message, *, at, speaker, previous)`"
    )
    llm: Literal["now", "later", "never"] = Field(
        "now", description="whether a memory with an LLM asks it for facts after each turn, at `resume()`, or not"
    )
    attempts: int = Field(3, ge=1, description="times an LLM that fails is asked about a turn, before the rules are")
    strategy: Literal["newest", "importance", "accesses", "confidence", "merge", "ask"] = Field(
        "newest", description="which of two facts that can't both be true is kept"
    )
    single_valued: tuple[str, ...] = Field((), description="predicates of which a new value replaces the old one")
    many_valued: tuple[str, ...] = Field((), description="predicates of which values add up")
    contradicts: Callable[[str, str], bool] | None = Field(
        None,
        description="an NLI model: whether the second of two texts contradicts the first; for facts without a triple",
    )
    candidates: int = Field(5, ge=1, description="likest facts that `contradicts` is asked about")
    time_to_live: dict[str, timedelta] = Field(
        default_factory=dict, description="by type: how long a memory is fresh, from when it was told or confirmed"
    )
    past_it: Literal["flag", "gone"] = Field(
        "flag",
        description="what becomes of a memory past its time to live: it ranks last and is flagged, or it expires",
    )


class Events(_Section):
    """Events out of talk (D1): what is stored of what a message tells has happened."""

    extract: bool | None = Field(
        None, description="take events out of messages; None: as `facts.extract`. A message is stored either way"
    )
    key: float = Field(
        1.0,
        ge=0,
        le=1,
        description="importance of requirements, decisions, code changes, errors with their fix: 5 of 5",
    )
    step: float = Field(0.8, ge=0, le=1, description="importance of a key step with its result: 4 of 5")
    plain: float = Field(0.6, ge=0, le=1, description="importance of an error without a fix")
    feedback: float = Field(0.6, ge=0, le=1, description="importance of praise or complaint itself")
    reinforce: float = Field(
        0.1, ge=0, le=1, description="what praise or complaint adds to the importance of the memories of that task"
    )
    reinforce_turns: int = Field(2, ge=1, description="exchanges it means, where no task is under way")


class Episodes(_Section):
    """What happened, in order (B3)."""

    most: int = Field(
        1_000, ge=0, description="events of a scope; past it the least important leave for the archive, then the older"
    )
    file_share: float = Field(
        0.05, ge=0, le=1, description="share of `most` that has to have left before one archive file is written for all"
    )
    turn_chars: int = Field(100, ge=1, description="characters of a turn shown in a timeline")
    top: int = Field(5, ge=0, description="important events in the summary of a session")
    over: float = Field(0.7, ge=0, le=1, description="importance past which an event stands in such a summary")


class Procedures(_Section):
    """What worked, and what did not (B7)."""

    mine: bool = Field(True, description="whether `mine` looks for procedures; what is there stays either way")
    every: int = Field(
        5, ge=0, description="sessions that have to end before procedures are mined by themselves; 0: never"
    )
    llm: bool = Field(
        True, description="whether a memory with an LLM asks it to mine; without one patterns are counted"
    )
    support: int = Field(2, ge=2, description="episodes that have to show a pattern")
    alike: float = Field(0.3, ge=0, le=1, description="share of words in which the situations of a pattern agree")
    works: float = Field(0.5, ge=0, le=1, description="success rate from which a pattern is advice, under it a warning")
    sessions: int = Field(200, ge=1, description="newest sessions that are mined")
    asked: int = Field(60, ge=2, description="newest episodes an LLM is asked about")
    min_likeness: float = Field(0.5, ge=0, le=1, description="likeness a situation needs for a procedure to be offered")
    min_success: float = Field(0.4, ge=0, le=1, description="success rate a procedure needs to be offered as advice")
    candidates: int = Field(10, ge=1, description="procedures weighed for one situation")


class Profile(_Section):
    """What is known of the user, always in the context (B9)."""

    max_tokens: int = Field(200, ge=0, description="tokens of the profile in a context; 0 leaves it out")
    share: float = Field(0.25, ge=0, le=1, description="largest share of a context's budget")
    values: int = Field(6, ge=1, description="values of one line, the most important ones first")


class Working(_Section):
    """Working memory (A6): what of the current task is kept, and what goes into the prompt."""

    step_chars: int = Field(500, ge=0, description="characters kept of a step's result")
    steps: int = Field(5, ge=0, description="newest steps in the prompt")
    result_chars: int = Field(200, ge=0, description="characters of a result, a value or an observation in the prompt")
    observations: int = Field(20, ge=0, description="newest observations of the environment that are kept")
    observations_shown: int = Field(5, ge=0, description="of these, in the prompt")
    aside: int = Field(5, ge=0, description="paused and pending tasks in the prompt, the newest ones")


class References(_Section):
    """What a phrase such as "that document" refers to (A7); the weights sum to 1."""

    messages: int = Field(400, ge=1, description="newest messages in which it is looked for")
    chars: int = Field(10_000, ge=1, description="characters read of each of them")
    type: float = Field(
        0.45, ge=0, le=1, description="weight of being what the phrase names: a file, a person, an order"
    )
    name: float = Field(0.25, ge=0, le=1, description="weight of words of the phrase in its name")
    said: float = Field(0.15, ge=0, le=1, description="weight of words of the phrase said beside it")
    recent: float = Field(0.15, ge=0, le=1, description="weight of being named last")
    margin: float = Field(0.03, ge=0, le=1, description="a second candidate nearer than this makes a phrase ambiguous")


class Graph(_Section):
    """The knowledge graph (B4 to B6)."""

    path_depth: int = Field(3, ge=1, description="relations in the longest path between two entities")
    paths: int = Field(100, ge=1, description="paths given, the shortest first")
    subgraph_depth: int = Field(2, ge=0, description="steps from the centre of a subgraph")
    subgraph_relations: int = Field(1_000, ge=1, description="relations in a subgraph, the nearest first")
    text_relations: int = Field(10, ge=0, description="relations of an entity in the prompt")
    named: int = Field(5, ge=0, description="entities named in a text of which it is told what is known")
    named_chars: int = Field(
        4_000, ge=0, description="characters of a text that are searched for names, the last of it"
    )
    proposals: int = Field(100, ge=1, description="likely aliases proposed, the likeliest first")
    drawn: int = Field(150, ge=1, description="entities in a drawing, those of the most relations first")
    inferred: int = Field(100_000, ge=0, description="inferred relations of a scope, those of the fewest steps first")
    cached: int = Field(500_000, ge=0, description="told relations kept in memory, of all scopes; 1 KB each, about")


class Decay(_Section):
    """How memories fade (D6): pure arithmetic, computed when asked and never written back."""

    days: float = Field(60.0, gt=0, description="days of age that take a whole 1.0 off an importance")
    disuse: float = Field(0.1, ge=0, le=1, description="the most that a memory nobody recalls loses besides")
    disuse_days: float = Field(30.0, gt=0, description="days without a recall after which half of that is lost")
    threshold: float = Field(0.2, ge=0, le=1, description="worth under which `Scope.cleanup` lets a memory go")
    confidence: float = Field(0.3, ge=0, le=1, description="confidence under which it lets one go")
    kinds: tuple[Literal["turn", "fact", "summary", "event", "rule"], ...] = Field(
        ("fact", "summary", "event"), description="kinds that fade; what has expired goes whatever its kind"
    )
    to: Literal["archive", "delete"] = Field("archive", description="what becomes of memories that go")
    expired_to: Literal["archive", "delete"] = Field("delete", description="what becomes of those that have expired")
    batch: int = Field(500, ge=1, description="memories taken away in one transaction")


class Consolidation(_Section):
    """What moves from short to long term, and what is merged and folded (D7)."""

    every: int = Field(5, ge=0, description="user messages of a session after which it is consolidated; 0: only asked")
    promote: Literal["clear", "always"] = Field(
        "clear",
        description="when a turn that matters, of which no fact was read, becomes a memory of its own: before `clear()` "
        "takes it away, or always; while the turn is there it is found itself",
    )
    threshold: float = Field(0.6, ge=0, le=1, description="importance past which a user's turn becomes a memory")
    turn_chars: int = Field(1_000, ge=1, description="characters of the longest turn that becomes a memory whole")
    keep_summary: bool = Field(False, description="whether a cleared session leaves a summary beside its facts")
    merge: bool = Field(True, description="whether near-duplicates are merged")
    likeness: float = Field(0.8, ge=0, le=1, description="cosine past which two facts are compared word by word")
    fold: bool = Field(
        False, description="whether `consolidate` folds the small memories on one subject into a summary"
    )
    fold_from: int = Field(8, ge=2, description="small memories on one subject from which it gets a summary")
    small_chars: int = Field(200, ge=1, description="characters up to which a memory is small")
    fold_chars: int = Field(500, ge=50, description="characters of such a summary")
    fold_importance: float = Field(0.7, ge=0, le=1, description="importance of such a summary")
    batch: int = Field(128, ge=1, description="records looked at between two transactions")


class Background(_Section):
    """The background writer (D8)."""

    on: bool = Field(False, description="queue `add`, `add_many` and `add_messages`, and write them in a thread")
    queued: int = Field(1_000, ge=1, description="records that may wait; past it the next write waits for room")
    batch: int = Field(256, ge=1, description="records embedded and written together")


class Archive(_Section):
    """Cold storage (B8)."""

    address: str | None = Field(
        None, description="a folder or an fsspec address (s3://...); without one, a folder beside the database"
    )
    level: int = Field(9, ge=1, le=19, description="zstd level; 19 is a tenth smaller and ten times slower")
    abandoned_seconds: float = Field(3600.0, gt=0, description="after which a file whose writer was killed is swept")


class Erasure(_Section):
    """When the bytes of what was erased go too (E3): SQLite leaves some behind until its file is rewritten."""

    when: Literal["now", "batched"] = Field(
        "batched",
        description="whether each deletion rewrites the file before it returns, or many share one rewriting: "
        "`purge()`, `close()`, `batch` erased records, or `delete_all` and `forget` in a small file",
    )
    batch: int = Field(10_000, ge=1, description="erased records after which the file is rewritten")
    small_bytes: int = Field(
        32_000_000,
        ge=0,
        description="largest file that `delete_all` and `forget` rewrite at once; it takes about 0.2 s",
    )
    wait: float = Field(2.0, ge=0, description="seconds it waits for readers and writers that are in its way")


class Transfer(_Section):
    """Export and import (E5)."""

    batch: int = Field(5_000, ge=1, description="records in one transaction of an import; a smaller file is one whole")
    level: int = Field(3, ge=1, le=19, description="zstd level of an export whose name ends in .zst")
    memories: int = Field(50, ge=0, description="most important memories in a session's bundle")
    events: int = Field(100, ge=0, description="newest events in a session's bundle")


class Redaction(_Section):
    """Private data in texts (E1): found, and not stored as it is. Off by default."""

    mode: Literal["off", "mask", "vault", "refuse"] = Field(
        "off",
        description="what is done with it: nothing, a label in its place ('[email]'), a token that `Scope.reveal` "
        "gives back (needs the extra 'encryption'), or `InvalidInput`",
    )
    kinds: tuple[
        Literal["email", "phone", "id_card", "bank_card", "iban", "ip", "api_key", "password", "name", "address"], ...
    ] = Field(
        ("email", "phone", "id_card", "bank_card", "iban", "ip", "api_key", "password", "name", "address"),
        description="what is looked for; phones need the extra 'redaction', names and addresses a hook",
    )
    hook: Callable[[str], Any] | None = Field(
        None,
        description="finds names and addresses: takes a text, gives (start, end, label) for each, with a label such as "
        "PERSON, PER, LOC, GPE or ADDRESS",
    )


class Cache(_Section):
    """What stays in memory."""

    bytes: int = Field(2_000_000_000, ge=0, description="scope indexes kept in memory; the least used go")
    embeddings: int = Field(10_000, ge=0, description="texts whose vectors are kept, so that each is embedded once")


class Settings(BaseModel):
    """All settings; every section can be given as a dict.

    >>> Settings(window={"max_turns": 5}).window.max_turns
    5
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    limits: Limits = Field(default_factory=Limits)
    window: Window = Field(default_factory=Window)
    summary: Summary = Field(default_factory=Summary)
    snapshot: Snapshot = Field(default_factory=Snapshot)
    importance: Importance = Field(default_factory=Importance)
    recall: Recall = Field(default_factory=Recall)
    context: Context = Field(default_factory=Context)
    facts: Facts = Field(default_factory=Facts)
    events: Events = Field(default_factory=Events)
    episodes: Episodes = Field(default_factory=Episodes)
    procedures: Procedures = Field(default_factory=Procedures)
    profile: Profile = Field(default_factory=Profile)
    working: Working = Field(default_factory=Working)
    references: References = Field(default_factory=References)
    graph: Graph = Field(default_factory=Graph)
    consolidation: Consolidation = Field(default_factory=Consolidation)
    decay: Decay = Field(default_factory=Decay)
    background: Background = Field(default_factory=Background)
    archive: Archive = Field(default_factory=Archive)
    erasure: Erasure = Field(default_factory=Erasure)
    transfer: Transfer = Field(default_factory=Transfer)
    redaction: Redaction = Field(default_factory=Redaction)
    cache: Cache = Field(default_factory=Cache)
    busy_timeout: float = Field(30.0, gt=0, description="seconds a write waits for another process")
    token_counter: Callable[[str], int] | None = Field(
        None, description="tokens of a text, as the model counts them; the default needs no model"
    )
    redactor: Callable[[str], str] | None = Field(
        None,
        description="a redactor of your own: gets every text, after `redaction` where that is on, before it is embedded, "
        "stored or logged, and every question",
    )
    embed_batch: int = Field(256, ge=1, description="texts handed to the embedder in one call")
