import { longDay, minutes, plural, tokens, usd } from '../platform/terminal/format';
import { clean, cleanLine } from '../platform/terminal/terminal';
import type { Report, ReportClosed, ReportIssue, ReportSession, UsageFacts } from './model';
import { phase } from '../sessions/phases';
import type { TimeRow } from '../time/ledger/rows';
import { siteLines, withoutSites } from '../time/site-rows';

/** Sanitized text within a line, without markup. */
export interface TextPart {
  text: string;
  tone?: 'strong' | 'quiet';
  url?: string;
}

/** Part of a report, before it is rendered as Markdown or terminal text. */
export type Block =
  | { kind: 'title'; text: string }
  | { kind: 'text'; parts: TextPart[] }
  | { kind: 'heading'; text: string }
  | { kind: 'item'; parts: TextPart[] };

const MAX_COMMITS = 12;
const MAX_APPS = 8;
const MAX_TITLE = 160;
const MAX_EVIDENCE = 200;

/** Lays out a report: finished work, work in progress, and time spent. */
export function blocksOf(report: Report, name: 'Standup' | 'Week'): Block[] {
  const { from, to, repo, issues } = report;
  const days = from === to ? longDay(from) : `${longDay(from)} to ${longDay(to)}`;
  const where = repo === null ? '' : ` · ${cleanLine(repo, MAX_TITLE)}`;
  return [
    { kind: 'title', text: `${name} · ${days}${where}` },
    { kind: 'text', parts: facts(report) },
    ...section('Done', issues?.closed.map(closedItem) ?? []),
    ...section('In progress', issues?.inProgress.map((issue) => issueItem(issue, statusOf(issue))) ?? []),
    ...section('New', issues?.opened.map((issue) => issueItem(issue, [issue.priority])) ?? []),
    ...section('Sessions', sessionItems(report)),
    ...commitBlocks(report),
    ...section('Time by application', appItems(report)),
    ...section("Your time and your agents' time", report.time?.map(timeItem) ?? []),
    ...section('By repository', repoItems(report)),
    ...section('Tokens', report.usage === undefined ? [] : usageItems(report.usage)),
    ...section(
      'Missing data',
      report.notKnown.map((text) => [{ text: cleanLine(text, 400), tone: 'quiet' }]),
    ),
  ];
}

function section(text: string, items: readonly TextPart[][]): Block[] {
  if (items.length === 0) return [];
  return [{ kind: 'heading', text }, ...items.map((parts): Block => ({ kind: 'item', parts }))];
}

function facts(report: Report): TextPart[] {
  const { commits, sessions, issues, totalMinutes, creationMinutes, consumptionMinutes } = report;
  const counts = [
    ...(issues === null ? [] : [`${plural(issues.closed.length, 'issue')} closed`]),
    plural(commits.count, 'commit'),
    plural(sessions.count, 'session'),
  ].join(', ');
  if (totalMinutes === null || totalMinutes === 0) return [{ text: `${counts}.` }];
  const kinds = `${minutes(creationMinutes ?? 0)} creation, ${minutes(consumptionMinutes ?? 0)} consumption`;
  return [
    { text: `${counts}. ` },
    { text: `${minutes(totalMinutes)} tracked`, tone: 'strong' },
    { text: `: ${kinds}.` },
  ];
}

function closedItem(issue: ReportClosed): TextPart[] {
  const shas = issue.commits.slice(0, 5).map((sha) => clean(sha).slice(0, 7));
  const evidence = issue.evidence === null ? [] : [{ text: ` — ${cleanLine(issue.evidence, MAX_EVIDENCE)}` }];
  return [
    ...issueItem(issue, [issue.completed ? null : 'not planned', shas.length === 0 ? null : shas.join(', ')]),
    ...evidence,
  ];
}

function issueItem(issue: ReportIssue, words: readonly (string | null)[]): TextPart[] {
  return [
    { text: `#${issue.number}`, url: issue.url, tone: 'strong' },
    { text: ` ${cleanLine(issue.title, MAX_TITLE)}` },
    ...quiet(words),
  ];
}

function statusOf({ status, priority }: ReportIssue): (string | null)[] {
  return [status === 'in-progress' ? null : status, priority];
}

function sessionItems({ sessions }: Report): TextPart[][] {
  const named = sessions.items.filter(({ task }) => task !== null);
  const rest = sessions.count - named.length;
  return [
    ...named.map(sessionItem),
    ...(rest === 0 ? [] : [[{ text: `${plural(rest, 'session')} without a task`, tone: 'quiet' } as const]]),
  ];
}

