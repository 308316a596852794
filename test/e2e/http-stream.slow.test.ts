import { expect } from 'chai';

import { emptyHome, steward } from '../helpers/cli';
import { startDaemon, until, type RunningDaemon } from '../helpers/daemon';
import { hookJson } from '../helpers/hooks';

describe('GET /api/stream (built)', function () {
  this.timeout(60_000);
  let home: ReturnType<typeof emptyHome>;
  let daemon: RunningDaemon;
  beforeEach(async () => {
    home = emptyHome();
    daemon = await startDaemon({ home: home.path });
  });
  afterEach(async () => {
    await daemon.stop();
    home.remove();
  });

  it('tells of a session as soon as a hook has run, and lets the daemon restart at once', async () => {
    const lines: Record<string, unknown>[] = [];
    let isOver = false;
    const response = await fetch(`${daemon.url}/api/stream`);
    expect(response.headers.get('content-type')).to.equal('application/x-ndjson; charset=utf-8');
    const reading = (async () => {
      let text = '';
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        const [last = '', ...whole] = (text + new TextDecoder().decode(chunk)).split('\n').reverse();
        text = last;
        lines.push(...whole.reverse().map((line) => JSON.parse(line) as Record<string, unknown>));
      }
      isOver = true;
    })();
    const topics = (): unknown[] => lines.map(({ topic }) => topic);
    await until('the ETags', () => topics().includes('status'));
    expect(lines[0]).to.include.keys('run', 'version').and.include({ signedIn: false });
    expect(topics().slice(1).sort()).to.deep.equal([
      'day',
      'inbox',
      'notify',
      'sense',
      'sessions',
      'status',
      'work',
    ]);
    lines.length = 0;
    const input = hookJson('session-start', { cwd: home.path });
    expect((await steward(['hook', 'session-start', '--no-tab'], { home: home.path, input })).code).to.equal(
      0,
    );
    await until('the change', () => topics().includes('sessions'));
    const known = lines.findLast(({ topic }) => topic === 'sessions')?.['etag'];
    const asked = await fetch(`${daemon.url}/api/sessions`, { headers: { 'if-none-match': String(known) } });
    expect(asked.status).to.equal(304);
    expect((await fetch(`${daemon.url}/notify`, { method: 'POST', body: '{"message":"Done"}' })).ok).to.equal(
      true,
    );
    await until('the notification', () => topics().includes('notify'));
    const restarted = await steward(['daemon', 'restart'], { home: home.path });
    expect(restarted.code, restarted.stderr).to.equal(0);
    await reading;
    expect(isOver).to.equal(true);
  });

  it('answers a browser that lacks the key, or has a wrong address, with a page', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml' };
    const missing = await fetch(`${daemon.url}/nowhere`, { headers });
    expect([missing.status, missing.headers.get('content-type')]).to.deep.equal([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(await missing.text()).to.include('<h1>Page not found</h1>');
    expect((await fetch(`${daemon.url}/nowhere`)).headers.get('content-type')).to.include('json');
  });
});
