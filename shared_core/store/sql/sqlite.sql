-- name: get_meta
SELECT value FROM meta WHERE key = :key;
-- name: set_meta
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
-- name: add_meta
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO NOTHING;
-- name: mark_erased
-- What was erased is still in free parts of the file, until it is rewritten.
INSERT INTO meta (key, value) VALUES ('erased', :mark) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
-- name: clear_mark
DELETE FROM meta WHERE key = 'erased' AND value = :mark;

-- name: find_scope
SELECT id, revision FROM scope WHERE user = :user AND agent = :agent;
-- name: add_scope
INSERT INTO scope (user, agent, created_at) VALUES (:user, :agent, :now) ON CONFLICT (user, agent) DO NOTHING;
-- name: bump_scope
UPDATE scope SET revision = revision + 1 WHERE id = :scope
RETURNING revision, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'record'), 0) + 1;
-- name: scope_horizon
SELECT revision, horizon FROM scope WHERE id = :scope;
-- name: scope_names
SELECT user, agent FROM scope WHERE id = :scope;
-- name: drop_scope
DELETE FROM scope WHERE id = :scope;
-- name: scopes_of
SELECT id, agent FROM scope WHERE user = :user ORDER BY agent;
-- name: users
SELECT DISTINCT user FROM scope
WHERE EXISTS (SELECT 1 FROM record WHERE record.scope = scope.id)
   OR EXISTS (SELECT 1 FROM session WHERE session.scope = scope.id)
   OR EXISTS (SELECT 1 FROM entity WHERE entity.scope = scope.id)
ORDER BY user;
-- name: agents
SELECT agent FROM scope
WHERE user = :user AND (EXISTS (SELECT 1 FROM record WHERE record.scope = scope.id)
   OR EXISTS (SELECT 1 FROM session WHERE session.scope = scope.id)
   OR EXISTS (SELECT 1 FROM entity WHERE entity.scope = scope.id))
ORDER BY agent;

-- name: find_session
SELECT id, name, created_at, ended_at, summary, summarised, snapshot FROM session
WHERE scope = :scope AND name = :name;
-- name: add_session
INSERT INTO session (scope, name, created_at) VALUES (:scope, :name, :now) ON CONFLICT (scope, name) DO NOTHING;
-- name: session_state
SELECT state FROM session WHERE id = :session;
-- name: set_session_state
UPDATE session SET state = :state WHERE id = :session;
-- name: newest_asked
SELECT message_id FROM record WHERE session = :session AND kind = 'turn' AND role = 'user' ORDER BY position DESC LIMIT 1;
-- name: message_of_session
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' AND message_id = :id;
-- name: told_by_turns
SELECT p.source, r.subject, r.predicate, r.object, r.entities FROM provenance p JOIN record r ON r.seq = p.record
WHERE p.source IN (SELECT value FROM json_each(:seqs)) AND r.entities IS NOT NULL ORDER BY p.source, r.seq;
-- name: scope_has_entities
SELECT 1 FROM entity WHERE scope = :scope LIMIT 1;
-- name: end_session
UPDATE session SET ended_at = :now WHERE id = :session;
-- name: reopen_session
UPDATE session SET ended_at = NULL WHERE id = :session AND ended_at IS NOT NULL;
-- name: reset_session
UPDATE session SET summary = NULL, summarised = 0, snapshot = NULL, consolidated = 0 WHERE id = :session;
-- name: session_digest
SELECT summary, summarised, snapshot FROM session WHERE id = :session;
-- name: set_summary
UPDATE session SET summary = :summary, summarised = :summarised WHERE id = :session;
-- name: set_snapshot
UPDATE session SET snapshot = :snapshot WHERE id = :session;
-- name: unsay
UPDATE session SET snapshot = NULL, summary = CASE WHEN summarised >= ?2 THEN NULL ELSE summary END,
    summarised = CASE WHEN summarised >= ?2 THEN 0 ELSE summarised END,
    consolidated = coalesce(max(0, min(consolidated, ?2 - 1)), consolidated)
WHERE id = ?1;
-- name: unsay_archived
UPDATE session SET summary = NULL, summarised = 0, snapshot = NULL
WHERE scope = ?1 AND name = (SELECT session FROM archive WHERE id = ?2);
-- name: unsummarised
SELECT s.summarised, count(r.seq), coalesce(sum(r.role = 'user'), 0),
    coalesce(sum(length(r.text) + coalesce(length(r.body), 0) / 4 + 8), 0)
FROM session s LEFT JOIN record r ON r.session = s.id AND r.position > s.summarised AND r.kind = 'turn'
WHERE s.id = :session;
-- name: messages_after
SELECT seq, message_id, role, name, text, body, created_at, id, position FROM record
WHERE session = :session AND kind = 'turn' AND position > :position ORDER BY position;
-- name: messages_between
SELECT seq, message_id, role, name, text, body, created_at, id, position FROM record
WHERE session = :session AND kind = 'turn' AND position > :position AND position <= :last ORDER BY position;
-- name: facts_of_session
SELECT text, importance, entities FROM record WHERE session = :session AND kind IN ('fact', 'event')
    AND position IS NULL AND status = 'active' AND (expires_at IS NULL OR expires_at > :now)
ORDER BY importance DESC, created_at DESC, id LIMIT :limit;
-- name: past_facts_of_session
SELECT text FROM record WHERE session = :session AND kind = 'fact' AND position IS NULL AND status = 'superseded'
ORDER BY updated_at DESC, id LIMIT :limit;
-- name: drop_session
DELETE FROM session WHERE id = :session;
-- name: drop_sessions
DELETE FROM session WHERE scope = :scope;
-- name: session_names
SELECT name FROM session s WHERE s.scope = :scope AND NOT (
    EXISTS (SELECT 1 FROM archive a WHERE a.scope = s.scope AND a.session = s.name AND a.state IN ('kept', 'stale'))
    AND NOT EXISTS (SELECT 1 FROM record r WHERE r.session = s.id AND r.kind = 'turn'))
ORDER BY s.id;
-- name: session_sizes
SELECT s.name, count(r.seq), min(r.created_at), max(r.created_at)
FROM session s LEFT JOIN record r ON r.session = s.id AND r.kind = 'turn' WHERE s.scope = :scope GROUP BY s.id, s.name;
-- name: last_position
SELECT coalesce(max(position), 0) FROM record WHERE session = :session;
-- name: session_messages
-- A turn of another scope than its session's is a damaged row: it is shown to nobody, and `check` names it.
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' AND scope = (SELECT n.scope FROM session n WHERE n.id = :session) ORDER BY position;
-- name: last_messages
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' AND scope = (SELECT n.scope FROM session n WHERE n.id = :session) ORDER BY position DESC LIMIT :last;
-- name: session_head
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' AND role = 'system' AND position < coalesce((
    SELECT position FROM record WHERE session = :session AND kind = 'turn' AND role <> 'system'
    ORDER BY position LIMIT 1), 9223372036854775807)
ORDER BY position;
-- name: summarised_turns
SELECT id FROM record WHERE session = :session AND kind = 'turn' AND position <= :reach ORDER BY position LIMIT :limit;
-- name: session_records
SELECT seq, id FROM record WHERE session = :session AND NOT EXISTS (SELECT 1 FROM provenance WHERE record = record.seq)
ORDER BY position;
-- name: leave_session
UPDATE record SET session = NULL, revision = :revision WHERE session = :session;

-- name: insert_plain
INSERT INTO record (scope, id, kind, text, source, importance, confidence, metadata, digest, words, shape, revision,
    created_at, updated_at, topic, seq)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
-- name: insert_record
INSERT INTO record (scope, id, kind, type, text, subject, predicate, object, polarity, entities, source, importance,
    confidence, metadata, event_time, valid_from, valid_until, expires_at, pinned, session, position, message_id, role,
    name, body, digest, words, shape, revision, created_at, updated_at, seen, status, supersedes, superseded_by, topic,
    thing, confirmed_at, seq)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
-- name: delete_record
DELETE FROM record WHERE seq = ?;
-- name: touch_record
UPDATE record SET seen = seen + 1, metadata = :metadata, importance = max(importance, :importance), updated_at = :now,
    revision = :revision
WHERE seq = :seq;
-- name: seqs_by_id
SELECT seq FROM record WHERE scope = :scope AND id IN (SELECT value FROM json_each(:ids));
-- name: seq_by_id
SELECT seq FROM record WHERE scope = ? AND id = ?;
-- name: known_digests
SELECT r.digest, r.seq, r.expires_at, r.id, r.kind, r.text, r.event_time
FROM json_each(:digests) given CROSS JOIN record r INDEXED BY record_digest
    ON r.scope = :scope AND r.digest = given.value AND r.digest IS NOT NULL;
