import type { Parcel } from './channels/channel';
import type { Delivery } from './delivery';
import { digestText } from './text';

/** How many banners may come at once before they become one. */
const MANY = 4;
const MOST_AT_ONCE = 200;

/**
 * Which of the deliveries that are due for a channel go out together, from the first on: pushes that waited for
 * the end of the quiet hours are one digest, and so are many banners at once. Else the first goes alone.
 */
export function together(due: readonly Delivery[]): Delivery[] {
  const [first] = due;
  if (first === undefined) return [];
  const alike = due
    .filter((delivery) => delivery.sentParts === 0 && isDigested(delivery, first))
    .slice(0, MOST_AT_ONCE);
  const isMany = alike.length >= (first.channel === 'desktop' ? MANY : 2);
  return isMany && first.sentParts === 0 ? alike : [first];
}

function isDigested(delivery: Delivery, first: Delivery): boolean {
  if (delivery.channel === 'desktop') return true;
  return delivery.heldUntil !== undefined && delivery.heldUntil === first.heldUntil;
}

/** What the channel is given: the delivery, or a digest of several. */
export function parcelOf(deliveries: readonly [Delivery, ...Delivery[]]): Parcel {
  const [first] = deliveries;
  if (deliveries.length > 1) return digestOf(deliveries);
  const { id, event, priority, message, title, voiceId, url, dedupe, tags, silent, sentParts } = first;
  return {
    id,
    acceptedMs: Date.parse(first.at),
    event,
    priority,
    message,
    ...(title === undefined ? {} : { title }),
    ...(voiceId === undefined ? {} : { voiceId }),
    ...(url === undefined ? {} : { url }),
    ...(dedupe === undefined ? {} : { dedupe }),
    tags,
    silent,
    count: 1,
    sentParts,
  };
}

function digestOf(deliveries: readonly [Delivery, ...Delivery[]]): Parcel {
  const [first] = deliveries;
  const highest = deliveries.reduce((best, one) => (one.priority > best.priority ? one : best));
  const lines = deliveries.map(({ title, message }) =>
    title === undefined ? message : `${title}: ${message}`,
  );
  return {
    id: first.id,
    acceptedMs: Date.parse(first.at),
    event: highest.event,
    priority: highest.priority,
    title: `${deliveries.length} notifications`,
    message: digestText(lines),
    tags: [],
    silent: deliveries.every(({ silent }) => silent),
    count: deliveries.length,
    sentParts: 0,
  };
}
