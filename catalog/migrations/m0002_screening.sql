-- Screening studies: designs, samples, chunk manifests, answers, adjudications, scorings, calls.

-- Works: what a student also reads. `topics` is a JSON list. ------------------------------------------

ALTER TABLE works ADD COLUMN topics TEXT NOT NULL DEFAULT '[]';
ALTER TABLE works ADD COLUMN field TEXT;

-- Views over `supplements` go before it is rebuilt, since SQLite checks them when a table is renamed.
DROP VIEW works_text;
DROP VIEW works_now;

-- The same as before; `topics` and `field` may be filled in too.
CREATE TABLE supplements_new (
  id INTEGER PRIMARY KEY,
  work_id INTEGER NOT NULL REFERENCES works(id),
  field TEXT NOT NULL CHECK (field IN
    ('year', 'venue', 'type', 'language', 'abstract', 'abstract_source', 'retraction', 'topics', 'field')),
  value TEXT NOT NULL,
  import_id INTEGER NOT NULL REFERENCES imports(id),
  UNIQUE (work_id, field)
) STRICT;
INSERT INTO supplements_new SELECT id, work_id, field, value, import_id FROM supplements;
DROP TABLE supplements;
ALTER TABLE supplements_new RENAME TO supplements;
CREATE INDEX supplements_import ON supplements(import_id);

CREATE VIEW works_now AS
SELECT w.id, w.slug, w.title,
  coalesce(w.year, (SELECT CAST(value AS INTEGER) FROM supplements WHERE work_id = w.id AND field = 'year'))
    AS year,
  coalesce(w.venue, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'venue')) AS venue,
  coalesce(w.type, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'type')) AS type,
  coalesce(w.language, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'language'))
    AS language,
  CASE WHEN w.topics = '[]' THEN coalesce(
    (SELECT value FROM supplements WHERE work_id = w.id AND field = 'topics'), '[]') ELSE w.topics END
    AS topics,
  coalesce(w.field, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'field')) AS field,
  coalesce(w.abstract, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'abstract'))
    AS abstract,
  CASE WHEN w.abstract IS NOT NULL THEN w.abstract_source ELSE coalesce(
    (SELECT value FROM supplements WHERE work_id = w.id AND field = 'abstract_source'), w.abstract_source) END
    AS abstract_source,
  CASE WHEN w.abstract IS NOT NULL OR NOT EXISTS
    (SELECT 1 FROM supplements WHERE work_id = w.id AND field = 'abstract') THEN w.abstract_note END
    AS abstract_note,
  coalesce(w.retraction, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'retraction'))
    AS retraction,
  w.note, w.created_at
FROM works w;

CREATE VIEW works_text AS
SELECT w.id, w.title, w.abstract, w.venue,
  (SELECT group_concat(name, '; ') FROM (
    SELECT a.name FROM work_authors wa JOIN authors a ON a.id = wa.author_id
    WHERE wa.work_id = w.id ORDER BY wa.position)) AS authors
FROM works_now w;

-- Studies ---------------------------------------------------------------------------------------------

-- One row for each version of a study; `content` is its record as canonical JSON, `sha256` its hash.
CREATE TABLE studies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  sha256 TEXT NOT NULL,
  rubric_sha256 TEXT NOT NULL,
  title TEXT NOT NULL,
  synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1)),
  content TEXT NOT NULL,
  source_sha256 TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL,
  UNIQUE (slug, version),
  UNIQUE (slug, sha256)
) STRICT;

ALTER TABLE raters ADD COLUMN model TEXT;

-- `study_sha256` is the version of the study that brought the round, whose rubric it keeps; `cannot` is
-- the category that means "cannot be screened", if there is one.
ALTER TABLE rounds ADD COLUMN origin TEXT NOT NULL DEFAULT 'published'
  CHECK (origin IN ('published', 'harness'));
ALTER TABLE rounds ADD COLUMN study_sha256 TEXT;
ALTER TABLE rounds ADD COLUMN cannot TEXT;
ALTER TABLE rounds ADD COLUMN source_sha256 TEXT;
ALTER TABLE rounds ADD COLUMN recorded_at TEXT;
ALTER TABLE rounds ADD COLUMN recorded_by TEXT;
CREATE INDEX rounds_study ON rounds(study);

