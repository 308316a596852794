import { palette, plural, table, wrap, type Column } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { timeOf } from '../platform/time/time';
import { type Brief, type BriefBatch, TRAIT_FAMILIES, type TraitFamily } from './brief';
import type { CheckReport } from './check';
import type { KnowledgeEntry, KnowledgeResult } from './knowledge';
import type { Roster, RosterEntry, RosterProblem } from './roster';
import type { Considered, Decision } from './routing';
import type { SilenceAlert, WatchedSession } from './watchdog';

export function checkText(report: CheckReport, options: Options): string {
  const planned = plural(report.invocations, 'invocation');
  if (report.ok) return `${planned}, no rules broken.`;
  const { attention } = palette(options);
  return [
    ...report.breaches.flatMap(({ invocation, rule, message, fix }) => [
      attention(`${invocation === null ? 'all invocations' : `invocation ${invocation}`}: ${rule}`),
      ...wrap(clean(`${message} ${fix}`), options.columns, '  '),
    ]),
    `${planned}, ${plural(report.breaches.length, 'broken rule')}.`,
  ].join('\n');
}

export function knowledgeText(result: KnowledgeResult, folder: string, options: Options): string {
  const { neutral } = palette(options);
  const { results, total, scanned, skipped } = result;
  const lines = results.flatMap(({ id, title, tags, excerpt }) => {
    const named = [clean(id), ...(id.endsWith(`/${title}`) ? [] : [title]), ...tags.map((tag) => `#${tag}`)];
    const head = fit(named.join('  '), options.columns);
    return excerpt === null ? [head] : [head, neutral(fit(`  ${excerpt}`, options.columns))];
  });
  const rest = total > results.length ? [`${total - results.length} more; raise --limit to see them.`] : [];
  const none =
    scanned === 0
      ? [`The archive is empty. Add Markdown files to ${clean(folder)}.`]
      : total === 0
        ? [`No match in ${scanned} entries.`]
        : [];
  const unread =
    skipped.count === 0
      ? []
      : [
          '',
          `Skipped ${skipped.count}:`,
          ...skipped.files.map(({ file, reason }) =>
            fit(`  ${clean(file)} ${clean(reason)}`, options.columns),
          ),
        ];
  return [...lines, ...rest, ...none, ...unread].join('\n');
}

export function entryText(entry: KnowledgeEntry, options: Options): string {
  const { strong, neutral } = palette(options);
  const tags = entry.tags.map((tag) => `#${tag}`).join(' ');
  const body = entry.body.split('\n').map((line) => clean(line.replaceAll('\t', '  ')));
  return [
    strong(clean(entry.title)),
    neutral(`${clean(entry.id)}${tags === '' ? '' : `  ${tags}`}`),
    '',
    ...body,
  ].join('\n');
}

export function watchedText(sessions: readonly Omit<WatchedSession, 'since'>[], options: Options): string {
  if (sessions.length === 0)
    return 'No session has subagents at work. For sessions that wait for you, run "steward inbox".';
  const { attention } = palette(options);
  const rows = sessions.map(({ session, agents, silentSec, lastTool, silent }) => [
    clean(session),
    plural(agents, 'agent'),
    `${silentSec} s`,
    [silent ? 'silent' : 'working', ...(lastTool === null ? [] : [`last tool ${clean(lastTool)}`])].join(
      ' · ',
    ),
  ]);
  return fitted(rows, options, [{ max: 42 }, {}, { align: 'right' }])
    .map((line, index) => (sessions[index]?.silent === true ? attention(line) : line))
    .join('\n');
}

/** Formats a silence alert with the local time. */
export function alertText(alert: SilenceAlert, options: Options & { zone: string }): string {
  const at = timeOf(Date.parse(alert.ts), options.zone);
  const last = alert.lastTool === null ? '' : ` Last tool: ${alert.lastTool}.`;
  return wrap(clean(`${alert.message}${last}`), options.columns, `${at}  `, '       ').join('\n');
}

export function rosterText(roster: Roster, folder: string, options: Options): string {
  const rows = roster.agents.map(({ slug, name, role, model, expertise }) => [
    slug,
    clean(name),
    clean(role ?? ''),
    model ?? '',
    expertise.join(', '),
  ]);
  const empty = 'The roster is empty. Create an agent with "steward agents roster add NAME".';
  const lines =
    rows.length === 0
      ? [...wrap(empty, options.columns), `Agents are stored in ${clean(folder)}.`]
      : fitted(rows, options, [{ max: 30 }, { max: 30 }, { max: 40 }]);
  const problems = roster.problems.flatMap((problem) => problemLines(problem, options));
  return [...lines, ...(problems.length === 0 ? [] : ['', ...problems])].join('\n');
}

