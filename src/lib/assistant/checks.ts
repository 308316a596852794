import type { StewardError } from '../errors';
import { installCommand, shimTrouble, type HooksStatus } from './install-view';
import { exists } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { deadReport, deadText } from '../platform/files/dead-letters';
import { plural } from '../platform/terminal/format';
import type { RunResult } from '../platform/process/process';
import { spoolStatus } from '../sessions/spool';
import { isLive } from '../sessions/session';
import { currentSessions, type SessionsDeps } from '../sessions/state';
import type { UserArea } from '../config/user-area';
import type { CheckedHost } from '../platform/check';
import { failed, failure, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';

export interface HooksChecked extends Pick<CheckedHost, 'clock' | 'host' | 'run'> {
  area: UserArea;
  /** Returns the status of each assistant. Passes errors in an assistant's settings to `onFailure`. */
  hooksStatus: (onFailure: (error: StewardError) => void) => Promise<HooksStatus[]>;
  openSessions: () => Promise<SessionsDeps>;
}

export const HOOK_CHECKS: readonly Check<HooksChecked>[] = [
  { id: 'hooks.registered', title: 'assistant hooks', needsConfig: false, run: checkRegistered },
  { id: 'hooks.run', title: 'hook call', needsConfig: false, run: checkRun },
  { id: 'hooks.sessions', title: 'sessions', needsConfig: true, run: checkSessions },
  { id: 'hooks.spool', title: 'hook queue', needsConfig: false, run: checkSpool },
];

const INSTALL = 'steward install hooks';

function checkRegistered(at: HooksChecked): Promise<Finding[]> {
  const more = { kind: 'unavailable' } as const;
  const failures: Finding[] = [];
  return orFailure(async () => {
    const statuses = await at.hooksStatus((error) => failures.push(failure(error, more)));
    return [...statuses.flatMap(judgeHooks), ...failures];
  }, more);
}

function judgeHooks(status: HooksStatus): Finding[] {
  const { state, settings, events, switchedOffBy, node, steward, strangers, pending } = status;
  const fix = installCommand(status.assistant);
  if (state === 'not') return [off(`not registered in ${settings}`, { fix })];
  const missing = events.filter(({ registered }) => !registered).map(({ event }) => event);
  const findings: Finding[] = [];
  if (missing.length > 0) {
    findings.push(warning(`not registered in ${settings}: ${missing.join(', ')}`, { fix }));
  }
  if (switchedOffBy !== null)
    findings.push(
      warning(`all hooks are disabled by ${switchedOffBy}`, {
        hint: 'Remove the setting to enable the hooks.',
      }),
    );
  if (pending !== null)
    findings.push(
      warning(pending, { hint: 'The hooks might not be running: no session has reported an event yet.' }),
    );
  const trouble = shimTrouble(status);
  if (trouble !== undefined) findings.push(failed(trouble, { fix }));
  for (const command of strangers) {
    findings.push(
      warning(`another user area's hooks also record each event: ${command}`, {
        hint: 'To remove them, run `steward uninstall hooks` with STEWARD_HOME set to that user area.',
      }),
    );
  }
  return findings.length > 0
    ? findings
    : [
        ok(
          `${events.length} hooks in ${settings} run steward ${steward?.version ?? ''} with Node.js ${node?.version ?? ''}`,
        ),
      ];
}

/** Hook JSON for a test call. The call uses --dry-run, so the prompt isn't stored. */
const CALL = JSON.stringify({
  session_id: 'steward-doctor',
  hook_event_name: 'UserPromptSubmit',
  prompt: 'steward doctor',
});
const CALL_MS = 10_000;
/** Threshold for reporting a hook as slow, in ms. */
const SLOW_MS = 800;

async function checkRun(at: HooksChecked): Promise<Finding[]> {
  const statuses = await at.hooksStatus(() => undefined).catch(() => []);
  const shim = statuses.find(({ state }) => state !== 'not')?.shim;
  if (shim?.exists !== true) return [off('no hooks installed', { fix: INSTALL })];
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
    { fix: INSTALL },
  );
}

export function judgeCall({ code, stdout, timedOut }: RunResult, ms: number): Finding {
  const took = `${Math.round(ms)} ms`;
  if (timedOut) return failed(`a hook did not exit within ${CALL_MS / 1000} s`, { fix: INSTALL });
  if (code !== 0)
    return failed(`a hook ${code === null ? 'was killed by a signal' : `exited with code ${code}`}`, {
      fix: INSTALL,
    });
  if (parseObject(stdout)?.['matches'] === undefined) {
    return failed('a hook ran, but steward returned no valid response', { fix: INSTALL });
  }
  if (ms > SLOW_MS) {
    return warning(`a hook took ${took}, which delays the assistant`, {
      hint: 'Check the system load.',
    });
  }
  return ok(`a hook responded in ${took}`);
}

function checkSessions(at: HooksChecked): Promise<Finding[]> {
  const { area, clock, openSessions } = at;
  return orFailure(
    async () => {
      const all = exists(area.root) ? Object.values(currentSessions(await openSessions()).sessions) : [];
      if (all.length === 0) return [await noSessions(at)];
      const running = all.filter((session) => isLive(session, clock.now())).length;
      return [ok(`${all.length} known, ${running} running`)];
    },
    { kind: 'unavailable' },
  );
}

async function noSessions(at: HooksChecked): Promise<Finding> {
  const statuses = await at.hooksStatus(() => undefined);
  const isRegistered = statuses.some(({ state }) => state !== 'not');
  const hint = `Start a session. If it isn't recorded, check that you can write to ${at.area.state}.`;
  return off('no sessions recorded yet', isRegistered ? { hint } : { fix: INSTALL });
}

const HOUR_MS = 3_600_000;

function checkSpool({ area, clock }: HooksChecked): Finding[] {
  const status = spoolStatus(area.spool);
  const findings: Finding[] = [];
  if (status.unreadable > 0) {
    findings.push(
      warning(`${plural(status.unreadable, 'entry', 'entries')} in ${area.spool} cannot be read`, {
        hint: 'Remove the empty or damaged files in this folder and its "claimed" subfolder.',
      }),
    );
  }
  if (status.dead > 0) {
    findings.push(
      warning(`${deadText(deadReport(status.deadFolder)) ?? ''}`, {
        hint: `Remove the files in ${status.deadFolder}, or retry all of them:`,
        fix: 'steward work retry',
      }),
    );
  }
  const age = clock.now() - Date.parse(status.oldest ?? '');
  if (status.waiting > 0 && age > HOUR_MS) {
    findings.push(
      warning(
        `${plural(status.waiting, 'pending hook entry', 'pending hook entries')}, the oldest from ${Math.floor(age / HOUR_MS)} h ago`,
        {
          fix: 'steward work deliver',
        },
      ),
    );
  }
  return findings.length > 0 ? findings : [ok(status.waiting === 0 ? 'empty' : `${status.waiting} pending`)];
}
