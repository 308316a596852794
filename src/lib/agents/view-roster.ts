import { palette, table, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import type { Roster, RosterEntry, RosterProblem } from './roster';
import { promptLines, type Options } from './view-route';

/** `steward agents roster list`. */
export function rosterText(roster: Roster, folder: string, options: Options): string {
  const errors = roster.problems.filter(({ level }) => level === 'error').length;
  const rows = roster.agents.map(({ slug, name, role, model, expertise }) => [
    slug,
    clean(name),
    clean(role ?? ''),
    model ?? '',
    expertise.join(', '),
  ]);
  return [
    ...(rows.length === 0
      ? [
          ...wrap(
            'The roster is empty. Make an agent with "steward agents roster new NAME".',
            options.columns,
          ),
          `Its file lies in ${clean(folder)}.`,
        ]
      : table(rows, [{ max: 30 }, { max: 30 }, { max: 40 }])
          .split('\n')
          .map((line) => fit(line, options.columns))),
    ...(errors === 0
      ? []
      : [
          '',
          `${errors} ${errors === 1 ? 'thing is' : 'things are'} wrong with it: "steward agents roster check".`,
        ]),
  ].join('\n');
}

/** `steward agents roster show`. */
export function agentText(agent: RosterEntry, options: Options): string {
  const { strong } = palette(options);
  const list = (items: readonly string[]): string | null => (items.length === 0 ? null : items.join(', '));
  const facts: [string, string | null][] = [
    ['role', agent.role],
    ['about', agent.description],
    ['model', agent.model],
    ['expertise', list(agent.expertise)],
    ['personality', list(agent.personality)],
    ['approach', list(agent.approach)],
    ['file', agent.path],
  ];
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : [[name, clean(value)]]));
  const body = promptLines(agent.persona, options);
  return [strong(clean(agent.name)), '', table(rows), ...(agent.persona === '' ? [] : ['', ...body])].join(
    '\n',
  );
}

/** `steward agents roster check`. */
export function rosterCheckText(roster: Roster, options: Options): string {
  const count = `${roster.agents.length} ${roster.agents.length === 1 ? 'agent' : 'agents'} can be used.`;
  return [...roster.problems.flatMap((one) => problemLines(one, options)), count].join('\n');
}

function problemLines({ file, level, message, hint }: RosterProblem, options: Options): string[] {
  const { attention } = palette(options);
  const head = fit(clean(file), options.columns);
  const lines = wrap(clean(`${message} ${hint}`), options.columns, '  ');
  return [level === 'error' ? attention(head) : head, ...lines];
}
