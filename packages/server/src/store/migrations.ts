/**
 * The steps from an empty file to today's tables. A file's `user_version` is the number of steps
 * it has had. Forward only: a step that was released is never changed, a new one is added after it.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE memory_corrections (
    modelDigest TEXT NOT NULL,
    engineBuild TEXT NOT NULL,
    settings TEXT NOT NULL,
    estimated TEXT NOT NULL,
    measured TEXT NOT NULL,
    loads INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (modelDigest, engineBuild, settings)
  ) STRICT;
  CREATE INDEX memory_corrections_at ON memory_corrections (at);

  CREATE TABLE model_loads (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    fromTier TEXT NOT NULL,
    ms REAL NOT NULL,
    bytes INTEGER,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX model_loads_model_fromTier_at ON model_loads (model, fromTier, at);
  CREATE INDEX model_loads_at ON model_loads (at);

  CREATE TABLE service_times (
    model TEXT NOT NULL,
    measure TEXT NOT NULL,
    mean REAL NOT NULL,
    deviation REAL,
    samples INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (model, measure)
  ) STRICT;
  CREATE INDEX service_times_at ON service_times (at);

  CREATE TABLE counters (
    name TEXT NOT NULL,
    windowStart INTEGER NOT NULL,
    windowEnd INTEGER NOT NULL,
    used REAL NOT NULL,
    PRIMARY KEY (name, windowStart, windowEnd)
  ) STRICT;
  CREATE INDEX counters_windowEnd ON counters (windowEnd);
  `,
  `
  CREATE TABLE responses (
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    previousId TEXT,
    bytes INTEGER NOT NULL,
    at INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    response TEXT NOT NULL,
    input TEXT NOT NULL,
    PRIMARY KEY (id)
  ) STRICT;
  CREATE INDEX responses_expiresAt ON responses (expiresAt);
  `,
];
