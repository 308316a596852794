import { expect } from 'chai';
import { getEventListeners } from 'node:events';

import { StewardError } from '../../../../src/lib/errors';
import {
  SoundError,
  type SpeechEngine,
  type SpeechOrder,
} from '../../../../src/lib/notify/speech/engines/engine';
import { LIMITS, speechQueue, type QueueLimits, type Speech } from '../../../../src/lib/notify/speech/queue';
import { systemClock } from '../../../../src/lib/platform/time/clock';
import { machineWith } from '../../../helpers/speech';

/** An engine that ends a text on request. */
function handEngine(id = 'hand') {
  const open: { order: SpeechOrder; end: (error?: Error) => void }[] = [];
  const waiters: (() => void)[] = [];
  let atOnce = 0;
  let most = 0;
  const engine: SpeechEngine = {
    id,
    detect: () => true,
    speak: (_machine, order) =>
      new Promise((resolve, reject) => {
        most = Math.max(most, (atOnce += 1));
        const end = (error?: Error): void => {
          atOnce -= 1;
          if (error === undefined) resolve();
          else reject(error);
        };
        open.push({ order, end });
        waiters.shift()?.();
      }),
  };
  return {
    engine,
    most: () => most,
    /** Waits for the next text. */
    async next() {
      if (open.length === 0) await new Promise<void>((resolve) => waiters.push(resolve));
      return open.shift() as (typeof open)[number];
    },
  };
}

function failing(id: string, message = 'Broken.'): SpeechEngine & { asked: string[] } {
  const asked: string[] = [];
  return {
    id,
    asked,
    detect: () => true,
    speak: (_machine, { text }) => {
      asked.push(text);
      return Promise.reject(new StewardError('unavailable', message, { hint: 'Fix it.' }));
    },
  };
}

function quick(id: string): SpeechEngine & { asked: string[] } {
  const asked: string[] = [];
  return {
    id,
    asked,
    detect: () => true,
    speak: (_machine, { text }) => (asked.push(text), Promise.resolve()),
  };
}

const time = { now: 1_000_000, monotonic: 0 };
const handClock = { now: () => time.now, monotonic: () => time.monotonic };

function queueOf(
  engines: readonly SpeechEngine[],
  limits: Partial<QueueLimits> = {},
  clock = handClock,
): Speech {
  return speechQueue(
    {
      clock,
      machine: machineWith({}),
      engines: () => engines,
      spokenOf: (text) => text.replace('live', 'lyve').trim(),
      noVoice: () => 'No speech engine found.',
    },
    { ...LIMITS, ...limits },
  );
}

