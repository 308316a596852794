import type { SharedGroup } from '../platform/files/shared-group';
import { nodeOf, whatIsWrong } from './files';
import { isLeaf } from './leaf';
import { SETTINGS_KEYS } from './schema';
import type { Machine } from './user-area';
import { changeConfig, setKeys } from './write';

/** Which kinds of notification go to which channels. Never a credential or an address. */
export function sharedRoutes(machine: Machine): SharedGroup {
  const events = Object.keys(SETTINGS_KEYS.notifications.routing);
  const keyOf = (event: string): string =>
    event === 'voice' ? 'notifications.voice.events' : `notifications.routing.${event}`;
  return {
    files: [machine.area.config],
    async read() {
      const keys = [...events, 'voice'].map(keyOf);
      const changes = keys.map((key) => ({ key, to: (stored: unknown) => stored }));
      const stored = await changeConfig(machine, changes, { dryRun: true });
      const eventOf = (key: string) => key.split('.').at(key.endsWith('events') ? 1 : 2);
      const values = stored.map(({ key, before }) => [eventOf(key), before]);
      return new Map(values.filter((row): row is [string, string[]] => Array.isArray(row[1])));
    },
    write: (changes) =>
      setKeys(
        machine,
        Object.fromEntries([...changes].map(([event, value]) => [keyOf(event), value ?? undefined])),
      ),
    isValid(event, value) {
      const node = nodeOf(keyOf(event));
      return isLeaf(node) && whatIsWrong(node, value) === undefined;
    },
  };
}
