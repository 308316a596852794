import { join } from 'node:path';

import { isObject, textOf } from '../../platform/files/json-object';
import { parseIso } from '../../platform/time/clock';
import { countOf, entryId } from '../entry';
import { folderFrom, type LineReader } from './reader';

/**
 * Reads only chat spans, because agent spans repeat the token counts of chat spans. Copilot writes spans only
 * if its OpenTelemetry export is enabled.
 */
export const copilot: LineReader = {
  kind: 'lines',
  assistant: 'copilot',
  name: 'GitHub Copilot CLI',
  places: ({ env, home }) => [
    join(folderFrom(env['COPILOT_HOME'], home, '.copilot'), 'otel'),
    ...[env['COPILOT_OTEL_FILE_EXPORTER_PATH'] ?? ''].filter((path) => path !== ''),
  ],
  isLog: (name) => name.endsWith('.jsonl'),
  depth: 1,
  markers: ['"gen_ai.usage.'],
  read(fields, _, sink) {
    const { attributes } = fields;
    if (!isObject(attributes) || attributes['gen_ai.operation.name'] !== 'chat') return;
    const context = isObject(fields['spanContext']) ? fields['spanContext'] : fields;
    const ms = timeOf(fields['endTime'] ?? fields['startTime']);
    if (ms === undefined) return;
    const count = (key: string): number => countOf(Number(attributes[`gen_ai.usage.${key}`]));
    const input = count('input_tokens');
    const cacheRead = count('cache_read.input_tokens');
    const cacheWrite = count('cache_write.input_tokens') || count('cache_creation.input_tokens');
    // OpenTelemetry counts cache reads and writes as input tokens.
    const own = Math.max(0, input - cacheRead - cacheWrite);
    const session = textOf(attributes['gen_ai.conversation.id']) ?? textOf(context['traceId']) ?? 'unknown';
    const span = textOf(context['spanId']) ?? `${ms} ${input} ${count('output_tokens')}`;
    sink.entry({
      id: entryId(`${textOf(context['traceId']) ?? session} ${span}`),
      ms,
      session,
      cwd: '',
      model:
        textOf(attributes['gen_ai.response.model']) ??
        textOf(attributes['gen_ai.request.model']) ??
        'unknown',
      amounts: [own, count('output_tokens'), cacheRead, cacheWrite, 0, 0],
    });
  },
};

/** Parses `[seconds, nanoseconds]`, an ISO time, or epoch milliseconds. */
function timeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) {
    const [seconds, nanos] = value as unknown[];
    return typeof seconds === 'number' ? seconds * 1000 + Math.floor(Number(nanos ?? 0) / 1e6) : undefined;
  }
  return typeof value === 'number' ? value : parseIso(textOf(value) ?? '');
}
