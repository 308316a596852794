import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';

import type { SpeechEngine, SpeechMachine } from '../../../../../src/lib/notify/speech/engines/engine';
import { providerEngine, type ProviderSettings } from '../../../../../src/lib/notify/speech/engines/provider';
import { refusingProxy, withProxies } from '../../../../helpers/proxy';
import { rejection } from '../../../../helpers/errors';
import { scratch } from '../../../../helpers/scratch';
import {
  machineWith,
  orderOf,
  script,
  pcm,
  speechServer,
  status,
  type SpeechServer,
} from '../../../../helpers/speech';
import { long } from '../../../../helpers/long';

const KEY = 'sk_1234567890-secret';

describe('notify/speech: the speech provider', () => {
  const box = scratch();
  let server: SpeechServer;
  let machine: SpeechMachine;

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(async () => {
    server = await speechServer();
    // "Plays" by storing the sound.
    machine = machineWith({ aplay: script(box.path('aplay'), `cp "$2" '${box.path('played.wav')}'`) });
  });
  afterEach(() => server.close());

  const settingsOf = (more: Partial<ProviderSettings> = {}): ProviderSettings => ({
    url: server.url,
    isConfigured: true,
    apiKey: () => KEY,
    voiceId: 'da-voice',
    ...more,
  });
  const engineOf = (more: Partial<ProviderSettings> = {}): SpeechEngine => providerEngine(settingsOf(more));
  const played = (): Buffer => readFileSync(box.path('played.wav'));

  it('sends the text with its voice and key, and plays the answer', async () => {
    await engineOf().speak(machine, orderOf('Grüße "live"', { voiceId: 'v/1?x' }));
    expect(server.asked).to.have.length(1);
    const [asked] = server.asked;
    expect(asked).to.include({ method: 'POST', url: '/v1/text-to-speech/v%2F1%3Fx?output_format=pcm_22050' });
    expect(asked?.headers).to.include({ 'xi-api-key': KEY, 'content-type': 'application/json' });
    expect(JSON.parse(asked?.body ?? '')).to.deep.equal({ text: 'Grüße "live"' });
    const wav = played();
    expect([wav.subarray(0, 4), wav.subarray(8, 16), wav.subarray(36, 40)].map(String)).to.deep.equal(['RIFF', 'WAVEfmt ', 'data']); // prettier-ignore
    expect([wav.readUInt32LE(24), wav.readUInt16LE(34), wav.readUInt32LE(40), wav.length]).to.deep.equal([22_050, 16, 6, 50]); // prettier-ignore
  });

  it('uses the default voice', async () => {
    await engineOf().speak(machine, orderOf('Hi'));
    expect(server.asked[0]?.url).to.match(/\/da-voice\?/);
    expect(JSON.parse(server.asked[0]?.body ?? '')).to.deep.equal({ text: 'Hi' });
  });

  it('sends no key if none is set, and supports a path', async () => {
    await engineOf({ apiKey: () => undefined, url: `${server.url}/proxy/v1/` }).speak(machine, orderOf('Hi'));
    expect(server.asked[0]?.headers).not.to.have.property('xi-api-key');
    expect(server.asked[0]?.url).to.match(/^\/proxy\/v1\/text-to-speech\/da-voice/);
  });

  it('plays WAV and MP3', async () => {
    server.answer(pcm(Buffer.from('RIFF....WAVE')));
    await engineOf().speak(machine, orderOf('Hi'));
    expect(String(played())).to.equal('RIFF....WAVE');
    const onlyMp3 = machineWith({
      mpg123: script(box.path('mpg123'), `cp "$2" '${box.path('played.mp3')}'`),
    });
    server.answer((response) => response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3tag'));
    await engineOf().speak(onlyMp3, orderOf('Hi'));
    expect(server.asked[1]?.url).to.match(/output_format=mp3_44100_128$/);
    expect(String(readFileSync(box.path('played.mp3')))).to.equal('ID3tag');
  });

  it('is detected if it is configured and there is a player', () => {
    expect(engineOf().detect(machine)).to.equal(true);
    expect(engineOf({ isConfigured: false }).detect(machine)).to.equal(false);
    expect(engineOf().detect(machineWith({}))).to.equal(false);
  });

  it('needs a voice, and sends nothing without one', async () => {
    for (const voiceId of [undefined, '..', '.']) {
      const error = await rejection(engineOf({ voiceId }).speak(machine, orderOf('Hi')));
      expect(error.kind).to.equal('config');
      expect(error.hint).to.match(/da\.voices\.main\.voiceId/);
    }
    expect(server.asked).to.have.length(0);
  });

  const refusals: [code: number, body: unknown, kind: string, message: RegExp][] = [
    [400, { detail: 'bad' }, 'unavailable', /rejected the request \(400\): bad\.$/],
    [401, { detail: { status: 'invalid_api_key', message: `Invalid key ${KEY}.` } }, 'auth', /rejected the key \(401\): Invalid key ••••\.$/],
    [402, { detail: { message: 'Upgrade\u001b[31m now' } }, 'unavailable', /paid.*\(402\): Upgrade now\.$/],
    [403, {}, 'auth', /denied access/],
    [404, { message: 'nope' }, 'not_found', /has no voice da-voice \(404\): nope\.$/],
    [422, { detail: [{ msg: 'x' }] }, 'unavailable', /rejected the request \(422\)\.$/],
    [429, { detail: { message: 'x'.repeat(5000) } }, 'unavailable', /rate limit or quota reached.*\(429\): x{199}…\.$/],
    [500, 'no object', 'unavailable', /a server error \(500\)\.$/],
    [503, { detail: 'later' }, 'unavailable', /a server error \(503\): later\.$/],
    [418, {}, 'unavailable', /unexpected response \(418\)/],
    [204, {}, 'unavailable', /unexpected response \(204\)/],
  ]; // prettier-ignore
  for (const [code, body, kind, message] of refusals) {
    it(`explains status ${code}, and what to do`, async () => {
      server.answer(status(code, body));
      const error = await rejection(engineOf().speak(machine, orderOf('Hi')));
      expect(error.kind).to.equal(kind);
      expect(error.message).to.match(message).and.not.include(KEY);
      expect(error.hint).to.match(/^[A-Z].+\.$/);
      expect(existsSync(box.path('played.wav'))).to.equal(false);
    });
  }

  it('follows no redirect, which would leak the key', async () => {
    const other = await speechServer();
    try {
      for (const code of [301, 302, 303, 307, 308]) {
        server.answer(status(code, {}, { location: `${other.url}/v1/text-to-speech/x` }));
        const error = await rejection(engineOf().speak(machine, orderOf('Hi')));
        expect(error.message).to.match(
          new RegExp(`returned a redirect, which steward does not follow.*\\(${code}\\)`),
        );
      }
      expect(other.asked).to.have.length(0);
    } finally {
      await other.close();
    }
  });

  const broken: [what: string, answer: Parameters<SpeechServer['answer']>[0], message: RegExp][] = [
    ['is empty', pcm(Buffer.alloc(0)), /empty response/],
    ['is a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), /no audio/],
    ['is JSON', status(200, { audio: 'x' }), /no audio/],
    ['is of a kind that no player takes', pcm(Buffer.from('OggS....')), /Ogg/],
    ['breaks off', (response) => {
      response.writeHead(200, { 'content-type': 'audio/pcm', 'content-length': '1000' });
      response.write('half', () => response.destroy());
    }, /closed the connection before its response was complete/],
    ['breaks off in its chunks', (response) => {
      response.writeHead(200, { 'content-type': 'audio/pcm' });
      response.write('half', () => response.destroy());
    }, /closed the connection before its response was complete/],
    ['is cut before it begins', (response) => response.destroy(), /closed the connection before its response was complete/],
    ['does not end', (response) => {
      response.writeHead(200, { 'content-type': 'audio/pcm' });
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(1 << 20), more));
      more();
    }, /response that is too large/],
    ['is an error that does not end', (response) => {
      response.writeHead(500);
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(1 << 16), more));
      more();
    }, /a server error/],
  ]; // prettier-ignore
  for (const [what, answer, message] of broken) {
    it(`plays nothing if the answer ${what}`, async () => {
      server.answer(answer);
      const error = await rejection(engineOf().speak(machine, orderOf('Hi')));
      expect(error.kind).to.equal('unavailable');
      expect(error.message).to.match(message);
      expect(existsSync(box.path('played.wav'))).to.equal(false);
    });
  }

  long('does not wait for a server that hangs', async () => {
    for (const hangs of [() => undefined, (response: import('node:http').ServerResponse) => void response.writeHead(200, { 'content-type': 'audio/pcm' }).write('x')]) {
      server.answer(hangs);
      const error = await rejection(engineOf().speak(machine, orderOf('Hi', { remainingMs: () => 150 })));
      expect(error.message).to.match(/did not respond in time/);
    }
  }); // prettier-ignore

  it('uses the proxy of the environment, except for this machine', async () => {
    const proxy = await refusingProxy();
    try {
      await withProxies({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url }, async () => {
        const far = engineOf({ url: 'https://speech.example' }).speak(machine, orderOf('Hi'));
        const error = await rejection(far);
        expect(error.message)
          .to.match(/^The speech provider at speech\.example /)
          .and.not.include(KEY);
        await engineOf().speak(machine, orderOf('Hi'));
      });
      expect(proxy.asked).to.deep.equal(['CONNECT speech.example:443 HTTP/1.1']);
      expect(server.asked).to.have.length(1);
    } finally {
      await proxy.close();
    }
  }).timeout(60_000);

  it('does not send the key unencrypted to another machine', async () => {
    const error = await rejection(engineOf({ url: 'http://192.0.2.1' }).speak(machine, orderOf('Hi')));
    expect(error.kind).to.equal('config');
  });

  it('stops at once on request', async () => {
    const stop = new AbortController();
    server.answer(() => stop.abort());
    const error = await rejection(engineOf().speak(machine, orderOf('Hi', { signal: stop.signal })));
    expect(error.kind).to.equal('canceled');
  });

  it('names a server that refuses the connection', async () => {
    await server.close();
    const error = await rejection(engineOf().speak(machine, orderOf('Hi')));
    expect(error.message).to.match(/^The speech provider at 127\.0\.0\.1:\d+ refused the connection\.$/);
    server = await speechServer();
  }); // prettier-ignore
});
