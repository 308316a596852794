import { text } from './base-command';

import type { Policy } from '../agents/managed/send';
import { StewardError } from '../errors';
import { type Terminal, writeErr } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import type { Context } from '../app/context';
import type { ManagedContext } from '../app/managed';
import type { FollowHost } from './managed-follow';

/** What the agent may do without a question; the words of the commands that follow a session. */
export const answerFlags = {
  allow: text({
    description: 'Allow a tool (its name, the id of a use, or all) without asking.',
    helpValue: 'TOOL',
    multiple: true,
    multipleNonGreedy: true,
  }),
  deny: text({
    description: 'Deny a tool (its name, the id of a use, or all) without asking.',
    helpValue: 'TOOL',
    multiple: true,
    multipleNonGreedy: true,
  }),
};

export const costFlag = text({
  description: 'Interrupt the agent when the session has cost so much.',
  helpValue: 'USD',
});

/** The USD of `--max-cost`; undefined without it. */
export function parseCost(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const usd = /^\d{1,7}(?:\.\d+)?$/.test(text) ? Number(text) : 0;
  if (usd > 0) return usd;
  throw new StewardError('usage', `--max-cost ${clean(text).slice(0, 40)} is no amount of USD over 0.`, {
    hint: 'Write a number such as 2 or 0.50.',
  });
}

export function policyOf(flags: { allow?: string[] | undefined; deny?: string[] | undefined }): Policy {
  const named = (flag: 'allow' | 'deny'): string[] => (flags[flag] ?? []).map((tool) => given(flag, tool));
  return { allow: named('allow'), deny: named('deny') };
}

/** The value of a flag that names something; an empty one, as of a variable that is not set, is `usage`. */
export function given(flag: string, value: string): string {
  if (value.trim() !== '') return value;
  throw new StewardError('usage', `--${flag} is empty.`, {
    hint: 'Give it a value; a variable of the shell may not be set.',
  });
}

export function hostOf(context: Context, terminal: Terminal, json: boolean): FollowHost {
  return {
    context,
    terminal,
    json,
    // With --json stderr is for the one document of an error.
    say: (text) => {
      if (!json) writeErr(`${text}\n`);
    },
  };
}

/** A limit that cannot see the price of tokens is no limit: said before it is relied on. */
export function tellOfPrices(
  host: FollowHost,
  { prices }: Pick<ManagedContext, 'prices'>,
  maxCost: number | undefined,
): void {
  if (maxCost === undefined || (prices.input !== undefined && prices.output !== undefined)) return;
  host.say(
    'Token prices are not set (agents.managed.inputPrice, outputPrice): until the service tells what the session costs, --max-cost here counts active time and the priced tokens only. The service is given the same limit.',
  );
}
