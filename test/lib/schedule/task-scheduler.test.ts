import { expect } from 'chai';

import type { BackendDeps } from '../../../src/lib/schedule/launcher';
import type { Recorder } from '../../../src/lib/schedule/recorder';
import { taskScheduler } from '../../../src/lib/schedule/task-scheduler';
import { rejection } from '../../helpers/errors';
import { entryFor, taskSchedulerModel } from '../../helpers/schedule';

/** Windows has no folder here: what would lie in its files lies in memory. */
describe('schedule: Task Scheduler, by schtasks', () => {
  const entry = entryFor('daemon', { launcher: 'C:\\Users\\ada\\.steward\\bin\\steward-job.cmd' });
  const file = 'C:\\state\\steward-daemon.xml';

  function played() {
    const files = new Map<string, Uint8Array>();
    const model = taskSchedulerModel(files);
    const recorder = {
      differs: ({ path, data }) => !Buffer.from(files.get(path) ?? []).equals(Buffer.from(data)),
      write: ({ path, data }) => void files.set(path, Buffer.from(data)),
      remove: (path) => files.delete(path),
    } as Recorder;
    const deps = {
      run: model.run,
      host: { platform: 'win32', home: 'C:\\Users\\ada', env: { USERNAME: 'ada', USERDOMAIN: 'HOST' } },
      env: {},
      exists: (path: string) => files.has(path),
      root: process.cwd(),
      stateFolder: 'C:\\state',
    } as unknown as BackendDeps;
    return { backend: taskScheduler(deps), recorder, model, files };
  }

  it('creates the task of the file, runs it at once, and leaves one that is there', async () => {
    const { backend, recorder, model } = played();
    expect(await backend.probe()).to.equal('this is Windows');
    expect(await backend.install(entry, recorder)).to.deep.equal({
      changed: true,
      files: [file],
      warnings: [],
    });
    expect(model.told()).to.deep.equal([
      `/create /tn steward-daemon /xml ${file} /f`,
      '/run /tn steward-daemon',
    ]);
    expect(model.tasks()['steward-daemon'])
      .to.match(/^\ufeff<\?xml/)
      .and.include('<UserId>HOST\\ada</UserId>');
    expect(await backend.install(entry, recorder)).to.include({ changed: false });
    expect(model.told()).to.deep.equal([]);
    expect(await backend.state(entry)).to.include({ installed: true, loaded: true });
  });

  it('starts the task by its name; what is disabled or not there is refused with what was said', async () => {
    const { backend, recorder, model } = played();
    const missing = await rejection(backend.start(entry));
    expect(missing).to.include({
      kind: 'unavailable',
      message: 'Task Scheduler did not start the job: ERROR: The system cannot find the file specified.',
    });
    await backend.install(entry, recorder);
    model.told();
    await backend.start(entry);
    expect(model.told()).to.deep.equal(['/run /tn steward-daemon']);
    model.disable();
    expect((await rejection(backend.start(entry))).message).to.include('The task is disabled.');
    expect(await backend.state(entry)).to.include({ installed: true, loaded: false });
  });

  it('ends the task before it deletes it, and then its file', async () => {
    const { backend, recorder, model, files } = played();
    expect(await backend.uninstall(entry.name, recorder)).to.deep.equal([]);
    expect(model.told()).to.deep.equal([]);
    await backend.install(entry, recorder);
    expect(await backend.holds(entry.name)).to.equal(true);
    model.told();
    expect(await backend.uninstall(entry.name, recorder)).to.deep.equal([file]);
    expect(model.told()).to.deep.equal(['/end /tn steward-daemon', '/delete /tn steward-daemon /f']);
    expect([...files]).to.deep.equal([]);
    expect(await backend.holds(entry.name)).to.equal(false);
  });
});