export function agentText(agent: RosterEntry, options: Options): string {
  const { strong } = palette(options);
  const facts = factTable({
    role: agent.role,
    description: agent.description,
    model: agent.model,
    expertise: agent.expertise.join(', '),
    personality: agent.personality.join(', '),
    approach: agent.approach.join(', '),
    file: agent.path,
  });
  const persona = agent.persona === '' ? [] : ['', ...promptLines(agent.persona, options)];
  return [strong(clean(agent.name)), '', facts, ...persona].join('\n');
}

function problemLines({ file, level, message, hint }: RosterProblem, options: Options): string[] {
  const { attention } = palette(options);
  const head = fit(clean(file), options.columns);
  const lines = wrap(clean(`${message} ${hint}`), options.columns, '  ');
  return [level === 'error' ? attention(head) : head, ...lines];
}

type Options = Pick<Terminal, 'columns' | 'color'>;

const WORKERS: Readonly<Record<Decision['worker'], string>> = {
  team: 'agent team',
  custom: 'custom agents',
  managed: 'hosted agent',
  builtin: 'built-in agent type',
  named: 'named agent',
  research: 'research skill',
  native: 'no delegation',
};

export function routeText(decision: Decision, options: Options, considered: readonly Considered[] = []) {
  const { strong, attention } = palette(options);
  const { spotcheck, briefs } = decision;
  const facts = factTable({
    agent: decision.agent,
    agents: briefs?.length.toString(),
    type: decision.subagentType,
    model: decision.model,
    mode: decision.mode,
    rule: decision.rule,
    spotcheck: spotcheck === null ? undefined : `${spotcheck.subagentType}, ${spotcheck.model}`,
  });
  return [
    strong(WORKERS[decision.worker]),
    '',
    facts,
    '',
    ...wrap(clean(decision.why), options.columns),
    ...decision.warnings.flatMap((text) =>
      wrap(clean(text), options.columns, '! ', '  ').map((line) => attention(line)),
    ),
    ...(considered.length === 0 ? [] : ['', ...consideredLines(considered, options)]),
    ...(decision.launch === undefined ? [] : ['', ...wrap(decision.launch, options.columns)]),
    ...briefLines(briefs ?? (decision.brief === undefined ? [] : [decision.brief]), options),
  ].join('\n');
}

const OUTCOMES: Readonly<Record<Considered['outcome'], string>> = {
  decided: 'matched',
  no: '-',
  refused: 'negated',
  unsuitable: 'unsuitable',
};

function consideredLines(considered: readonly Considered[], options: Options): string[] {
  const rows = considered.map(({ rule, outcome, words, from }) => [
    rule,
    OUTCOMES[outcome],
    words === null ? from : `${from}: ${clean(words)}`,
  ]);
  return fitted(rows, options);
}

function fitted(rows: readonly (readonly string[])[], options: Options, columns: readonly Column[] = []) {
  return table(rows, columns)
    .split('\n')
    .map((line) => fit(line, options.columns));
}

function factTable(facts: Readonly<Record<string, string | null | undefined>>): string {
  const known = Object.entries(facts).map(([name, value]) => [name, clean(value ?? '')]);
  return table(known.filter(([, value]) => value !== ''));
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
  const { role, expertise, personality, approach, subagentType, model } = brief;
  const parts = [role, expertise, personality, approach, subagentType, model].join(' · ');
  return wrap(`${place} · ${clean(parts)}`, options.columns, '', '  ');
}

/** Returns a prompt's lines, indented and wrapped. */
function promptLines(prompt: string, options: Options): string[] {
  return prompt
    .split('\n')
    .flatMap((line) => (line === '' ? [''] : wrap(clean(line), options.columns, '  ')));
}

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

export function traitsText(options: Options): string {
  const families = Object.keys(TRAIT_FAMILIES) as TraitFamily[];
  return families
    .flatMap((family, index) => {
      const longest = Math.max(...TRAIT_FAMILIES[family].map(({ id }) => id.length));
      const lines = TRAIT_FAMILIES[family].flatMap(({ id, does }) =>
        wrap(
          does.replace(`${id}: `, ''),
          options.columns,
          `  ${id.padEnd(longest)}  `,
          ' '.repeat(longest + 4),
        ),
      );
      return [...(index === 0 ? [] : ['']), family, ...lines];
    })
    .join('\n');
}