-- name: raw_record
SELECT scope, id, kind, type, text, subject, predicate, object, polarity, entities, source, importance, confidence,
    metadata, event_time, valid_from, valid_until, expires_at, pinned, session, position, message_id, role, name, body,
    digest, words, shape, revision, created_at, updated_at, seen, status, supersedes, superseded_by, seq, topic,
    thing, confirmed_at
FROM record WHERE seq = :seq;
-- name: get_record
SELECT {record} WHERE r.scope = :scope AND r.id = :id;
-- name: records_by_seq
SELECT {record} WHERE r.seq IN (SELECT value FROM json_each(:seqs));
-- name: scope_records
SELECT {record} WHERE r.scope = :scope ORDER BY r.seq;
-- name: unexpired_records
SELECT {record} WHERE r.scope = :scope AND (r.expires_at IS NULL OR r.expires_at > :now);
-- name: listed_rows
-- What filters and orders look at, without texts and JSON; the order is that of store/listing.py.
SELECT r.seq, r.id, r.kind, r.type, r.source, s.name, r.importance, r.confidence, r.status, r.seen, r.pinned, r.role,
    r.event_time, r.expires_at, r.created_at, r.updated_at
FROM record r LEFT JOIN session s ON s.id = r.session
WHERE r.scope = :scope AND (r.expires_at IS NULL OR r.expires_at > :now);
-- name: listed_count
SELECT count(*) FROM record r WHERE {listed};
-- name: listed_values
-- The value that a list is ordered by; `sign` -1 turns the order round, NULL comes last in both.
SELECT r.seq, :sign * CASE :by WHEN 'created_at' THEN r.created_at WHEN 'updated_at' THEN r.updated_at
    WHEN 'event_time' THEN r.event_time WHEN 'importance' THEN r.importance WHEN 'confidence' THEN r.confidence
    ELSE r.seen END
FROM record r WHERE {listed} AND r.id = :id;
-- name: listed_page
SELECT seq FROM (SELECT r.seq, :sign * CASE :by WHEN 'created_at' THEN r.created_at WHEN 'updated_at' THEN r.updated_at
        WHEN 'event_time' THEN r.event_time WHEN 'importance' THEN r.importance WHEN 'confidence' THEN r.confidence
        ELSE r.seen END AS value
    FROM record r WHERE {listed}) listed
WHERE value > :value OR (value = :value AND seq > :seq) OR (value IS NULL AND (:missing = 0 OR seq > :seq))
ORDER BY value IS NULL, value, seq LIMIT :limit;
-- name: types_and_sources
SELECT DISTINCT type, source FROM record WHERE scope = :scope;
-- name: count_by_kind
SELECT kind, count(*) FROM record WHERE scope = :scope AND status = 'active'
    AND (expires_at IS NULL OR expires_at > :now)
GROUP BY kind ORDER BY kind;
-- name: turn_texts
SELECT text FROM record WHERE scope = :scope AND kind = 'turn';
-- name: scope_seqs
SELECT seq, id FROM record WHERE scope = :scope;
-- name: body_of
SELECT body FROM record WHERE seq = :seq;

-- name: changed
SELECT r.seq, r.id, r.kind, r.session, r.position, r.role, r.name, r.importance, r.confidence,
    coalesce(r.event_time, r.created_at), r.status, r.valid_from, r.valid_until, r.expires_at, r.words, r.shape,
    v.pieces, r.created_at
FROM record r LEFT JOIN vector v ON v.id = (r.seq << 8 | :embedder)
WHERE r.scope = :scope AND r.revision > :revision;
-- name: changed_outside
-- For a scope whose vectors lie outside of the process: how long they are, not what they are.
SELECT r.seq, r.id, r.kind, r.session, r.position, r.role, r.name, r.importance, r.confidence,
    coalesce(r.event_time, r.created_at), r.status, r.valid_from, r.valid_until, r.expires_at, r.words, r.shape,
    length(v.pieces), r.created_at
FROM record r LEFT JOIN vector v ON v.id = (r.seq << 8 | :embedder)
WHERE r.scope = :scope AND r.revision > :revision;
-- name: changed_vectors
SELECT r.seq, v.pieces FROM record r LEFT JOIN vector v ON v.id = (r.seq << 8 | :embedder)
WHERE r.scope = :scope AND r.revision > :revision;
-- name: pieces_of
SELECT v.id >> 8, v.pieces FROM json_each(:ids) given CROSS JOIN vector v ON v.id = given.value;
-- name: more_than
SELECT EXISTS (SELECT 1 FROM record r WHERE r.scope = :scope LIMIT 1 OFFSET :number);
-- name: erased_since
SELECT record FROM erased WHERE scope = :scope AND revision > :revision;
-- name: changed_records
SELECT {record} WHERE r.scope = :scope AND r.revision > :revision;

-- name: current_embedder
SELECT e.id, e.name, e.dimensions FROM meta m JOIN embedder e ON e.id = CAST(m.value AS INTEGER)
WHERE m.key = 'embedder';
-- name: embedders
SELECT id, name, dimensions FROM embedder ORDER BY id;
-- name: copy_numbering
SELECT 1;
-- name: lock_embedders
-- SQLite has one writer at a time anyway.
SELECT 1;
-- name: add_embedder
INSERT INTO embedder (id, name, dimensions) VALUES (:id, :name, :dimensions);
-- name: insert_vector
INSERT INTO vector (id, pieces) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET pieces = excluded.pieces;
-- name: vector_of
SELECT pieces FROM vector WHERE id = ?;
-- name: delete_vectors
DELETE FROM vector WHERE id BETWEEN ? AND ?;
-- name: count_vectors
SELECT count(*) FROM vector WHERE embedder = :embedder;
-- name: unembedded
SELECT seq, scope, kind, text, name, role FROM record r
WHERE seq > :after AND text <> '' AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.id = (r.seq << 8 | :embedder))
ORDER BY seq LIMIT :limit;
-- name: count_unembedded
SELECT count(*) FROM record r
WHERE text <> '' AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.id = (r.seq << 8 | :embedder));
-- name: drop_other_vectors
DELETE FROM vector WHERE embedder <> :embedder AND NOT (
    EXISTS (SELECT 1 FROM meta WHERE key = 'items embedder ' || embedder)
    AND EXISTS (SELECT 1 FROM record r WHERE r.seq = vector.id >> 8 AND r.kind = 'item'));
-- name: mark_changed
UPDATE record SET revision = ? WHERE seq = ?;
-- name: bump_all
UPDATE scope SET revision = revision + 1;
-- name: mark_all_changed
UPDATE record SET revision = (SELECT revision FROM scope WHERE scope.id = record.scope);
-- name: orphan_vectors
SELECT id FROM vector v WHERE NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = (v.id >> 8));
-- name: delete_vector
DELETE FROM vector WHERE id = ?;
-- name: vector_lengths
SELECT v.id, length(v.pieces), e.dimensions FROM vector v LEFT JOIN embedder e ON e.id = (v.id & 255)
WHERE e.id IS NULL OR length(v.pieces) = 0 OR length(v.pieces) % (2 * e.dimensions) <> 0;
-- name: all_vectors
SELECT id, pieces FROM vector;
-- name: every_seq
SELECT seq FROM record;
-- name: owners_by_index
SELECT seq, scope, id FROM record INDEXED BY record_id;
-- name: strayed
SELECT r.seq FROM record r JOIN session n ON n.id = r.session WHERE n.scope <> r.scope;
-- name: owners_by_table
SELECT seq, scope, id FROM record NOT INDEXED;
-- name: wordless
SELECT seq FROM record WHERE words IS NULL;
-- name: texts
SELECT seq FROM record WHERE text <> '';
-- name: mark_scope_changed
UPDATE record SET revision = :revision WHERE scope = :scope;
-- name: existing
SELECT seq FROM record WHERE seq IN (SELECT value FROM json_each(:seqs));
-- name: set_words
UPDATE record SET words = ?, shape = ? WHERE seq = ?;
-- name: homeless
SELECT seq FROM record r WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = r.scope)
    OR (session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session n WHERE n.id = r.session));
-- name: orphan_links
SELECT record, source FROM provenance p WHERE NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = p.record)
    OR NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = p.source);
-- name: delete_link
DELETE FROM provenance WHERE record = ? AND source = ?;
-- name: lost_outcomes
SELECT DISTINCT record FROM outcome o WHERE NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = o.record);
-- name: lost_traces
SELECT reply, record FROM trace t WHERE NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = t.record)
    OR NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = t.reply);
