import { win32 } from 'node:path';

import { filled, readTemplate } from '../platform/files/template';
import { callTool, installFiles, NOT_INSTALLED, requireTool, xmlText, type Backend } from './backend';
import type { BackendDeps, JobEntry } from './launcher';
import { TICK_LIMIT_SEC } from './job';

const MIN_SEC = 60;

/**
 * Returns a task in the import format of Task Scheduler (schema 1.2). `user` is `DOMAIN\\name`.
 * @param root the folder with steward's package.json
 */
export function renderTask({ job, launcher }: JobEntry, user: string, root: string): string {
  const { label, command, everySec } = job;
  const values = {
    DESCRIPTION: `${label}. Written by "${command}", which can also remove it.`,
    USER: user,
    INTERVAL: duration(Math.max(MIN_SEC, everySec ?? MIN_SEC)),
    LIMIT: duration(TICK_LIMIT_SEC),
    FILE: win32.basename(launcher),
    JOB: job.id,
    FOLDER: win32.dirname(launcher),
  };
  const escaped = Object.entries(values).map(([name, value]) => [name, xmlText(value)] as const);
  const template = readTemplate(root, `schedule/${everySec === null ? 'logon' : 'repeated'}-task.xml`);
  return filled(template, Object.fromEntries(escaped)).replace(/\n/g, '\r\n');
}

/** Returns the bytes for `schtasks /create /xml`: UTF-16 with a byte order mark. */
export function taskBytes(xml: string): Buffer {
  return Buffer.from(`\ufeff${xml}`, 'utf16le');
}

function duration(sec: number): string {
  const [minutes, seconds] = [Math.floor(sec / 60), sec % 60];
  return `PT${minutes > 0 ? `${minutes}M` : ''}${seconds > 0 ? `${seconds}S` : ''}`;
}

/** The scheduler that uses the Windows user's tasks. */
export function taskScheduler(deps: BackendDeps): Backend {
  const { host, exists, stateFolder } = deps;
  const pathOf = (name: string): string => win32.join(stateFolder, `${name}.xml`);
  const schtasks = (...args: string[]) => callTool(deps, 'schtasks.exe', args);
  const must = (message: string, args: string[], hint?: string) =>
    requireTool(deps, { message, hint }, ['schtasks.exe', ...args]);
  const isThere = async (name: string): Promise<boolean> =>
    (await schtasks('/query', '/tn', name)).code === 0;
  const unload = async (name: string): Promise<void> => {
    if (!(await isThere(name))) return;
    await schtasks('/end', '/tn', name);
    await must('Task Scheduler did not remove the job', ['/delete', '/tn', name, '/f']);
  };

  return {
    kind: 'task-scheduler',
    interval: (everySec) => Math.max(MIN_SEC, everySec),
    probe: () => Promise.resolve(host.platform === 'win32' ? 'this is Windows' : undefined),
    async install(entry, recorder) {
      const { name, job } = entry;
      const path = pathOf(name);
      const isTooOften = (job.everySec ?? MIN_SEC) < MIN_SEC;
      const warnings = isTooOften ? ['Task Scheduler runs a job at most once per minute.'] : [];
      const result = await installFiles(
        [{ path, data: taskBytes(renderTask(entry, userOf(host.env), deps.root)) }],
        recorder,
        {
          isLoaded: () => isThere(name),
          async load() {
            const hint = 'Check "schtasks /query" and the "Task Scheduler" service.';
            const args = ['/create', '/tn', name, '/xml', path, '/f'];
            await must('Task Scheduler rejected the job', args, hint);
            return [];
          },
          unload: () => unload(name),
        },
      );
      if (result.changed) await schtasks('/run', '/tn', name);
      return { ...result, warnings };
    },
    async uninstall(name, recorder) {
      await unload(name);
      return recorder.remove(pathOf(name)) ? [pathOf(name)] : [];
    },
    start: ({ name }) => must('Task Scheduler did not start the job', ['/run', '/tn', name]),
    holds: async (name) => host.platform === 'win32' && (exists(pathOf(name)) || (await isThere(name))),
    async state({ name }) {
      const { code, stdout } = await schtasks('/query', '/tn', name, '/xml');
      if (code !== 0) return { ...NOT_INSTALLED, installed: exists(pathOf(name)) };
      return { installed: true, loaded: !stdout.includes('<Enabled>false</Enabled>'), edited: false };
    },
  };
}

function userOf(env: NodeJS.ProcessEnv): string {
  const [name, domain] = [env['USERNAME'] ?? '', env['USERDOMAIN'] ?? ''];
  return domain === '' ? name : `${domain}\\${name}`;
}
