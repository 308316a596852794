import { installedEvents } from '../../assistant/install';
import { shimDeps } from '../../assistant/install-entry';
import { shimPath } from '../../assistant/shim';
import { duration } from '../../daemon/view';
import { exists } from '../../platform/folder';
import { JOBS } from '../../schedule/job';
import { openHooks } from '../hooks-context';
import type { Row, Sources } from './sources';

export function daemonPart({ daemon, scheduler }: Sources): Row {
  if (!daemon.running) {
    const isInstalled = scheduler?.jobs.some(({ job, installed }) => job === 'daemon' && installed) === true;
    return isInstalled
      ? {
          state: 'needs-you',
          summary: 'installed, and does not run',
          next: 'steward daemon install --status',
        }
      : { state: 'off', summary: 'does not run', next: 'steward up' };
  }
  const { waiting, failed } = daemon.outbox;
  const facts = [
    daemon.url,
    `up ${duration(daemon.uptimeSec)}`,
    ...(waiting > 0 ? [`${waiting} to deliver`] : []),
    ...(failed > 0 ? [`${failed} not delivered`] : []),
    ...(daemon.version === daemon.cliVersion
      ? []
      : [`version ${daemon.version}, this is ${daemon.cliVersion}`]),
  ];
  const trouble = daemon.jobs.find(({ lastOk }) => lastOk === false);
  if (trouble !== undefined) {
    return {
      state: 'needs-you',
      summary: [...facts, `its job ${trouble.id} failed`].join(' · '),
      next: 'steward daemon status',
    };
  }
  return failed > 0
    ? { state: 'needs-you', summary: facts.join(' · '), next: 'steward notify history' }
    : { state: 'ok', summary: facts.join(' · '), next: null };
}

export function hooksPart({ context, root }: Sources): Row {
  const { deps, assistant } = openHooks(context, root, 'claude-code');
  const registered = installedEvents(deps, assistant).length;
  const hasShim = exists(shimPath(shimDeps(deps)));
  if (registered === 0)
    return { state: 'off', summary: 'not registered with Claude Code', next: 'steward hooks install' };
  if (registered === assistant.hooks.length && hasShim)
    return { state: 'ok', summary: 'registered with Claude Code', next: null };
  const why = hasShim ? `${registered} of ${assistant.hooks.length} registered` : 'what they run is missing';
  return { state: 'needs-you', summary: why, next: 'steward hooks install' };
}

export function jobsPart({ scheduler }: Sources): Row {
  if (scheduler === undefined) {
    return {
      state: 'off',
      summary: 'no scheduler here; "steward up" runs the jobs while it runs',
      next: null,
    };
  }
  const { jobs, kind } = scheduler;
  const installed = jobs.filter((job) => job.installed);
  const bad = installed.find(({ warning }) => warning !== undefined);
  if (installed.length === 0) return { state: 'off', summary: `none in ${kind}`, next: 'steward install' };
  const summary = `${installed.map(({ job }) => job).join(', ')} in ${kind}`;
  if (bad === undefined) return { state: 'ok', summary, next: null };
  const next = `${JOBS[bad.job].command} --status`;
  return { state: 'needs-you', summary: `${summary} · ${bad.job}: ${bad.warning ?? ''}`, next };
}
