import { join } from 'node:path';

import { isObject, textOf } from '../../platform/files/json-object';
import { parseIso } from '../../platform/time/clock';
import { countOf, entryId } from '../entry';
import { folderFrom, type LineReader } from './reader';

export const qwen: LineReader = {
  kind: 'lines',
  assistant: 'qwen',
  name: 'Qwen Code',
  places: ({ env, home }) => [
    join(folderFrom(env['QWEN_RUNTIME_DIR'] ?? env['QWEN_HOME'], home, '.qwen'), 'projects'),
  ],
  isLog: (name) => name.endsWith('.jsonl'),
  depth: 3,
  markers: ['"usageMetadata"'],
  read(fields, _, sink) {
    const usage = fields['usageMetadata'];
    const ms = parseIso(textOf(fields['timestamp']) ?? '');
    if (fields['type'] !== 'assistant' || !isObject(usage) || ms === undefined) return;
    const count = (of: string): number => countOf(usage[`${of}TokenCount`]);
    const [prompt, total, answer] = [count('prompt'), count('total'), count('candidates')];
    const session = textOf(fields['sessionId']) ?? 'unknown';
    const cacheRead = Math.min(prompt, count('cachedContent'));
    // Some models include thinking tokens in the output count and some do not, so use the total.
    const output = total > prompt ? Math.max(answer, total - prompt) : answer + count('thoughts');
    sink.entry({
      id: entryId(`${session} ${textOf(fields['uuid']) ?? `${ms} ${prompt} ${output}`}`),
      ms,
      session,
      cwd: textOf(fields['cwd']) ?? '',
      model: textOf(fields['model']) ?? 'unknown',
      amounts: [prompt - cacheRead, output, cacheRead, 0, 0, 0],
    });
  },
};
