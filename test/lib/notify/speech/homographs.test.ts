import { expect } from 'chai';
import fc from 'fast-check';

import { findHomographs, type Homograph } from '../../../../src/lib/notify/speech/homographs';
import { replaced } from '../../../../src/lib/notify/speech/pronunciation';
import { readCorpus } from '../../../helpers/speech';
import { quickestMs } from '../../../helpers/measured';
import { long } from '../../../helpers/long';

const respelled = (text: string, table?: readonly Homograph[]): string =>
  replaced(text, findHomographs(text, table));

describe('notify/speech: homographs', () => {
  for (const name of ['live.txt', 'live-training.txt']) {
    describe(`on the sentences of ${name}`, () => {
      const { verb, broadcast } = readCorpus(name);

      it('respells no verb', () => {
        expect(verb.filter((sentence) => respelled(sentence) !== sentence)).to.deep.equal([]);
      });

      it('respells at least 95 % of the adjectives', () => {
        const missed = broadcast.filter(
          (sentence) => respelled(sentence) !== sentence.replace(/\blive\b/gi, 'lyve'),
        );
        expect(missed.length / broadcast.length, missed.join('\n')).to.be.at.most(0.05);
      });
    });
  }

  it('has enough distinct sentences, half of them verbs', () => {
    const { verb, broadcast } = readCorpus('live.txt');
    const training = readCorpus('live-training.txt');
    expect(verb.length + broadcast.length).to.be.at.least(300);
    expect(verb.length / (verb.length + broadcast.length)).to.be.at.least(0.5);
    expect(training.verb.length + training.broadcast.length).to.be.at.least(60);
    const all = [verb, broadcast, training.verb, training.broadcast].flat();
    expect(new Set(all).size).to.equal(all.length);
    for (const sentence of all) expect(sentence, sentence).to.match(/(?<!\p{L})live(?!\p{L})/iu);
  });

  it('distinguishes both in one text', () => {
    expect(respelled('We live here, and the show is live. Live updates follow where you live.')).to.equal(
      'We live here, and the show is lyve. lyve updates follow where you live.',
    );
  });

  it('treats curly apostrophes and other spaces like plain ones', () => {
    expect(respelled('We’re live. Let’s live. It’s\u00a0live,\tis live.')).to.equal(
      'We’re lyve. Let’s live. It’s\u00a0lyve,\tis lyve.',
    );
  });

  it('leaves other words, addresses, paths and identifiers alone', () => {
    for (const text of [
      'The livestream is livelier, alive, relived and delivered live_stream.',
      'See https://example.org/live/show and live.example.org, is live@example.org, the @live.',
      'The is_live flag, the path /srv/live, the key live=1, the #live tag.',
      'It is olive. It is lively.',
    ]) {
      expect(respelled(text)).to.equal(text);
    }
  });

  it('supports another word with one more entry', () => {
    const tear: Homograph = {
      word: 'tear',
      respelling: 'tare',
      words: { WHERE: 'it|down|apart' },
      contexts: [
        {
          rules: [
            ['keep', String.raw`\b(?:a|the) `],
            ['respell', '', String.raw` (?:<WHERE>)\b`],
          ],
        },
      ],
    };
    const live: Homograph = {
      word: 'live',
      respelling: 'lyve',
      words: {},
      contexts: [{ rules: [['respell']] }],
    };
    expect(respelled('Tear it down: a tear, live; tear.', [live, tear])).to.equal(
      'tare it down: a tear, lyve; tear.',
    );
  });

  it('changes only whole words', () => {
    const words = fc.constantFrom('live', 'Live', 'LIVE', 'is', 'we', 'the', 'on', 'stream', '.', ',', '$&', '\ud83d', '😀', 'ö', "'s", '-', ' ', '\n', 'to', 'where'); // prettier-ignore
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 60 }), (parts) => {
        const text = parts.join(' ');
        let end = 0;
        for (const one of findHomographs(text)) {
          expect(one.start).to.be.at.least(end);
          expect(text.slice(one.start, one.end).toLowerCase()).to.equal('live');
          expect(one.written).to.equal('lyve');
          end = one.end;
        }
        expect(respelled(text).replaceAll('lyve', 'live').toLowerCase()).to.equal(text.toLowerCase());
      }),
    );
  });

  long('is fast on the most expensive text', () => {
    for (const part of ['live ', 'watch the one two three live ', 'where people live ', "'".repeat(20)]) {
      const text = part.repeat(4000 / part.length);
      // 15 ms is usual; the bound leaves room for a slow machine.
      expect(
        quickestMs(5, () => findHomographs(text)),
        part,
      ).to.be.below(300);
    }
  });
});
