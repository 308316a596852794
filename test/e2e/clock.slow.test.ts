import { expect } from 'chai';

import { jsonOf, steward } from '../helpers/cli';
import { requireFaketime } from '../helpers/faketime';
import { MINUTE, openWeek, START, type Week } from '../helpers/week';

const DAY_MS = 24 * 60 * MINUTE;

describe('a clock that is set ahead and back (built)', function () {
  this.timeout(60_000);
  let week: Week;
  before(function () {
    requireFaketime(this);
  });
  beforeEach(async () => (week = await openWeek()));
  afterEach(() => week.close());

  it("continues with today's commits, and reports the clock change", async () => {
    const { run, git, repo } = week;
    const now = START + 12 * 60 * MINUTE;
    git(now, 'init', '-q');
    git(now, 'config', 'user.email', 'me@example.org');
    git(now, 'config', 'user.name', 'Me');
    await run(now, ['config', 'set', 'timezone', 'Europe/Berlin']);
    await run(now, ['config', 'set', 'sense.repos', repo]);
    await run(now + 3 * DAY_MS, ['sense', 'capture']);
    git(now, 'commit', '-q', '--allow-empty', '-m', 'one');
    git(now, 'commit', '-q', '--allow-empty', '-m', 'two');
    await run(now + MINUTE, ['sense', 'capture']);
    expect(await run(now + MINUTE, ['sense', 'today'])).to.have.nested.property('commits.count', 2);
    const status = (await run(now + MINUTE, ['sense', 'status'])) as { clockJumps: { byMs: number }[] };
    expect(status.clockJumps.map(({ byMs }) => Math.round(byMs / DAY_MS))).to.deep.equal([-3]);
    const doctor = await steward(['doctor', 'sense', '--json'], {
      home: week.home,
      env: week.at(now + MINUTE),
    });
    expect(JSON.stringify(jsonOf(doctor))).to.include('the clock was set 3 days back');
  });
});