-- name: delete_trace
DELETE FROM trace WHERE reply = ? AND record = ?;
-- name: lost_accesses
SELECT record FROM access a WHERE NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = a.record);
-- name: lost_pending
SELECT id FROM pending p WHERE (record IS NOT NULL AND NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = p.record))
    OR (session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session s WHERE s.id = p.session));
-- name: lost_questions
SELECT id FROM question q WHERE (record IS NOT NULL AND NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = q.record))
    OR (other IS NOT NULL AND NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = q.other));
-- name: delete_question
DELETE FROM question WHERE id = ?;
-- name: waiting_for_nothing
SELECT seq FROM record r WHERE status = 'waiting'
    AND NOT EXISTS (SELECT 1 FROM question q WHERE q.record = r.seq AND q.answered_at IS NULL);
-- name: lost_versions
SELECT seq FROM record r
WHERE (superseded_by IS NOT NULL AND NOT EXISTS (SELECT 1 FROM record o WHERE o.scope = r.scope AND o.id = r.superseded_by)
        AND NOT EXISTS (SELECT 1 FROM cold c WHERE c.scope = r.scope AND c.record = r.superseded_by))
    OR (supersedes IS NOT NULL AND NOT EXISTS (SELECT 1 FROM record o WHERE o.scope = r.scope AND o.id = r.supersedes)
        AND NOT EXISTS (SELECT 1 FROM cold c WHERE c.scope = r.scope AND c.record = r.supersedes));
-- name: unlink_lost_versions
UPDATE record SET
    superseded_by = CASE WHEN EXISTS (SELECT 1 FROM record o WHERE o.scope = record.scope AND o.id = record.superseded_by)
        OR EXISTS (SELECT 1 FROM cold c WHERE c.scope = record.scope AND c.record = record.superseded_by)
        THEN superseded_by END,
    supersedes = CASE WHEN EXISTS (SELECT 1 FROM record o WHERE o.scope = record.scope AND o.id = record.supersedes)
        OR EXISTS (SELECT 1 FROM cold c WHERE c.scope = record.scope AND c.record = record.supersedes)
        THEN supersedes END
WHERE seq = ?;
-- name: lost_relations
SELECT id FROM relation t WHERE record <> 0 AND NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = t.record);
-- name: lost_traits
SELECT entity, record FROM trait t WHERE record <> 0 AND NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = t.record);
-- name: lost_aliases
SELECT entity, target, record FROM alias a
WHERE (record <> 0 AND NOT EXISTS (SELECT 1 FROM record r WHERE r.seq = a.record))
    OR NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = a.entity AND e.scope = a.scope)
    OR NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = a.target AND e.scope = a.scope);
-- name: lost_apart
SELECT scope, one, other FROM apart a WHERE NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = a.one AND e.scope = a.scope)
    OR NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = a.other AND e.scope = a.scope);
-- name: bare_subjects
SELECT id, scope, subject, subject_name FROM relation r
WHERE NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = r.subject AND e.scope = r.scope);
-- name: bare_objects
SELECT id, scope, object, object_name FROM relation r
WHERE NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = r.object AND e.scope = r.scope);
-- name: bare_traits
SELECT entity, scope, entity, name, record FROM trait t
WHERE NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = t.entity AND e.scope = t.scope);
-- name: restore_entity
INSERT INTO entity (id, scope, key, name, created_at) VALUES (?, ?, ?, ?, ?);
-- name: relation_key
SELECT subject, predicate, object, record, subject_name, object_name FROM relation WHERE id = ?;
-- name: point_relation
UPDATE relation SET subject = ?, object = ? WHERE id = ?;
-- name: point_trait
UPDATE trait SET entity = ? WHERE entity = ? AND record = ?;
-- name: idle_entities
SELECT id FROM entity e WHERE NOT EXISTS (SELECT 1 FROM relation r WHERE r.subject = e.id OR r.object = e.id)
    AND NOT EXISTS (SELECT 1 FROM alias a WHERE a.entity = e.id OR a.target = e.id)
    AND NOT EXISTS (SELECT 1 FROM trait t WHERE t.entity = e.id);
-- name: stray_rows
SELECT 'relation' AS part, scope FROM relation t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'entity', scope FROM entity t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'alias', scope FROM alias t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'trait', scope FROM trait t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'apart', scope FROM apart t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'rule', scope FROM rule t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'pending', scope FROM pending t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'question', scope FROM question t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope)
UNION SELECT 'vault', scope FROM vault t WHERE NOT EXISTS (SELECT 1 FROM scope s WHERE s.id = t.scope);
-- name: reshape_all
UPDATE scope SET graph_horizon = revision;
-- name: count_records
SELECT count(*) FROM record;

-- name: add_access
INSERT INTO access (record, count, last_at) VALUES (?, ?, ?)
ON CONFLICT (record) DO UPDATE SET count = count + excluded.count, last_at = max(last_at, excluded.last_at);
-- name: accesses_of
SELECT record, count, last_at FROM access WHERE record IN (SELECT value FROM json_each(:seqs));
-- name: delete_access
DELETE FROM access WHERE record = ?;

