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

/** An engine that says a text when it is told to. */
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
    /** The next text that it was given, once it was. */
    async next() {
      if (open.length === 0) await new Promise<void>((resolve) => waiters.push(resolve));
      return open.shift() as (typeof open)[number];
    },
  };
}

function failing(id: string, message = 'It is broken.'): SpeechEngine & { asked: string[] } {
  const asked: string[] = [];
  return {
    id,
    asked,
    detect: () => true,
    speak: (_machine, { text }) => {
      asked.push(text);
      return Promise.reject(new StewardError('unavailable', message, { hint: 'Mend it.' }));
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
      noVoice: () => 'Nothing here can speak.',
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

  it('leaves an engine that took long to fail out for five minutes, and says so', async () => {
    const slow = failing('slow', 'It did not end in 8 s.');
    const speak = slow.speak.bind(slow);
    slow.speak = (machine, order) => ((time.monotonic += 8_000), speak(machine, order));
    const broken = failing('broken');
    const speech = queueOf([slow, broken]);
    await speech.say({ text: 'first' });
    expect(await speech.say({ text: 'second' })).to.deep.equal({
      spoken: false,
      reason:
        'slow: It did not end in 8 s. Mend it. It is asked again in 5 min. broken: It is broken. Mend it.',
    });
    expect([slow.asked, broken.asked]).to.deep.equal([['first'], ['first', 'second']]);
    time.monotonic += 300_000;
    await speech.say({ text: 'third' });
    expect(slow.asked).to.deep.equal(['first', 'third']);
  });

  it('takes so many that wait, and says of one more that it does not', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine], { waiting: 2 });
    const answers = ['1', '2', '3', '4'].map((text) => speech.say({ text }));
    expect(await answers[3]).to.deep.equal({
      spoken: false,
      reason: '2 messages are waiting to be spoken already.',
    });
    for (let n = 0; n < 3; n += 1) (await hand.next()).end();
    expect((await Promise.all(answers)).map(({ spoken }) => spoken)).to.deep.equal([true, true, true, false]);
  });

  it('does not speak what waited for more than a minute', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine]);
    const answers = ['first', 'late', 'asleep'].map((text) => speech.say({ text }));
    const { end } = await hand.next();
    time.monotonic += 60_001;
    end();
    expect(await answers[1]).to.deep.equal({
      spoken: false,
      reason: 'It waited for 60 s and is not news any more.',
    });
    expect((await answers[2])?.spoken).to.equal(false);
    const [a, b] = [speech.say({ text: 'a' }), speech.say({ text: 'b' })];
    const first = await hand.next();
    // The machine slept: its monotonic clock stood still.
    time.now += 3_600_000;
    first.end();
    expect([(await a).spoken, (await b).spoken]).to.deep.equal([true, false]);
  });

  it('speaks what waited for just a minute, and minds no clock that was set back', async () => {
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

  it('takes the next engine when one fails, and asks that one last for a while', async () => {
    const [broken, good] = [failing('broken'), quick('good')];
    const speech = queueOf([broken, good]);
    expect(await speech.say({ text: '1' })).to.deep.equal({ spoken: true, engine: 'good' });
    expect(await speech.say({ text: '2' })).to.deep.equal({ spoken: true, engine: 'good' });
    expect(broken.asked).to.deep.equal(['1']);
    time.monotonic += LIMITS.restMs + 1;
    expect(await speech.say({ text: '3' })).to.deep.equal({ spoken: true, engine: 'good' });
    expect(broken.asked).to.deep.equal(['1', '3']);
  });

  it('says of each engine why it did not speak, and tries them all again', async () => {
    const engines = [failing('a', 'No sound.'), failing('b', 'No voice.')];
    const speech = queueOf(engines);
    const reason = 'a: No sound. Mend it. b: No voice. Mend it.';
    expect(await speech.say({ text: 'x' })).to.deep.equal({ spoken: false, reason });
    expect(await speech.say({ text: 'y' })).to.deep.equal({ spoken: false, reason });
    expect(engines.map(({ asked }) => asked)).to.deep.equal([['x', 'y'], ['x', 'y']]); // prettier-ignore
  });

  it('blames no engine for a sound that cannot be played, and asks it again for the next text', async () => {
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
    expect((await speech.say({ text: 'x' })).reason).to.equal(`${words} Start it. c: No voice. Mend it.`);
    await speech.say({ text: 'y' });
    expect(asked).to.deep.equal(['a x', 'b x', 'a y', 'b y']);
  });

  it('says once what several engines met', async () => {
    const engines = [failing('a', 'No card.'), failing('b', 'No voice.'), failing('c', 'No card.')];
    expect((await queueOf(engines).say({ text: 'x' })).reason).to.equal(
      'a, c: No card. Mend it. b: No voice. Mend it.',
    );
  });

  it('says why where there is no voice, or nothing to say', async () => {
    expect(await queueOf([]).say({ text: 'x' })).to.deep.equal({
      spoken: false,
      reason: 'Nothing here can speak.',
    });
    expect((await queueOf([quick('q')]).say({ text: ' ' })).reason).to.equal(
      'There is nothing in it to say.',
    );
  });

  it('goes on after a fault of its parts', async () => {
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

  it('stops an engine whose time is up, and speaks the next text', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine, quick('other')], { textMs: 2000 }, systemClock());
    const answer = speech.say({ text: 'long' });
    const { order, end } = await hand.next();
    order.signal.addEventListener('abort', () => end(new StewardError('canceled', 'It was stopped.')));
    expect(await answer).to.deep.equal({ spoken: false, reason: 'hand: It took longer than 2 s.' });
    const next = speech.say({ text: 'next' });
    (await hand.next()).end();
    expect((await next).spoken).to.equal(true);
  });

  it('listens no more for engines that failed before', async () => {
    const hand = handEngine();
    const speech = queueOf([failing('broken'), hand.engine]);
    const answer = speech.say({ text: 'x' });
    const { order, end } = await hand.next();
    // That of the engine which speaks.
    expect(getEventListeners(order.signal, 'abort')).to.have.length(1);
    end();
    await answer;
    expect(getEventListeners(order.signal, 'abort')).to.have.length(0);
  });

  it('leaves an engine alone that does not even stop', async () => {
    const deaf = handEngine('deaf');
    const speech = queueOf([deaf.engine], { textMs: 1500 }, systemClock());
    const answers = [speech.say({ text: 'one' }), speech.say({ text: 'two' })];
    await deaf.next();
    expect((await answers[0])?.reason).to.match(/longer than 1.5 s/);
    (await deaf.next()).end();
    expect((await answers[1])?.spoken).to.equal(true);
  });

  it('lets the text end that is being spoken when it closes, and takes no more', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine]);
    const answers = [speech.say({ text: 'now' }), speech.say({ text: 'waits' })];
    const { end } = await hand.next();
    const closed = speech.close(20_000);
    expect(await answers[1]).to.deep.equal({ spoken: false, reason: 'The voice is closing.' });
    expect(await speech.say({ text: 'more' })).to.deep.equal({
      spoken: false,
      reason: 'The voice is closing.',
    });
    end();
    await closed;
    expect((await answers[0])?.spoken).to.equal(true);
  });

  it('stops the text after its grace, and has nothing to wait for when it is silent', async () => {
    const hand = handEngine();
    const speech = queueOf([hand.engine, quick('other')]);
    const answer = speech.say({ text: 'now' });
    const { order, end } = await hand.next();
    order.signal.addEventListener('abort', () => end(new StewardError('canceled', 'It was stopped.')));
    await speech.close(10);
    expect(await answer).to.deep.equal({ spoken: false, reason: 'hand: It was stopped.' });
    await speech.close(10);
    await queueOf([]).close(20_000);
  });
});
