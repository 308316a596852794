import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';

import {
  applicationFolders,
  nameWindow,
  parseEntry,
} from '../../../../src/lib/sense/front-app/desktop-entries';
import { scratch } from '../../../helpers/scratch';

describe('sense/front-app/desktop-entries', () => {
  const area = scratch();

  function write(file: string, lines: string, folder = 'own/applications'): void {
    const path = area.path(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `[Desktop Entry]\nType=Application\n${lines}\n`);
  }

  function env(): NodeJS.ProcessEnv {
    return { HOME: area.path('home'), XDG_DATA_HOME: area.path('own'), XDG_DATA_DIRS: area.path('shared') };
  }

  function name(...ids: (string | undefined)[]): { app: string; bundleId?: string } {
    return nameWindow({ env: env() }, { ids });
  }

  it('takes the unlocalised name of the entry called like the window', () => {
    write('org.qtest.Edit.desktop', 'Name[de]=Bearbeiter\nName=Editor\nName[fr]=Éditeur');
    expect(name('org.qtest.Edit')).to.deep.equal({ app: 'Editor', bundleId: 'org.qtest.Edit' });
  });

  it('matches StartupWMClass before ids, without case', () => {
    write('qtest-browser.desktop', 'Name=Wrong\nStartupWMClass=something-else');
    write('vendor-qtest.desktop', 'Name=Right\nStartupWMClass=Qtest-Browser');
    expect(name('qtest-browser')).to.deep.equal({ app: 'Right', bundleId: 'vendor-qtest' });
  });

  it('matches the id without case, then its last segment, then the program of Exec', () => {
    write('QtestMixedCase.desktop', 'Name=Mixed');
    write('org.qtest.Segment.desktop', 'Name=Segmented');
    write('vendor-tool.desktop', 'Name=Tool\nExec=env LANG=C "/opt/x/qtest-tool" --new %U');
    expect(name('qtestmixedCASE').app).to.equal('Mixed');
    expect(name('segment').app).to.equal('Segmented');
    expect(name('Qtest-Tool')).to.deep.equal({ app: 'Tool', bundleId: 'vendor-tool' });
  });

  it('prefers the shortest id of those that start the same program', () => {
    write('qoffice-writer.desktop', 'Name=Writer\nExec=qoffice --writer');
    write('vendor.desktop', 'Name=Office\nExec=qoffice');
    expect(name('qoffice').app).to.equal('Office');
  });

  it('does not take a launcher in Exec for the program', () => {
    write('one.desktop', 'Name=One\nExec=flatpak run org.one');
    write('two.desktop', 'Name=Two\nExec=python3 /opt/two.py');
    expect(name('flatpak').app).to.equal('flatpak');
    expect(name('python3').app).to.equal('python3');
  });

  it('asks with the instance where the class is known to nobody', () => {
    write('qtest-inst.desktop', 'Name=By Instance');
    expect(name('UnknownQtestClass', 'qtest-inst').app).to.equal('By Instance');
  });

  it('calls a window that no entry knows by its own class', () => {
    expect(name('UnknownQtestClass')).to.deep.equal({
      app: 'UnknownQtestClass',
      bundleId: 'UnknownQtestClass',
    });
  });

  it('calls a window without a class by its program, and without that "unknown"', function () {
    if (process.platform !== 'linux') this.skip();
    expect(nameWindow({ env: env() }, { ids: [undefined, ''], pid: process.pid })).to.have.property(
      'pid',
      process.pid,
    );
    expect(nameWindow({ env: env() }, { ids: [], pid: process.pid }).app).to.match(/node|MainThread/);
    expect(nameWindow({ env: env() }, { ids: [] })).to.deep.equal({ app: 'unknown' });
  });

  it("puts the user's own entry before the shared one of the same name", () => {
    write('qtest.desktop', 'Name=Shared', 'shared/applications');
    write('qtest.desktop', 'Name=Own');
    expect(name('qtest').app).to.equal('Own');
  });

  it('follows links, as flatpak makes them', () => {
    write('real.txt', 'Name=Linked', 'elsewhere');
    mkdirSync(area.path('own/applications'), { recursive: true });
    symlinkSync(area.path('elsewhere/real.txt'), area.path('own/applications/org.qtest.Linked.desktop'));
    expect(name('org.qtest.Linked').app).to.equal('Linked');
  });

  it('never leaves the folders, whatever a window calls itself', () => {
    write('outside.desktop', 'Name=Outside', 'own');
    for (const id of ['../outside', '..\\outside', '/etc/passwd', 'a/../../outside', '\0', '.']) {
      expect(name(id).app, JSON.stringify(id)).to.equal(id);
    }
  });

  it('passes over what is no entry of an application', () => {
    expect(
      parseEntry('a', 'Name=Before the group\n[Desktop Entry]\nName=Yes\n[Desktop Action x]\nName=No')?.name,
    ).to.equal('Yes');
    expect(parseEntry('a', '[Desktop Entry]\nType=Link\nName=L')).to.equal(undefined);
    expect(parseEntry('a', '[Desktop Entry]\nType=Application')).to.equal(undefined);
    expect(parseEntry('a', '')).to.equal(undefined);
    mkdirSync(area.path('own/applications/folder.desktop'), { recursive: true });
    writeFileSync(area.path('own/applications/binary.desktop'), Buffer.from([0xff, 0, 1, 2]));
    expect(name('folder').app).to.equal('folder');
    expect(name('nothing-qtest').app).to.equal('nothing-qtest');
  });

  it('looks in the usual places of flatpak and snap even when the environment is bare', () => {
    const folders = applicationFolders({ HOME: '/home/a' });
    expect(folders).to.include.members([
      '/home/a/.local/share/applications',
      '/home/a/.local/share/flatpak/exports/share/applications',
      '/usr/share/applications',
      '/var/lib/flatpak/exports/share/applications',
      '/var/lib/snapd/desktop/applications',
    ]);
    expect(applicationFolders({ XDG_DATA_DIRS: 'relative:/abs', XDG_DATA_HOME: 'relative' })).to.not.include(
      'relative/applications',
    );
  });
});