-- Who rates and who adjudicates, in the order of the design.
CREATE TABLE round_raters (
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  role TEXT NOT NULL CHECK (role IN ('rater', 'adjudicator')),
  position INTEGER NOT NULL,
  rater_id INTEGER NOT NULL REFERENCES raters(id),
  PRIMARY KEY (round_id, role, position),
  UNIQUE (round_id, role, rater_id)
) STRICT, WITHOUT ROWID;

-- A sample as it was drawn: strata with their sizes, and each work with its inclusion probability.
CREATE TABLE samples (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  study TEXT NOT NULL,
  slug TEXT NOT NULL,
  study_id INTEGER NOT NULL REFERENCES studies(id),
  design TEXT NOT NULL,
  design_sha256 TEXT NOT NULL,
  frame_size INTEGER NOT NULL CHECK (frame_size >= 0),
  frame_sha256 TEXT NOT NULL,
  drawn INTEGER NOT NULL CHECK (drawn BETWEEN 0 AND frame_size),
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL,
  UNIQUE (study, slug)
) STRICT;

CREATE TABLE sample_strata (
  sample_id INTEGER NOT NULL REFERENCES samples(id),
  position INTEGER NOT NULL,
  stratum TEXT NOT NULL,
  frame_size INTEGER NOT NULL CHECK (frame_size > 0),
  drawn INTEGER NOT NULL CHECK (drawn BETWEEN 0 AND frame_size),
  PRIMARY KEY (sample_id, position),
  UNIQUE (sample_id, stratum)
) STRICT, WITHOUT ROWID;

