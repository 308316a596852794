import { StewardError } from '../../errors';
import { clean } from '../../platform/terminal/terminal';

const GRAMMAR = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

/** May it become a part of an address and the name of a file? */
export function isId(text: string): boolean {
  return GRAMMAR.test(text) && !DEVICE.test(text);
}

/** An id that a person typed; one that is none is `usage`. */
export function checkedId(text: string, what: string): string {
  if (isId(text)) return text;
  throw new StewardError('usage', `"${clean(text).slice(0, 80)}" is not the id of ${what}.`, {
    hint: 'An id has letters, digits, _ and -; the list commands show them.',
  });
}
