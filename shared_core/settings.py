"""Every number of the memory in one place: defaults, limits, and what each is for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


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

    policy: Literal["sliding", "importance"] = Field("sliding", description="A1, or A2 when over the token limit")
    max_turns: int = Field(20, ge=0, description="turns kept; a turn is a user message and all that answers it")
    max_tokens: int = Field(4096, ge=0, description="tokens kept")
    keep_turns: int = Field(2, ge=0, description="newest turns A2 never weighs against older ones")


class Importance(_Section):
    """How A2 weighs a message: `base` plus what its text adds, at most 1."""

    base: float = 0.5
    keyword: float = Field(0.1, description="times the keyword's own weight, once for each keyword found")
    user: float = Field(0.1, description="for a user's message")
    long: float = Field(0.1, description="for a text of more than `long_chars` characters")
    long_chars: int = 200
    digit: float = Field(0.05, description="for any digit in the text")
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

    The default is relevance alone, since it recalls best: age decay in ranking is measurably
    harmful. `frequency` is log(1+n)/5, at most 1; `recency` halves every `half_life_hours`.
    """

    relevance: float = Field(1.0, ge=0)
    recency: float = Field(0.0, ge=0)
    importance: float = Field(0.0, ge=0)
    frequency: float = Field(0.0, ge=0)
    half_life_hours: float = Field(24.0, gt=0)


class Recall(_Section):
    """How a question finds its memories."""

    mix: Mix = Field(default_factory=Mix)
    word_bonus: float = Field(0.5, ge=0, le=1, description="how far matched words close the gap from cosine to 1")
    candidates: int = Field(200, ge=1, description="records each leg (meaning, words) proposes")
    exact_limit: int = Field(200_000, ge=1, description="vectors in one scope up to which search is exact; past it IVF")
    probes: int = Field(32, ge=1, description="IVF lists visited for a query")
    piece_words: int = Field(60, ge=1, description="longest piece the embedder is given, in words")
    piece_chars: int = Field(400, ge=1, description="longest piece the embedder is given, in characters")


class Context(_Section):
    """What `Session.context` puts together (C4)."""

    recent_messages: int = Field(6, ge=0, description="newest messages always in the context, if they fit")
    memories: int = Field(400, ge=0, description="the most memories considered for the budget")
    recent_share: float = Field(0.5, ge=0, le=1, description="largest share of the budget for recent talk")


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


class Profile(_Section):
    """What is known of the user, always in the context (B9)."""

    max_tokens: int = Field(200, ge=0, description="tokens of the profile in a context; 0 leaves it out")
    share: float = Field(0.25, ge=0, le=1, description="largest share of a context's budget")
    values: int = Field(6, ge=1, description="values of one line, the most important ones first")


class Graph(_Section):
    """The knowledge graph (B4 to B6)."""

    path_depth: int = Field(3, ge=1, description="relations in the longest path between two entities")
    paths: int = Field(100, ge=1, description="paths given, the shortest first")
    subgraph_depth: int = Field(2, ge=0, description="steps from the centre of a subgraph")
    subgraph_relations: int = Field(1_000, ge=1, description="relations in a subgraph, the nearest first")
    text_relations: int = Field(10, ge=0, description="relations of an entity in the prompt")
    proposals: int = Field(100, ge=1, description="likely aliases proposed, the likeliest first")
    drawn: int = Field(150, ge=1, description="entities in a drawing, those of the most relations first")
    inferred: int = Field(100_000, ge=0, description="inferred relations of a scope, those of the fewest steps first")
    cached: int = Field(500_000, ge=0, description="told relations kept in memory, of all scopes; 1 KB each, about")


class Cache(_Section):
    """What stays in memory."""

    bytes: int = Field(2_000_000_000, ge=0, description="scope indexes kept in memory; the least recently used go")
    embeddings: int = Field(10_000, ge=0, description="texts whose vectors are kept, so that each is embedded once")


class Settings(BaseModel):
    """All settings; every section can be given as a dict.

    >>> Settings(window={"max_turns": 5}).window.max_turns
    5
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    limits: Limits = Field(default_factory=Limits)
    window: Window = Field(default_factory=Window)
    importance: Importance = Field(default_factory=Importance)
    recall: Recall = Field(default_factory=Recall)
    context: Context = Field(default_factory=Context)
    facts: Facts = Field(default_factory=Facts)
    profile: Profile = Field(default_factory=Profile)
    graph: Graph = Field(default_factory=Graph)
    cache: Cache = Field(default_factory=Cache)
    busy_timeout: float = Field(30.0, gt=0, description="seconds a write waits for another process")
    token_counter: Callable[[str], int] | None = Field(
        None, description="tokens of a text, as the model counts them; the default needs no model"
    )
    redactor: Callable[[str], str] | None = Field(
        None, description="takes out of every text what must not be kept, before it is embedded, stored or logged"
    )
    embed_batch: int = Field(256, ge=1, description="texts handed to the embedder in one call")