-- `rank` is the place in the order of the draw within the stratum, from 1.
CREATE TABLE sample_works (
  sample_id INTEGER NOT NULL REFERENCES samples(id),
  work_id INTEGER NOT NULL REFERENCES works(id),
  stratum INTEGER NOT NULL,
  rank INTEGER NOT NULL CHECK (rank >= 1),
  inclusion_probability REAL NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
  weight REAL NOT NULL CHECK (weight >= 1 AND weight <= 1.7976931348623157e308),
  PRIMARY KEY (sample_id, work_id),
  UNIQUE (sample_id, stratum, rank),
  FOREIGN KEY (sample_id, stratum) REFERENCES sample_strata(sample_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX sample_works_work ON sample_works(work_id);

-- Written before any rater runs; `sha256` covers round, position and ids in order.
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  position INTEGER NOT NULL CHECK (position >= 1),
  works INTEGER NOT NULL CHECK (works >= 1),
  sha256 TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL,
  UNIQUE (round_id, position)
) STRICT;

-- `round_id` is its chunk's, so that a work stands once in a round and is found by it.
CREATE TABLE chunk_works (
  chunk_id INTEGER NOT NULL REFERENCES chunks(id),
  position INTEGER NOT NULL CHECK (position >= 1),
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  work_id INTEGER NOT NULL REFERENCES works(id),
  PRIMARY KEY (chunk_id, position),
  UNIQUE (round_id, work_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX chunk_works_work ON chunk_works(work_id);

-- Everything that a rater (or a provider in its place) ever said to a chunk, taken or not, raw.
-- `failed`: no answer came, by no fault of its content. `report` says what was wrong, as a JSON list.
-- Without a chunk: rows of a file whose ids are in no chunk (without a rater: who is no rater of the round).
-- `correction` is the reason of one.
CREATE TABLE answers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  chunk_id INTEGER REFERENCES chunks(id),
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  rater_id INTEGER REFERENCES raters(id),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  state TEXT NOT NULL CHECK (state IN ('accepted', 'quarantined', 'failed')),
  report TEXT NOT NULL,
  correction TEXT,
  raw TEXT,
  raw_sha256 TEXT,
  line INTEGER,
  prompt_sha256 TEXT,
  input_sha256 TEXT,
  rater_version TEXT,
  input_tokens INTEGER CHECK (input_tokens >= 0),
  output_tokens INTEGER CHECK (output_tokens >= 0),
  cost TEXT,
  started_at TEXT,
  finished_at TEXT,
  source_sha256 TEXT,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL,
  CHECK ((raw IS NULL) = (raw_sha256 IS NULL)),
  CHECK (rater_id IS NOT NULL OR chunk_id IS NULL),
  CHECK (state != 'accepted' OR (chunk_id IS NOT NULL AND raw IS NOT NULL))
) STRICT;
CREATE INDEX answers_round ON answers(round_id, rater_id, chunk_id);
CREATE INDEX answers_chunk ON answers(chunk_id);
CREATE UNIQUE INDEX answers_accepted ON answers(chunk_id, rater_id)
  WHERE state = 'accepted' AND correction IS NULL;

ALTER TABLE votes ADD COLUMN fields TEXT NOT NULL DEFAULT '{}';
ALTER TABLE votes ADD COLUMN answer_id INTEGER REFERENCES answers(id);
CREATE INDEX votes_round ON votes(round_id, rater_id, work_id);
DROP INDEX votes_work;
CREATE INDEX votes_work ON votes(work_id, round_id);
CREATE INDEX votes_answer ON votes(answer_id);

-- A work that a person put off: no vote, shown again at the end of the queue.
CREATE TABLE skips (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  work_id INTEGER NOT NULL REFERENCES works(id),
  rater_id INTEGER NOT NULL REFERENCES raters(id),
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;
CREATE INDEX skips_round ON skips(round_id, rater_id, work_id);
CREATE INDEX skips_work ON skips(work_id);

CREATE TABLE adjudications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  work_id INTEGER NOT NULL REFERENCES works(id),
  rater_id INTEGER NOT NULL REFERENCES raters(id),
  decision TEXT NOT NULL
    CHECK (decision IN ('in_scope', 'out_of_scope', 'insufficient_payload', 'unresolved')),
  categories TEXT NOT NULL,
  reason TEXT,
  decided_at TEXT,
  supersedes INTEGER UNIQUE REFERENCES adjudications(id),
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;
CREATE INDEX adjudications_work ON adjudications(work_id);
CREATE UNIQUE INDEX adjudications_first ON adjudications(round_id, work_id) WHERE supersedes IS NULL;

-- Releases --------------------------------------------------------------------------------------------

-- A release trained here has its study, the package that reruns its figures, and what the training
-- computed as JSON (`record`); one that a package brought has none of it.
ALTER TABLE model_releases ADD COLUMN study TEXT;
ALTER TABLE model_releases ADD COLUMN artifact TEXT;
ALTER TABLE model_releases ADD COLUMN record TEXT;
ALTER TABLE heads ADD COLUMN positives INTEGER;
ALTER TABLE heads ADD COLUMN ess_positives REAL;
ALTER TABLE heads ADD COLUMN calibration TEXT;
ALTER TABLE heads ADD COLUMN threshold REAL;
CREATE INDEX model_releases_study ON model_releases(study);

-- Files of a release (its weights, say), kept by hash among the stored objects.
CREATE TABLE release_files (
  release_id INTEGER NOT NULL REFERENCES model_releases(id),
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  sha256 TEXT NOT NULL,
  PRIMARY KEY (release_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_files_sha256 ON release_files(sha256);

-- A scoring that came to its end. Scores come in many transactions, each with the number of the scoring
-- that they belong to, and are shown once its row is here. 0: from before there were scorings.
CREATE TABLE scorings (
  release_id INTEGER NOT NULL REFERENCES model_releases(id),
  number INTEGER NOT NULL CHECK (number >= 1),
  works INTEGER NOT NULL,
  scores INTEGER NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL,
  PRIMARY KEY (release_id, number)
) STRICT, WITHOUT ROWID;

-- Each time that somebody began to write a scoring: one without an end was stopped, and can be gone on with.
CREATE TABLE scoring_starts (
  release_id INTEGER NOT NULL REFERENCES model_releases(id),
  number INTEGER NOT NULL CHECK (number >= 1),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL,
  PRIMARY KEY (release_id, number, attempt)
) STRICT, WITHOUT ROWID;

ALTER TABLE scores ADD COLUMN scoring INTEGER NOT NULL DEFAULT 0;
-- Holds nothing in a new catalog: what was there before is counted without reading every score.
CREATE INDEX scores_before ON scores(head_id) WHERE scoring = 0;

-- `scoring` is the newest scoring that a run saw: works scored later are none of its. JSON: `quotas`,
-- `counts` (category -> consensus and candidate calls), and `thresholds` (head -> category -> score at the
-- last row of its k, which decides nothing: calls go by row rank).
CREATE TABLE decision_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  release_id INTEGER NOT NULL REFERENCES model_releases(id),
  rule TEXT NOT NULL,
  status TEXT NOT NULL,
  works INTEGER NOT NULL CHECK (works >= 0),
  covered INTEGER NOT NULL CHECK (covered BETWEEN 0 AND works),
  scoring INTEGER NOT NULL,
  quotas TEXT NOT NULL,
  counts TEXT NOT NULL,
  thresholds TEXT NOT NULL,
  note TEXT,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;
CREATE INDEX decision_runs_release ON decision_runs(release_id);

-- Only calls are rows: a covered work without one made none, and an uncovered one is unknown.
-- `sides` is a JSON list of the heads whose k holds the work.
CREATE TABLE decisions (
  work_id INTEGER NOT NULL REFERENCES works(id),
  run_id INTEGER NOT NULL REFERENCES decision_runs(id),
  category TEXT NOT NULL,
  call TEXT NOT NULL CHECK (call IN ('consensus', 'candidate')),
  sides TEXT NOT NULL,
  PRIMARY KEY (work_id, run_id, category)
) STRICT, WITHOUT ROWID;

-- Views: each row with its status. A test compares every state with `schema.states`. --------------------

DROP VIEW votes_current;
CREATE VIEW votes_current AS
SELECT v.id, v.slug, w.slug AS work, r.slug AS round, r.origin, t.slug AS rater, t.kind AS rater_kind,
  CASE t.kind WHEN 'human' THEN 'human_direct' ELSE 'machine_direct_unvalidated' END AS status,
  v.decision, v.categories, v.fields, v.confidence, v.reason, v.reason_wording, v.cast_at, v.note
FROM votes v
JOIN works w ON w.id = v.work_id
JOIN rounds r ON r.id = v.round_id
JOIN raters t ON t.id = v.rater_id
WHERE NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id);

-- `vote` is 1, 0, or NULL where the vote says nothing of the category.
CREATE VIEW category_votes AS
SELECT r.slug AS round, w.slug AS work, c.value AS category, t.slug AS rater, t.kind AS rater_kind,
  CASE v.decision
    WHEN 'insufficient_payload' THEN CASE WHEN c.value = r.cannot THEN 1 END
    WHEN 'in_scope' THEN CASE
      WHEN c.value = r.cannot THEN 0
      WHEN json_array_length(v.categories) = 0 THEN NULL
      ELSE EXISTS (SELECT 1 FROM json_each(v.categories) named WHERE named.value = c.value) END
    WHEN 'out_of_scope' THEN 0
  END AS vote,
  CASE t.kind WHEN 'human' THEN 'human_direct' ELSE 'machine_direct_unvalidated' END AS status
FROM votes v
JOIN rounds r ON r.id = v.round_id
JOIN json_each(r.categories) c
JOIN works w ON w.id = v.work_id
JOIN raters t ON t.id = v.rater_id
WHERE NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id);

-- Whether any head of a study's newest release can speak of a category.
CREATE VIEW head_support AS
SELECT m.study, m.slug AS release, h.category,
  max(h.availability NOT IN ('insufficient_support', 'fold_degenerate')) AS supported
FROM model_releases m JOIN heads h ON h.release_id = m.id
WHERE m.id = (SELECT max(n.id) FROM model_releases n WHERE n.study = m.study)
GROUP BY m.study, h.category;

-- One row for each category of each work that a round shows to its raters or has votes on. `status` names
-- the kinds of votes that the state rests on: the usable ones, or where none is, all that were cast.
-- Joined from the work by a named index, so that asking for one work reads no other.
CREATE VIEW category_states AS
SELECT round, work, category, count(rater_kind) AS cast_votes, count(vote) AS usable,
  coalesce(sum(vote), 0) AS positives,
  CASE
    WHEN count(vote) = 0 THEN CASE
      WHEN count(rater_kind) = 0 AND (
        SELECT h.supported FROM head_support h WHERE h.study = asked.study AND h.category = asked.category) = 0
        THEN 'unsupported' ELSE 'unknown' END
    WHEN sum(vote) = count(vote) THEN 'agreed_positive'
    WHEN sum(vote) = 0 THEN 'agreed_negative'
    WHEN sum(vote) >= 2 THEN 'contested'
    ELSE 'single_source'
  END AS state,
  CASE
    WHEN count(rater_kind) = 0 THEN NULL
    ELSE CASE coalesce(
        group_concat(DISTINCT CASE WHEN vote IS NOT NULL THEN rater_kind END), group_concat(DISTINCT rater_kind))
      WHEN 'human' THEN 'human_direct'
      WHEN 'model' THEN 'machine_direct_unvalidated'
      ELSE 'human_direct and machine_direct_unvalidated' END
  END AS status
FROM (
  SELECT r.slug AS round, r.study, w.slug AS work, c.value AS category, t.kind AS rater_kind,
    CASE v.decision
      WHEN 'insufficient_payload' THEN CASE WHEN c.value = r.cannot THEN 1 END
      WHEN 'in_scope' THEN CASE
        WHEN c.value = r.cannot THEN 0
        WHEN json_array_length(v.categories) = 0 THEN NULL
        ELSE EXISTS (SELECT 1 FROM json_each(v.categories) named WHERE named.value = c.value) END
      WHEN 'out_of_scope' THEN 0
    END AS vote
  FROM works w
  JOIN rounds r ON EXISTS (SELECT 1 FROM chunk_works m WHERE m.round_id = r.id AND m.work_id = w.id)
    OR EXISTS (SELECT 1 FROM votes f WHERE f.round_id = r.id AND f.work_id = w.id)
  JOIN json_each(r.categories) c
  LEFT JOIN votes v INDEXED BY votes_work ON v.work_id = w.id AND v.round_id = r.id
    AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id)
  LEFT JOIN raters t ON t.id = v.rater_id
) asked
GROUP BY work, round, category;

-- Scores of scorings that came to their end.
CREATE VIEW scores_shown AS
SELECT s.work_id, s.head_id, h.release_id, s.value, s.scoring
FROM scores s JOIN heads h ON h.id = s.head_id
WHERE s.scoring = 0
  OR EXISTS (SELECT 1 FROM scorings f WHERE f.release_id = h.release_id AND f.number = s.scoring);

DROP VIEW scores_readable;
CREATE VIEW scores_readable AS
SELECT w.slug AS work, m.slug AS release, h.name AS head, h.category, s.value,
  m.status, m.maturity, h.availability, h.calibration
FROM scores_shown s
JOIN works w ON w.id = s.work_id
JOIN heads h ON h.id = s.head_id
JOIN model_releases m ON m.id = s.release_id;

CREATE VIEW calls_readable AS
SELECT w.slug AS work, m.slug AS release, d.slug AS run, c.category, c.call, c.sides, d.status
FROM decisions c
JOIN works w ON w.id = c.work_id
JOIN decision_runs d ON d.id = c.run_id
JOIN model_releases m ON m.id = d.release_id;

CREATE VIEW adjudications_current AS
SELECT a.slug, r.slug AS round, w.slug AS work, t.slug AS rater, t.kind AS rater_kind,
  CASE t.kind WHEN 'human' THEN 'human_direct' ELSE 'machine_direct_unvalidated' END AS status,
  a.decision, a.categories, a.reason, a.decided_at
FROM adjudications a
JOIN rounds r ON r.id = a.round_id
JOIN works w ON w.id = a.work_id
JOIN raters t ON t.id = a.rater_id
WHERE NOT EXISTS (SELECT 1 FROM adjudications n WHERE n.supersedes = a.id);
