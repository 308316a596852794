import { palette, table, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import type { Brief, BriefBatch } from './brief';
import type { Considered, Decision } from './routing';
import { TRAIT_FAMILIES, type TraitFamily } from './traits';

export type Options = Pick<Terminal, 'columns' | 'color'>;

const WORKERS: Readonly<Record<Decision['worker'], string>> = {
  team: 'an agent team',
  custom: 'custom agents',
  managed: 'a managed agent',
  builtin: 'a built-in type',
  named: 'a named agent',
  research: 'the research skill',
  native: 'no delegation',
};

/** `steward agents route`: the worker, what to launch it as, and why. */
export function routeText(
  decision: Decision,
  options: Options,
  considered: readonly Considered[] = [],
): string {
  const { strong, attention } = palette(options);
  const count = decision.briefs?.length;
  const facts: [string, string | undefined][] = [
    ['agent', decision.agent],
    ['agents', count === undefined ? undefined : String(count)],
    ['type', decision.subagentType ?? undefined],
    ['model', decision.model],
    ['mode', decision.mode],
    ['rule', decision.rule],
    [
      'spotcheck',
      decision.spotcheck === null
        ? undefined
        : `${decision.spotcheck.subagentType}, ${decision.spotcheck.model}`,
    ],
  ];
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, clean(value)]]));
  return [
    strong(WORKERS[decision.worker]),
    '',
    table(rows),
    '',
    ...wrap(clean(decision.why), options.columns),
    ...decision.warnings.flatMap((text) =>
      wrap(clean(text), options.columns, '! ', '  ').map((line) => attention(line)),
    ),
    ...(considered.length === 0 ? [] : ['', ...consideredLines(considered, options)]),
    ...(decision.launch === undefined ? [] : ['', ...wrap(decision.launch, options.columns)]),
    ...briefLines(decision.briefs ?? (decision.brief === undefined ? [] : [decision.brief]), options),
  ].join('\n');
}

const OUTCOMES: Readonly<Record<Considered['outcome'], string>> = {
  decided: 'decides',
  no: '-',
  refused: 'taken back',
  unsuitable: 'does not suit',
};

function consideredLines(considered: readonly Considered[], options: Options): string[] {
  const rows = considered.map(({ rule, outcome, words, from }) => [
    rule,
    OUTCOMES[outcome],
    words === null ? from : `${from}: ${clean(words)}`,
  ]);
  return table(rows)
    .split('\n')
    .map((line) => fit(line, options.columns));
}

function briefLines(briefs: readonly Brief[], options: Options): string[] {
  return briefs.flatMap((brief, index) => [
    '',
    ...briefTitle(brief, index, briefs.length, options),
    ...promptLines(brief.prompt, options),
  ]);
}

function briefTitle(brief: Brief, index: number, count: number, options: Options): string[] {
  const place = count === 1 ? 'brief' : `brief ${index + 1} of ${count}`;
  const parts = [
    brief.role,
    brief.expertise,
    brief.personality,
    brief.approach,
    brief.subagentType,
    brief.model,
  ];
  return wrap(`${place} · ${clean(parts.join(' · '))}`, options.columns, '', '  ');
}

/** A prompt with its lines, indented. */
export function promptLines(prompt: string, options: Options): string[] {
  return prompt
    .split('\n')
    .flatMap((line) => (line === '' ? [''] : wrap(clean(line), options.columns, '  ')));
}

/** `steward agents brief`: how to launch them, each brief, and the spotcheck after several. */
export function briefsText({ briefs, launch, spotcheck }: BriefBatch, options: Options): string {
  return [
    ...(launch === undefined ? [] : ['', ...wrap(launch, options.columns)]),
    ...briefLines(briefs, options),
    ...(spotcheck === null
      ? []
      : [
          '',
          `spotcheck · ${spotcheck.subagentType} · ${spotcheck.model}`,
          ...promptLines(spotcheck.prompt, options),
        ]),
  ]
    .slice(1)
    .join('\n');
}

/** `steward agents traits`: the menu. */
export function traitsText(options: Options): string {
  const families = Object.keys(TRAIT_FAMILIES) as TraitFamily[];
  return families
    .flatMap((family, index) => {
      const longest = Math.max(...TRAIT_FAMILIES[family].map(({ id }) => id.length));
      const lines = TRAIT_FAMILIES[family].flatMap(({ id, does }) =>
        wrap(meaningOf(id, does), options.columns, `  ${id.padEnd(longest)}  `, ' '.repeat(longest + 4)),
      );
      return [...(index === 0 ? [] : ['']), family, ...lines];
    })
    .join('\n');
}

/** "skeptical: you ask …" says the trait's name again; the menu has it in front. */
function meaningOf(id: string, does: string): string {
  return does.startsWith(`${id}: `) ? does.slice(id.length + 2) : does;
}
