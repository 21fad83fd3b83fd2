-- What PostgreSQL says in another way; all the rest is `sqlite.sql`, respelled by `dialect.py`.

-- name: bump_scope
-- One row for each record to come, since other scopes draw numbers from the same sequence meanwhile.
WITH bumped AS (UPDATE scope SET revision = revision + 1 WHERE id = %(scope)s RETURNING revision)
SELECT bumped.revision, CASE WHEN %(count)s > 0 THEN nextval('record_seq_seq') END
FROM bumped, generate_series(1, greatest(%(count)s, 1));
-- name: copy_numbering
-- Rows that came with their numbers leave the sequences where they were.
SELECT setval('scope_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM scope), false),
    setval('session_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM session), false),
    setval('record_seq_seq', (SELECT coalesce(max(seq), 0) + 1 FROM record), false),
    setval('pending_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM pending), false),
    setval('entity_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM entity), false),
    setval('relation_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM relation), false);
-- name: owners_by_table
SELECT seq, scope, id FROM record;
-- name: mark_erased
-- The server reclaims pages by itself, and one row that every deletion writes would make them queue.
SELECT 1;
-- name: lock_embedders
SELECT pg_advisory_xact_lock(hashtext('twinmem embedders'), hashtext(current_schema()));
-- name: add_access
INSERT INTO access AS a (record, count, last_at) VALUES (%s, %s, %s)
ON CONFLICT (record) DO UPDATE SET count = a.count + excluded.count, last_at = greatest(a.last_at, excluded.last_at);
-- name: unsummarised
SELECT s.summarised, count(r.seq), count(r.seq) FILTER (WHERE r.role = 'user'),
    coalesce(sum(length(r.text) + coalesce(length(r.body), 0) / 4 + 8), 0)::bigint
FROM session s LEFT JOIN record r ON r.session = s.id AND r.position > s.summarised AND r.kind = 'turn'
WHERE s.id = %(session)s GROUP BY s.summarised;
-- name: seqs_by_id
SELECT r.seq FROM jsonb_array_elements_text(%(ids)s::jsonb) given (value)
JOIN record r ON r.scope = %(scope)s AND r.id = given.value;
-- name: source_ids
SELECT r.id, t.id FROM jsonb_array_elements_text(%(ids)s::jsonb) given (value)
JOIN record r ON r.scope = %(scope)s AND r.id = given.value
JOIN provenance p ON p.record = r.seq JOIN record t ON t.seq = p.source;
-- name: session_starts
SELECT name, start FROM (SELECT s.id AS id, s.name AS name, least(s.created_at, (SELECT min(r.created_at)
    FROM record r WHERE r.session = s.id AND r.kind = 'turn')) AS start
    FROM session s WHERE s.scope = %(scope)s AND (%(session)s::bigint IS NULL OR s.id = %(session)s::bigint)) begun
WHERE start >= %(since)s AND start < %(until)s ORDER BY id;
-- name: rehome_relation
UPDATE relation x SET record = 0, revision = %s WHERE id = %s AND NOT EXISTS (
    SELECT 1 FROM relation y WHERE y.subject = x.subject AND y.predicate = x.predicate AND y.object = x.object
        AND y.record = 0 AND y.subject_name = x.subject_name AND y.object_name = x.object_name);
-- name: rehome_trait
UPDATE trait x SET record = 0 WHERE entity = %s AND record = %s
    AND NOT EXISTS (SELECT 1 FROM trait y WHERE y.entity = x.entity AND y.record = 0);
-- name: rehome_alias
UPDATE alias x SET record = 0 WHERE entity = %s AND target = %s AND record = %s
    AND NOT EXISTS (SELECT 1 FROM alias y WHERE y.entity = x.entity AND y.target = x.target AND y.record = 0);
-- name: graph_triples
SELECT x.id, x.subject, x.predicate, x.object FROM relation x LEFT JOIN record r ON r.seq = x.record
WHERE x.scope = %(scope)s AND x.predicate IN (SELECT value FROM jsonb_array_elements_text(%(predicates)s::jsonb) listed (value))
    AND (x.record = 0 OR r.status = 'active') ORDER BY x.id;
