-- The schema, designed whole: later parts of the memory fill columns instead of adding them.
-- Times are integers: microseconds since 1970 in UTC. Payloads are JSON in ASCII.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Who: a scope is a user with one agent. Its revision counts its writes; caches compare it.
-- `horizon`: the log of erased rows is complete from this revision on; `graph_horizon`: a graph in
-- memory that is older than this is built anew, not brought up to date.
CREATE TABLE scope (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    horizon INTEGER NOT NULL DEFAULT 0,
    graph_horizon INTEGER NOT NULL DEFAULT 0,
    consolidated INTEGER NOT NULL DEFAULT 0,   -- the revision up to which duplicates were looked for (D7)
    folded INTEGER NOT NULL DEFAULT 0,         -- and up to which subjects were folded
    created_at INTEGER NOT NULL,
    UNIQUE (user, agent)
);

CREATE TABLE session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL REFERENCES scope (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    summary TEXT,                 -- the running summary (A4) and how far it reaches
    summarised INTEGER NOT NULL DEFAULT 0,
    snapshot TEXT,                -- facts and state so far (A5)
    state TEXT,                   -- JSON: task stack (A6), tool state (A7), settings of the session
    consolidated INTEGER NOT NULL DEFAULT 0,   -- the position up to which its turns were consolidated (D7)
    UNIQUE (scope, name)
);

CREATE TABLE record (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL REFERENCES scope (id),
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    type TEXT,
    text TEXT NOT NULL,
    subject TEXT, predicate TEXT, object TEXT,
    polarity INTEGER NOT NULL DEFAULT 1,
    entities TEXT,                -- JSON list
    source TEXT NOT NULL,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    metadata TEXT,                -- JSON object
    event_time INTEGER,
    valid_from INTEGER, valid_until INTEGER,
    expires_at INTEGER,           -- a hard end
    confirmed_at INTEGER,         -- freshness counts from here (D5)
    pinned INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'active',
    seen INTEGER NOT NULL DEFAULT 1,
    supersedes TEXT, superseded_by TEXT,
    session INTEGER REFERENCES session (id),
    position INTEGER,             -- order inside the session, never by clock
    message_id TEXT, role TEXT, name TEXT,
    body TEXT,                    -- JSON: content parts, tool calls, the framework's own dict
    digest INTEGER,               -- same digest and text, same fact
    topic INTEGER,                -- same topic, same subject and predicate: where a new fact looks for conflicts (D3)
    thing INTEGER,                -- same thing, same object
    words BLOB,                   -- term ids of the text, for the word index
    shape INTEGER NOT NULL DEFAULT 0,   -- bit flags of the text, for the ranker
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX record_id ON record (scope, id);
CREATE INDEX record_revision ON record (scope, revision);
CREATE INDEX record_session ON record (session, position) WHERE session IS NOT NULL;
CREATE INDEX record_digest ON record (scope, digest) WHERE digest IS NOT NULL;
CREATE INDEX record_event ON record (scope, status, importance) WHERE kind = 'event';  -- the cap on events (B3)
CREATE INDEX record_rule ON record (scope) WHERE kind = 'rule';  -- procedures (B7)
CREATE INDEX record_topic ON record (scope, topic, status, thing) WHERE topic IS NOT NULL;

CREATE TABLE embedder (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 0 AND 255),
    name TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (name, dimensions)
);

-- All pieces of one record under one embedder: unit vectors in float16, one after the other.
-- The key is packed so that the largest table needs no second index.
CREATE TABLE vector (
    id INTEGER PRIMARY KEY,       -- record.seq << 8 | embedder.id
    record INTEGER GENERATED ALWAYS AS (id >> 8) VIRTUAL,
    embedder INTEGER GENERATED ALWAYS AS (id & 255) VIRTUAL,
    pieces BLOB NOT NULL
);

-- Counted apart from the record, so that a search never touches what caches watch.
CREATE TABLE access (
    record INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL
);

-- Which record came from which, and through what.
CREATE TABLE provenance (
    record INTEGER NOT NULL,
    source INTEGER NOT NULL,
    extractor TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (record, source)
) WITHOUT ROWID;
CREATE INDEX provenance_source ON provenance (source);

-- What an LLM has still to derive: committed with the turn, resumed after a crash.
CREATE TABLE pending (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL,
    session INTEGER,
    record INTEGER,
    work TEXT NOT NULL,
    detail TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
);
CREATE INDEX pending_scope ON pending (scope, work);
CREATE INDEX pending_record ON pending (record);

-- Which rows are gone, so that caches of other processes drop them. No content.
CREATE TABLE erased (
    scope INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (scope, revision, record)
) WITHOUT ROWID;

-- Keyed hashes of what was deleted, so that an import or a re-extraction does not bring it back.
CREATE TABLE tombstone (
    scope INTEGER NOT NULL,
    hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, hash)
) WITHOUT ROWID;

CREATE TABLE audit (
    scope INTEGER NOT NULL,
    record TEXT NOT NULL,         -- '' for what concerns no single record
    step INTEGER NOT NULL,        -- counts the entries about one record
    action TEXT NOT NULL,
    detail TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, record, step)
) WITHOUT ROWID;

-- Conflicts that wait for the user's answer (D3, strategy ask).
CREATE TABLE question (
    id TEXT PRIMARY KEY,
    scope INTEGER NOT NULL,
    text TEXT NOT NULL,
    choices TEXT NOT NULL,
    detail TEXT NOT NULL,
    record INTEGER,               -- the new fact, which waits
    other INTEGER,                -- the old one it contradicts
    created_at INTEGER NOT NULL,
    answered_at INTEGER
) WITHOUT ROWID;
CREATE INDEX question_scope ON question (scope);
CREATE INDEX question_record ON question (record);
CREATE INDEX question_other ON question (other);

