import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, steward } from './cli';
import { removeFolder } from './scratch';
import { eventsOf } from './dashboard';
import { hookJson } from './hooks';

/** A new home folder whose path is as long as /home/ann, so that lines break where they do on a page. */
export function annsHome(): { path: string; remove: () => void } {
  for (;;) {
    const path = `/tmp/${randomBytes(2).toString('hex')}`;
    if (existsSync(path)) continue;
    mkdirSync(path, { mode: 0o700 });
    return { path, remove: () => removeFolder(path) };
  }
}

/** The environment for the commands of the documentation: the programs of the home come first, and nothing but this machine is reached. */
export function docEnv(
  path: string,
  services: { github: { url: string; token: string }; managed?: { url: string } },
): NodeJS.ProcessEnv {
  return cleanEnv(path, {
    PATH: `${join(path, 'bin')}:${process.env['PATH']}`,
    // systemctl is asked only where it could find a user manager.
    XDG_RUNTIME_DIR: path,
    GITHUB_API_URL: services.github.url,
    GH_TOKEN: services.github.token,
    STEWARD_MANAGED_URL: services.managed?.url,
    ANTHROPIC_API_KEY: 'key',
    CHAT_WEBHOOK: 'http://127.0.0.1:9/hook',
    SPEECH_KEY: 'key',
    STEWARD_TIMEZONE: 'UTC',
  });
}

/** Fills a home with what the pages of the documentation presuppose: a recorded day, a session, a repository. */
export async function furnish(home: string): Promise<void> {
  const write = (name: string, text: string): void => {
    const path = join(home, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
  };
  write('bin/steward', `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  // Each machine has another scheduler, and none of this one gets a job.
  write(
    'bin/systemctl',
    '#!/bin/sh\ncase "$2" in\n  is-system-running) echo running ;;\n  is-active) echo inactive && exit 3 ;;\n  is-enabled) exit 1 ;;\n  show) echo LoadState=loaded ;;\nesac\n',
  );
  write('bin/crontab', '#!/bin/sh\necho "no crontab for ann" >&2\nexit 1\n');
  write('hook.json', hookJson('prompt', { cwd: home, prompt: 'research the pricing' }));
  write(
    'planned.json',
    '[{"subagent_type": "general-purpose", "model": "fast", "prompt": "You are a careful reviewer."}]',
  );
  write('reviewer.md', 'You review.\n');
  for (const name of ['.claude', 'Sync', 'Dropbox']) mkdirSync(join(home, name));
  write('src/site/.git/HEAD', 'ref: refs/heads/main\n');
  const day = '2026-11-20';
  const log = eventsOf(day, 'UTC', 29).map((event) => `${JSON.stringify(event)}\n`);
  write(`.steward/sense/events/${day}.jsonl`, log.join(''));
  // What another system has left: one part of each kind that the page shows, and one that is unfit.
  const artifact = '---\nslug: pricing\ntask: Research the pricing\nphase: execute\n---\n';
  const [old] = eventsOf('2025-11-20', 'UTC', 1);
  write('.old/sense/events/2025-11-20.jsonl', `${JSON.stringify(old)}\n`);
  write('.old/MEMORY/pricing/ISA.md', artifact);
  write('.old/MEMORY/Bad Name/ISA.md', artifact);
  write('.old/goals/goals.md', '# Active Goals\n\n- **G1**: Ship it\n');
  // A session with an artifact, as an assistant leaves it.
  const start = JSON.parse(hookJson('session-start')) as { session_id: string };
  await steward(['hook', 'session-start', '--no-tab'], { home, input: JSON.stringify(start) });
  write(
    '.steward/sessions/fix-login/ISA.md',
    `---\nslug: fix-login\nsession: ${start.session_id}\ntask: Fix the login\nphase: execute\n---\n`,
  );
  await steward(['hook', 'stop', '--no-tab'], { home, input: hookJson('stop') });
  for (const [key, value] of [
    ['notifications.push.server', 'http://127.0.0.1:9'],
    ['notify.voice.provider.url', 'http://127.0.0.1:9'],
    ['notify.voice.engine', 'none'],
  ] as const)
    await steward(['config', 'set', key, value], { home });
}
