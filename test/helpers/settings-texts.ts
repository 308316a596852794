import fc from 'fast-check';

/** How a person or a program may write the same JSON. */
export interface Writing {
  indent: string;
  newline: string;
  mark: string;
  end: string;
}

export const writing: fc.Arbitrary<Writing> = fc.record({
  indent: fc.constantFrom('', ' ', '  ', '    ', '\t', '      '),
  newline: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\ufeff'),
  end: fc.constantFrom('', '\n', '\n\n', '  \n', '\t'),
});

export function writeJson(value: unknown, { indent, newline, mark, end }: Writing): string {
  const text = JSON.stringify(value, null, indent);
  return mark + text.replaceAll('\n', newline) + end;
}

const command = fc.constantFrom(
  'echo',
  'prettier --write "$FILE"',
  '~/bin/größe 🦉',
  'steward-hook-of-mine stop',
  'a\\b\n"c"',
);
const hook = fc.oneof(
  fc.record({ type: fc.constant('command'), command }),
  fc.record({ type: fc.constant('command'), command, timeout: fc.nat(60), async: fc.boolean() }),
  fc.record({ type: fc.constant('prompt'), prompt: fc.string() }),
);
const group = fc.oneof(
  fc.record({ hooks: fc.array(hook, { maxLength: 3 }) }),
  fc.record({
    matcher: fc.constantFrom('*', 'Bash', 'Edit|Write', ''),
    hooks: fc.array(hook, { maxLength: 3 }),
  }),
  fc.record({ matcher: fc.constant('*'), note: fc.string(), hooks: fc.array(hook, { maxLength: 2 }) }),
);
const event = fc.constantFrom(
  'SessionStart',
  'PreToolUse',
  'PostToolUse',
  'Stop',
  'SessionEnd',
  'PreCompact',
  'New',
);

/** What may stand under `hooks`; the lists and groups in it may be empty. */
const hooksTable = fc.dictionary(event, fc.array(group, { maxLength: 3 }), { noNullPrototype: true });

const other = fc.dictionary(
  fc.constantFrom('env', 'model', 'permissions', 'ключ', '__proto__x', 'a"b', 'theme'),
  fc.jsonValue({ maxDepth: 3 }),
  { noNullPrototype: true },
);

/** Settings with other keys before and behind the hooks, or without hooks. */
export const settings: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(other, fc.option(hooksTable, { nil: undefined }), fc.boolean())
  .map(([rest, hooks, first]) => {
    if (hooks === undefined) return rest;
    return first ? { hooks, ...rest } : { ...rest, hooks };
  });
