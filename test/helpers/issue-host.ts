import { mkdirSync } from 'node:fs';

import type { WorkRepoConfig } from '../../src/lib/config/schema';
import { toIso, type Clock } from '../../src/lib/platform/time/clock';
import type { WorkDeps } from '../../src/lib/work/deps';
import type { Host } from '../../src/lib/work/host';
import { hostError } from '../../src/lib/work/host/failure';
import type { LabelEvent, Repository } from '../../src/lib/work/host/github-read';
import type { HostIssue } from '../../src/lib/work/issue';
import { testArea, type TestArea } from './area';

export const REPO = 'ann/work';
export const NINE = Date.UTC(2026, 10, 20, 9);

export interface IssueHost {
  repository: Repository;
  /** The names of the repository's labels. */
  labels: string[];
  issues: HostIssue[];
  /** What happened to the labels of all issues, oldest first. */
  events: (LabelEvent & { number: number })[];
  /** Runs before a request takes effect; what it throws is the answer. */
  before: (request: keyof Host) => unknown;
  host: Host;
  /** Opens an issue with labels; its number. */
  open: (...labels: string[]) => number;
  add: (number: number, labels: readonly string[]) => void;
  remove: (number: number, label: string) => void;
  labelsOf: (number: number) => string[];
}

/** A code host in memory that serves the issues of one private repository, a second a change. */
export function issueHost(): IssueHost {
  const at: IssueHost = {
    repository: {
      ...{ id: 7, repo: REPO, url: `https://github.com/${REPO}`, visibility: 'private' },
      ...{ hasIssues: true, archived: false, canWrite: true },
    },
    labels: ['Status:ready', 'Status:in-progress', 'Agent:kai', 'Agent:bo'],
    issues: [],
    events: [],
    before: () => undefined,
    host: undefined as unknown as Host,
    open(...labels) {
      const number = at.issues.length + 1;
      const url = `https://github.com/${REPO}/issues/${number}`;
      const times = { createdAt: toIso(NINE), updatedAt: toIso(NINE), closedAt: null };
      const issue = { number, title: `Task ${number}`, body: '', url, state: 'open' as const };
      at.issues.push({ ...issue, stateReason: null, labels: [], ...times });
      at.add(number, labels);
      return number;
    },
    add(number, labels) {
      const here = at.labelsOf(number);
      const ms = NINE + at.events.length * 1000;
      for (const label of labels) {
        if (here.includes(label)) continue;
        here.push(label);
        at.events.push({ event: 'labeled', label, id: at.events.length + 1, at: toIso(ms), number });
      }
    },
    remove(number, label) {
      const here = at.labelsOf(number);
      const index = here.findIndex((name) => name.toLowerCase() === label.toLowerCase());
      if (index < 0) return;
      const ms = NINE + at.events.length * 1000;
      const [removed = label] = here.splice(index, 1);
      at.events.push({ event: 'unlabeled', label: removed, id: at.events.length + 1, at: toIso(ms), number });
    },
    labelsOf: (number) => found(at, number).labels,
  };
  at.host = requests(at);
  return at;
}

function found({ issues }: IssueHost, number: number): HostIssue {
  return issues.find((issue) => issue.number === number) ?? notFound();
}

function notFound(): never {
  const response = { status: 404, headers: {}, data: { message: 'Not Found' } };
  throw failed(Object.assign(new Error('Not Found'), { response }));
}

export function failed(error: unknown) {
  return hostError(error, { host: 'api.github.com', what: REPO, credential: 'GH_TOKEN', nowMs: NINE });
}

/** The requests of one kind that the functions under test send. */
function requests(at: IssueHost): Host {
  const answers = {
    repository: () => at.repository,
    issue: (_repo: string, number: number) => structuredClone(found(at, number)),
    labels: () => ({
      ...{ unchanged: false, etag: null, malformed: 0 },
      value: at.labels.map((name) => ({ name, color: '0052cc', description: '' })),
    }),
    createLabel: (_repo: string, { name }: { name: string }) => void at.labels.push(name),
    addLabels: (_repo: string, number: number, labels: readonly string[]) => at.add(number, labels),
    removeLabel: (_repo: string, number: number, label: string) => at.remove(number, label),
    labelEvents: (_repo: string, of: number) =>
      at.events.filter(({ number }) => number === of).map(({ number: _number, ...event }) => event),
  };
  const sent = Object.entries(answers).map(([name, answer]) => [
    name,
    async (...args: never[]): Promise<unknown> => {
      await at.before(name as keyof Host);
      return (answer as (...args: never[]) => unknown)(...args);
    },
  ]);
  return { tokenHash: 'one', ...Object.fromEntries(sent) } as Host;
}

export interface IssueWorld {
  area: TestArea;
  deps: WorkDeps;
  nowMs: number;
  /** What was waited for, in ms. */
  slept: number[];
  config: WorkRepoConfig;
}

/** What the work functions need to work on the host's repository, which was verified at nine. */
export function issueWorld({ host }: Pick<IssueHost, 'host'>): IssueWorld {
  const area = testArea();
  mkdirSync(area.area.work.root, { recursive: true });
  const clock: Clock = { now: () => world.nowMs, monotonic: () => performance.now() };
  const privacy = {
    verifiedPrivate: true,
    visibility: 'private',
    verifiedAt: toIso(NINE),
    repo: REPO,
    repoId: 7,
  };
  const world: IssueWorld = {
    area,
    nowMs: NINE,
    slept: [],
    config: { repo: REPO, enabled: true, privacy },
    deps: {
      ...area.deps,
      ...{ clock, paths: area.area.work },
      workRepo: () => world.config,
      host: () => Promise.resolve(host),
      attest: (attestation: WorkRepoConfig['privacy']) => {
        world.config = { ...world.config, privacy: attestation };
        return Promise.resolve();
      },
      sleep: (ms: number) => {
        world.slept.push(ms);
        return Promise.resolve();
      },
    } as unknown as WorkDeps,
  };
  return world;
}
