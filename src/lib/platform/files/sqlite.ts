import { StewardError } from '../../errors';

interface Database {
  prepare(sql: string): { all(...values: readonly (string | number)[]): Record<string, unknown>[] };
  close(): void;
}

interface Sqlite {
  DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
}

/**
 * Returns the rows of a query on a SQLite database, which is opened read-only. Undefined if this Node.js has
 * no SQLite; a damaged or locked database is `unavailable`.
 */
export function queryRows(
  path: string,
  sql: string,
  values: readonly (string | number)[],
): Record<string, unknown>[] | undefined {
  const sqlite = loadSqlite();
  if (sqlite === undefined) return undefined;
  let database: Database | undefined;
  try {
    database = new sqlite.DatabaseSync(path, { readOnly: true });
    return database.prepare(sql).all(...values);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StewardError('unavailable', `Cannot read the database ${path}: ${reason}.`, {
      hint: 'Try again when the program that writes it is closed.',
      cause: error,
    });
  } finally {
    database?.close();
  }
}

/** Loads the module without its experimental warning. Undefined before Node.js 22.5. */
function loadSqlite(): Sqlite | undefined {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
