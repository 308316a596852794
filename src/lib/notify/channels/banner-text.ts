import { EVENTS } from '../events';
import { short } from '../text';
import type { Parcel } from './channel';

const MAX_TITLE = 120;
const MAX_BODY = 1000;

export function titleOf({ title, event }: Parcel): string {
  return short(title ?? EVENTS[event].title, MAX_TITLE);
}

export function bodyOf({ message }: Parcel): string {
  const chars = [...message];
  return chars.length <= MAX_BODY ? message : `${chars.slice(0, MAX_BODY - 1).join('')}…`;
}
