-- The first shape. STRICT keeps every value in its declared type; triggers made by
-- catalog.append_only refuse to change, remove or replace a row of any table.
--
-- Whatever refers to a table that an import fills has an index on the reference: an import refers to
-- its own row before that is written, and until then SQLite looks for the children of each row that
-- it inserts. Without an index it reads the whole table for that, for every record.

CREATE TABLE slugs (
  slug TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('work', 'package'))
) STRICT, WITHOUT ROWID;

-- Works and where they came from -----------------------------------------------------------------

CREATE TABLE works (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE REFERENCES slugs(slug),
  title TEXT NOT NULL,
  year INTEGER,
  venue TEXT,
  type TEXT,
  language TEXT,
  abstract TEXT,
  abstract_source TEXT,
  abstract_note TEXT,
  retraction TEXT,
  note TEXT,
  created_at TEXT NOT NULL
) STRICT;

-- Another name of a work: a package called it so when the catalog knew it by a slug already.
CREATE TABLE aliases (
  slug TEXT PRIMARY KEY NOT NULL REFERENCES slugs(slug),
  work_id INTEGER NOT NULL REFERENCES works(id)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_work ON aliases(work_id);

-- A DOI, arXiv, PubMed or OpenAlex identifier names one work. An ISBN or a URL may stand at several:
-- the chapters of a book share its ISBN.
CREATE TABLE identifiers (
  id INTEGER PRIMARY KEY,
  work_id INTEGER NOT NULL REFERENCES works(id),
  scheme TEXT NOT NULL CHECK (scheme IN ('doi', 'arxiv', 'pmid', 'openalex', 'isbn', 'url', 'other')),
  value TEXT NOT NULL,
  version TEXT,
  UNIQUE (work_id, scheme, value)
) STRICT;
CREATE INDEX identifiers_value ON identifiers(value);
CREATE UNIQUE INDEX identifiers_identity ON identifiers(scheme, value)
  WHERE scheme IN ('doi', 'arxiv', 'pmid', 'openalex');

CREATE TABLE authors (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  orcid TEXT NOT NULL DEFAULT '',
  UNIQUE (name, orcid)
) STRICT;

CREATE TABLE work_authors (
  work_id INTEGER NOT NULL REFERENCES works(id),
  position INTEGER NOT NULL,
  author_id INTEGER NOT NULL REFERENCES authors(id),
  PRIMARY KEY (work_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_authors_author ON work_authors(author_id);

CREATE TABLE imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  sha256 TEXT NOT NULL,
  filename TEXT NOT NULL,
  format TEXT NOT NULL,
  reader TEXT NOT NULL,
  reader_version TEXT NOT NULL,
  who TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  read INTEGER NOT NULL,
  added INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  duplicate INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  notes TEXT NOT NULL,
  CHECK (read = added + updated + unchanged + duplicate + rejected)
) STRICT;

-- A record as it came, kept once however often it comes; `sha256` covers its format and its text.
CREATE TABLE raw_records (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  work_id INTEGER NOT NULL REFERENCES works(id),
  content TEXT NOT NULL
) STRICT;
CREATE INDEX raw_records_work ON raw_records(work_id);

-- What a later record brought where the work had nothing: an abstract, a retraction. A field that is
-- filled stays as it is; what differs is kept in the raw record.
CREATE TABLE supplements (
  id INTEGER PRIMARY KEY,
  work_id INTEGER NOT NULL REFERENCES works(id),
  field TEXT NOT NULL CHECK (field IN
    ('year', 'venue', 'type', 'language', 'abstract', 'abstract_source', 'retraction')),
  value TEXT NOT NULL,
  import_id INTEGER NOT NULL REFERENCES imports(id),
  UNIQUE (work_id, field)
) STRICT;
CREATE INDEX supplements_import ON supplements(import_id);

-- What each record of an import became, and by what evidence it was taken for a known work.
CREATE TABLE import_records (
  import_id INTEGER NOT NULL REFERENCES imports(id),
  position INTEGER NOT NULL,
  line INTEGER,
  key TEXT NOT NULL,
  work_id INTEGER NOT NULL REFERENCES works(id),
  outcome TEXT NOT NULL CHECK (outcome IN ('added', 'updated', 'unchanged', 'duplicate')),
  evidence TEXT,
  notes TEXT NOT NULL,
  raw_id INTEGER NOT NULL REFERENCES raw_records(id),
  PRIMARY KEY (import_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_records_work ON import_records(work_id);
CREATE INDEX import_records_raw ON import_records(raw_id);

CREATE TABLE rejected (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  import_id INTEGER NOT NULL REFERENCES imports(id),
  position INTEGER NOT NULL,
  line INTEGER,
  raw TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX rejected_import ON rejected(import_id);

-- Packages ---------------------------------------------------------------------------------------

-- The manifest's own bytes, kept whole: the rows beneath are views of it.
CREATE TABLE manifests (
  sha256 TEXT PRIMARY KEY NOT NULL,
  content TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- `work_name` is what the manifest calls the work: its slug here, or an alias of it.
CREATE TABLE artifacts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL REFERENCES slugs(slug),
  version INTEGER NOT NULL CHECK (version >= 1),
  work_id INTEGER NOT NULL REFERENCES works(id),
  work_name TEXT NOT NULL REFERENCES slugs(slug),
  title TEXT NOT NULL,
  description TEXT,
  licence TEXT NOT NULL,
  manifest_sha256 TEXT NOT NULL REFERENCES manifests(sha256),
  added_at TEXT NOT NULL,
  added_by TEXT NOT NULL,
  UNIQUE (slug, version),
  UNIQUE (slug, manifest_sha256)
) STRICT;
CREATE INDEX artifacts_work ON artifacts(work_id);
CREATE INDEX artifacts_work_name ON artifacts(work_name);

CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  artifact_id INTEGER NOT NULL REFERENCES artifacts(id),
  path TEXT NOT NULL,
  role TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  git_blob_sha1 TEXT NOT NULL,
  media_type TEXT,
  licence TEXT,
  UNIQUE (artifact_id, path)
) STRICT;
CREATE INDEX files_sha256 ON files(sha256);

CREATE TABLE analyses (
  id INTEGER PRIMARY KEY,
  artifact_id INTEGER NOT NULL REFERENCES artifacts(id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  description TEXT,
  specification TEXT NOT NULL,
  UNIQUE (artifact_id, name)
) STRICT;

CREATE TABLE claims (
  id INTEGER PRIMARY KEY,
  artifact_id INTEGER NOT NULL REFERENCES artifacts(id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  value TEXT NOT NULL,
  type TEXT NOT NULL,
  unit TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('published', 'finding')),
  tolerance_kind TEXT NOT NULL,
  tolerance_value TEXT,
  tolerance_reason TEXT NOT NULL,
  locator TEXT,
  basis TEXT,
  relation TEXT,
  relation_claim TEXT,
  relation_reason TEXT,
  caveats TEXT NOT NULL,
  UNIQUE (artifact_id, name)
) STRICT;

CREATE TABLE evidence (
  claim_id INTEGER NOT NULL REFERENCES claims(id),
  position INTEGER NOT NULL,
  analysis_id INTEGER NOT NULL REFERENCES analyses(id),
  pointer TEXT NOT NULL,
  PRIMARY KEY (claim_id, position)
) STRICT, WITHOUT ROWID;

-- Verifications: a chain. AUTOINCREMENT keeps ids growing, so that a removed run leaves a gap. ------

CREATE TABLE verifications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  artifact_id INTEGER NOT NULL REFERENCES artifacts(id),
  origin TEXT NOT NULL,
  level TEXT NOT NULL,
  outcome TEXT NOT NULL,
  depth TEXT NOT NULL,
  verdict TEXT NOT NULL,
  claims INTEGER NOT NULL,
  confirmed INTEGER NOT NULL,
  independent INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  could_not_run INTEGER NOT NULL,
  not_recomputed INTEGER NOT NULL,
  saved INTEGER NOT NULL,
  findings INTEGER NOT NULL,
  findings_confirmed INTEGER NOT NULL,
  files INTEGER NOT NULL,
  files_matching INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  who TEXT NOT NULL,
  code_version TEXT NOT NULL,
  git_commit TEXT,
  seeds TEXT NOT NULL,
  environment TEXT NOT NULL,
  previous TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE INDEX verifications_artifact ON verifications(artifact_id);

CREATE TABLE checks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  verification_id INTEGER NOT NULL REFERENCES verifications(id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'source', 'claim')),
  subject TEXT NOT NULL,
  analysis TEXT,
  pointer TEXT,
  expected TEXT,
  observed TEXT,
  difference TEXT,
  outcome TEXT NOT NULL,
  depth TEXT NOT NULL,
  implementation TEXT,
  detail TEXT,
  UNIQUE (verification_id, position)
) STRICT;

-- Screening and scores -----------------------------------------------------------------------------

CREATE TABLE raters (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('human', 'model')),
  name TEXT NOT NULL,
  version TEXT,
  note TEXT
) STRICT;

CREATE TABLE rounds (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  study TEXT NOT NULL,
  title TEXT NOT NULL,
  instrument TEXT NOT NULL,
  categories TEXT NOT NULL,
  rubric_sha256 TEXT,
  panel INTEGER NOT NULL,
  works_screened INTEGER,
  frame_size INTEGER,
  source TEXT NOT NULL,
  licence TEXT,
  note TEXT
) STRICT;

CREATE TABLE votes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  round_id INTEGER NOT NULL REFERENCES rounds(id),
  work_id INTEGER NOT NULL REFERENCES works(id),
  rater_id INTEGER NOT NULL REFERENCES raters(id),
  decision TEXT NOT NULL CHECK (decision IN ('in_scope', 'out_of_scope', 'insufficient_payload', 'unsure')),
  categories TEXT NOT NULL,
  confidence TEXT,
  reason TEXT,
  reason_wording TEXT,
  cast_at TEXT,
  supersedes INTEGER UNIQUE REFERENCES votes(id),
  note TEXT,
  source_sha256 TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;
CREATE INDEX votes_work ON votes(work_id);
-- A rater votes once on a work in a round; every later vote supersedes one, and none is superseded
-- twice: so exactly one vote of each rater is current. (A trigger asks for the same rater and work.)
CREATE UNIQUE INDEX votes_ballot ON votes(round_id, work_id, rater_id) WHERE supersedes IS NULL;

CREATE TABLE statements (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  work_id INTEGER NOT NULL REFERENCES works(id),
  publisher TEXT NOT NULL,
  about TEXT NOT NULL,
  text TEXT NOT NULL,
  wording TEXT NOT NULL CHECK (wording IN ('verbatim', 'paraphrased')),
  status TEXT,
  source TEXT NOT NULL,
  source_sha256 TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;
CREATE INDEX statements_work ON statements(work_id);

CREATE TABLE model_releases (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  version TEXT,
  status TEXT NOT NULL,
  maturity TEXT NOT NULL CHECK (maturity IN ('passed', 'not_passed', 'unknown')),
  training_rounds INTEGER,
  calibrated INTEGER NOT NULL CHECK (calibrated IN (0, 1)),
  decimals INTEGER NOT NULL,
  source TEXT NOT NULL,
  note TEXT,
  source_sha256 TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  recorded_by TEXT NOT NULL
) STRICT;

-- One row for each release, head and category: a score then needs only three columns.
CREATE TABLE heads (
  id INTEGER PRIMARY KEY,
  release_id INTEGER NOT NULL REFERENCES model_releases(id),
  name TEXT NOT NULL,
  imitates TEXT,
  category TEXT NOT NULL,
  availability TEXT NOT NULL,
  UNIQUE (release_id, name, category)
) STRICT;

-- Clustered by work: a record page reads one page of the file. STRICT turns NaN into NULL, so
-- NOT NULL refuses it; the CHECK refuses infinities.
CREATE TABLE scores (
  work_id INTEGER NOT NULL REFERENCES works(id),
  head_id INTEGER NOT NULL REFERENCES heads(id),
  value REAL NOT NULL CHECK (value BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308),
  PRIMARY KEY (work_id, head_id)
) STRICT, WITHOUT ROWID;

-- What a screening file says must travel with everything in it.
CREATE TABLE screening_caveats (
  artifact_id INTEGER NOT NULL REFERENCES artifacts(id),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (artifact_id, position)
) STRICT, WITHOUT ROWID;

-- Journal ------------------------------------------------------------------------------------------

CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;

-- Views: names for what people ask ------------------------------------------------------------------

CREATE VIEW works_now AS
SELECT w.id, w.slug, w.title,
  coalesce(w.year, (SELECT CAST(value AS INTEGER) FROM supplements WHERE work_id = w.id AND field = 'year'))
    AS year,
  coalesce(w.venue, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'venue')) AS venue,
  coalesce(w.type, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'type')) AS type,
  coalesce(w.language, (SELECT value FROM supplements WHERE work_id = w.id AND field = 'language'))
    AS language,
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

CREATE VIRTUAL TABLE works_fts USING fts5(
  title, abstract, venue, authors,
  content = 'works_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE VIEW artifacts_current AS
SELECT a.* FROM artifacts a
WHERE a.version = (SELECT max(b.version) FROM artifacts b WHERE b.slug = a.slug);

CREATE VIEW verifications_latest AS
SELECT v.* FROM verifications v
WHERE v.id = (SELECT max(u.id) FROM verifications u WHERE u.artifact_id = v.artifact_id);

CREATE VIEW votes_current AS
SELECT v.id, v.slug, w.slug AS work, r.slug AS round, t.slug AS rater, t.kind AS rater_kind,
  v.decision, v.categories, v.confidence, v.reason, v.reason_wording, v.cast_at, v.note
FROM votes v
JOIN works w ON w.id = v.work_id
JOIN rounds r ON r.id = v.round_id
JOIN raters t ON t.id = v.rater_id
WHERE NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id);

CREATE VIEW scores_readable AS
SELECT w.slug AS work, m.slug AS release, h.name AS head, h.category, s.value,
  m.status, m.maturity, h.availability
FROM scores s
JOIN works w ON w.id = s.work_id
JOIN heads h ON h.id = s.head_id
JOIN model_releases m ON m.id = h.release_id;

CREATE VIEW claims_readable AS
SELECT a.slug AS artifact, a.version, c.name AS claim, c.text, c.value, c.unit, c.kind,
  c.tolerance_kind, c.tolerance_value, c.tolerance_reason, c.relation, c.relation_claim
FROM claims c JOIN artifacts a ON a.id = c.artifact_id;
