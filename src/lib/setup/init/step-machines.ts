import { join } from 'node:path';

import { setUp } from '../sync/change';
import { noteOffered, syncedPlaces } from '../sync/places';
import type { Step } from './step';

export const machinesStep: Step = {
  id: 'machines',
  shown: ({ config }) => config().user.sync.folder ?? 'only this one',
  given({ context }, { 'sync-folder': folder }) {
    if (folder === undefined) return undefined;
    return async () => void (await setUp(context, folder, undefined, () => Promise.resolve(true)));
  },
  async ask({ context, config, say }, questions) {
    const known = config().user.sync.folder;
    noteOffered(context.area);
    if (!(await questions.yes('Do you use steward on another machine?', known === undefined ? 'no' : 'yes')))
      return undefined;
    const [place] = syncedPlaces();
    const preset = known ?? (place === undefined ? 'none' : join(place, 'steward'));
    say(
      'They meet in a folder that a tool such as Dropbox or Syncthing syncs; git works, too: steward sync connect --help',
    );
    const folder = (await questions.line(`Folder, or "none" [${preset}]: `)) || preset;
    if (folder === 'none' || folder === known) return undefined;
    return async (asker) => {
      const mayCreate = async (path: string) =>
        (await asker?.yes(`${path} does not exist. Create it?`, 'no')) === true;
      const { files } = await setUp(context, folder, undefined, mayCreate);
      say(`Published ${files} files. "steward sync settings on" shares settings, too.`);
    };
  },
};