function sessionItem({ slug, task, repo, project, phases, issue }: ReportSession): TextPart[] {
  const path = phases.map((id) => phase(id).label.toLowerCase()).join(' → ');
  return [
    { text: cleanLine(task ?? slug, MAX_TITLE) },
    ...quiet([path, repo ?? project, issue === null ? null : `#${issue}`]),
  ];
}

function commitBlocks({ commits }: Report): Block[] {
  const repos = new Map<string, string[]>();
  for (const { repo, subject } of commits.items) repos.set(repo, [...(repos.get(repo) ?? []), subject]);
  return [...repos]
    .sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
    .flatMap(([repo, subjects]) => {
      const rest = subjects.length - MAX_COMMITS;
      return section(`Commits in ${cleanLine(repo, MAX_TITLE)}`, [
        ...subjects
          .slice(0, rest > 1 ? MAX_COMMITS : subjects.length)
          .map((text) => [{ text: cleanLine(text, MAX_TITLE) || '(no subject)' }]),
        ...(rest > 1 ? [[{ text: `${rest} more`, tone: 'quiet' } as const]] : []),
      ]);
    });
}

function appItems({ apps: all }: Report): TextPart[][] {
  const apps = withoutSites(all);
  const shown = apps.length > MAX_APPS + 1 ? apps.slice(0, MAX_APPS) : apps;
  const rest = apps.slice(shown.length);
  const sum = rest.reduce((total, app) => total + Math.round(app.minutes * 10), 0) / 10;
  return [
    ...shown.map((app): TextPart[] => [
      { text: minutes(app.minutes), tone: 'strong' },
      { text: ` ${cleanLine(app.app, 60) || 'unknown'}` },
      ...(app.kind === 'neutral' ? [] : quiet([app.kind])),
    ]),
    ...(rest.length === 0
      ? []
      : [[{ text: `${minutes(sum)} in ${rest.length} more applications`, tone: 'quiet' } as const]]),
    ...siteLines(all).map((text): TextPart[] => [{ text: cleanLine(text, 1000) }]),
  ];
}

function timeItem({ key, minutes: own, working, waiting, heldUp }: TimeRow): TextPart[] {
  const agents = [
    working === 0 ? null : `agents working ${minutes(working)}`,
    waiting === 0 ? null : `waiting ${minutes(waiting)}`,
    heldUp === 0 ? null : `held up ${minutes(heldUp)}`,
  ];
  const name = cleanLine(key, MAX_TITLE);
  const words = agents.filter((word) => word !== null);
  // For a backfilled day, only the agents' time is recorded.
  if (own === 0 && words.length > 0) return [{ text: name }, { text: `: ${words.join(', ')}` }];
  return [{ text: minutes(own), tone: 'strong' }, { text: ` ${name}` }, ...quiet(words)];
}

function repoItems({ repos, time }: Report): TextPart[][] {
  // The agents' time is exact and above; polls would give a second figure for the same thing.
  const timed = new Set(time?.map(({ key }) => key));
  return repos.flatMap(({ repo, commits, sessions, assistantMinutes }) => {
    const polled = timed.has(repo) ? 0 : (assistantMinutes ?? 0);
    const words = [
      commits === 0 ? null : plural(commits, 'commit'),
      sessions === 0 ? null : plural(sessions, 'session'),
      polled === 0 ? null : `${minutes(polled)} with the assistant`,
    ].filter((word) => word !== null);
    const name = cleanLine(repo, MAX_TITLE) || 'unknown';
    return words.length === 0 ? [] : [[{ text: name }, { text: `: ${words.join(', ')}` }]];
  });
}

function usageItems({ rows, total }: UsageFacts): TextPart[][] {
  const notKnown: TextPart[][] =
    total.unpriced === 0
      ? []
      : [[{ text: `unknown price for ${tokens(total.unpriced)} tokens`, tone: 'quiet' }]];
  const items = rows.map(({ key, input, output, cacheRead, cacheWrite, cost }): TextPart[] => [
    { text: cost === null ? 'unknown cost' : usd(cost), tone: 'strong' },
    { text: `, ${cleanLine(key, 60)}: ${tokens(input)} in, ${tokens(output)} out` },
    ...(cacheRead + cacheWrite === 0 ? [] : [{ text: `, ${tokens(cacheRead + cacheWrite)} cached` }]),
  ]);
  return [...items, ...notKnown];
}

/** Formats words as ` (in-review, P1)`, or as '' if the list is empty. */
function quiet(words: readonly (string | null)[]): TextPart[] {
  const texts = words
    .filter((word) => word !== null && word !== '')
    .map((word) => cleanLine(word ?? '', 200));
  return texts.length === 0 ? [] : [{ text: ` (${texts.join(', ')})`, tone: 'quiet' }];
}
