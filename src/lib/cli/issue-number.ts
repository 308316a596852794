import { custom } from '@oclif/core/args';
import type { Arg } from '@oclif/core/interfaces';

import { StewardError } from '../errors';

const numberArgument = custom<number>({
  ignoreStdin: true,
  description: 'Its number.',
  name: 'NUMBER',
  parse: (text) => {
    const digits = /^#?([1-9]\d{0,8})$/.exec(text.trim())?.[1];
    if (digits !== undefined) return Promise.resolve(Number(digits));
    throw new StewardError('usage', `${JSON.stringify(text)} is no number of an issue.`, {
      hint: 'Write the number that `steward work board` shows, such as 12.',
    });
  },
});

/** The argument of the commands that are about one issue: `12` or `#12`. */
export function issueNumber(): Arg<number> {
  return numberArgument({ required: true });
}
