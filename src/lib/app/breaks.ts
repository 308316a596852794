import { watchBreaks } from '../daemon/breaks-job';
import type { Seen } from '../notify/break';
import type { Delivery } from '../notify/outbox';
import type { Context } from './context';
import { openSense } from './sense';
import { openSurroundings } from './surroundings';

/** Notices breaks in your work while deliveries wait for one. */
export function openBreaks(context: Context, waiting: () => readonly Delivery[]) {
  return watchBreaks(openSurroundings(context), waiting, () => seenNow(context));
}

async function seenNow(context: Context): Promise<Seen> {
  if (!context.area.sense.isSetUp) return {};
  const { deps, observe } = await openSense(context);
  if (!deps.config.enabled || !deps.config.sources.appFocus) return {};
  const seen = await observe(undefined, context.desktop);
  if (seen.state === 'away') return { isAway: true };
  if (seen.state !== 'focus') return {};
  const { app, detail } = seen.focus;
  return { isAway: false, kind: deps.classify(app, detail.bundleId).kind };
}
