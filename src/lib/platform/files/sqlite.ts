import { StewardError } from '../../errors';

interface Database {
  prepare(sql: string): { all(...values: readonly (string | number)[]): Record<string, unknown>[] };
  close(): void;
}

interface Sqlite {
  DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
}

/** Why a database can't be read. Only an upgrade of Node.js helps. */
export const NO_SQLITE = 'unknown (reading its database requires Node.js 22.13 or later)';

/**
 * Opens a SQLite database read-only and returns the rows of a query. Throws `unavailable` if the database is damaged
 * or locked, or if this version of Node.js doesn't include SQLite.
 */
export function queryRows(path: string, sql: string, values: readonly (string | number)[]) {
  const sqlite = loadSqlite();
  if (sqlite === undefined) throw new StewardError('unavailable', NO_SQLITE, { hint: 'Upgrade Node.js.' });
  let database: Database | undefined;
  try {
    database = new sqlite.DatabaseSync(path, { readOnly: true });
    return database.prepare(sql).all(...values);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StewardError('unavailable', `Cannot read the database ${path}: ${reason}.`, {
      hint: 'Close the program that uses the database, then try again.',
      cause: error,
    });
  } finally {
    database?.close();
  }
}

/** Loads `node:sqlite` without its experimental warning; returns undefined before Node.js 22.5. */
export function loadSqlite(): Sqlite | undefined {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
