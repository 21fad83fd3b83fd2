-- name: get_meta
SELECT value FROM meta WHERE key = :key;
-- name: set_meta
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: find_scope
SELECT id, revision FROM scope WHERE user = :user AND agent = :agent;
-- name: add_scope
INSERT INTO scope (user, agent, created_at) VALUES (:user, :agent, :now) ON CONFLICT (user, agent) DO NOTHING;
-- name: bump_scope
UPDATE scope SET revision = revision + 1 WHERE id = :scope
RETURNING revision, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'record'), 0) + 1;
-- name: scope_horizon
SELECT revision, horizon FROM scope WHERE id = :scope;
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
SELECT id, name, created_at, ended_at, summary, summarised, snapshot, state FROM session
WHERE scope = :scope AND name = :name;
-- name: add_session
INSERT INTO session (scope, name, created_at) VALUES (:scope, :name, :now) ON CONFLICT (scope, name) DO NOTHING;
-- name: end_session
UPDATE session SET ended_at = :now WHERE id = :session;
-- name: reopen_session
UPDATE session SET ended_at = NULL WHERE id = :session AND ended_at IS NOT NULL;
-- name: reset_session
UPDATE session SET summary = NULL, summarised = 0, snapshot = NULL WHERE id = :session;
-- name: drop_session
DELETE FROM session WHERE id = :session;
-- name: drop_sessions
DELETE FROM session WHERE scope = :scope;
-- name: session_names
SELECT name FROM session WHERE scope = :scope ORDER BY id;
-- name: last_position
SELECT coalesce(max(position), 0) FROM record WHERE session = :session;
-- name: session_messages
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' ORDER BY position;
-- name: last_messages
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' ORDER BY position DESC LIMIT :last;
-- name: session_head
SELECT seq, message_id, role, name, text, body, created_at, id FROM record
WHERE session = :session AND kind = 'turn' AND role = 'system' AND position < coalesce((
    SELECT position FROM record WHERE session = :session AND kind = 'turn' AND role <> 'system'
    ORDER BY position LIMIT 1), 9223372036854775807)
ORDER BY position;
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
-- name: erased_since
SELECT record FROM erased WHERE scope = :scope AND revision > :revision;
-- name: changed_records
SELECT {record} WHERE r.scope = :scope AND r.revision > :revision;

-- name: current_embedder
SELECT e.id, e.name, e.dimensions FROM meta m JOIN embedder e ON e.id = CAST(m.value AS INTEGER)
WHERE m.key = 'embedder';
-- name: embedders
SELECT id, name, dimensions FROM embedder ORDER BY id;
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
WHERE NOT EXISTS (
    SELECT 1 FROM provenance q WHERE q.record = p.record AND q.source NOT IN (SELECT value FROM json_each(:seqs)));
-- name: delete_links
DELETE FROM provenance WHERE record = ?;
-- name: delete_links_to
DELETE FROM provenance WHERE source = ?;
-- name: sources_of
SELECT r.id, r.message_id, s.name, p.extractor FROM provenance p JOIN record r ON r.seq = p.source
LEFT JOIN session s ON s.id = r.session WHERE p.record = :seq ORDER BY p.source;

-- name: read_only_from
SELECT DISTINCT p.record FROM provenance p JOIN json_each(:seqs) gone ON gone.value = p.source
WHERE p.extractor IN ('rules', 'llm', 'extractor') AND NOT EXISTS (
    SELECT 1 FROM provenance q WHERE q.record = p.record AND q.source NOT IN (SELECT value FROM json_each(:seqs)));
-- name: links_of
SELECT record, source FROM provenance WHERE record IN (SELECT value FROM json_each(:seqs));
-- name: outdated_turns
WITH RECURSIVE version (turn, seq, steps) AS (
    SELECT p.source, o.seq, 0 FROM provenance p JOIN record o ON o.seq = p.record
    WHERE p.source IN (SELECT value FROM json_each(:seqs)) AND o.status = 'superseded' AND o.superseded_by IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM provenance q JOIN record s ON s.seq = q.record
            WHERE q.source = p.source AND s.status = 'active')
    UNION ALL SELECT v.turn, n.seq, v.steps + 1 FROM version v JOIN record o ON o.seq = v.seq
    JOIN record n ON n.scope = o.scope AND n.id = o.superseded_by
    WHERE o.status = 'superseded' AND v.steps < 100
)
SELECT DISTINCT v.turn, v.seq FROM version v JOIN record r ON r.seq = v.seq WHERE r.status = 'active' ORDER BY 1, 2;
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
-- name: facts_about
SELECT {record} WHERE r.seq IN (SELECT f.seq FROM json_each(:topics) given CROSS JOIN record f INDEXED BY record_topic
    ON f.scope = :scope AND f.topic = given.value AND f.topic IS NOT NULL AND f.status = 'active')
ORDER BY r.importance DESC, r.created_at DESC, r.id LIMIT :limit;
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
INSERT INTO tombstone (scope, hash, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;
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
DELETE FROM archive WHERE scope = :scope;
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
-- name: scrub_audit
UPDATE audit SET detail = NULL WHERE scope = ? AND record = ?;

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

-- ------------------------------------------------------------------ the knowledge graph
-- name: find_entity
SELECT id, name FROM entity WHERE scope = ? AND key IN (?, ?) ORDER BY length(key) DESC LIMIT 1;
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
SELECT 1 FROM record WHERE seq = :seq AND text <> :text AND (EXISTS (SELECT 1 FROM relation WHERE record = :seq)
    OR EXISTS (SELECT 1 FROM trait WHERE record = :seq) OR EXISTS (SELECT 1 FROM alias WHERE record = :seq));
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
