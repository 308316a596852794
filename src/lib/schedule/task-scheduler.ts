import { win32 } from 'node:path';

import { StewardError } from '../errors';
import { parseIso, toIso } from '../platform/time/clock';
import { parseObject } from '../platform/files/json-object';
import { powerShellArgs } from '../platform/process/powershell';
import { everySecOf, type Job } from './job';
import {
  NOT_THERE,
  xmlText,
  type EntryState,
  type JobEntry,
  type Backend,
  type BackendDeps,
  outputOf,
  tell,
} from './backend';

/** Any time that has passed: the repetition counts from it. */
const START = '2026-01-01T00:00:00';
const RESTARTS = 255;
/** A minute is the least that Task Scheduler repeats at, s. */
const LEAST_SEC = 60;

/** A task as Task Scheduler imports it (schema 1.2); `user` is `DOMAIN\name`. In a file it is UTF-16 with a mark. */
export function renderTask({ job, launcher }: JobEntry, user: string): string {
  const isDaemon = job.when.kind === 'login';
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Author>steward</Author>
    <Description>${xmlText(`${job.label}. Written by "${job.command}", which takes it back too.`)}</Description>
  </RegistrationInfo>
  <Triggers>
${triggerOf(job, user)}
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${xmlText(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
${isDaemon ? `    <RestartOnFailure>\n      <Interval>PT1M</Interval>\n      <Count>${RESTARTS}</Count>\n    </RestartOnFailure>\n` : ''}    <Enabled>true</Enabled>
    <ExecutionTimeLimit>${job.timeoutSec === null ? 'PT0S' : duration(job.timeoutSec)}</ExecutionTimeLimit>
    <Priority>7</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>--headless cmd.exe /d /c .\\${xmlText(win32.basename(launcher))} ${job.id}</Arguments>
      <WorkingDirectory>${xmlText(win32.dirname(launcher))}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`.replace(/\n/g, '\r\n');
}

/** The bytes of the file that `schtasks /create /xml` reads. */
export function taskBytes(xml: string): Buffer {
  return Buffer.from(`\ufeff${xml}`, 'utf16le');
}

function triggerOf(job: Job, user: string): string {
  const everySec = everySecOf(job);
  if (everySec === null) {
    return `    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${xmlText(user)}</UserId>
    </LogonTrigger>`;
  }
  return `    <TimeTrigger>
      <Repetition>
        <Interval>${duration(Math.max(LEAST_SEC, everySec))}</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>${START}</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>`;
}

/** `PT2M` */
function duration(sec: number): string {
  const minutes = Math.floor(sec / 60);
  const rest = sec % 60;
  return `PT${minutes > 0 ? `${minutes}M` : ''}${rest > 0 ? `${rest}S` : ''}`;
}

/** What PowerShell's Get-ScheduledTaskInfo says; a task that never ran has a date of 1999, and the code 267011. */
export function parseTaskInfo(
  json: string,
): Pick<EntryState, 'lastRun' | 'nextRun' | 'lastExit' | 'disabled'> {
  const info = parseObject(json) ?? {};
  const lastMs = timeIn(info['lastRun']);
  const hasRun = lastMs !== undefined && lastMs > Date.UTC(2000, 0, 1);
  const nextMs = timeIn(info['nextRun']);
  const code = info['lastResult'];
  return {
    lastRun: hasRun ? toIso(lastMs) : null,
    nextRun: nextMs === undefined ? null : toIso(nextMs),
    // 267009: it is running.
    lastExit: hasRun && typeof code === 'number' && code !== 267009 ? code : null,
    disabled: info['state'] === 'Disabled',
  };
}

function timeIn(value: unknown): number | undefined {
  return typeof value === 'string' ? parseIso(value) : undefined;
}

/** Tasks of the Windows user. */
export function taskScheduler(deps: BackendDeps): Backend {
  const { host, keep, stateFolder } = deps;
  const pathOf = (name: string): string => win32.join(stateFolder, `${name}.xml`);
  const schtasks = (...args: string[]) => tell(deps, 'schtasks.exe', args);
  const isThere = async (name: string): Promise<boolean> =>
    (await schtasks('/query', '/tn', name)).code === 0;

  return {
    kind: 'task-scheduler',
    keeps: (everySec) => Math.max(LEAST_SEC, everySec),
    probe: () => Promise.resolve(host.platform === 'win32' ? 'this is Windows' : undefined),
    async install(entry, keeper) {
      const { name, job } = entry;
      const path = pathOf(name);
      const xml = renderTask(entry, userOf(host.env));
      const written = keeper.write(path, xml, { data: taskBytes(xml) });
      const everySec = everySecOf(job);
      const about = {
        files: [path],
        warnings:
          everySec !== null && everySec < LEAST_SEC
            ? ['Task Scheduler runs a job every minute at most.']
            : [],
      };
      if (!written && (await isThere(name))) return { ...about, changed: false };
      const made = await schtasks('/create', '/tn', name, '/xml', path, '/f');
      if (made.code !== 0) {
        keeper.remove(path);
        throw new StewardError('unavailable', `Task Scheduler does not take the job: ${outputOf(made)}`, {
          hint: 'See "schtasks /query", and whether the service "Task Scheduler" runs.',
        });
      }
      await schtasks('/run', '/tn', name);
      return { ...about, changed: true };
    },
    async uninstall(name, keeper) {
      const path = pathOf(name);
      if (await isThere(name)) {
        await schtasks('/end', '/tn', name);
        const deleted = await schtasks('/delete', '/tn', name, '/f');
        if (deleted.code !== 0)
          throw new StewardError('unavailable', `Task Scheduler keeps the job: ${outputOf(deleted)}`);
      }
      return keeper.remove(path) ? [path] : [];
    },
    async start({ name }) {
      const started = await schtasks('/run', '/tn', name);
      if (started.code !== 0)
        throw new StewardError('unavailable', `Task Scheduler does not start the job: ${outputOf(started)}`);
    },
    holds: async (name) => host.platform === 'win32' && (keep.exists(pathOf(name)) || (await isThere(name))),
    async state({ name }) {
      const loaded = await isThere(name);
      const isWritten = keep.exists(pathOf(name));
      if (!loaded) return { ...NOT_THERE, installed: isWritten, copies: isWritten ? 1 : 0 };
      const { stdout } = await tell(deps, 'powershell.exe', powerShellArgs(infoScript(name)));
      const info = parseTaskInfo(stdout);
      return { ...NOT_THERE, installed: true, loaded: !info.disabled, copies: 1, ...info };
    },
  };
}

function userOf(env: NodeJS.ProcessEnv): string {
  const name = env['USERNAME'] ?? '';
  const domain = env['USERDOMAIN'] ?? '';
  return domain === '' ? name : `${domain}\\${name}`;
}

/** The name is made of letters, digits and dashes. */
function infoScript(name: string): string {
  return `$i = Get-ScheduledTaskInfo -TaskName '${name}'
function iso($d) { if ($d) { $d.ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ssZ') } else { $null } }
@{ lastRun = iso $i.LastRunTime; nextRun = iso $i.NextRunTime; lastResult = $i.LastTaskResult; state = "$((Get-ScheduledTask -TaskName '${name}').State)" } | ConvertTo-Json`;
}