-- The knowledge graph (B4 to B6). In all of it, `record` 0 means: told directly, not through a record.
-- What follows from rules is not kept: it is computed from these rows, so it can't outlive them.
CREATE TABLE entity (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL,
    key TEXT NOT NULL,            -- equal for spellings of one name; a spelling that was split off has its own
    name TEXT NOT NULL,           -- the first spelling that is still told somewhere
    created_at INTEGER NOT NULL,
    UNIQUE (scope, key)
);
-- One row a source and spelling: a relation told by two records is two rows, and lives until both are gone.
CREATE TABLE relation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL,
    subject INTEGER NOT NULL,     -- the entity of its own name: merging never rewrites it
    predicate TEXT NOT NULL,      -- equal for spellings of one predicate
    object INTEGER NOT NULL,
    record INTEGER NOT NULL DEFAULT 0,
    subject_name TEXT NOT NULL,   -- the three as they were spelled here
    verb TEXT NOT NULL,
    object_name TEXT NOT NULL,
    confidence REAL NOT NULL,
    attributes TEXT,              -- JSON object
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (subject, predicate, object, record, subject_name, object_name)
);
CREATE INDEX relation_object ON relation (object);
CREATE INDEX relation_revision ON relation (scope, revision);
CREATE INDEX relation_record ON relation (record) WHERE record <> 0;
-- `entity` is another name of `target`: an alias or a merge. One target an entity; a split deletes the row.
CREATE TABLE alias (
    entity INTEGER NOT NULL,
    target INTEGER NOT NULL,
    record INTEGER NOT NULL DEFAULT 0,
    scope INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (entity, target, record)
) WITHOUT ROWID;
CREATE INDEX alias_scope ON alias (scope);
CREATE INDEX alias_target ON alias (target);
CREATE INDEX alias_record ON alias (record) WHERE record <> 0;
-- Pairs that were split: never proposed as one again.
CREATE TABLE apart (
    scope INTEGER NOT NULL,
    one INTEGER NOT NULL,
    other INTEGER NOT NULL,
    PRIMARY KEY (scope, one, other)
) WITHOUT ROWID;
-- What an entity is, apart from its relations.
CREATE TABLE trait (
    entity INTEGER NOT NULL,
    record INTEGER NOT NULL DEFAULT 0,
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,           -- as it was spelled here
    type TEXT,
    attributes TEXT,              -- JSON object
    created_at INTEGER NOT NULL,
    PRIMARY KEY (entity, record)
) WITHOUT ROWID;
CREATE INDEX trait_scope ON trait (scope);
CREATE INDEX trait_record ON trait (record) WHERE record <> 0;
-- The user's rules, and the built-in ones that were turned off (an empty body).
CREATE TABLE rule (
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    confidence REAL NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) WITHOUT ROWID;
-- Which relations are gone, so that graphs in memory drop them. No content.
CREATE TABLE unrelated (
    scope INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    relation INTEGER NOT NULL,
    PRIMARY KEY (scope, revision, relation)
) WITHOUT ROWID;

-- How often a procedure (a record of kind rule) was tried, and worked (B7).
CREATE TABLE outcome (
    record INTEGER NOT NULL,
    success INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    detail TEXT
);
CREATE INDEX outcome_record ON outcome (record);

-- Which memories were in the context of a reply (C6).
CREATE TABLE trace (
    reply INTEGER NOT NULL,
    record INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    score REAL NOT NULL,
    section TEXT NOT NULL DEFAULT '',   -- of the context
    PRIMARY KEY (reply, record)
) WITHOUT ROWID;
CREATE INDEX trace_record ON trace (record);

-- What was moved to cold storage, and where it lies (B8). `state`: kept; writing, while its file is made; stopped, if
-- something was erased meanwhile; stale, if its file holds what was erased since; gone, if it has still to be deleted.
CREATE TABLE archive (
    id TEXT PRIMARY KEY,
    scope INTEGER NOT NULL,
    session TEXT,
    address TEXT NOT NULL,
    manifest TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'kept',
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX archive_scope ON archive (scope, state);
CREATE INDEX archive_unsettled ON archive (state) WHERE state <> 'kept';
-- The records that lie in an archive, with their tombstones: to erase one needs no look into the file.
CREATE TABLE cold (
    scope INTEGER NOT NULL,
    record TEXT NOT NULL,
    archive TEXT NOT NULL,
    hashes BLOB NOT NULL,         -- 32 bytes each
    told TEXT,                    -- JSON: what it told the graph, and is kept there as told directly meanwhile
    tokens TEXT,                  -- the tokens of the vault that it mentions
    PRIMARY KEY (scope, record, archive)
) WITHOUT ROWID;
CREATE INDEX cold_archive ON cold (archive);
-- Provenance of which an end lies in an archive, by record ids.
CREATE TABLE cold_link (
    scope INTEGER NOT NULL,
    record TEXT NOT NULL,
    source TEXT NOT NULL,
    extractor TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, record, source)
) WITHOUT ROWID;
CREATE INDEX cold_link_source ON cold_link (scope, source);

-- Reversible tokens of redacted values, encrypted (E1).
CREATE TABLE vault (
    scope INTEGER NOT NULL,
    token TEXT NOT NULL,
    secret BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, token)
) WITHOUT ROWID;
