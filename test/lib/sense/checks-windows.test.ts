import { expect } from 'chai';

import { runChecks } from '../../../src/lib/doctor/run';
import { SENSE_CHECKS, type SenseChecked } from '../../../src/lib/sense/checks';
import { defaultConfig } from '../../../src/lib/config/load';
import { testArea, type TestArea } from '../../helpers/area';

describe('doctor on Windows, without koffi', () => {
  let at: TestArea;
  beforeEach(() => {
    at = testArea();
  });
  afterEach(() => at.remove());

  it('offers it for what PowerShell takes seconds for, and on no other system', async () => {
    const answer = '{"pid": 7, "path": "C:\\\\Code.exe", "description": "Code"}';
    const result = { code: 0, signal: null, stderr: '', truncated: false, timedOut: false };
    const found = async (platform: NodeJS.Platform) => {
      const run = () => Promise.resolve({ ...result, stdout: answer });
      const given = { area: at.area, clock: at.deps.clock, desktop: { platform, env: {}, run } };
      const checks = SENSE_CHECKS.filter(({ id }) => id === 'sense.front');
      const rows = await runChecks(checks, given as unknown as SenseChecked, defaultConfig(at.area));
      return rows.map(({ row: { state, found: words, mend } }) => ({ state, words, mend }));
    };
    expect(await found('win32')).to.deep.equal([
      { state: 'ok', words: 'Code, by windows', mend: null },
      {
        state: 'off',
        words: 'each capture starts PowerShell twice, about a second each',
        mend: 'npm install --global koffi@3',
      },
    ]);
    expect(await found('darwin')).to.have.length(1);
  });
});