-- name: add_link
INSERT INTO provenance (record, source, extractor, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;
-- name: derived_only_from
SELECT DISTINCT p.record FROM provenance p JOIN json_each(:seqs) gone ON gone.value = p.source
WHERE p.extractor IN ('merged', 'folded') OR (NOT EXISTS (
    SELECT 1 FROM provenance q WHERE q.record = p.record AND q.extractor NOT IN ('merged', 'folded')
        AND q.source NOT IN (SELECT value FROM json_each(:seqs)))
    AND NOT EXISTS (SELECT 1 FROM record r JOIN cold_link c ON c.scope = r.scope AND c.record = r.id WHERE r.seq = p.record));
-- name: delete_links
DELETE FROM provenance WHERE record = ?;
-- name: delete_links_to
DELETE FROM provenance WHERE source = ?;
-- name: sources_of
SELECT r.id, r.message_id, s.name, p.extractor FROM provenance p JOIN record r ON r.seq = p.source
LEFT JOIN session s ON s.id = r.session WHERE p.record = :seq ORDER BY p.source;

-- name: sources_of_all
SELECT p.record, r.id, r.message_id, s.name, p.extractor FROM provenance p JOIN record r ON r.seq = p.source
LEFT JOIN session s ON s.id = r.session WHERE p.record IN (SELECT value FROM json_each(:seqs))
ORDER BY p.record, p.source;
-- name: replaced_texts
SELECT r.seq, o.text FROM record r JOIN record o ON o.scope = r.scope AND o.id = r.supersedes
WHERE r.seq IN (SELECT value FROM json_each(:seqs));
-- name: source_ids
SELECT r.id, t.id FROM json_each(:ids) given CROSS JOIN record r ON r.scope = :scope AND r.id = given.value
JOIN provenance p ON p.record = r.seq JOIN record t ON t.seq = p.source;
-- name: read_only_from
SELECT DISTINCT p.record FROM provenance p JOIN json_each(:seqs) gone ON gone.value = p.source
WHERE p.extractor IN ('rules', 'llm', 'extractor', 'consolidation') AND NOT EXISTS (
    SELECT 1 FROM provenance q WHERE q.record = p.record AND q.extractor NOT IN ('merged', 'folded')
        AND q.source NOT IN (SELECT value FROM json_each(:seqs)))
    AND NOT EXISTS (SELECT 1 FROM record r JOIN cold_link c ON c.scope = r.scope AND c.record = r.id WHERE r.seq = p.record);
-- name: links_of
SELECT record, source FROM provenance WHERE record IN (SELECT value FROM json_each(:seqs));
-- name: replaced_facts
SELECT p.source, o.seq FROM provenance p JOIN record o ON o.seq = p.record
WHERE p.source IN (SELECT value FROM json_each(:seqs)) AND o.status = 'superseded' AND o.superseded_by IS NOT NULL
ORDER BY 1, 2;
-- name: successors
-- Each step once, however many of the facts lead to it.
WITH RECURSIVE step (old, new) AS (
    SELECT o.seq, n.seq FROM json_each(:seqs) given JOIN record o ON o.seq = given.value AND o.status = 'superseded'
    JOIN record n ON n.scope = o.scope AND n.id = o.superseded_by
    UNION SELECT o.seq, n.seq FROM step s JOIN record o ON o.seq = s.new AND o.status = 'superseded'
    JOIN record n ON n.scope = o.scope AND n.id = o.superseded_by
)
SELECT s.old, s.new, r.status = 'active' FROM step s JOIN record r ON r.seq = s.new;
-- name: facts_of_turns
SELECT p.source, r.seq, r.object FROM provenance p JOIN record r ON r.seq = p.record
WHERE p.source IN (SELECT value FROM json_each(:seqs)) AND r.status = 'active' AND r.kind = 'fact';
-- name: any_tombstone
SELECT 1 FROM tombstone WHERE scope = :scope LIMIT 1;
-- name: has_tombstone
SELECT 1 FROM tombstone WHERE scope = ? AND hash = ?;

-- name: add_pending
INSERT INTO pending (scope, session, record, work, created_at) VALUES (?, ?, ?, ?, ?);
-- name: pending_work
SELECT id, record, attempts FROM pending WHERE scope = :scope AND work = :work ORDER BY id LIMIT :limit;
-- name: pending_scopes
SELECT s.user, s.agent FROM scope s WHERE EXISTS (SELECT 1 FROM pending p WHERE p.scope = s.id AND p.work = :work);
-- name: count_attempt
UPDATE pending SET attempts = attempts + 1 WHERE id = ?;
-- name: done_pending
DELETE FROM pending WHERE id = ?;
-- name: message_before
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' AND position < :position ORDER BY position DESC LIMIT 1;
-- name: delete_pending
DELETE FROM pending WHERE record = ?;
-- name: delete_outcomes
DELETE FROM outcome WHERE record = ?;
-- name: add_trace
INSERT INTO trace (reply, record, rank, score, section) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;
-- name: trace_of
SELECT record, rank, score, section FROM trace WHERE reply = :reply ORDER BY rank;
-- name: delete_traces
DELETE FROM trace WHERE record = ?;
-- name: delete_traces_of
DELETE FROM trace WHERE reply = ?;
-- name: delete_questions_of
DELETE FROM question WHERE record = ?1 OR other = ?1;
-- name: waiting_on
SELECT record FROM question WHERE other = ? AND answered_at IS NULL;
-- name: add_question
INSERT INTO question (id, scope, text, choices, detail, record, other, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?);
-- name: open_questions
SELECT q.id, q.text, q.choices, n.id, o.id, q.created_at, q.record, q.other FROM question q
JOIN record n ON n.seq = q.record JOIN record o ON o.seq = q.other
WHERE q.scope = :scope AND q.answered_at IS NULL ORDER BY q.created_at, q.id;
-- name: answer_question
UPDATE question SET answered_at = :now WHERE id = :id;

-- name: on_topic
SELECT seq FROM record INDEXED BY record_topic WHERE scope = ? AND topic = ? AND status = ? LIMIT 1000;
-- name: on_thing
SELECT seq FROM record INDEXED BY record_topic WHERE scope = ? AND topic = ? AND status = ? AND thing = ?;
-- name: on_ending
SELECT seq FROM record INDEXED BY record_topic WHERE scope = ? AND topic = ? AND status = ? AND polarity = 1
    AND object LIKE ? ESCAPE '\' LIMIT 20;
-- name: objects_on_topic
SELECT DISTINCT object FROM record INDEXED BY record_topic
WHERE scope = :scope AND topic = :topic AND status = 'active' AND polarity = 1 ORDER BY object LIMIT 8;
-- name: known_topics
SELECT DISTINCT r.topic FROM json_each(:topics) given CROSS JOIN record r INDEXED BY record_topic
    ON r.scope = :scope AND r.topic = given.value AND r.topic IS NOT NULL;
-- name: supersede
UPDATE record SET status = 'superseded', superseded_by = :by, valid_until = :until, updated_at = :now,
    revision = :revision
WHERE seq = :seq;
-- name: wake
UPDATE record SET status = 'active', updated_at = :now, revision = :revision WHERE seq = :seq AND status = 'waiting'
    AND NOT EXISTS (SELECT 1 FROM question q WHERE q.record = record.seq AND q.answered_at IS NULL);
-- name: set_state
UPDATE record SET status = :status, supersedes = :supersedes, superseded_by = :superseded_by, valid_from = :valid_from,
    valid_until = :valid_until, updated_at = :now, revision = :revision
WHERE seq = :seq;
-- name: revive
UPDATE record SET status = 'active', superseded_by = NULL, valid_until = NULL, revision = :revision
WHERE scope = :scope AND superseded_by = :id;
-- name: confirm_record
UPDATE record SET confirmed_at = :now, expires_at = :expires_at, revision = :revision WHERE seq = :seq;
-- name: recent_speakers
SELECT DISTINCT name FROM (SELECT kind, role, name FROM record WHERE scope = :scope ORDER BY revision DESC LIMIT :limit)
WHERE kind = 'turn' AND role = 'user' AND name IS NOT NULL;
-- name: records_between
SELECT {record} WHERE r.scope = :scope AND r.id >= :low AND r.id < :high AND r.status = 'active' ORDER BY r.seq;
-- name: profile_facts
SELECT f.topic, f.seq FROM (
    SELECT r.topic AS topic, r.seq AS seq,
        row_number() OVER (PARTITION BY r.topic, r.polarity ORDER BY r.importance DESC, r.created_at DESC, r.id) AS place
    FROM json_each(:topics) given CROSS JOIN record r INDEXED BY record_topic
        ON r.scope = :scope AND r.topic = given.value AND r.topic IS NOT NULL AND r.status = 'active'
    WHERE r.seq NOT IN (SELECT value FROM json_each(:told))) f
WHERE f.place <= :limit;
-- name: unlink_superseding
UPDATE record SET superseded_by = NULL, revision = :revision WHERE scope = :scope AND superseded_by = :id;
-- name: unlink_superseded
UPDATE record SET supersedes = NULL, revision = :revision WHERE scope = :scope AND supersedes = :id;
-- name: add_erased
INSERT INTO erased (scope, revision, record) VALUES (?, ?, ?);
-- name: count_erased
SELECT count(*) FROM erased WHERE scope = :scope;
-- name: forget_erased
DELETE FROM erased WHERE scope = :scope;
-- name: raise_horizon
UPDATE scope SET horizon = :revision WHERE id = :scope;
-- name: add_tombstone
INSERT INTO tombstone (scope, hash, created_at) VALUES (?, ?, ?)
ON CONFLICT (scope, hash) DO UPDATE SET created_at = excluded.created_at;
-- name: move_tombstones
INSERT INTO tombstone (scope, hash, created_at)
SELECT :target + 0 * t.scope, t.hash, t.created_at FROM tombstone t WHERE t.scope = :scope
ON CONFLICT (scope, hash) DO UPDATE SET created_at = excluded.created_at;
-- name: drop_tombstones
DELETE FROM tombstone WHERE scope = :scope;
-- name: clear_scope_pending
DELETE FROM pending WHERE scope = :scope;
-- name: clear_scope_questions
DELETE FROM question WHERE scope = :scope;
-- name: clear_scope_relations
DELETE FROM relation WHERE scope = :scope;
-- name: clear_scope_aliases
DELETE FROM alias WHERE scope = :scope;
-- name: clear_scope_entities
DELETE FROM entity WHERE scope = :scope;
-- name: clear_scope_rules
DELETE FROM rule WHERE scope = :scope;
-- name: clear_scope_archive
UPDATE archive SET state = CASE state WHEN 'writing' THEN 'stopped' ELSE 'gone' END, session = NULL, manifest = '{}'
WHERE scope = :scope AND state NOT IN ('gone', 'stopped');
-- name: add_vault
INSERT INTO vault (scope, token, secret, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (scope, token) DO NOTHING;
-- name: vault_secret
SELECT secret FROM vault WHERE scope = ? AND token = ?;
-- name: any_vault
SELECT 1 FROM vault WHERE scope = :scope LIMIT 1;
-- name: vault_tokens
SELECT scope, token FROM vault ORDER BY scope, token;
-- name: drop_vault
DELETE FROM vault WHERE scope = ? AND token = ?;
-- The texts of a scope that have this part, wherever they stand.
-- name: vault_mentions
SELECT one, two, three, four FROM (
    SELECT text AS one, metadata AS two, body AS three,
        coalesce(subject, '') || ' ' || coalesce(object, '') || ' ' || coalesce(entities, '') AS four
    FROM record WHERE scope = :scope
    UNION ALL SELECT summary, snapshot, state, NULL FROM session WHERE scope = :scope
    UNION ALL SELECT name, NULL, NULL, NULL FROM entity WHERE scope = :scope
    UNION ALL SELECT subject_name, verb, object_name, attributes FROM relation WHERE scope = :scope
    UNION ALL SELECT name, type, attributes, NULL FROM trait WHERE scope = :scope
    UNION ALL SELECT name, body, NULL, NULL FROM rule WHERE scope = :scope
    UNION ALL SELECT text, choices, detail, NULL FROM question WHERE scope = :scope
    UNION ALL SELECT detail, NULL, NULL, NULL FROM audit WHERE scope = :scope
    UNION ALL SELECT detail, NULL, NULL, NULL FROM pending WHERE scope = :scope
    UNION ALL SELECT o.detail, NULL, NULL, NULL FROM outcome o JOIN record r ON r.seq = o.record WHERE r.scope = :scope
    UNION ALL SELECT tokens, NULL, NULL, NULL FROM cold WHERE scope = :scope) t
WHERE one LIKE :part OR two LIKE :part OR three LIKE :part OR four LIKE :part LIMIT :limit;
-- name: clear_scope_vault
DELETE FROM vault WHERE scope = :scope;
-- name: clear_scope_audit
DELETE FROM audit WHERE scope = :scope;
-- name: clear_scope_erased
DELETE FROM erased WHERE scope = :scope;

-- name: add_audit
INSERT INTO audit (scope, record, action, detail, created_at, step) VALUES (?1, ?2, ?3, ?4, ?5,
    (SELECT coalesce(max(step), 0) + 1 FROM audit WHERE scope = ?1 AND record = ?2));
-- name: audit_of
SELECT action, created_at, detail FROM audit WHERE scope = :scope AND record = :id ORDER BY step;
-- name: last_step
SELECT coalesce(max(step), 0) FROM audit WHERE scope = ? AND record = ?;
-- What entries about a record say is forgotten, that they were made is not.
-- name: forget_details
UPDATE audit SET detail = NULL WHERE scope = :scope AND record = :id;
-- name: scrub_audit
-- An id may say as much as a text: the entries about what was erased lie under a keyed hash of it.
UPDATE audit SET detail = NULL, record = :hashed, step = step + :after WHERE scope = :scope AND record = :id;

-- name: item_scopes
SELECT s.id, s.user FROM scope s
WHERE s.agent = :agent AND EXISTS (SELECT 1 FROM record r WHERE r.scope = s.id AND r.id >= 'item/' AND r.id < 'item0')
ORDER BY s.id;
-- name: item_paths
SELECT s.user, r.type FROM scope s JOIN record r ON r.scope = s.id AND r.id >= 'item/' AND r.id < 'item0'
WHERE s.agent = :agent AND r.kind = 'item' AND r.type IS NOT NULL AND r.status = 'active'
    AND (r.expires_at IS NULL OR r.expires_at > :now)
GROUP BY s.user, r.type ORDER BY r.type;
-- name: items_between
SELECT {record} WHERE r.scope = :scope AND r.id >= :low AND r.id < :high AND r.kind = 'item' AND r.status = 'active'
    AND (r.expires_at IS NULL OR r.expires_at > :now)
ORDER BY r.updated_at DESC, r.seq DESC;
-- name: living_item
SELECT seq, body FROM record WHERE scope = ? AND id = ? AND kind = 'item' AND expires_at > ?;
-- name: set_expiry
UPDATE record SET expires_at = :expires_at, revision = :revision WHERE seq = :seq;
-- name: expired_record
SELECT seq FROM record WHERE scope = ? AND id = ? AND expires_at <= ?;
-- name: expired_items
SELECT r.scope, r.seq FROM scope s JOIN record r ON r.scope = s.id AND r.id >= 'item/' AND r.id < 'item0'
WHERE s.agent = :agent AND r.kind = 'item' AND r.expires_at <= :now;

-- ------------------------------------------------------------------ episodes and procedures (B3, B7)
-- name: scope_events
SELECT {record} WHERE r.scope = :scope AND r.kind = 'event' AND r.status = 'active'
    AND coalesce(r.event_time, r.created_at) >= :since AND coalesce(r.event_time, r.created_at) < :until
    AND (:session IS NULL OR r.session = :session) AND (r.expires_at IS NULL OR r.expires_at > :now) ORDER BY r.seq;
-- name: scope_turns
SELECT {record} WHERE r.scope = :scope AND r.kind = 'turn' AND r.status = 'active'
    AND r.created_at >= :since AND r.created_at < :until ORDER BY r.seq;
-- name: turns_of_session
SELECT {record} WHERE r.session = :session AND r.kind = 'turn' AND r.status = 'active'
    AND r.created_at >= :since AND r.created_at < :until ORDER BY r.position;
-- name: bodies
SELECT seq, body FROM record WHERE seq IN (SELECT value FROM json_each(:seqs)) AND body IS NOT NULL;
-- name: session_starts
SELECT name, start FROM (SELECT s.id AS id, s.name AS name, min(s.created_at, coalesce((SELECT min(r.created_at)
    FROM record r WHERE r.session = s.id AND r.kind = 'turn'), s.created_at)) AS start
    FROM session s WHERE s.scope = :scope AND (:session IS NULL OR s.id = :session))
WHERE start >= :since AND start < :until ORDER BY id;
-- name: session_states
SELECT name, state FROM session WHERE scope = :scope AND (:session IS NULL OR id = :session) AND state IS NOT NULL
ORDER BY id;
-- name: count_events
SELECT count(*) FROM record INDEXED BY record_event WHERE scope = :scope AND kind = 'event' AND status = 'active';
-- name: least_events
SELECT seq FROM record INDEXED BY record_event
WHERE scope = :scope AND kind = 'event' AND status = 'active' AND pinned = 0
ORDER BY importance, coalesce(event_time, created_at), seq LIMIT :limit;
-- name: add_outcome
INSERT INTO outcome (record, success, created_at, detail) VALUES (?, ?, ?, ?);
-- name: outcomes_of
SELECT record, count(*), count(*) FILTER (WHERE success = 1) FROM outcome WHERE record IN (SELECT value FROM json_each(:seqs)) GROUP BY record;
-- name: has_rules
SELECT 1 FROM record INDEXED BY record_rule WHERE scope = :scope AND kind = 'rule' LIMIT 1;
-- name: scope_rules_kept
SELECT {record} WHERE r.scope = :scope AND r.kind = 'rule' AND r.status = 'active'
    AND (r.expires_at IS NULL OR r.expires_at > :now) ORDER BY r.seq;
-- name: turns_of_task
SELECT seq FROM record WHERE session = :session AND kind = 'turn' AND position < :position AND CASE WHEN :since IS NULL
    THEN position >= coalesce((SELECT position FROM record WHERE session = :session AND kind = 'turn' AND role = 'user'
        AND position < :position ORDER BY position DESC LIMIT 1 OFFSET :turns - 1), 0)
    ELSE created_at >= :since END ORDER BY position;
-- name: memories_of_turns
SELECT r.seq, r.id FROM record r WHERE r.scope = :scope AND r.status = 'active' AND (
    r.seq IN (SELECT value FROM json_each(:turns))
    OR r.seq IN (SELECT p.record FROM provenance p JOIN json_each(:turns) t ON p.source = t.value)
    OR (r.session = :session AND r.kind = 'event' AND r.position IS NULL AND r.created_at >= (
        SELECT min(created_at) FROM record WHERE seq IN (SELECT value FROM json_each(:turns)))
        AND NOT EXISTS (SELECT 1 FROM provenance q WHERE q.record = r.seq)));
-- name: reinforce
UPDATE record SET importance = min(1.0, importance + :by), revision = :revision WHERE seq = :seq AND importance < 1;
-- name: newest_sessions
SELECT id, name, state FROM session WHERE scope = :scope ORDER BY id DESC LIMIT :limit;
-- name: turns_to_mine
SELECT seq, session, role, text, body, created_at, message_id FROM record
WHERE scope = :scope AND kind = 'turn' AND status = 'active'
    AND session IN (SELECT value FROM json_each(:sessions)) ORDER BY session, position;
-- name: events_to_mine
SELECT seq, session, type, text, metadata, coalesce(event_time, created_at) FROM record
WHERE scope = :scope AND kind = 'event' AND status = 'active' AND type IS NOT NULL
    AND (session IS NULL OR session IN (SELECT value FROM json_each(:sessions)))
    AND NOT EXISTS (SELECT 1 FROM provenance p WHERE p.record = record.seq);
-- name: feedback_by_turn
SELECT p.source, e.metadata FROM record e JOIN provenance p ON p.record = e.seq
WHERE e.scope = :scope AND e.kind = 'event' AND e.type = 'user_feedback';
-- name: last_mined
SELECT detail, created_at FROM audit WHERE scope = :scope AND record = '' AND action = 'mined' ORDER BY step DESC LIMIT 1;
-- name: count_ended
SELECT count(*) FROM session WHERE scope = :scope AND ended_at IS NOT NULL AND (:since IS NULL OR ended_at > :since);
-- name: left_events
SELECT id FROM record WHERE scope = :scope AND kind = 'event' AND status = 'archived' ORDER BY seq;
-- name: archive_event
UPDATE record SET status = 'archived', updated_at = :now, revision = :revision WHERE seq = :seq;

-- ------------------------------------------------------------------ the archive (B8)
-- name: add_archive
INSERT INTO archive (id, scope, session, address, manifest, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?);
-- name: archive_row
SELECT id, session, address, manifest, state, created_at FROM archive WHERE id = :id AND scope = :scope;
-- name: scope_archives
SELECT id, session, address, manifest, state, created_at FROM archive
WHERE scope = :scope AND state IN ('kept', 'stale') ORDER BY created_at, id;
-- name: every_archive
SELECT id, session, address, manifest, state, created_at FROM archive WHERE state IN ('kept', 'stale') ORDER BY id;
-- name: set_archive
UPDATE archive SET session = :session, address = :address, manifest = :manifest, state = :state WHERE id = :id;
-- name: set_archive_state
UPDATE archive SET state = :state WHERE id = :id;
-- name: drop_archive
DELETE FROM archive WHERE id = :id;
-- name: unsettled_archives
SELECT id, scope, session, address, manifest, state, created_at FROM archive
WHERE state <> 'kept' AND (state IN ('gone', 'stale', 'stopped') OR (state = 'writing' AND created_at < :before))
ORDER BY id;
-- name: abandon_archive
UPDATE archive SET state = 'gone' WHERE id = :id AND state IN ('writing', 'stopped', 'gone');
-- name: abandon_archives
UPDATE archive SET state = 'stopped' WHERE scope = :scope AND state = 'writing';
-- name: add_cold
INSERT INTO cold (scope, record, archive, hashes, told, tokens) VALUES (?, ?, ?, ?, ?, ?);
-- name: any_cold
SELECT 1 FROM archive WHERE scope = :scope AND state IN ('kept', 'stale', 'writing') LIMIT 1;
-- name: cold_record
SELECT archive, hashes, told, tokens FROM cold WHERE scope = ? AND record = ?;
-- name: cold_of_session
SELECT c.record FROM archive a JOIN cold c ON c.archive = a.id WHERE a.scope = :scope AND a.session = :session;
-- name: directly_told
SELECT id, subject, predicate, object, record FROM relation
WHERE id IN (SELECT value FROM json_each(:ids)) AND record = 0 AND scope = :scope;
-- name: alias_told
SELECT 1 FROM alias WHERE entity = ? AND target = ? AND record = ?;
-- name: cold_of_archive
SELECT record FROM cold WHERE archive = :archive;
-- name: drop_cold
DELETE FROM cold WHERE scope = ? AND record = ?;
-- name: empty_archive
DELETE FROM cold WHERE archive = :archive;
-- name: clear_scope_cold
DELETE FROM cold WHERE scope = :scope;
-- name: clear_scope_cold_links
DELETE FROM cold_link WHERE scope = :scope;
-- name: add_cold_link
INSERT INTO cold_link (scope, record, source, extractor, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;
-- name: drop_cold_link
DELETE FROM cold_link WHERE scope = ? AND record = ? AND source = ?;
-- name: drop_cold_links
DELETE FROM cold_link WHERE scope = ?1 AND (record = ?2 OR source = ?2);
-- name: cold_links
SELECT record, source, extractor, created_at FROM cold_link WHERE scope = :scope ORDER BY record, source;
-- name: cold_links_of
SELECT record, source, extractor, created_at FROM cold_link WHERE scope = ?1 AND record = ?2
UNION SELECT record, source, extractor, created_at FROM cold_link WHERE scope = ?1 AND source = ?2;
-- name: cold_hashes
SELECT hashes FROM cold WHERE scope = :scope;
-- name: cold_sources_of
SELECT l.source, NULL, a.session, l.extractor FROM cold_link l JOIN cold c ON c.scope = l.scope AND c.record = l.source
JOIN archive a ON a.id = c.archive WHERE l.scope = :scope AND l.record = :record ORDER BY l.source;
-- name: read_from
SELECT r.id FROM record t JOIN provenance p ON p.source = t.seq JOIN record r ON r.seq = p.record
WHERE t.scope = ?1 AND t.id = ?2
UNION SELECT record FROM cold_link WHERE scope = ?1 AND source = ?2;
-- name: all_sources
SELECT s.id FROM record t JOIN provenance p ON p.record = t.seq JOIN record s ON s.seq = p.source
WHERE t.scope = ?1 AND t.id = ?2
UNION SELECT source FROM cold_link WHERE scope = ?1 AND record = ?2;
-- name: ids_of
SELECT id FROM record WHERE seq IN (SELECT value FROM json_each(:seqs));
-- name: session_turns
SELECT seq, revision FROM record WHERE session = :session AND kind = 'turn' ORDER BY position;
-- name: revisions
SELECT seq, revision FROM record WHERE seq IN (SELECT value FROM json_each(:seqs));
-- name: lend_session
UPDATE session SET summary = NULL, summarised = 0, snapshot = NULL, state = NULL, consolidated = 0
WHERE id = :session;
-- name: make_room
UPDATE record SET position = position + :by, revision = :revision WHERE session = :session AND position IS NOT NULL;
-- name: set_versions
UPDATE record SET supersedes = :supersedes, superseded_by = :superseded_by, revision = :revision WHERE seq = :seq;
-- name: drop_tombstone
DELETE FROM tombstone WHERE scope = ? AND hash = ?;

-- ------------------------------------------------------------------ moving whole scopes (E5), and what goes along (B8)
-- name: moved_sessions
SELECT name, created_at, ended_at, summary, summarised, snapshot, state, consolidated FROM session
WHERE scope = :scope ORDER BY id;
-- name: moved_session
SELECT name, created_at, ended_at, summary, summarised, snapshot, state, consolidated FROM session WHERE id = :session;
-- name: write_session
UPDATE session SET created_at = :created_at, summary = :summary, summarised = :summarised, snapshot = :snapshot,
    state = :state, consolidated = :consolidated WHERE id = :session;
-- name: moved_seqs
SELECT seq FROM record WHERE scope = :scope ORDER BY seq;
-- name: session_name
SELECT name FROM session WHERE id = ?;
-- name: vectors_of
SELECT e.name, e.dimensions, v.pieces FROM vector v JOIN embedder e ON e.id = (v.id & 255)
WHERE v.id BETWEEN ? AND ? ORDER BY v.id;
-- name: access_of
SELECT count, last_at FROM access WHERE record = ?;
-- name: put_access
INSERT INTO access (record, count, last_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;
-- name: moved_links
SELECT r.id, s.id, p.extractor, p.created_at FROM provenance p JOIN record r ON r.seq = p.record
JOIN record s ON s.seq = p.source
WHERE p.record IN (SELECT value FROM json_each(:seqs)) OR p.source IN (SELECT value FROM json_each(:seqs))
ORDER BY p.record, p.source;
-- name: record_outcomes
SELECT success, created_at, detail FROM outcome WHERE record = ? ORDER BY created_at, success, detail;
-- name: moved_traces
SELECT a.id, r.id, t.rank, t.score, t.section FROM trace t JOIN record a ON a.seq = t.reply JOIN record r ON r.seq = t.record
WHERE t.reply IN (SELECT value FROM json_each(:seqs)) OR t.record IN (SELECT value FROM json_each(:seqs))
ORDER BY t.reply, t.rank;
-- name: moved_pending
SELECT work, detail, attempts, created_at FROM pending WHERE record = ? ORDER BY id;
-- name: add_moved_pending
INSERT INTO pending (scope, session, record, work, detail, attempts, created_at) VALUES (?, ?, ?, ?, ?, ?, ?);
-- name: moved_questions
SELECT q.id, q.text, q.choices, q.detail, n.id, o.id, q.created_at, q.answered_at FROM question q
JOIN record n ON n.seq = q.record JOIN record o ON o.seq = q.other
WHERE q.record IN (SELECT value FROM json_each(:seqs)) OR q.other IN (SELECT value FROM json_each(:seqs))
ORDER BY q.created_at, q.id;
-- name: add_moved_question
INSERT INTO question (id, scope, text, choices, detail, record, other, created_at, answered_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;
-- name: question_between
SELECT id FROM question WHERE record = ? AND other = ?;
-- name: question_scope
SELECT scope FROM question WHERE id = ?;
-- name: moved_entities
SELECT key, name, created_at FROM entity WHERE scope = :scope ORDER BY id;
-- name: moved_relations
SELECT s.key, x.predicate, o.key, r.id, x.subject_name, x.verb, x.object_name, x.confidence, x.attributes, x.created_at,
    s.name, o.name
FROM relation x JOIN entity s ON s.id = x.subject JOIN entity o ON o.id = x.object LEFT JOIN record r ON r.seq = x.record
WHERE x.scope = :scope AND (:seqs IS NULL OR (x.record <> 0 AND x.record IN (SELECT value FROM json_each(:seqs))))
ORDER BY x.id;
-- name: moved_aliases
SELECT e.key, t.key, r.id, a.created_at, e.name, t.name FROM alias a JOIN entity e ON e.id = a.entity JOIN entity t ON t.id = a.target
LEFT JOIN record r ON r.seq = a.record
WHERE a.scope = :scope AND (:seqs IS NULL OR (a.record <> 0 AND a.record IN (SELECT value FROM json_each(:seqs))))
ORDER BY a.created_at, a.entity, a.target, a.record;
-- name: moved_traits
SELECT e.key, r.id, t.name, t.type, t.attributes, t.created_at FROM trait t JOIN entity e ON e.id = t.entity
LEFT JOIN record r ON r.seq = t.record
WHERE t.scope = :scope AND (:seqs IS NULL OR (t.record <> 0 AND t.record IN (SELECT value FROM json_each(:seqs))))
ORDER BY t.created_at, t.entity, t.record;
-- name: moved_apart
SELECT a.key, b.key FROM apart p JOIN entity a ON a.id = p.one JOIN entity b ON b.id = p.other
WHERE p.scope = :scope ORDER BY p.one, p.other;
-- name: moved_rules
SELECT name, body, confidence, created_at FROM rule WHERE scope = :scope ORDER BY created_at, name;
-- name: add_moved_rule
INSERT INTO rule (scope, name, body, confidence, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;
-- name: digests_like
SELECT id, kind, text, event_time FROM record INDEXED BY record_digest WHERE scope = ? AND digest = ?;
-- name: bundle_memories
SELECT seq FROM record WHERE scope = :scope AND kind IN ('fact', 'summary', 'rule') AND status = 'active'
    AND (expires_at IS NULL OR expires_at > :now) ORDER BY importance DESC, created_at DESC, id LIMIT :limit;
-- name: bundle_events
SELECT seq FROM record WHERE scope = :scope AND kind = 'event' AND status = 'active'
    AND (expires_at IS NULL OR expires_at > :now)
ORDER BY coalesce(event_time, created_at) DESC, id LIMIT :limit;
-- name: position_taken
SELECT 1 FROM record WHERE session = ? AND position = ? AND kind = 'turn';

-- ------------------------------------------------------------------ consolidation (D7)
-- name: consolidation_reached
SELECT revision, consolidated, folded FROM scope WHERE id = :scope;
-- name: set_consolidated
UPDATE scope SET consolidated = max(consolidated, :revision) WHERE id = :scope;
-- name: set_folded
UPDATE scope SET folded = max(folded, :revision) WHERE id = :scope;
-- name: facts_since
SELECT seq, revision FROM record INDEXED BY record_revision
WHERE scope = :scope AND revision >= :revision AND revision <= :upto AND (revision > :revision OR seq > :seq)
    AND kind = 'fact' AND status = 'active'
ORDER BY revision, seq LIMIT :limit;
-- name: count_facts_since
SELECT count(*) FROM record INDEXED BY record_revision
WHERE scope = :scope AND revision > :revision AND revision <= :upto AND kind = 'fact' AND status = 'active';
-- name: subjects_since
SELECT DISTINCT subject FROM record INDEXED BY record_revision
WHERE scope = :scope AND revision > :revision AND revision <= :upto AND kind = 'fact' AND subject IS NOT NULL;
-- name: session_consolidated
SELECT consolidated FROM session WHERE id = :session;
-- name: set_session_consolidated
UPDATE session SET consolidated = max(consolidated, :position) WHERE id = :session;
-- name: asked_since_consolidated
SELECT count(*) FROM record
WHERE session = :session AND kind = 'turn' AND role = 'user' AND position > (
    SELECT consolidated FROM session WHERE id = :session);
-- name: turns_after
SELECT seq, position FROM record WHERE session = :session AND kind = 'turn' AND position > :position
ORDER BY position LIMIT :limit;
-- name: already_read
SELECT DISTINCT source FROM provenance WHERE source IN (SELECT value FROM json_each(:seqs));
-- name: still_to_read
SELECT record FROM pending WHERE record IN (SELECT value FROM json_each(:seqs));
-- name: derived_from
SELECT p.record FROM provenance p JOIN record r ON r.seq = p.record
WHERE p.source = :source AND r.kind = 'fact' AND r.status = 'active';
-- name: has_sources
SELECT 1 FROM provenance WHERE record = ? AND extractor NOT IN ('merged', 'folded') LIMIT 1;
-- name: copy_links
INSERT INTO provenance (record, source, extractor, created_at)
SELECT ?, source, extractor, created_at FROM provenance WHERE record = ? AND extractor NOT IN ('merged', 'folded')
ON CONFLICT DO NOTHING;
-- name: linked_to
SELECT record FROM provenance WHERE source = ? AND extractor = ?;
-- name: linked_from
SELECT source FROM provenance WHERE record = ? AND extractor = ?;
-- name: linked_from_any
SELECT source FROM provenance WHERE record = ? AND extractor NOT IN ('merged', 'folded');
-- name: touch_folded
UPDATE record SET revision = :revision
WHERE seq IN (SELECT source FROM provenance WHERE record = :record AND extractor = 'folded');
-- name: drop_link
DELETE FROM provenance WHERE record = ? AND source = ?;
-- name: take_accesses
UPDATE access SET count = max(0, count - ?) WHERE record = ?;
-- name: facts_on_topics
SELECT f.seq FROM json_each(:topics) given CROSS JOIN record f INDEXED BY record_topic
    ON f.scope = :scope AND f.topic = given.value AND f.topic IS NOT NULL AND f.status = 'active';
-- name: verbs_of
SELECT DISTINCT verb FROM relation WHERE subject IN (SELECT value FROM json_each(:subjects));
-- name: count_asked
SELECT count(*) FROM record WHERE scope = :scope AND kind = 'turn' AND role = 'user' AND status = 'active';

-- ------------------------------------------------------------------ the knowledge graph
-- name: find_entity
SELECT id, name FROM entity WHERE scope = ? AND key IN (?, ?) ORDER BY length(key) DESC LIMIT 1;
-- name: graph_is_told
SELECT 1 FROM entity WHERE scope = :scope LIMIT 1;
-- name: entity_of_key
SELECT id, name FROM entity WHERE scope = ? AND key = ?;
-- name: add_entity
INSERT INTO entity (scope, key, name, created_at) VALUES (?, ?, ?, ?) RETURNING id;
-- name: rename_entity
UPDATE entity SET name = ? WHERE id = ?;
-- name: delete_entity
DELETE FROM entity WHERE id = ?;
-- name: entity_row
SELECT id, key, name FROM entity WHERE id = ?;
-- name: scope_entities
SELECT id, key, name FROM entity WHERE scope = :scope;
-- name: entity_in_use
SELECT 1 FROM relation WHERE subject = :id UNION ALL SELECT 1 FROM relation WHERE object = :id
UNION ALL SELECT 1 FROM alias WHERE entity = :id UNION ALL SELECT 1 FROM alias WHERE target = :id
UNION ALL SELECT 1 FROM trait WHERE entity = :id LIMIT 1;
-- name: entity_spelt
SELECT 1 FROM relation WHERE subject = :id AND subject_name = :name
UNION ALL SELECT 1 FROM relation WHERE object = :id AND object_name = :name
UNION ALL SELECT 1 FROM trait WHERE entity = :id AND name = :name
UNION ALL SELECT 1 FROM alias WHERE entity = :id UNION ALL SELECT 1 FROM alias WHERE target = :id LIMIT 1;
-- name: entity_spellings
SELECT subject_name, id FROM relation WHERE subject = :id UNION ALL
SELECT object_name, id FROM relation WHERE object = :id UNION ALL SELECT name, 0 FROM trait WHERE entity = :id
ORDER BY 2 LIMIT 1;
-- name: respell_subjects
UPDATE relation SET subject = :new, revision = :revision WHERE subject = :old AND subject_name = :name;
-- name: respell_objects
UPDATE relation SET object = :new, revision = :revision WHERE object = :old AND object_name = :name;
-- name: find_relation
SELECT id, confidence, attributes FROM relation WHERE subject = ? AND predicate = ? AND object = ? AND record = ?
    AND subject_name = ? AND object_name = ?;
-- name: add_relation
INSERT INTO relation (scope, subject, predicate, object, record, subject_name, verb, object_name, confidence,
    attributes, revision, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id;
-- name: retell_relation
UPDATE relation SET confidence = ?, attributes = ?, revision = ? WHERE id = ?;
-- name: relations_of_triple
SELECT id, subject, predicate, object, record FROM relation
WHERE subject IN (SELECT value FROM json_each(:subjects)) AND object IN (SELECT value FROM json_each(:objects))
    AND predicate = :predicate;
-- name: relations_of_entities
SELECT id, subject, predicate, object, record FROM relation WHERE subject IN (SELECT value FROM json_each(:entities))
UNION SELECT id, subject, predicate, object, record FROM relation
WHERE object IN (SELECT value FROM json_each(:entities));
-- name: traits_of_entities
SELECT entity, record FROM trait WHERE entity IN (SELECT value FROM json_each(:entities));
-- name: aliases_of_entities
SELECT entity, target, record FROM alias WHERE entity IN (SELECT value FROM json_each(:entities));
-- name: relation_row
SELECT subject, predicate, object FROM relation WHERE id = ?;
-- name: tellings
SELECT x.verb, x.confidence, x.attributes, r.id, x.created_at FROM relation x LEFT JOIN record r ON r.seq = x.record
WHERE x.subject = ? AND x.predicate = ? AND x.object = ? ORDER BY x.id;
-- name: relations_of_records
SELECT id, subject, predicate, object, record FROM relation
WHERE record IN (SELECT value FROM json_each(:seqs)) AND record <> 0 AND scope = :scope;
-- name: traits_of_records
SELECT entity, record FROM trait WHERE record IN (SELECT value FROM json_each(:seqs)) AND record <> 0 AND scope = :scope;
-- name: aliases_of_records
SELECT entity, target, record FROM alias WHERE record IN (SELECT value FROM json_each(:seqs)) AND record <> 0 AND scope = :scope;
-- name: graph_knows_records
SELECT 1 FROM relation WHERE record IN (SELECT value FROM json_each(:seqs)) AND record <> 0 AND scope = :scope
UNION ALL SELECT 1 FROM trait WHERE record IN (SELECT value FROM json_each(:seqs)) AND record <> 0 AND scope = :scope
UNION ALL SELECT 1 FROM alias WHERE record IN (SELECT value FROM json_each(:seqs)) AND record <> 0 AND scope = :scope LIMIT 1;
-- name: told_otherwise
SELECT text, subject, predicate, object FROM record
WHERE seq = :seq AND text <> :text AND (EXISTS (SELECT 1 FROM relation WHERE record = :seq)
    OR EXISTS (SELECT 1 FROM trait WHERE record = :seq) OR EXISTS (SELECT 1 FROM alias WHERE record = :seq));
-- name: relation_names_of_record
SELECT id, subject, predicate, object, record, subject_name, verb, object_name FROM relation WHERE record = ? AND record <> 0;
-- name: trait_names_of_record
SELECT entity, record, name, type, attributes FROM trait WHERE record = ? AND record <> 0;
-- name: alias_names_of_record
SELECT a.entity, a.target, a.record, e.name, t.name FROM alias a JOIN entity e ON e.id = a.entity
JOIN entity t ON t.id = a.target WHERE a.record = ? AND a.record <> 0;
-- name: delete_relation
DELETE FROM relation WHERE id = ?;
-- name: rehome_relation
UPDATE OR IGNORE relation SET record = 0, revision = ? WHERE id = ?;
-- name: delete_trait
DELETE FROM trait WHERE entity = ? AND record = ?;
-- name: rehome_trait
UPDATE OR IGNORE trait SET record = 0 WHERE entity = ? AND record = ?;
-- name: delete_alias
DELETE FROM alias WHERE entity = ? AND target = ? AND record = ?;
-- name: rehome_alias
UPDATE OR IGNORE alias SET record = 0 WHERE entity = ? AND target = ? AND record = ?;
-- name: add_unrelated
INSERT INTO unrelated (scope, revision, relation) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;
-- name: count_unrelated
SELECT count(*) FROM unrelated WHERE scope = :scope;
-- name: clear_scope_unrelated
DELETE FROM unrelated WHERE scope = :scope;
-- name: raise_graph_horizon
UPDATE scope SET graph_horizon = :revision WHERE id = :scope;
-- name: graph_horizon
SELECT revision, graph_horizon FROM scope WHERE id = :scope;
-- name: target_of
SELECT target FROM alias WHERE entity = ? LIMIT 1;
-- name: names_of
SELECT entity FROM alias WHERE target = ?;
-- name: add_alias
INSERT INTO alias (entity, target, record, scope, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;
-- name: drop_aliases
DELETE FROM alias WHERE entity = ?;
-- name: add_apart
INSERT INTO apart (scope, one, other) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;
-- name: drop_apart
DELETE FROM apart WHERE scope = ? AND one = ? AND other = ?;
-- name: drop_apart_of
DELETE FROM apart WHERE one = :id OR other = :id;
-- name: apart_pairs
SELECT one, other FROM apart WHERE scope = :scope;
-- name: find_trait
SELECT type, attributes FROM trait WHERE entity = ? AND record = ?;
-- name: put_trait
INSERT INTO trait (entity, record, scope, name, type, attributes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (entity, record) DO UPDATE SET type = excluded.type, attributes = excluded.attributes;
-- name: put_rule
INSERT INTO rule (scope, name, body, confidence, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope, name) DO UPDATE SET body = excluded.body, confidence = excluded.confidence;
-- name: delete_rule
DELETE FROM rule WHERE scope = ? AND name = ?;
-- name: scope_rules
SELECT name, body, confidence FROM rule WHERE scope = :scope ORDER BY created_at, name;
-- name: graph_rows
SELECT x.id, x.subject, x.predicate, x.object, x.subject_name, x.verb, x.object_name, x.confidence, x.attributes,
    x.created_at, r.id, r.expires_at, x.record = 0 OR coalesce(r.status, '') = 'active', s.key, s.name, o.key, o.name
FROM relation x JOIN entity s ON s.id = x.subject JOIN entity o ON o.id = x.object
LEFT JOIN record r ON r.seq = x.record
WHERE x.scope = :scope AND x.revision > :revision ORDER BY x.id;
-- name: graph_rows_of_changed_records
SELECT x.id, x.subject, x.predicate, x.object, x.subject_name, x.verb, x.object_name, x.confidence, x.attributes,
    x.created_at, r.id, r.expires_at, r.status = 'active', s.key, s.name, o.key, o.name
FROM record r CROSS JOIN relation x ON x.record = r.seq AND x.record <> 0
JOIN entity s ON s.id = x.subject JOIN entity o ON o.id = x.object
WHERE r.scope = :scope AND r.revision > :revision AND x.revision <= :revision ORDER BY x.id;
-- name: graph_shape_changed
SELECT 1 FROM record r WHERE r.scope = :scope AND r.revision > :revision
    AND (EXISTS (SELECT 1 FROM trait t WHERE t.record = r.seq) OR EXISTS (SELECT 1 FROM alias a WHERE a.record = r.seq))
LIMIT 1;
-- name: unrelated_since
SELECT relation FROM unrelated WHERE scope = :scope AND revision > :revision;
-- name: graph_aliases
SELECT a.entity, a.target, r.expires_at, e.key, e.name, t.key, t.name
FROM alias a JOIN entity e ON e.id = a.entity JOIN entity t ON t.id = a.target LEFT JOIN record r ON r.seq = a.record
WHERE a.scope = :scope AND (a.record = 0 OR r.status = 'active') ORDER BY a.created_at, a.entity;
-- name: graph_traits
SELECT t.entity, t.name, t.type, t.attributes, t.created_at, r.id, r.expires_at, e.key, e.name
FROM trait t JOIN entity e ON e.id = t.entity LEFT JOIN record r ON r.seq = t.record
WHERE t.scope = :scope AND (t.record = 0 OR r.status = 'active') ORDER BY t.created_at, t.record;
-- name: graph_predicates
SELECT DISTINCT predicate FROM relation WHERE scope = :scope;
-- name: graph_triples
SELECT x.id, x.subject, x.predicate, x.object FROM relation x LEFT JOIN record r ON r.seq = x.record
WHERE x.scope = :scope AND x.predicate IN (SELECT value FROM json_each(:predicates))
    AND (x.record = 0 OR r.status = 'active') ORDER BY x.id;
-- name: count_relations
SELECT count(*) FROM (SELECT DISTINCT subject, predicate, object FROM relation WHERE scope = :scope);
-- name: clear_scope_traits
DELETE FROM trait WHERE scope = :scope;
-- name: clear_scope_apart
DELETE FROM apart WHERE scope = :scope;
-- ------------------------------------------------------------------ end of the knowledge graph