describe('notify/speech: queue', () => {
  beforeEach(() => Object.assign(time, { now: 1_000_000, monotonic: 0 }));

  it('speaks one text at a time, in order, transformed, with its voice', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine]);
    const answers = ['one live', 'two', 'three'].map((text) => speech.say({ text, voiceId: `v-${text}` }));
    for (const text of ['one lyve', 'two', 'three']) {
      const { order, end } = await hand.next();
      expect(order).to.include({ text, voiceId: `v-${text.replace('lyve', 'live')}` });
      end();
    }
    expect(await Promise.all(answers)).to.deep.equal([1, 2, 3].map(() => ({ spoken: true, engine: 'hand' })));
    expect(hand.most()).to.equal(1);
  });

  it('skips an engine that failed slowly for five minutes, and says so', async () => {
    const slow = failing('slow', 'Timed out after 8 s.');
    const speak = slow.speak.bind(slow);
    slow.speak = (machine, order) => ((time.monotonic += 8_000), speak(machine, order));
    const broken = failing('broken');
    const speech = queueOf([slow, broken]);
    await speech.say({ text: 'first' });
    expect(await speech.say({ text: 'second' })).to.deep.equal({
      spoken: false,
      reason: 'slow: Timed out after 8 s. Fix it. Retrying in 5 min. broken: Broken. Fix it.',
    });
    expect([slow.asked, broken.asked]).to.deep.equal([['first'], ['first', 'second']]);
    time.monotonic += 300_000;
    await speech.say({ text: 'third' });
    expect(slow.asked).to.deep.equal(['first', 'third']);
  });

  it('refuses a text when it is full', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine], { waiting: 2 });
    const answers = ['1', '2', '3', '4'].map((text) => speech.say({ text }));
    expect(await answers[3]).to.deep.equal({
      spoken: false,
      reason: 'The speech queue is full (2).',
    });
    for (let n = 0; n < 3; n += 1) (await hand.next()).end();
    expect((await Promise.all(answers)).map(({ spoken }) => spoken)).to.deep.equal([true, true, true, false]);
  });

  it('does not speak a text that waited for more than a minute', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine]);
    const answers = ['first', 'late', 'asleep'].map((text) => speech.say({ text }));
    const { end } = await hand.next();
    time.monotonic += 60_001;
    end();
    expect(await answers[1]).to.deep.equal({
      spoken: false,
      reason: 'Discarded after waiting 60 s for the voice.',
    });
    expect((await answers[2])?.spoken).to.equal(false);
    const [a, b] = [speech.say({ text: 'a' }), speech.say({ text: 'b' })];
    const first = await hand.next();
    // The machine slept: its monotonic clock stood still.
    time.now += 3_600_000;
    first.end();
    expect([(await a).spoken, (await b).spoken]).to.deep.equal([true, false]);
  });

  it('speaks a text that waited for a minute, and ignores a clock that moved back', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine]);
    const answers = ['first', 'second'].map((text) => speech.say({ text }));
    const { end } = await hand.next();
    time.monotonic += 60_000;
    time.now -= 9_999_999;
    end();
    (await hand.next()).end();
    expect((await Promise.all(answers)).every(({ spoken }) => spoken)).to.equal(true);
  });

  it('uses the next engine if one fails, and tries that one last for a minute', async () => {
    const [broken, good] = [failing('broken'), quick('good')];
    const speech = queueOf([broken, good]);
    expect(await speech.say({ text: '1' })).to.deep.equal({ spoken: true, engine: 'good' });
    expect(await speech.say({ text: '2' })).to.deep.equal({ spoken: true, engine: 'good' });
    expect(broken.asked).to.deep.equal(['1']);
    time.monotonic += LIMITS.restMs + 1;
    expect(await speech.say({ text: '3' })).to.deep.equal({ spoken: true, engine: 'good' });
    expect(broken.asked).to.deep.equal(['1', '3']);
  });

  it('reports why each engine failed, and tries all again', async () => {
    const engines = [failing('a', 'No sound.'), failing('b', 'No voice.')];
    const speech = queueOf(engines);
    const reason = 'a: No sound. Fix it. b: No voice. Fix it.';
    expect(await speech.say({ text: 'x' })).to.deep.equal({ spoken: false, reason });
    expect(await speech.say({ text: 'y' })).to.deep.equal({ spoken: false, reason });
    expect(engines.map(({ asked }) => asked)).to.deep.equal([['x', 'y'], ['x', 'y']]); // prettier-ignore
  });

  it('does not skip an engine if the sound cannot be played', async () => {
    const words = 'The sound server is not running.';
    const asked: string[] = [];
    const mute = (id: string): SpeechEngine => ({
      id,
      detect: () => true,
      speak: (_machine, { text }) => {
        asked.push(`${id} ${text}`);
        time.monotonic += 4_000;
        return Promise.reject(new SoundError('unavailable', words, { hint: 'Start it.' }));
      },
    });
    const speech = queueOf([mute('a'), mute('b'), failing('c', 'No voice.')]);
    expect((await speech.say({ text: 'x' })).reason).to.equal(`${words} Start it.`);
    await speech.say({ text: 'y' });
    expect(asked).to.deep.equal(['a x', 'b x', 'a y', 'b y']);
  });

  it('reports a common failure once', async () => {
    const engines = [failing('a', 'No card.'), failing('b', 'No voice.'), failing('c', 'No card.')];
    expect((await queueOf(engines).say({ text: 'x' })).reason).to.equal(
      'a, c: No card. Fix it. b: No voice. Fix it.',
    );
  });

  it('reports a missing engine, and a text with nothing to say', async () => {
    expect(await queueOf([]).say({ text: 'x' })).to.deep.equal({
      spoken: false,
      reason: 'No speech engine found.',
    });
    expect((await queueOf([quick('q')]).say({ text: ' ' })).reason).to.equal('Nothing to say.');
  });

  it('goes on after an unexpected error', async () => {
    const good = quick('good');
    let faults = 1;
    const speech = speechQueue({
      clock: handClock,
      machine: machineWith({}),
      engines: () => [good],
      spokenOf: (text) => {
        if (faults-- > 0) throw new Error('a fault');
        return text;
      },
      noVoice: () => '',
    });
    expect(await speech.say({ text: '1' })).to.deep.equal({ spoken: false, reason: 'a fault' });
    expect((await speech.say({ text: '2' })).spoken).to.equal(true);
  });

  it('stops an engine at the time limit, and speaks the next text', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine, quick('other')], { textMs: 2000 }, systemClock());
    const answer = speech.say({ text: 'long' });
    const { order, end } = await hand.next();
    order.signal.addEventListener('abort', () => end(new StewardError('canceled', 'Stopped.')));
    expect(await answer).to.deep.equal({ spoken: false, reason: 'hand: Timed out after 2 s.' });
    const next = speech.say({ text: 'next' });
    (await hand.next()).end();
    expect((await next).spoken).to.equal(true);
  });

  it('removes its abort listeners', async () => {
    const hand = handEngine();
    const speech = queueOf([failing('broken'), hand.engine]);
    const answer = speech.say({ text: 'x' });
    const { order, end } = await hand.next();
    // Of the engine that speaks.
    expect(getEventListeners(order.signal, 'abort')).to.have.length(1);
    end();
    await answer;
    expect(getEventListeners(order.signal, 'abort')).to.have.length(0);
  });

  it('abandons an engine that does not stop', async () => {
    const deaf = handEngine('deaf');
    const speech = queueOf([deaf.engine], { textMs: 1500 }, systemClock());
    const answers = [speech.say({ text: 'one' }), speech.say({ text: 'two' })];
    await deaf.next();
    expect((await answers[0])?.reason).to.match(/Timed out after 1.5 s/);
    (await deaf.next()).end();
    expect((await answers[1])?.spoken).to.equal(true);
  });

  it('finishes the current text when it closes, and takes no more', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine]);
    const answers = [speech.say({ text: 'now' }), speech.say({ text: 'waits' })];
    const { end } = await hand.next();
    const closed = speech.close(20_000);
    expect(await answers[1]).to.deep.equal({
      spoken: false,
      reason: 'The voice is shutting down.',
      isStopped: true,
    });
    expect(await speech.say({ text: 'more' })).to.deep.equal({
      spoken: false,
      reason: 'The voice is shutting down.',
      isStopped: true,
    });
    end();
    await closed;
    expect((await answers[0])?.spoken).to.equal(true);
  });

  it('stops the current text after the grace period', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine, quick('other')]);
    const answer = speech.say({ text: 'now' });
    const { order, end } = await hand.next();
    order.signal.addEventListener('abort', () => end(new StewardError('canceled', 'Stopped.')));
    await speech.close(10);
    expect(await answer).to.deep.equal({ spoken: false, reason: 'hand: Stopped.', isStopped: true });
    await speech.close(10);
    await queueOf([]).close(20_000);
  });
});
