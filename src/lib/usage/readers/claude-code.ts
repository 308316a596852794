import { join } from 'node:path';

import { isObject, textOf } from '../../platform/files/json-object';
import { parseIso } from '../../platform/time/clock';
import { countOf, entryId, type Amounts } from '../entry';
import { folderFrom, type LineReader } from './reader';

/**
 * Claude Code splits a response into several lines. Resumed, forked and side conversations repeat these lines
 * with the same ids.
 */
export const claudeCode: LineReader = {
  kind: 'lines',
  assistant: 'claude-code',
  name: 'Claude Code',
  places: ({ env, home }) =>
    [env['CLAUDE_CONFIG_DIR'] ?? '', `${home}/.claude`, `${home}/.config/claude`]
      .filter((folder) => folder !== '')
      .map((folder) => join(folderFrom(folder, home, ''), 'projects')),
  isLog: (name) => name.endsWith('.jsonl'),
  depth: 4,
  markers: ['"usage":'],
  read(fields, _, sink) {
    const { message, isSidechain, requestId } = fields;
    if (fields['type'] !== 'assistant' || !isObject(message) || !isObject(message['usage'])) return;
    const model = textOf(message['model']) ?? 'unknown';
    const ms = parseIso(textOf(fields['timestamp']) ?? '');
    // Claude Code logs its own error messages as responses from a model named `<synthetic>`.
    if (ms === undefined || model === '<synthetic>') return;
    const answer = textOf(message['id']) ?? textOf(fields['uuid']) ?? `${String(fields['sessionId'])} ${ms}`;
    sink.entry({
      id: entryId(answer, textOf(requestId)),
      ms,
      session: textOf(fields['sessionId']) ?? 'unknown',
      cwd: textOf(fields['cwd']) ?? '',
      model: message['usage']['speed'] === 'fast' ? `${model} (fast)` : model,
      amounts: amountsOf(message['usage'], fields['costUSD']),
      depth: isSidechain === true || isObject(fields['forkedFrom']) ? 1 : 0,
    });
  },
};

function amountsOf(usage: Record<string, unknown>, cost: unknown): Amounts {
  const writes = isObject(usage['cache_creation']) ? usage['cache_creation'] : {};
  const hour = countOf(writes['ephemeral_1h_input_tokens']);
  const fiveMinutes = countOf(writes['ephemeral_5m_input_tokens']);
  return [
    countOf(usage['input_tokens']),
    countOf(usage['output_tokens']),
    countOf(usage['cache_read_input_tokens']),
    Math.max(countOf(usage['cache_creation_input_tokens']), hour + fiveMinutes),
    hour,
    typeof cost === 'number' && cost > 0 ? cost : 0,
  ];
}
