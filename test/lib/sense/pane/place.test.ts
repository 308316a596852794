import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { focusedOf } from '../../../../src/lib/sense/pane/listings';
import { placeOf } from '../../../../src/lib/sense/pane/place';
import { scratch } from '../../../helpers/scratch';

describe('sense: the focused pane', () => {
  it('finds the focused window in the answer of kitty', () => {
    const window = (pid: number, isFocused: boolean): object => ({
      id: pid,
      pid,
      is_focused: isFocused,
      title: '}',
    });
    const tab = (isFocused: boolean, ...windows: object[]): object => ({ is_focused: isFocused, windows });
    const answer = (data: object): string =>
      `\x1bP@kitty-cmd${JSON.stringify({ ok: true, data: JSON.stringify(data) })}\x1b\\`;
    const behind = { is_focused: false, tabs: [tab(true, window(1, true))] };
    const front = {
      is_focused: true,
      tabs: [tab(false, window(2, true)), tab(true, window(3, false), window(4, true))],
    };
    expect(focusedOf(answer([behind, front]))).to.equal(4);
    expect(focusedOf(answer([behind]))).to.equal(undefined);
    expect(focusedOf(answer([]))).to.equal(undefined);
    expect(focusedOf('\x1bP@kitty-cmd{"ok":false,"error":"no"}\x1b\\')).to.equal(undefined);
  });

  describe('its folder', () => {
    const home = scratch();

    function repository(name: string, head: string): string {
      const root = home.path(name);
      mkdirSync(join(root, '.git', 'objects'), { recursive: true });
      mkdirSync(join(root, 'src', 'lib'), { recursive: true });
      writeFileSync(join(root, '.git', 'HEAD'), head);
      return root;
    }

    it('is named by its watched repository and branch', () => {
      const root = repository('site', 'ref: refs/heads/12-login\n');
      expect(placeOf(join(root, 'src', 'lib'), [root])).to.deep.equal({
        repo: 'site',
        path: root,
        branch: '12-login',
      });
    });

    it('has no branch if HEAD is detached', () => {
      const root = repository('site', `${'a'.repeat(40)}\n`);
      expect(placeOf(root, [root])).to.deep.equal({ repo: 'site', path: root });
    });

    it('is another folder outside of the watched repositories, whatever it is', () => {
      const [site, secret] = [repository('site', 'x'), repository('secret', 'ref: refs/heads/payroll\n')];
      for (const folder of [secret, join(secret, 'src'), home.path(), '/', home.path('gone (deleted)')])
        expect(placeOf(folder, [site, home.path('missing')]), folder).to.deep.equal({ otherFolder: true });
    });
  });
});
