// Recent activity: the narrative of the latest insight, with a bar for each content type.

import { command, h, show } from './dom.js';
import { ago, longDay, percents } from './format.js';

/** @typedef {import('../../src/lib/sense/insight-reads').Insight} Insight */

/** @param {Element} place @param {Insight} insight @param {number} now */
export function showFlow(place, insight, now) {
  const { available, stale, date, reason, narrative, contentTypes, generatedAt, model } = insight;
  const build = command('steward sense insight build');
  if (!available)
    return show(
      place,
      h('p', sentence(reason ?? 'no insight has been built yet')),
      h('p', 'Preview the request: ', command('steward sense insight build --dry-run')),
      h('p', 'Build one now: ', build),
    );
  const kinds = [...contentTypes].sort((a, b) => b.share - a.share);
  const shares = percents(kinds.map(({ share }) => share));
  const weights = kinds.map(({ label, evidence }, i) =>
    h(
      'li',
      h('span.name', label),
      h('span.figure', `${shares[i]} %`),
      h(
        'svg',
        { height: 12, 'aria-hidden': 'true' },
        h('rect', { class: 'neutral', width: `${shares[i]}%`, height: 12 }),
      ),
      evidence && h('span.muted', evidence),
    ),
  );
  const made = Date.parse(generatedAt ?? '');
  const words = [made && `created ${ago(made, now)}`, model && `model ${model}`];
  show(
    place,
    stale && h('p.attention', `This insight is from ${longDay(date)}. Build one for today: `, build),
    narrative && h('p.narrative', narrative),
    kinds.length > 0 && h('ol', { class: 'weights', 'aria-label': 'Weights' }, weights),
    h('p.muted.small', words.filter(Boolean).join(' · ')),
    reason && h('p.muted.small', `The last attempt failed: ${sentence(reason)}`),
  );
}

/** @param {string} text */
function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
