-- Vectors of scopes too big to hold in a process, in the server of the memory. Not part of the schema: made
-- when first asked for, filled from `vector`, and dropped at any time. A row goes with its vector's row.
-- Words in braces are numbers of ours, and the schema of the extension.

-- name: extension
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
-- name: where_extension
SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector';
-- name: is_made
SELECT to_regclass('dense_reached');
-- name: make
CREATE TABLE IF NOT EXISTS dense (
    vector BIGINT NOT NULL REFERENCES vector (id) ON DELETE CASCADE,
    piece BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    embedder BIGINT NOT NULL,
    half {ext}.halfvec NOT NULL,
    PRIMARY KEY (vector, piece)
);
CREATE INDEX IF NOT EXISTS dense_scope ON dense (scope, embedder);
CREATE TABLE IF NOT EXISTS dense_reached (
    scope BIGINT, embedder BIGINT, revision BIGINT NOT NULL, PRIMARY KEY (scope, embedder)
);
-- name: reached
SELECT revision FROM dense_reached WHERE scope = {scope} AND embedder = {embedder};
-- name: reach
INSERT INTO dense_reached AS d (scope, embedder, revision) VALUES ({scope}, {embedder}, {revision})
ON CONFLICT (scope, embedder) DO UPDATE SET revision = greatest(d.revision, excluded.revision);
-- name: collections
SELECT scope, embedder FROM dense_reached UNION SELECT scope, embedder FROM dense ORDER BY 1, 2;
-- name: take_out
DELETE FROM dense WHERE vector = ANY (%s::bigint[]);
-- name: fresh
CREATE TEMPORARY TABLE fresh (vector BIGINT, piece BIGINT, half {ext}.halfvec) ON COMMIT DROP;
-- name: fill
COPY fresh (vector, piece, half) FROM STDIN (FORMAT BINARY);
-- name: settle
-- What was erased meanwhile has no row to belong to; what is there is held until we commit.
INSERT INTO dense (vector, piece, scope, embedder, half)
SELECT f.vector, f.piece, {scope}, {embedder}, f.half FROM fresh f JOIN vector v ON v.id = f.vector FOR KEY SHARE OF v
ON CONFLICT (vector, piece) DO UPDATE SET half = excluded.half;
-- name: drop
DELETE FROM dense WHERE scope = {scope} AND embedder = {embedder};
DELETE FROM dense_reached WHERE scope = {scope} AND embedder = {embedder};
-- name: nearest
SELECT vector >> 8 << 16 | piece FROM dense WHERE scope = {scope} AND embedder = {embedder}
ORDER BY half::{ext}.halfvec({dimensions}) OPERATOR({ext}.<#>) %s::{ext}.halfvec({dimensions}) LIMIT {count};
-- name: nearest_among
-- First what may be found at all, then the order: exact.
WITH chosen AS MATERIALIZED (
    SELECT d.vector, d.piece, d.half FROM unnest(%s::bigint[], %s::bigint[]) given (vector, piece)
    JOIN dense d ON d.vector = given.vector AND d.piece = given.piece)
SELECT vector >> 8 << 16 | piece FROM chosen ORDER BY half OPERATOR({ext}.<#>) %s::{ext}.halfvec LIMIT {count};
-- name: mine
SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'dense'::regclass;
-- name: lists
SELECT substring(c.relname FROM '\d+$')::bigint FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'dense'::regclass AND c.relname LIKE 'dense\_{scope}\_{embedder}\_%%' ORDER BY 1 DESC;
-- name: count
SELECT count(*) FROM dense WHERE scope = {scope} AND embedder = {embedder};
-- name: make_lists
CREATE INDEX dense_{scope}_{embedder}_{lists} ON dense USING ivfflat
    ((half::{ext}.halfvec({dimensions})) {ext}.halfvec_ip_ops) WITH (lists = {lists})
WHERE scope = {scope} AND embedder = {embedder};
-- name: drop_lists
DROP INDEX IF EXISTS dense_{scope}_{embedder}_{lists};
