import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';

import { version } from '../../package.json';
import { launchBrowser } from '../helpers/browser';
import { until } from '../helpers/desktop-kit';
import { inFreshRoot, requireFreshRoot, type RunningScript } from '../helpers/fresh-root';
import { requirePrograms } from '../helpers/real-part';
import { removeFolder } from '../helpers/scratch';

const REPO = join(__dirname, '..', '..');

/** Two days of a person's commits, and one of somebody else. */
const OWN_COMMITS = `
bare_ada git config --global user.name Ada
bare_ada git config --global user.email ada@example.org
bare_ada git config --global init.defaultBranch main
bare_ada git init --quiet site
bare_ada git -C site commit --quiet --allow-empty --message 'Add the first page' --date '1 day ago'
bare_ada git -C site commit --quiet --allow-empty --message 'Fix its title'
bare_ada git -C site commit --quiet --allow-empty --message 'Add an imprint' --author 'Bob <bob@example.org>'
`;

/** A copy of this clone, with its packages, that Ada has committed. */
const OWN_CLONE = `
bare_ada git config --global user.name Ada
bare_ada git config --global user.email ada@example.org
mkdir /home/ada/steward
tar -C '${REPO}' -c --exclude=./dist --exclude=./.git --exclude=./node_modules . | tar -x -C /home/ada/steward
ln -s '${REPO}/node_modules' /home/ada/steward/
chown -R ada: /home/ada/steward
bare_ada git init --quiet steward
bare_ada git -C steward add README.md
bare_ada git -C steward commit --quiet --message 'Try steward'
`;

/** Runs a command until the test has seen it, ends it as Ctrl-C does, and removes what it set up. */
const untilCtrlC = (command: string, uninstall = ''): string => `
set -m
echo began
${command} </dev/null &
read -r _
kill -INT -- -$!
wait $! || echo "ended with $?"
${uninstall}
`;

/** As an empty container with Node.js and git only; Chromium is outside, and meets it on loopback. */
describe('the first minute in a fresh root', function () {
  this.timeout(300_000);
  let root: string;
  let given: string;
  let tarball: string;
  let browser: Browser;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    requireFreshRoot(this);
    requirePrograms(this, { chromium: 'chromium' });
    root = mkdtempSync(join(tmpdir(), 'steward-first-'));
    given = join(root, 'given');
    mkdirSync(given);
    const { stdout } = spawnSync(
      'npm',
      ['pack', '--ignore-scripts', '--silent', '--pack-destination', given],
      {
        cwd: REPO,
        encoding: 'utf8',
      },
    );
    tarball = `/given/${stdout.trim()}`;
    browser = await launchBrowser();
  });

  after(async () => {
    await browser?.close();
    if (root !== undefined) removeFolder(root);
  });

  const npx = (words: string, folder = '.'): string =>
    `bare_ada env npm_config_offline=true npm_config_update_notifier=false sh -c 'cd ${folder} && exec npx --yes --package ${tarball} steward ${words}'`;

  /** Opens the address that a script prints, and says how long it took from the command to the page. */
  async function see(
    script: RunningScript,
    what: string,
    address: RegExp,
    check: (page: Page) => Promise<void>,
  ) {
    await until('the start', () => script.output().includes('began\n'));
    const began = performance.now();
    const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
    const [, url = ''] = await until(what, () => address.exec(script.output()) ?? undefined);
    const said = seconds();
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
    const page = await context.newPage();
    await page.goto(url);
    // The figures of the day, and its timeline.
    for (const drawn of ['#facts b', '[role=slider]']) await page.locator(drawn).first().waitFor();
    console.log(`      ${what}: ${said}, its page is drawn: ${seconds()} (load ${loadavg()[0]?.toFixed(0)})`);
    await check(page);
    await context.close();
    script.goOn();
  }

  /** npm keeps what npx fetched, as it would of any package. */
  const leftBySteward = (left: readonly string[]): string[] =>
    left.filter((path) => !path.startsWith('/home/ada/.npm/'));

  it('draws the demo from one line, and leaves nothing', async () => {
    const folder = mkdtempSync(join(root, 'demo-'));
    const { code, output, left } = await inFreshRoot(folder, given, untilCtrlC(npx('demo')), (script) =>
      see(script, 'the demo', /Demo pages: (http:\S+)/, async (page) => {
        expect(await page.title()).to.match(/demo/i);
        expect(await page.locator('#timeline').count()).to.equal(1);
        expect(await page.locator('main').innerText()).to.include('Write the release notes of the checkout');
      }),
    );
    expect(code, output).to.equal(0);
    expect(output).to.include('ended with 130');
    expect(leftBySteward(left)).to.deep.equal([]);
  });

  for (const [way, prepare, start, remove] of [
    ['one line', OWN_COMMITS, () => npx('up --yes', 'site'), () => npx('uninstall --purge --yes')],
    [
      'npm start in a clone',
      OWN_CLONE,
      () => "bare_ada sh -c 'cd steward && exec npm --no-update-notifier start'",
      () => 'bare_ada node steward/bin/run.js uninstall --purge --yes',
    ],
  ] as const)
    it(`shows your own commits from ${way}, and uninstalls all`, async () => {
      const folder = mkdtempSync(join(root, 'up-'));
      const { code, output, left } = await inFreshRoot(
        folder,
        given,
        prepare + untilCtrlC(start(), remove()),
        (script) =>
          see(script, way, /Dashboard: (http:\S+)/, async (page) => {
            expect(await page.locator('main').innerText()).to.match(/site|steward/);
          }),
      );
      expect(code, output).to.equal(0);
      expect(output).to.match(/[12] commits?   (site|steward)|commits [12]/);
      const own = /^\/home\/ada\/(site|steward|\.gitconfig)/;
      expect(leftBySteward(left).filter((path) => !own.test(path))).to.deep.equal([]);
    });

  it('installs from a clone by the line of the README, and removes it', async () => {
    const [, line = ''] =
      /^npm ci && (npm install --global .*)$/m.exec(readFileSync(join(REPO, 'README.md'), 'utf8')) ?? [];
    const env =
      'env npm_config_offline=true npm_config_update_notifier=false npm_config_prefix=/home/ada/.local';
    const script = `${OWN_CLONE}
bare_ada ${env} sh -c 'cd steward && ${line}' </dev/null
bare_ada .local/bin/steward --version
bare_ada ${env} npm uninstall --global steward-cli
`;
    const { code, output, left } = await inFreshRoot(mkdtempSync(join(root, 'line-')), given, script);
    expect(code, output).to.equal(0);
    expect(output).to.include(`steward ${version}`);
    expect(leftBySteward(left).filter((path) => path.startsWith('/home/ada/.local/'))).to.deep.equal([]);
  });
});
