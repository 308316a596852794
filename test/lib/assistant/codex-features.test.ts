import { expect } from 'chai';

import { disablesHooks } from '../../../src/lib/assistant/codex-features';
import { long } from '../../helpers/long';

describe("Codex's config.toml", () => {
  for (const off of [
    '[features]\nhooks = false',
    '[features]\r\nhooks = false\r\n',
    '[ features ] # x\nmemories=true\nhooks=false # x',
    '["features"]\n"hooks" = false',
    "['features']\ncodex_hooks = false",
    'features.hooks = false',
    'features = { memories = true, hooks = false }',
    '[features]\nhooks = false\ncodex_hooks = true',
    'instructions = """\n[features]\nhooks = true\n"""\n[features]\nhooks = false',
  ])
    it(`disables hooks with ${JSON.stringify(off)}`, () => expect(disablesHooks(off)).to.equal(true));

  for (const on of [
    '',
    'hooks = false',
    '[features]\nhooks = true',
    '[features]\n# hooks = false',
    '[features]\nhooks = true\ncodex_hooks = false',
    '[features]\nplugin_hooks = false',
    '[features]\n[profiles.x.features]\nhooks = false',
    '[features.more]\nhooks = false',
    "instructions = '''\n[features]\nhooks = false\n'''",
    '[features',
  ])
    it(`does not with ${JSON.stringify(on)}`, () => expect(disablesHooks(on)).to.equal(false));

  long('is read in linear time', () => {
    // In quadratic time, a megabyte would outlast the time limit of the test.
    for (const text of ['[', '"', '"""', 'features={', 'features={hooks=', ',', '\n['])
      expect(disablesHooks(text.repeat(Math.ceil(1_000_000 / text.length)))).to.equal(false);
  });
});
