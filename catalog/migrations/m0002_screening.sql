-- Screening studies: designs, samples, chunk manifests, answers, adjudications, decisions.

ALTER TABLE works ADD COLUMN topics TEXT NOT NULL DEFAULT '[]';
ALTER TABLE works ADD COLUMN field TEXT;

-- One row for each version of a study; `content` is its record as canonical JSON.
CREATE TABLE studies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL,
  version INTEGER NOT NULL,
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
ALTER TABLE rounds ADD COLUMN origin TEXT NOT NULL DEFAULT 'published' CHECK (origin IN ('published', 'harness'));
ALTER TABLE rounds ADD COLUMN study_sha256 TEXT;
ALTER TABLE rounds ADD COLUMN source_sha256 TEXT;
ALTER TABLE rounds ADD COLUMN recorded_at TEXT;
ALTER TABLE rounds ADD COLUMN recorded_by TEXT;

-- A sample as it was drawn: strata with their sizes, and each work with its inclusion probability.
CREATE TABLE samples (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  study_id INTEGER NOT NULL REFERENCES studies(id),
  design_sha256 TEXT NOT NULL,
  frame_size INTEGER NOT NULL,
  frame_sha256 TEXT NOT NULL,
  drawn INTEGER NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;

CREATE TABLE sample_strata (
  sample_id INTEGER NOT NULL REFERENCES samples(id),
  position INTEGER NOT NULL,
  stratum TEXT NOT NULL,
  frame_size INTEGER NOT NULL CHECK (frame_size > 0),
  drawn INTEGER NOT NULL CHECK (drawn BETWEEN 0 AND frame_size),
  PRIMARY KEY (sample_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE sample_works (
  sample_id INTEGER NOT NULL REFERENCES samples(id),
  work_id INTEGER NOT NULL REFERENCES works(id),
  stratum INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  inclusion_probability REAL NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
  weight REAL NOT NULL CHECK (weight >= 1 AND weight <= 1.7976931348623157e308),
  PRIMARY KEY (sample_id, work_id),
  FOREIGN KEY (sample_id, stratum) REFERENCES sample_strata(sample_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX sample_works_work ON sample_works(work_id);

-- Written before any rater runs; `sha256` covers round, position and ids in order.
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  position INTEGER NOT NULL,
  works INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL,
  UNIQUE (round_id, position)
) STRICT;

CREATE TABLE chunk_works (
  chunk_id INTEGER NOT NULL REFERENCES chunks(id),
  position INTEGER NOT NULL,
  work_id INTEGER NOT NULL REFERENCES works(id),
  PRIMARY KEY (chunk_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX chunk_works_work ON chunk_works(work_id);

-- Everything that a rater (or a provider in its place) ever said to a chunk, taken or not, raw.
-- `failed`: no answer came, by no fault of its content. `report` says what was wrong, as a JSON list.
CREATE TABLE answers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  chunk_id INTEGER REFERENCES chunks(id),
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  rater_id INTEGER NOT NULL REFERENCES raters(id),
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('accepted', 'quarantined', 'failed')),
  report TEXT NOT NULL,
  raw TEXT,
  raw_sha256 TEXT,
  prompt_sha256 TEXT,
  input_sha256 TEXT,
  rater_version TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost TEXT,
  started_at TEXT,
  finished_at TEXT,
  source_sha256 TEXT,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;
CREATE INDEX answers_round ON answers(round_id, rater_id, chunk_id);

ALTER TABLE votes ADD COLUMN fields TEXT NOT NULL DEFAULT '{}';
ALTER TABLE votes ADD COLUMN answer_id INTEGER REFERENCES answers(id);
CREATE INDEX votes_round ON votes(round_id, rater_id);

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

CREATE TABLE adjudications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  work_id INTEGER NOT NULL REFERENCES works(id),
  rater_id INTEGER NOT NULL REFERENCES raters(id),
  decision TEXT NOT NULL CHECK (decision IN ('in_scope', 'out_of_scope', 'insufficient_payload', 'unresolved')),
  categories TEXT NOT NULL,
  reason TEXT,
  decided_at TEXT,
  supersedes INTEGER UNIQUE REFERENCES adjudications(id),
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;
CREATE INDEX adjudications_work ON adjudications(work_id);
CREATE UNIQUE INDEX adjudications_first ON adjudications(round_id, work_id) WHERE supersedes IS NULL;

-- A release trained here: which study, which package reruns its figures, and its record as JSON.
ALTER TABLE model_releases ADD COLUMN study TEXT;
ALTER TABLE model_releases ADD COLUMN artifact TEXT;
ALTER TABLE model_releases ADD COLUMN record TEXT;
ALTER TABLE heads ADD COLUMN positives INTEGER;
ALTER TABLE heads ADD COLUMN ess_positives REAL;
ALTER TABLE heads ADD COLUMN calibration TEXT;
ALTER TABLE heads ADD COLUMN threshold REAL;

CREATE TABLE decision_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  release_id INTEGER NOT NULL REFERENCES model_releases(id),
  rule TEXT NOT NULL,
  status TEXT NOT NULL,
  works INTEGER NOT NULL,
  covered INTEGER NOT NULL,
  quotas TEXT NOT NULL,
  note TEXT,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;

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
