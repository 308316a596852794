import { expect } from 'chai';

import { heldOutput, heldRequest, type HeldRequest } from '../../../src/lib/assistant/held-request';

const BASE = {
  session_id: 's1',
  cwd: '/home/ann/shop',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
};
const QUESTIONS = [{ question: 'Which?', header: 'x', options: [{ label: 'A' }, { label: 'B' }] }];
const RULES = [
  { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow', destination: 'session' },
  { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow', destination: 'userSettings' },
  { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
];
const read = (more: object): HeldRequest | undefined =>
  heldRequest(Buffer.from(JSON.stringify({ ...BASE, permission_mode: 'default', ...more })));
const given = (
  request: HeldRequest | undefined,
  behavior: 'allow' | 'deny',
  texts: string[] = [],
  forSession = false,
) => JSON.parse(heldOutput(request as HeldRequest, { behavior, texts, forSession })) as unknown;

describe("an assistant's held request", () => {
  it('is a question where Claude Code takes the answer, with the chosen labels', () => {
    const ask = { tool_name: 'AskUserQuestion', tool_input: { questions: QUESTIONS } };
    const before = { ...ask, hook_event_name: 'PreToolUse' };
    expect(read(before)).to.equal(undefined);
    expect(read({ ...ask, permission_mode: 'auto' })).to.equal(undefined);
    const updatedInput = { questions: QUESTIONS, answers: { 'Which?': 'B' } };
    expect(given(read({ ...before, permission_mode: 'auto' }), 'allow', ['B'])).to.deep.equal({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput },
    });
    expect(given(read(ask), 'allow', ['B'])).to.deep.equal({
      hookSpecificOutput: {
        hookEventName: 'PermissionRequest',
        decision: { behavior: 'allow', updatedInput },
      },
    });
    expect(given(read({ ...before, permission_mode: 'auto' }), 'deny', ['later'])).to.deep.equal({
      hookSpecificOutput: {
        ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'later' },
      },
    });
  });

  it('is a permission, which lasts at most for the session', () => {
    const request = read({ tool_input: { command: 'ls' }, permission_suggestions: RULES });
    expect(request).to.include({ kind: 'permission', tool: 'Bash' });
    const own = { behavior: 'allow', updatedInput: { command: 'ls' } };
    const hookEventName = 'PermissionRequest';
    expect(given(request, 'allow')).to.deep.equal({ hookSpecificOutput: { hookEventName, decision: own } });
    expect(given(request, 'allow', [], true)).to.deep.equal({
      hookSpecificOutput: { hookEventName, decision: { ...own, updatedPermissions: [RULES[0]] } },
    });
    expect(given(request, 'deny')).to.deep.equal({
      hookSpecificOutput: { hookEventName, decision: { behavior: 'deny', message: 'The user declined.' } },
    });
  });

  it('shows the rules for the session, and offers none for another tool', () => {
    const rule = { toolName: 'Bash', ruleContent: 'ls:*' };
    const offer = (...rules: object[]) =>
      read({
        tool_input: { command: 'ls' },
        permission_suggestions: [{ ...RULES[0], rules }],
      });
    expect(offer(rule)?.questions).to.deep.equal([
      { text: 'For this session, also: {"toolName":"Bash","ruleContent":"ls:*"}', options: [] },
    ]);
    expect(offer(rule, { toolName: 'Write' })).to.deep.include({ questions: [], suggestions: [] });
  });

  it('is only a permission of Codex, whose decision has no more than it knows', () => {
    const bytes = (more: object) =>
      Buffer.from(JSON.stringify({ ...BASE, permission_mode: 'default', ...more }));
    const tool = { tool_input: { command: 'ls' }, permission_suggestions: RULES };
    const request = heldRequest(bytes(tool), 'codex');
    expect(request).to.include({ session: 'codex:s1', kind: 'permission' });
    const decision = { behavior: 'allow' };
    const own = { hookEventName: 'PermissionRequest', decision };
    expect(given(request, 'allow')).to.deep.equal({ hookSpecificOutput: own });
    for (const name of ['AskUserQuestion', 'request_user_input'])
      expect(heldRequest(bytes({ ...tool, tool_name: name, hook_event_name: 'PreToolUse' }), 'codex')).to.equal(undefined); // prettier-ignore
  });

  it('is a plan only in the mode of plans, and whole', () => {
    const plan = { tool_name: 'ExitPlanMode', tool_input: { plan: 'Do it.' }, hook_event_name: 'PreToolUse' };
    expect(read({ ...plan, permission_mode: 'plan' })?.questions).to.deep.equal([
      { text: 'Do it.', options: [] },
    ]);
    expect(read(plan)).to.equal(undefined);
    expect(read({ ...plan, permission_mode: 'plan', tool_input: {} })).to.equal(undefined);
  });

  it('is left to the assistant if anything is unclear', () => {
    const ok = { tool_input: { command: 'ls' } };
    expect(read(ok)).not.to.equal(undefined);
    const unclear: Record<string, object> = {
      'no mode': { ...ok, permission_mode: undefined },
      'may not ask': { ...ok, permission_mode: 'dontAsk' },
      Cursor: { ...ok, cursor_version: '1' },
      'no folder': { ...ok, cwd: undefined },
      'no session': { ...ok, session_id: '' },
      'no input': {},
      'an input too long to read': { tool_input: { command: 'x'.repeat(16_000) } },
      'no label': {
        tool_name: 'AskUserQuestion',
        tool_input: { questions: [{ question: 'x', options: [{}] }] },
      },
      'one question twice': {
        tool_name: 'AskUserQuestion',
        tool_input: { questions: [...QUESTIONS, ...QUESTIONS] },
      },
      'no question': { tool_name: 'AskUserQuestion', tool_input: { questions: [] } },
      'another event': { ...ok, hook_event_name: 'PreToolUse' },
    };
    for (const [name, more] of Object.entries(unclear)) expect(read(more), name).to.equal(undefined);
    expect(heldRequest(Buffer.from('{"session_id":"s1","tool_'))).to.equal(undefined);
  });
});
