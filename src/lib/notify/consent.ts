import { readObject, writeObject } from '../platform/files/object-file';

/** Returns whether you let steward speak when an event happens; undefined if it has not asked yet. */
export function maySpeak(path: string): boolean | undefined {
  const answer = readObject(path, 4096)?.['events'];
  return typeof answer === 'boolean' ? answer : undefined;
}

export function storeMaySpeak(path: string, events: boolean): void {
  writeObject(path, { version: 1, events });
}
