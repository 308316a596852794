import { join } from 'node:path';

import { StewardError } from '../errors';
import { createFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { clean } from '../platform/terminal/terminal';
import { isSlug } from '../sessions/slug';
import type { ModelTier } from './brief';
import { MAX_TEXT } from './persona';
import type { TraitFamily } from './traits';

export interface NewAgent {
  slug: string;
  name?: string;
  role: string;
  model?: ModelTier;
  expertise: readonly string[];
  personality: readonly string[];
  approach: readonly string[];
}

/** Writes the file of a new agent for a person to go on with. One that is there is `conflict` and stays. */
export function newRosterAgent(folder: string, agent: NewAgent): { slug: string; path: string } {
  if (!isSlug(agent.slug)) {
    throw new StewardError(
      'usage',
      `${clean(agent.slug).slice(0, 100)} is no name for a file of the roster.`,
      {
        hint: 'Use small letters, digits, - and _, such as ada; --name takes the name as it is written.',
      },
    );
  }
  const name = clean(agent.name ?? agent.slug.charAt(0).toUpperCase() + agent.slug.slice(1)).trim();
  const role = clean(agent.role).trim();
  for (const [flag, text] of [
    ['--name', name],
    ['--role', role],
  ] as const) {
    if (text === '' || text.length > MAX_TEXT) {
      throw new StewardError('usage', `${flag} is not a text of up to ${MAX_TEXT} characters.`, {
        hint: 'Give a shorter one.',
      });
    }
  }
  const list = (key: TraitFamily): string[] =>
    agent[key].length === 0 ? [] : [`${key}: [${agent[key].join(', ')}]`];
  const text = [
    '---',
    `name: ${JSON.stringify(name)}`,
    `role: ${JSON.stringify(role)}`,
    ...(agent.model === undefined ? [] : [`model: ${agent.model}`]),
    ...list('expertise'),
    ...list('personality'),
    ...list('approach'),
    '---',
    '',
    `${name} is a ${role}.`,
    '',
    'Write here who this is: what they have seen, what they care about, how they talk. It goes into every brief.',
    '',
  ].join('\n');
  const path = join(folder, `${agent.slug}.md`);
  ensureFolder(folder);
  if (!createFile(path, text)) {
    throw new StewardError('conflict', `The roster has an agent ${agent.slug} already.`, {
      hint: `Edit ${path}, or take another name.`,
    });
  }
  return { slug: agent.slug, path };
}
