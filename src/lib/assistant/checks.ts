import type { HooksStatus } from './install-view';
import { exists } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { deadReport, deadText } from '../platform/files/dead-letters';
import { plural } from '../platform/terminal/format';
import type { RunResult, Run } from '../platform/process/process';
import { spoolStatus } from '../sessions/spool';
import { isLive } from '../sessions/session';
import { currentSessions, type SessionsDeps } from '../sessions/state';
import type { UserArea } from '../config/user-area';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import type { PathHost } from '../platform/files/paths';
import type { Clock } from '../platform/time/clock';

/** What the checks of the hooks are given. */
export interface HooksChecked {
  clock: Clock;
  area: UserArea;
  run: Run;
  host: PathHost;
  hooksStatus: () => Promise<HooksStatus>;
  openSessions: () => Promise<SessionsDeps>;
}

export const HOOK_CHECKS: readonly Check<HooksChecked>[] = [
  {
    id: 'hooks.registered',
    title: "the assistant's hooks",
    needsConfig: false,
    limitMs: 40_000,
    run: checkRegistered,
  },
  { id: 'hooks.run', title: 'a call of a hook', needsConfig: false, run: checkRun },
  { id: 'hooks.sessions', title: 'the sessions', needsConfig: true, run: checkSessions },
  { id: 'hooks.spool', title: 'what hooks have left', needsConfig: false, run: checkSpool },
];

const INSTALL = 'steward hooks install';

function checkRegistered(at: HooksChecked): Promise<Finding[]> {
  return orFailure(async () => judgeHooks(await at.hooksStatus()), { kind: 'unavailable' });
}

function judgeHooks(status: HooksStatus): Finding[] {
  const { state, settings, events, switchedOff, shim, node, steward, strangers } = status;
  if (state === 'not') return [off(`not registered in ${settings}`, { mend: INSTALL })];
  const missing = events.filter(({ registered }) => !registered).map(({ event }) => event);
  const findings: Finding[] = [];
  if (missing.length > 0) {
    findings.push(warning(`not registered in ${settings}: ${missing.join(', ')}`, { mend: INSTALL }));
  }
  if (switchedOff) {
    findings.push(
      warning(`${settings} switches all hooks off`, {
        hint: 'Take disableAllHooks out of it, if that is not meant.',
      }),
    );
  }
  if (!shim.exists) findings.push(failed(`${shim.path} is missing: the hooks do nothing`, { mend: INSTALL }));
  else if (!shim.runs)
    findings.push(failed(`${shim.path} does not run: the hooks do nothing`, { mend: INSTALL }));
  else if (node === null || steward === null) {
    const what = node === null ? 'Node.js' : 'steward';
    findings.push(failed(`${shim.path} finds no ${what} that runs: the hooks do nothing`, { mend: INSTALL }));
  }
  for (const command of strangers) {
    findings.push(
      warning(`another user area counts each event there, too: ${command}`, {
        hint: 'Take it out with `steward hooks uninstall` under its STEWARD_HOME.',
      }),
    );
  }
  return findings.length > 0
    ? findings
    : [
        ok(
          `${events.length} hooks in ${settings}, for steward ${steward?.version ?? ''} with Node.js ${node?.version ?? ''}`,
        ),
      ];
}

/** What an assistant would send at a prompt; with --dry-run nothing comes of it. */
const CALL = JSON.stringify({
  session_id: 'steward-doctor',
  hook_event_name: 'UserPromptSubmit',
  prompt: 'steward doctor',
});
const CALL_MS = 10_000;
/** People notice what makes them wait so long. */
const SLOW_MS = 800;

async function checkRun(at: HooksChecked): Promise<Finding[]> {
  const { shim, state } = await at.hooksStatus().catch(() => ({ shim: undefined, state: 'not' as const }));
  if (state === 'not' || shim?.exists !== true) return [off('no hooks are installed', { mend: INSTALL })];
  const { clock, run } = at;
  const args = ['prompt', '--dry-run', '--json'];
  const [program, before]: [string, string[]] =
    at.host.platform === 'win32'
      ? [at.host.env['ComSpec'] ?? 'cmd.exe', ['/d', '/c', shim.path]]
      : [shim.path, []];
  return orFailure(
    async () => {
      const began = clock.monotonic();
      const result = await run(program, [...before, ...args], { timeoutMs: CALL_MS, input: CALL });
      return [judgeCall(result, clock.monotonic() - began)];
    },
    { mend: INSTALL },
  );
}

export function judgeCall({ code, stdout, timedOut }: RunResult, ms: number): Finding {
  const took = `${Math.round(ms)} ms`;
  if (timedOut) return failed(`a hook did not end in ${CALL_MS / 1000} s`, { mend: INSTALL });
  if (code !== 0)
    return failed(`a hook ended with ${code ?? 'a signal'}, and must end with 0`, { mend: INSTALL });
  if (parseObject(stdout)?.['matches'] === undefined) {
    return failed('a hook ran and did nothing: steward did not answer as it should', { mend: INSTALL });
  }
  if (ms > SLOW_MS) {
    return warning(`a hook took ${took}, and the assistant waits for it`, {
      hint: 'Look what keeps this machine busy.',
    });
  }
  return ok(`a hook answered in ${took}`);
}

function checkSessions({ area, openSessions }: HooksChecked): Promise<Finding[]> {
  return orFailure(
    async () => {
      if (!exists(area.root)) return [off('no session was seen yet', { mend: INSTALL })];
      const deps = await openSessions();
      const all = Object.values(currentSessions(deps).sessions);
      if (all.length === 0) return [off('no session was seen yet', { mend: INSTALL })];
      const running = all.filter((session) => isLive(session, deps.clock.now())).length;
      return [ok(`${all.length} known, ${running} of them running`)];
    },
    { kind: 'unavailable' },
  );
}

const HOUR_MS = 3_600_000;

function checkSpool({ area, clock }: HooksChecked): Finding[] {
  const status = spoolStatus(area.spool);
  const findings: Finding[] = [];
  if (status.unreadable > 0) {
    findings.push(
      warning(`${plural(status.unreadable, 'entry', 'entries')} of ${area.spool} cannot be read`, {
        hint: 'These files are skipped. Remove what is empty, damaged or not a file, there and in "claimed".',
      }),
    );
  }
  if (status.dead > 0) {
    findings.push(
      warning(`${deadText(deadReport(status.deadFolder)) ?? ''}`, {
        hint: `Each is a file in ${status.deadFolder}: remove it, or have all of them tried again:`,
        mend: 'steward work retry',
      }),
    );
  }
  const age = clock.now() - Date.parse(status.oldest ?? '');
  if (status.waiting > 0 && age > HOUR_MS) {
    findings.push(
      warning(
        `${plural(status.waiting, 'intention')} that hooks left, the oldest ${Math.floor(age / HOUR_MS)} h ago`,
        {
          mend: 'steward work deliver',
        },
      ),
    );
  }
  return findings.length > 0
    ? findings
    : [ok(status.waiting === 0 ? 'nothing waits' : `${status.waiting} wait`)];
}
