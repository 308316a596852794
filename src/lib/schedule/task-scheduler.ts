import { win32 } from 'node:path';

import { parseObject } from '../platform/files/json-object';
import { powerShellArgs } from '../platform/process/windows';
import { parseIso, toIso } from '../platform/time/clock';
import {
  must,
  NOT_THERE,
  tell,
  type Backend,
  type BackendDeps,
  type EntryState,
  type JobEntry,
  xmlText,
} from './backend';
import { everySecOf } from './job';

/** Any time that has passed: the repetition counts from it. */
const START = '2026-01-01T00:00:00';
/** Task Scheduler repeats no task more often, s. */
const LEAST_SEC = 60;
/** Its code for a task that is running. */
const RUNNING = 267_009;

/** A task as Task Scheduler imports it (schema 1.2); `user` is `DOMAIN\name`. */
export function renderTask({ job, launcher }: JobEntry, user: string): string {
  const everySec = everySecOf(job);
  const trigger =
    everySec === null
      ? `    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${xmlText(user)}</UserId>
    </LogonTrigger>`
      : `    <TimeTrigger>
      <Repetition>
        <Interval>${duration(Math.max(LEAST_SEC, everySec))}</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>${START}</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>`;
  const restart =
    '    <RestartOnFailure>\n      <Interval>PT1M</Interval>\n      <Count>255</Count>\n    </RestartOnFailure>\n';
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Author>steward</Author>
    <Description>${xmlText(`${job.label}. Written by "${job.command}", which takes it back too.`)}</Description>
  </RegistrationInfo>
  <Triggers>
${trigger}
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
${everySec === null ? restart : ''}    <Enabled>true</Enabled>
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

/** The bytes of the file that `schtasks /create /xml` reads: UTF-16 with a mark. */
export function taskBytes(xml: string): Buffer {
  return Buffer.from(`\ufeff${xml}`, 'utf16le');
}

/** `PT2M30S` */
function duration(sec: number): string {
  const [minutes, rest] = [Math.floor(sec / 60), sec % 60];
  return `PT${minutes > 0 ? `${minutes}M` : ''}${rest > 0 ? `${rest}S` : ''}`;
}

/** Parses what `infoScript` prints. A task that never ran has a date of 1999. */
export function parseTaskInfo(
  json: string,
): Pick<EntryState, 'lastRun' | 'nextRun' | 'lastExit' | 'disabled'> {
  const info = parseObject(json) ?? {};
  const timeOf = (value: unknown): number | undefined =>
    typeof value === 'string' ? parseIso(value) : undefined;
  const [lastMs, nextMs] = [timeOf(info['lastRun']), timeOf(info['nextRun'])];
  const hasRun = lastMs !== undefined && lastMs > Date.UTC(2000, 0, 1);
  const code = info['lastResult'];
  return {
    lastRun: hasRun ? toIso(lastMs) : null,
    nextRun: nextMs === undefined ? null : toIso(nextMs),
    lastExit: hasRun && typeof code === 'number' && code !== RUNNING ? code : null,
    disabled: info['state'] === 'Disabled',
  };
}

/** Tasks of the Windows user. */
export function taskScheduler(deps: BackendDeps): Backend {
  const { host, keep, stateFolder } = deps;
  const pathOf = (name: string): string => win32.join(stateFolder, `${name}.xml`);
  const change = (words: string, args: string[], hint?: string) =>
    must(deps, { words, ...(hint === undefined ? {} : { hint }) }, ['schtasks.exe', ...args]);
  const isThere = async (name: string): Promise<boolean> =>
    (await tell(deps, 'schtasks.exe', ['/query', '/tn', name])).code === 0;

  return {
    kind: 'task-scheduler',
    keeps: (everySec) => Math.max(LEAST_SEC, everySec),
    probe: () => Promise.resolve(host.platform === 'win32' ? 'this is Windows' : undefined),
    async install(entry, keeper) {
      const { name } = entry;
      const path = pathOf(name);
      const xml = renderTask(entry, userOf(host.env));
      const written = keeper.write(path, xml, { data: taskBytes(xml) });
      const isTooOften = (everySecOf(entry.job) ?? LEAST_SEC) < LEAST_SEC;
      const warnings = isTooOften ? ['Task Scheduler runs a job every minute at most.'] : [];
      if (!written && (await isThere(name))) return { files: [path], warnings, changed: false };
      try {
        const hint = 'See "schtasks /query", and whether the service "Task Scheduler" runs.';
        const args = ['/create', '/tn', name, '/xml', path, '/f'];
        await change('Task Scheduler does not take the job', args, hint);
      } catch (error) {
        keeper.remove(path);
        throw error;
      }
      await tell(deps, 'schtasks.exe', ['/run', '/tn', name]);
      return { files: [path], warnings, changed: true };
    },
    async uninstall(name, keeper) {
      if (await isThere(name)) {
        await tell(deps, 'schtasks.exe', ['/end', '/tn', name]);
        await change('Task Scheduler keeps the job', ['/delete', '/tn', name, '/f']);
      }
      return keeper.remove(pathOf(name)) ? [pathOf(name)] : [];
    },
    start: ({ name }) => change('Task Scheduler does not start the job', ['/run', '/tn', name]),
    holds: async (name) => host.platform === 'win32' && (keep.exists(pathOf(name)) || (await isThere(name))),
    async state({ name }) {
      const isWritten = keep.exists(pathOf(name));
      if (!(await isThere(name))) return { ...NOT_THERE, installed: isWritten, copies: isWritten ? 1 : 0 };
      const info = parseTaskInfo(
        (await tell(deps, 'powershell.exe', powerShellArgs(infoScript(name)))).stdout,
      );
      return { ...NOT_THERE, installed: true, loaded: !info.disabled, copies: 1, ...info };
    },
  };
}

function userOf(env: NodeJS.ProcessEnv): string {
  const [name, domain] = [env['USERNAME'] ?? '', env['USERDOMAIN'] ?? ''];
  return domain === '' ? name : `${domain}\\${name}`;
}

/** The name is made of letters, digits and dashes. */
function infoScript(name: string): string {
  return `$i = Get-ScheduledTaskInfo -TaskName '${name}'
function iso($d) { if ($d) { $d.ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ssZ') } else { $null } }
@{ lastRun = iso $i.LastRunTime; nextRun = iso $i.NextRunTime; lastResult = $i.LastTaskResult; state = "$((Get-ScheduledTask -TaskName '${name}').State)" } | ConvertTo-Json`;
}
