import { expect } from 'chai';

import { boardMarks, configPaths } from '../../../src/lib/app/board-settings';
import { CONFIG_FILES, ENVIRONMENT } from '../../../src/lib/config/files';
import { leafOf } from '../../../src/lib/config/load';
import { testArea } from '../../helpers/area';

describe('what the kept settings of the board depend on', () => {
  it('is every file that the loader reads', () => {
    const { area, remove } = testArea();
    expect(configPaths(area)).to.have.members(CONFIG_FILES.map(({ path }) => path(area)));
    remove();
  });

  it('tells secret variables from others as the keys do', () => {
    expect(ENVIRONMENT.map(({ name, secret = false }) => [name, secret])).to.deep.equal(
      ENVIRONMENT.map(({ name, key }) => [name, leafOf(key)?.secret === true]),
    );
  });

  it('is another text after a change of any of them', () => {
    const at = testArea();
    const seen = new Set([boardMarks(at.area)]);
    for (const { name } of CONFIG_FILES) {
      at.write(name, '{}');
      seen.add(boardMarks(at.area));
    }
    expect(seen.size).to.equal(1 + CONFIG_FILES.length);
    at.remove();
  });
});
