import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { defaultConfig } from '../../src/lib/config/load';
import { userArea } from '../../src/lib/config/user-area';
import { explainRoute, type Decision, type RouteOptions } from '../../src/lib/agents/routing';
import type { NamedAgent } from '../../src/lib/agents/routing-find';
import type { AgentTypes } from '../../src/lib/agents/check';

export const TYPES: AgentTypes = defaultConfig(userArea()).user.agents.types;

/** The decision alone. */
export function route(request: string, options: RouteOptions): Decision {
  return explainRoute(request, options).decision;
}

/** The roster that the requests of the corpus speak of. */
export const NAMED: readonly NamedAgent[] = [
  agent('marcus', 'Marcus', 'security specialist'),
  agent('serena', 'Serena', 'architecture lead'),
  agent('will', 'Will', 'senior engineer'),
  agent('zoe', 'Zoë', 'primary researcher'),
];

function agent(slug: string, name: string, role: string): NamedAgent {
  return {
    slug,
    name,
    role,
    model: null,
    expertise: [],
    personality: [],
    approach: [],
    persona: `${name} has seen a lot.`,
  };
}

export interface CorpusRequest {
  rule: string;
  request: string;
  effort: number | undefined;
}

/** A file of requests with the rule that each is for. */
export function corpus(name: string): CorpusRequest[] {
  const text = readFileSync(join(__dirname, '..', 'lib', 'agents', 'corpus', `${name}.tsv`), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [rule = '', ...rest] = line.split('\t');
      const said = rest.join('\t').replaceAll('\\n', '\n');
      const effort = /^E([1-5])\|/.exec(said)?.[1];
      return {
        rule,
        request: effort === undefined ? said : said.slice(3),
        effort: effort === undefined ? undefined : Number(effort),
      };
    });
}
