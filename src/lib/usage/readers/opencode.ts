import { join } from 'node:path';

import { textOf } from '../../platform/files/json-object';
import { queryRows } from '../../platform/files/sqlite';
import { countOf, entryId } from '../entry';
import { folderFrom, type DatabaseReader } from './reader';

/**
 * Selects only numbers and ids, so that message text stays in the database. A fork copies the messages of its
 * parent with their times, under later ids.
 */
const QUERY = `SELECT id, session_id AS session,
  json_extract(data, '$.modelID') AS model,
  coalesce(json_extract(data, '$.path.cwd'), json_extract(data, '$.path.root')) AS cwd,
  json_extract(data, '$.time.created') AS ms, json_extract(data, '$.time.completed') AS completed, json_extract(data, '$.cost') AS cost,
  json_extract(data, '$.tokens.input') AS input, json_extract(data, '$.tokens.output') AS output,
  json_extract(data, '$.tokens.reasoning') AS reasoning,
  json_extract(data, '$.tokens.cache.read') AS cacheRead, json_extract(data, '$.tokens.cache.write') AS cacheWrite
  FROM message WHERE json_extract(data, '$.tokens') IS NOT NULL AND json_extract(data, '$.time.created') >= ? ORDER BY id`;

export const openCode: DatabaseReader = {
  kind: 'database',
  assistant: 'opencode',
  name: 'OpenCode',
  places: ({ env, home }) => [join(folderFrom(env['XDG_DATA_HOME'], home, '.local/share'), 'opencode')],
  isLog: (name) => /^opencode(?:-[\w-]+)?\.db$/.test(name),
  depth: 0,
  read(path, sinceMs, sink) {
    for (const row of queryRows(path, QUERY, [sinceMs])) {
      const { ms, cost, completed } = row;
      if (typeof ms !== 'number') continue;
      const output = countOf(row['output']) + countOf(row['reasoning']);
      const [read, write] = [countOf(row['cacheRead']), countOf(row['cacheWrite'])];
      sink.entry({
        // The times are the same in copies. An unfinished response gives way to the finished one.
        id: entryId(`opencode ${ms} ${String(row['model'])}`, String(completed ?? row['id'])),
        depth: completed === null ? 1 : 0,
        ms,
        session: textOf(row['session']) ?? 'unknown',
        cwd: textOf(row['cwd']) ?? '',
        model: textOf(row['model']) ?? 'unknown',
        amounts: [countOf(row['input']), output, read, write, 0, typeof cost === 'number' ? cost : 0],
      });
    }
  },
};
