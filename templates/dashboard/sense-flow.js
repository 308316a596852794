// Recent activity: the latest insight with its narrative and a bar for each weight.

import { command, h, show } from './dom.js';
import { ago, longDay, moment, percents } from './format.js';

/** @typedef {import('../../src/lib/sense/insight-reads').Insight} Insight */

/** @param {Element} place @param {Insight} insight @param {string | undefined} zone @param {number} now */
export function showFlow(place, insight, zone, now) {
  if (!insight.available) return show(place, none(insight));
  const kinds = [...insight.contentTypes].sort((a, b) => b.share - a.share);
  const shares = percents(kinds.map(({ share }) => share));
  show(
    place,
    insight.stale && staleNote(insight),
    insight.narrative && h('p', { class: 'narrative' }, insight.narrative),
    kinds.length > 0 &&
      h(
        'ol',
        { class: 'weights', 'aria-label': 'Weights' },
        kinds.map(({ label, evidence }, i) =>
          h(
            'li',
            {},
            h('span', { class: 'name' }, label),
            h('span', { class: 'figure' }, `${shares[i]} %`),
            h(
              'svg',
              { height: 12, 'aria-hidden': 'true' },
              h('rect', { class: 'weight', width: `${shares[i]}%`, height: 12 }),
            ),
            evidence && h('span', { class: 'muted' }, evidence),
          ),
        ),
      ),
    h('p', { class: 'muted small' }, madeAt(insight, zone, now)),
    insight.reason &&
      h('p', { class: 'muted small' }, `The last attempt failed: ${sentence(insight.reason)}`),
  );
}

/** @param {Insight} insight */
function none({ reason }) {
  return h(
    'div',
    { class: 'empty' },
    h('p', {}, sentence(reason ?? 'no insight has been built yet')),
    h('p', {}, 'Preview what is sent: ', command('steward sense insight preview')),
    h('p', {}, 'Create one now: ', command('steward sense insight build')),
  );
}

/** @param {Insight} insight */
function staleNote({ date }) {
  return h(
    'p',
    { class: 'attention' },
    `This insight is from ${longDay(date)}. Create one for today: `,
    command('steward sense insight build'),
  );
}

/** @param {Insight} insight @param {string | undefined} zone @param {number} now */
function madeAt({ generatedAt, since, model }, zone, now) {
  const made = Date.parse(generatedAt ?? '');
  const from = Date.parse(since ?? '');
  return [
    Number.isNaN(made)
      ? 'created at an unknown time'
      : `created ${ago(made, now)}, at ${moment(made, now, zone)}`,
    ...(Number.isNaN(from) ? [] : [`covers the time since ${moment(from, now, zone)}`]),
    ...(model ? [`model ${model}`] : []),
  ].join(' · ');
}

/** @param {string} text */
function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
