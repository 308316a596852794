import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';

import { installedApps, nameWindow } from '../../../../src/lib/sense/front-app/desktop-entries';
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
    return nameWindow({ env: env() }, ids, 0) ?? { app: 'nothing' };
  }

  it("uses the unlocalised name of the entry with the window's id", () => {
    write('org.qtest.Edit.desktop', 'Name[de]=Bearbeiter\nName=Editor\nName[fr]=Éditeur');
    expect(name('org.qtest.Edit')).to.deep.equal({ app: 'Editor', bundleId: 'org.qtest.Edit' });
  });

  it('lists what is installed, from flatpak and snap too', () => {
    write('firefox.desktop', 'Name=Firefox');
    write('chrome-abc-Default.desktop', 'Name=A web app');
    write('com.brave.Browser.desktop', 'Name=Brave', 'own/flatpak/exports/share/applications');
    write('hidden.desktop', 'Type=Link\nName=A link');
    const names = installedApps({ platform: 'linux', env: env() });
    expect(names).to.include.members(['Firefox', 'A web app', 'Brave']).and.not.include('A link');
  });

  it('is read once by a watch, until an entry is added or removed', () => {
    write('qtest.desktop', 'Name=Before');
    const old = new Date(Date.now() - 60_000);
    utimesSync(area.path('own/applications'), old, old);
    const kept = {};
    const watched = (): string | undefined => nameWindow({ env: env(), kept }, ['qtest'], 0)?.app;
    expect(watched()).to.equal('Before');
    write('qtest.desktop', 'Name=After');
    expect([watched(), name('qtest').app]).to.deep.equal(['Before', 'After']);
    write('other.desktop', 'Name=Other');
    expect(watched()).to.equal('After');
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

  it('ignores launchers in Exec', () => {
    write('one.desktop', 'Name=One\nExec=flatpak run org.one');
    write('two.desktop', 'Name=Two\nExec=python3 /opt/two.py');
    expect(name('flatpak').app).to.equal('flatpak');
    expect(name('python3').app).to.equal('python3');
  });

  it('matches the instance when no entry has the class', () => {
    write('qtest-inst.desktop', 'Name=By Instance');
    expect(name('UnknownQtestClass', 'qtest-inst').app).to.equal('By Instance');
  });

  it("falls back to the window's class", () => {
    expect(name('UnknownQtestClass')).to.deep.equal({
      app: 'UnknownQtestClass',
      bundleId: 'UnknownQtestClass',
    });
  });

  it('falls back to the process name for a window without a class', function () {
    if (process.platform !== 'linux') this.skip();
    const own = nameWindow({ env: env() }, [undefined, ''], process.pid);
    expect(own).to.have.property('pid', process.pid);
    expect(own?.app).to.match(/node|MainThread/);
    expect(nameWindow({ env: env() }, [], 0)).to.deep.equal({ app: 'unknown' });
    expect(nameWindow({ env: env() }, [undefined, {}], undefined)).to.equal(null);
  });

  it('prefers your own entry to the shared one of the same name', () => {
    write('qtest.desktop', 'Name=Shared', 'shared/applications');
    write('qtest.desktop', 'Name=Own');
    expect(name('qtest').app).to.equal('Own');
  });

  it('follows links, as flatpak creates them', () => {
    write('real.txt', 'Name=Linked', 'elsewhere');
    mkdirSync(area.path('own/applications'), { recursive: true });
    symlinkSync(area.path('elsewhere/real.txt'), area.path('own/applications/org.qtest.Linked.desktop'));
    expect(name('org.qtest.Linked').app).to.equal('Linked');
  });

  it('reads no file outside the folders for any window id', () => {
    write('outside.desktop', 'Name=Outside', 'own');
    for (const id of ['../outside', '..\\outside', '/etc/passwd', 'a/../../outside', '\0', '.']) {
      expect(name(id).app, JSON.stringify(id)).to.equal(id);
    }
  });

  it('ignores files that are not entries of applications', () => {
    const text = 'Name=Before\n[Desktop Entry]\nName=Yes\n[Desktop Action x]\nName=No';
    mkdirSync(area.path('own/applications/folder.desktop'), { recursive: true });
    writeFileSync(area.path('own/applications/qtest-yes.desktop'), text);
    writeFileSync(area.path('own/applications/binary.desktop'), Buffer.from([0xff, 0, 1, 2]));
    writeFileSync(area.path('own/applications/qtest-link.desktop'), '[Desktop Entry]\nType=Link\nName=L');
    expect(name('qtest-yes').app).to.equal('Yes');
    expect(name('qtest-link').app).to.equal('qtest-link');
    expect(name('folder').app).to.equal('folder');
  });

  it('reads the folders of flatpak without XDG variables', () => {
    const folder = 'home/.local/share/flatpak/exports/share/applications';
    write('org.qtest.Flat.desktop', 'Name=Flat', folder);
    const found = nameWindow({ env: { HOME: area.path('home') } }, ['org.qtest.Flat'], 0);
    expect(found?.app).to.equal('Flat');
  });
});
