import type { Decision } from '../../agents/routing';
import { userArea } from '../../config/user-area';
import { terminalOf, writeErr, writeOut } from '../../platform/terminal/stdio';
import { isIdle, keptAgentSettings, parseCount, parseEffort, requestOf, routeCall } from '../../app/agents';
import { reportError } from '../../platform/terminal/error-report';
import { toJson } from '../../platform/terminal/json';

/** The colours of the view set up Node's stream for stdout, which JSON for a hook does without. */
async function textOf(decision: Decision): Promise<string> {
  const { routeText } = await import('../../agents/view');
  return `${routeText(decision, terminalOf(process.stdout))}\n`;
}

interface Args {
  request: string | undefined;
  json: boolean;
  effort: number | undefined;
  count: number | undefined;
}

/**
 * `steward agents route [REQUEST] [--json] [--effort E] [--count N]`. Other flags and mistakes are the full
 * command's, and so is the run after a change of config.yaml or the roster.
 */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  const prepared = prepare(argv);
  if (prepared === undefined) return undefined;
  const { args, settings } = prepared;
  const { json, effort, count } = args;
  try {
    const { request, fromHook } = await requestOf(args.request);
    const { decision } = routeCall(settings, {
      request,
      ...(effort === undefined ? {} : { effort }),
      ...(count === undefined ? {} : { count }),
    });
    if (json) writeOut(toJson(decision));
    else if (!isIdle(decision, fromHook)) writeOut(await textOf(decision));
    return 0;
  } catch (error) {
    const told = reportError(error, { json, debug: false });
    writeErr(told.text);
    return told.exitCode;
  }
}

/** Before stdin is touched: what cannot be answered here finds it whole. */
function prepare(
  argv: readonly string[],
): { args: Args; settings: NonNullable<ReturnType<typeof keptAgentSettings>> } | undefined {
  try {
    const args = argsOf(argv);
    const settings = args === undefined ? undefined : keptAgentSettings(userArea());
    return args === undefined || settings === undefined ? undefined : { args, settings };
  } catch {
    return undefined;
  }
}

/** Undefined for any word that is not as expected. */
function argsOf(argv: readonly string[]): Args | undefined {
  const args: Args = { request: undefined, json: false, effort: undefined, count: undefined };
  for (let index = 0; index < argv.length; index += 1) {
    const [flag = '', inline] =
      argv[index]?.startsWith('--') === true ? split(argv[index] as string) : [argv[index]];
    const value = (): string => inline ?? argv[(index += 1)] ?? '';
    if (flag === '--json' && inline === undefined) args.json = true;
    else if (flag === '--effort') args.effort = parseEffort(value());
    else if (flag === '--count') args.count = parseCount(value());
    else if ((flag.startsWith('-') && flag !== '-') || args.request !== undefined) return undefined;
    else args.request = flag;
  }
  return args;
}

function split(word: string): [string, string?] {
  const at = word.indexOf('=');
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
