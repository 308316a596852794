import { expect } from 'chai';
import fc from 'fast-check';

import {
  eventType,
  hookAnswer,
  isWholeJson,
  readHookJson,
  reasonOf,
  type HookInput,
  type HookVerb,
} from '../../../src/lib/assistant/payload';
import { hookJson, RECORDED_EVENTS, verbOf, type RecordedEvent } from '../../helpers/hooks';

function read(text: string | Buffer, cut = false, env: NodeJS.ProcessEnv = {}): HookInput {
  const found = readHookJson(Buffer.from(text as string), cut, env);
  if ('problem' in found) throw new Error(found.problem);
  return found.input;
}

describe("Claude Code's hook JSON", () => {
  const expected: Record<RecordedEvent, [type: string, reason: string | undefined]> = {
    'session-start': ['session-start', 'startup'],
    prompt: ['prompt', undefined],
    tool: ['tool-after', undefined],
    'tool-before': ['tool-before', undefined],
    'tool-failed': ['tool-failed', undefined],
    'subagent-start': ['subagent-start', undefined],
    'subagent-stop': ['subagent-stop', undefined],
    notification: ['notification', 'permission_prompt'],
    permission: ['notification', 'permission_prompt'],
    stop: ['stop', undefined],
    'session-end': ['session-end', 'prompt_input_exit'],
  };
  for (const event of RECORDED_EVENTS) {
    it(`of ${event}`, () => {
      const input = read(hookJson(event));
      const verb = verbOf(event) as HookVerb;
      expect([eventType(verb, input), reasonOf(verb, input)]).to.deep.equal(expected[event]);
      expect(input.session).to.equal('0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6');
      // A prompt is looked at, and by the prompt hook alone.
      const { prompt, lastMessage, ...rest } = input;
      expect(prompt?.includes('SECRET-PROMPT') ?? false).to.equal(event === 'prompt');
      // Of the last message, only the line for the person is stored.
      expect(lastMessage?.includes('SECRET-MESSAGE') ?? false).to.equal(/^(?:subagent-)?stop$/.test(event));
      expect(JSON.stringify(rest)).not.to.include('SECRET-PROMPT').and.not.to.include('SECRET-MESSAGE');
      expect(JSON.stringify(rest)).not.to.include('SECRET-OUTPUT').and.not.to.include('SECRET-INPUT');
    });
  }

  for (const [what, path] of [
    ['a NUL', '/home/ann/\0work'],
    ['2,000 levels', `/home/${'a/'.repeat(2000)}`],
    ['more than a path holds', `/home/${'a/'.repeat(50_000)}`],
  ] as const) {
    it(`with a path that has ${what} names no folder and no file, and no prompt of that folder is read`, () => {
      const input = read(hookJson('prompt', { cwd: path, transcript_path: path }));
      expect(input).to.include({ cwd: undefined, transcript: undefined, prompt: undefined });
      const file = read(hookJson('tool', { tool_name: 'Write', tool_input: { file_path: path } })).file;
      expect(file).to.equal(undefined);
      expect(input.session).to.equal('0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6');
    });
  }

  it('may have events, fields and types that nobody knows', () => {
    const text = hookJson('tool', {
      hook_event_name: 'PostToolBatch',
      brand_new: { a: [1] },
      tool_name: 7,
      cwd: null,
    });
    const input = read(text);
    expect(eventType('tool', input)).to.equal('tool-after');
    expect(input).to.include({ tool: undefined, cwd: undefined });
    expect(eventType('tool', { event: 'toString' })).to.equal('tool-after');
  });

  it('names the file that a tool has written, and no other', () => {
    const file = (tool: string, input: unknown): string | undefined =>
      read(hookJson('tool', { tool_name: tool, tool_input: input })).file;
    expect(file('Write', { file_path: '/a', content: 'x' })).to.equal('/a');
    expect(file('Edit', { file_path: '/a' })).to.equal('/a');
    expect(file('Read', { file_path: '/a' })).to.equal(undefined);
    for (const odd of [null, 'x', [], { file_path: 7 }]) expect(file('Write', odd)).to.equal(undefined);
  });

  it('comes in UTF-8 with a mark, or in UTF-16 with one', () => {
    const text = hookJson('stop', { cwd: '/ä/日本' });
    expect(read(`\ufeff${text}`).cwd).to.equal('/ä/日本');
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
    const found = readHookJson(utf16, false, {});
    expect('input' in found && found.input.cwd).to.equal('/ä/日本');
  });

  it('is refused in words where it is none', () => {
    for (const bytes of ['', 'null', '[]', '"x"', '7', '{', '{}', '\0\u0001\xff', 'ls -l\n']) {
      const found = readHookJson(Buffer.from(bytes, 'latin1'), false, {});
      expect(found, JSON.stringify(bytes)).to.have.property('problem');
    }
  });

  it('gives what stands before a cut', () => {
    const text = hookJson('tool', { tool_response: { stdout: 'x'.repeat(10_000) } });
    for (const end of [text.length - 1, text.length - 500, text.indexOf('tool_input') + 14]) {
      expect(read(text.slice(0, end), true)).to.include({ tool: 'Bash', event: 'PostToolUse', cwd: '/' });
    }
    const deep = `{"a":{"session_id":"wrong"},"b":["session_id","wrong"],"session_id":"ri\\"ght","tool_input":{"x":"`;
    expect(read(deep, true).session).to.equal('ri"ght');
    expect(readHookJson(Buffer.from('x"a":1'), true, {})).to.have.property('problem');
  });

  it('is cut anywhere without a wrong field or an error', () => {
    const text = hookJson('tool');
    const whole = read(text);
    fc.assert(
      fc.property(fc.nat(text.length), (end) => {
        const found = readHookJson(Buffer.from(text.slice(0, end)), true, {});
        if ('problem' in found) return;
        const { session, tool, cwd } = found.input;
        expect([undefined, whole.session]).to.include(session);
        expect([undefined, whole.tool]).to.include(tool);
        expect([undefined, whole.cwd]).to.include(cwd);
      }),
    );
  });

  it('is whole when it is one object and white space', () => {
    for (const text of ['{}', '{"a":1}\n', ' {"a":"}"} \r\n'])
      expect(isWholeJson(Buffer.from(text)), text).to.equal(true);
    for (const text of ['', '{', '{"a":"}', '[1]', '{}{}', '{} x'])
      expect(isWholeJson(Buffer.from(text)), text).to.equal(false);
  });

  it('takes a terminal sequence where the assistant is new enough to write it', () => {
    const takes = (env: NodeJS.ProcessEnv, more = {}): boolean =>
      read(hookJson('stop', more), false, env).takesSequence;
    expect(takes({})).to.equal(false);
    expect(takes({}, { prompt_id: 'p' })).to.equal(true);
    for (const version of ['2.1.141', '2.1.200', '2.2.0', '3.0.0', '10.0.0'])
      expect(takes({ CLAUDE_CODE_VERSION: version }), version).to.equal(true);
    for (const version of ['2.1.140', '2.0.999', '1.9.200'])
      expect(
        takes({ CLAUDE_CODE_EXECPATH: `/opt/claude/versions/${version}` }, { prompt_id: 'p' }),
        version,
      ).to.equal(false);
  });

  it('names the file that a tool has written before the cut, whatever stands around it', () => {
    const file = (text: string): string | undefined => read(text, true).file;
    const start = '{"session_id":"one","tool_name":"Write",';
    expect(file(`${start}"tool_input":{"file_path":"/a","content":"xx`)).to.equal('/a');
    expect(file(`${start}"tool_input":{"x":{"file_path":"/wrong"},"file_path":"/a","content":"xx`)).to.equal(
      '/a',
    );
    expect(
      file(`${start}"tool_input":{"file_path":"/a"},"tool_response":{"file_path":"/wrong","c":"`),
    ).to.equal('/a');
    expect(file(`${start}"other":{"file_path":"/wrong"},"tool_input":["file_path","/wrong","`)).to.equal(
      undefined,
    );
    expect(file(`${start}"x":"tool_input","y":{"file_path":"/wrong","z":"`)).to.equal(undefined);
  });

  it('is answered with what the protocol has, or with nothing', () => {
    expect(hookAnswer('claude-code', { title: undefined, context: undefined })).to.equal('');
    expect(JSON.parse(hookAnswer('claude-code', { title: '▶ Execute', context: undefined }))).to.deep.equal({
      terminalSequence: '\u001b]0;▶ Execute\u0007',
    });
    expect(JSON.parse(hookAnswer('claude-code', { title: undefined, context: 'Here.' }))).to.deep.equal({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'Here.' },
    });
  });
});
