import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { allKeys } from '../../../src/lib/config/files';
import { loadConfig } from '../../../src/lib/config/load';
import { testArea, type TestArea } from '../../helpers/area';

describe('config: templates/config.yaml', () => {
  const template = readFileSync(resolve(__dirname, '../../../templates/config.yaml'), 'utf8');
  /** Keys and their sections lose their #, prose keeps it. */
  const uncommented = template.replace(/^# (?=(?: *)[A-Za-z_]+:(?: |$))/gm, '');
  let at: TestArea;
  beforeEach(() => (at = testArea()));
  afterEach(() => at.remove());

  it('changes nothing as it stands', async () => {
    at.write('config.yaml', template);
    const { origins, warnings } = await loadConfig({ area: at.area, env: {}, home: at.home });
    expect(warnings).to.deep.equal([]);
    expect([...origins.values()].every(({ from }) => from === 'default')).to.equal(true);
  });

  it('names every key, and its values are the defaults where there is one', async () => {
    const plain = await loadConfig({ area: at.area, env: {}, home: at.home });
    at.write('config.yaml', uncommented);
    const { config, origins, warnings } = await loadConfig({ area: at.area, env: {}, home: at.home });
    expect(warnings).to.deep.equal([]);
    const unnamed = allKeys().filter((key) => origins.get(key)?.from !== 'file');
    expect(unnamed).to.deep.equal([]);
    const { agents, daemon } = plain.config.user;
    const defaults = ({ types, managed }: typeof agents) => ({ types, url: managed.url });
    expect({ agents: defaults(config.user.agents), daemon: config.user.daemon }).to.deep.equal({
      agents: defaults(agents),
      daemon,
    });
    expect(config.user.notify.smsCommand).to.deep.equal([]);
    expect(config.sense).to.deep.equal(plain.config.sense);
    expect(config.work).to.deep.equal({ ...plain.config.work, repo: 'ann/work' });
    expect(JSON.stringify(config.settings)).to.equal(JSON.stringify(plain.config.settings));
  });
});
