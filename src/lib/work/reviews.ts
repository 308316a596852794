import * as v from 'valibot';

import { toIso } from '../platform/time/clock';
import { readStored, Time, writeStored } from './cache';
import type { WorkDeps } from './deps';
import { isReview, type Review } from './issue';

const StoredReviews = v.object({
  version: v.literal(1),
  at: Time,
  etag: v.nullable(v.string()),
  tokenHash: v.string(),
  reviews: v.array(v.custom<Review>(isReview)),
});

/** Returns the stored review requests, and when they were read; null if they haven't been read yet. */
export function storedReviews({ paths }: Pick<WorkDeps, 'paths'>): { at: string | null; reviews: Review[] } {
  return readStored(paths.reviews, StoredReviews) ?? { at: null, reviews: [] };
}

/** Reads the review requests, in one conditional request. */
export async function refreshReviews({ paths, clock, host }: WorkDeps): Promise<void> {
  const stored = readStored(paths.reviews, StoredReviews);
  const { tokenHash, reviews } = await host();
  const etag = stored?.tokenHash === tokenHash ? stored.etag : null;
  const found = await reviews(etag === null ? {} : { etag });
  const at = toIso(clock.now());
  const next = found.unchanged ? stored : { etag: found.etag, reviews: found.value };
  writeStored(paths.reviews, { ...next, version: 1, at, tokenHash });
}
