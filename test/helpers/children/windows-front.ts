import * as koffi from 'koffi';

import { windowsCalls } from '../../../src/lib/platform/process/windows';
import { windows } from '../../../src/lib/sense/front-app/windows';
import type { Desktop } from '../../../src/lib/sense/front-app/adapter';
import { windowsIdle } from '../../../src/lib/sense/idle';

/** Run on Windows: opens a window with a title, and prints what steward sees of it. */
async function main(title: string): Promise<void> {
  const desktop: Desktop = {
    platform: process.platform,
    env: process.env,
    run: () => Promise.reject(new Error('no program is started where the calls can be made')),
  };
  const calls = await windowsCalls();
  const before = await windows.read(desktop);
  const user = koffi.load('user32.dll');
  const create = user.func(
    'void *__stdcall CreateWindowExW(uint32, const char16_t *, const char16_t *, uint32, int, int, int, int, void *, void *, void *, void *)',
  );
  const visibleOverlapped = 0x10cf0000;
  const window: unknown = create(
    0,
    'STATIC',
    title,
    visibleOverlapped,
    9,
    9,
    300,
    200,
    null,
    null,
    null,
    null,
  );
  user.func('int __stdcall SetForegroundWindow(void *)')(window);
  const during = await windows.read(desktop);
  const began = performance.now();
  for (let i = 0; i < 50; i += 1) await windows.read(desktop);
  const ms = (performance.now() - began) / 50;
  const idle = await windowsIdle.read(desktop);
  console.log(JSON.stringify({ called: calls !== undefined, before, during, pid: process.pid, ms, idle }));
}

void main(process.argv[2] ?? '');
