import { expect } from 'chai';
import fc from 'fast-check';

import { batchOf, MAX_BRIEFS, MODEL_TIERS } from '../../../src/lib/agents/brief';
import { explainRoute, isIdle, type RouteOptions, RULES } from '../../../src/lib/agents/routing';
import { corpus, NAMED, route, TYPES, type CorpusRequest } from '../../helpers/agents';
import { long } from '../../helpers/long';

const OPTIONS: RouteOptions = { types: TYPES, named: NAMED };

function wrongIn(requests: readonly CorpusRequest[]): string[] {
  return requests.flatMap(({ rule, request, effort }) => {
    const decision = route(request, { ...OPTIONS, ...(effort === undefined ? {} : { effort }) });
    return decision.rule === rule ? [] : [`${rule}, not ${decision.rule}: ${request}`];
  });
}

describe('routing', () => {
  long('routes every request of the corpus by the right rule', () => {
    const requests = corpus('requests');
    expect(requests.length).to.be.at.least(200);
    expect(wrongIn(requests)).to.deep.equal([]);
  });

  long('routes the requests of the training sets by the right rule', () => {
    const requests = [
      ...corpus('training'),
      ...corpus('training-2'),
      ...corpus('training-3'),
      ...corpus('training-4'),
    ];
    expect(requests.length).to.be.at.least(250);
    expect(wrongIn(requests)).to.deep.equal([]);
  });

  long('decides an audit by its verb and the wish to change nothing', () => {
    const requests = corpus('audits');
    expect(requests.length).to.be.at.least(40);
    expect(wrongIn(requests)).to.deep.equal([]);
    for (const { request, effort } of requests.filter(({ rule }) => rule === 'audit')) {
      const { mode, brief } = route(request, { ...OPTIONS, ...(effort === undefined ? {} : { effort }) });
      expect(mode, request).to.equal('audit');
      expect(brief?.prompt, request).to.match(/^MODE: audit, read-only\./);
    }
  });

  it('has a request in the corpus for each rule', () => {
    const used = new Set(corpus('requests').map(({ rule }) => rule));
    expect(RULES.map(({ id }) => id).filter((id) => !used.has(id))).to.deep.equal([]);
  });

  it('names the rule, the words and the reason of each decision', () => {
    const decision = route('Please use custom agents to review it', OPTIONS);
    expect(decision).to.include({ worker: 'custom', subagentType: 'general-purpose', rule: 'custom' });
    expect(decision.triggers).to.deep.equal(['custom agents']);
    expect(decision.why).to.include('"custom agents" (rule 1)');
  });

  long('keeps the three systems apart', () => {
    for (const { request, effort } of corpus('requests')) {
      const decision = route(request, { ...OPTIONS, ...(effort === undefined ? {} : { effort }) });
      if (decision.worker === 'custom') expect(decision.subagentType, request).to.equal(TYPES.general);
      expect(decision.agent === undefined, request).to.equal(decision.worker !== 'named');
      expect(decision.mode === undefined || decision.subagentType === TYPES.builder, request).to.equal(true);
      const launched = !['native', 'managed'].includes(decision.worker);
      expect(decision.subagentType !== null, request).to.equal(launched);
    }
  });

  it('chooses a model tier every time', () => {
    const tier = (request: string, effort?: number): string =>
      route(request, { ...OPTIONS, ...(effort === undefined ? {} : { effort }) }).model;
    expect(tier('use agents to check the spelling')).to.equal('fast');
    expect(tier('use agents to read the book')).to.equal('balanced');
    expect(tier('use agents to weigh the trade-offs')).to.equal('deep');
    expect(tier('design the API')).to.equal('deep');
    expect(tier('use agents to read the book', 5)).to.equal('deep');
    expect(tier('use agents to read the book', 1)).to.equal('fast');
    expect(tier('use agents to read the book with the deep model')).to.equal('deep');
  });

  it('never builds for production on the fast tier because of a word', () => {
    const decision = route('quickly implement the login form, no shortcuts', OPTIONS);
    expect(decision).to.include({ rule: 'production', mode: 'build' });
    expect(decision.model).not.to.equal('fast');
    expect(route('quickly use agents to check the spelling', OPTIONS).model).to.equal('fast');
  });

  it('begins the brief of an audit and of a build with its mode', () => {
    const audit = route('cross-vendor audit of the parser', { ...OPTIONS, effort: 5 });
    expect(audit).to.include({ rule: 'audit', mode: 'audit', subagentType: 'builder' });
    expect(audit.brief?.prompt).to.match(/^MODE: audit, read-only\.\nYou are an auditor, /);
    const build = route('implement the audit trail, no shortcuts', OPTIONS);
    expect(build).to.include({ rule: 'production', mode: 'build' });
    expect(build.brief?.prompt).to.match(/^MODE: build\.\nYou are a senior engineer, /);
  });

  it('gives the working method in the brief', () => {
    const prompt = (request: string): string => route(request, OPTIONS).brief?.prompt ?? '';
    expect(prompt('fix the failing test')).to.match(/^You are a senior engineer[^]*Work test-driven/);
    expect(prompt('design the API')).to.match(/^You are a system architect[^]*Design before code/);
    expect(prompt('How do I write a hook for Claude Code?')).to.match(/Verify the latest features/);
  });

  it('launches several agents in one message', () => {
    const launch = 'Launch all 3 agents in one message, then the spotcheck agent when they finish.';
    expect(route('custom agents for the plan', { ...OPTIONS, count: 3 }).launch).to.equal(launch);
    expect(route('use a custom agent for the plan', OPTIONS)).not.to.have.property('launch');
    expect(batchOf('x', { count: 3, subagentType: 'general-purpose', model: 'fast' })).to.include({ launch });
    expect(batchOf('x', { count: 1, subagentType: 'general-purpose', model: 'fast' })).to.not.have.property(
      'launch',
    );
  });

  it('adds a spotcheck after parallel work only', () => {
    const spotcheck = route('custom agents for the plan', { ...OPTIONS, count: 3 }).spotcheck;
    expect(spotcheck).to.include({ subagentType: 'general-purpose', model: 'fast' });
    expect(spotcheck?.prompt).to.match(/consistent/);
    expect(route('translate it in parallel', OPTIONS).spotcheck).not.to.equal(null);
    expect(route('use an agent team for the move', OPTIONS).spotcheck).not.to.equal(null);
    expect(route('use a custom agent for the plan', OPTIONS).spotcheck).to.equal(null);
    expect(route('fix the failing test', OPTIONS).spotcheck).to.equal(null);
    expect(route('hello', OPTIONS).spotcheck).to.equal(null);
  });

  it('gives as many distinct briefs as requested', () => {
    const prompts = (request: string, count?: number): number => {
      const { briefs } = route(request, { ...OPTIONS, ...(count === undefined ? {} : { count }) });
      expect(new Set(briefs?.map(({ prompt }) => prompt)).size).to.equal(briefs?.length);
      return briefs?.length ?? 0;
    };
    expect(prompts('custom agents for the plan', 7)).to.equal(7);
    expect(prompts('launch five agents for the plan')).to.equal(5);
    expect(prompts('two custom agents for the plan')).to.equal(2);
    expect(prompts('custom agents for legal, finance and security')).to.equal(3);
    expect(prompts('implement the parser', 4)).to.equal(4);
    expect(prompts('research the market', 6)).to.equal(6);
    expect(prompts('hello', 2)).to.equal(2);
  });

  it('warns if more agents are requested than the limit', () => {
    const decision = route('launch 500 agents', OPTIONS);
    expect(decision.briefs).to.have.length(MAX_BRIEFS);
    expect(decision.warnings.join()).to.match(/500 agents/);
  });

  describe('gives a whole decision', () => {
    const NONE = 'No rule matched; the assistant does the work itself.';
    const BUILD =
      'Production-grade code (effort E3 or higher, no shortcuts, or the builder by name): the builder in build mode.';
    const AUDIT =
      ' Afterwards, consider a read-only audit by the same agent type (start its prompt with "MODE: audit").';
    const RESEARCH = '"research" (rule 3). Research or investigation: the research skill and its researchers.';
    const AGENTS = 'Agents are requested: inline briefs, one per perspective.';
    const native = { worker: 'native', subagentType: null, model: 'balanced', rule: 'native', why: NONE, triggers: [] };
    const research = {
      ...{ worker: 'research', subagentType: 'researcher-a', rule: 'research', why: RESEARCH },
      ...{ triggers: ['research'], brief: 'researcher-a' },
    };
    const build = (words: string, model: string, after = '') => ({
      ...{ worker: 'builtin', subagentType: 'builder', brief: 'builder', model, mode: 'build', rule: 'production' },
      ...{ why: `"${words}" (rule 6). ${BUILD}${after}`, triggers: [words] },
    });
    const retired = (type: string, words: string) => ({
      ...{ worker: 'custom', subagentType: 'general-purpose', brief: 'general-purpose', model: 'balanced' },
      ...{ rule: 'agents', why: `"${words}" (rule 2). ${AGENTS}`, triggers: [words] },
      warnings: [`The agent type "${type}" is retired; use the general type with an inline brief.`],
    });
    const rows: [request: string, options: Partial<RouteOptions>, decision: object][] = [
      ['hello there', {}, native],
      ['effort level e1 hello there', {}, { ...native, model: 'fast' }],
      ['effort 2 hello there', {}, native],
      [' e4, hello there', {}, { ...native, model: 'deep' }],
      ['wine4: hello there', {}, native],
      [
        'hello there',
        { broken: 2 },
        { ...native, warnings: ['2 invalid files in the roster; run "steward agents roster list".'] },
      ],
      [
        "don't use custom agents",
        {},
        { ...native, warnings: ['"custom" was not interpreted as a request for custom agents.'] },
      ],
      ['a custom report', {}, native],
      ['research the market with the fast model', {}, { ...research, model: 'fast' }],
      ['quickly research the market', {}, { ...research, model: 'fast' }],
      ['think deeply and research the market', {}, { ...research, model: 'deep' }],
      ['research the market', {}, { ...research, model: 'balanced' }],
      ['research the market', { count: 1 }, { ...research, model: 'balanced', briefs: 1 }],
      ['E5: implement the payment service', {}, build('effort E5, implement', 'deep', AUDIT)],
      ['implement the payment service', { effort: 4 }, build('effort E4, implement', 'deep', AUDIT)],
      ['quickly implement the login form, no shortcuts', {}, build('no shortcuts', 'balanced')],
      ['use the architect agent to plan it', {}, retired('architect', 'use the architect agent')],
      ['use an engineer sub-agent to build it', {}, retired('engineer', 'use an engineer sub-agent')],
      [
        'use the explore agent',
        {},
        {
          ...{ worker: 'builtin', subagentType: 'Explore', model: 'balanced', rule: 'built-in' },
          ...{ why: '"explore agent" (rule 9.4). A built-in agent type is requested.', triggers: ['explore agent'] },
          warnings: ['Built-in agents are for internal work. For your own briefs, ask for "custom agents".'],
        },
      ],
    ];
    for (const [request, options, decision] of rows)
      it(`${request} ${JSON.stringify(options)}`, () => {
        const { brief, briefs, launch, spotcheck, ...rest } = route(request, { ...OPTIONS, ...options });
        expect([launch, spotcheck]).to.deep.equal([undefined, null]);
        expect({
          ...rest,
          ...(brief && { brief: brief.subagentType }),
          ...(briefs && { briefs: briefs.length }),
        }).to.deep.equal({ warnings: [], ...decision });
      });
  }); // prettier-ignore

  it('says what it does not do of what was asked', () => {
    const warningsOf = (request: string, options: Partial<RouteOptions>): string[] =>
      route(request, { ...OPTIONS, ...options }).warnings;
    const ignored = 'No agents are launched, so the count is ignored.';
    expect(warningsOf("don't launch any agents", { count: 3 })).to.deep.equal([ignored]);
    expect(warningsOf("don't launch any agents", { count: 1 })).to.deep.equal([]);
    expect(warningsOf("don't launch any agents", {})).to.deep.equal([]);
    const audit = 'audit the code, and change nothing';
    const effort = 'A cross-vendor audit requires effort E4 or E5.';
    expect(warningsOf(audit, { effort: 3 })).to.deep.equal([effort]);
    expect(warningsOf(audit, { effort: 4 })).to.deep.equal([]);
    expect(warningsOf(audit, {})).to.deep.equal([]);
  });

  it('is printed by a hook only if it delegates', () => {
    const [own, given] = [route('hello there', OPTIONS), route('research the market', OPTIONS)];
    expect([isIdle(own, true), isIdle(own, false), isIdle(given, true)]).to.deep.equal([true, false, false]);
  });

  it('spreads research over the researchers', () => {
    const { briefs } = route('research the market', { ...OPTIONS, count: 4 });
    expect(briefs?.map(({ subagentType }) => subagentType)).to.deep.equal([
      'researcher-a',
      'researcher-b',
      'researcher-c',
      'researcher-a',
    ]);
  });

  it('launches every named agent with its own persona', () => {
    const decision = route('Let Serena and Marcus look at it', OPTIONS);
    expect(decision.agent).to.equal('serena');
    expect(decision.briefs?.map(({ prompt }) => prompt.slice(0, 16))).to.deep.equal([
      'You are Serena.\n',
      'You are Marcus.\n',
    ]);
    expect(decision.briefs?.[1]?.prompt).to.include('Marcus has seen a lot.');
  });

  it('gives a named agent its own traits and model', () => {
    const ada = { slug: 'ada', name: 'Ada', role: 'counsel', model: 'deep', expertise: ['legal'], personality: ['bold'], approach: [], persona: '' } as const; // prettier-ignore
    const { model, brief } = route('ask ada to read the medical report', { types: TYPES, named: [ada] });
    expect(model).to.equal('deep');
    expect(brief).to.include({ role: 'counsel', expertise: 'legal', personality: 'bold', model: 'deep' });
  });

  it('uses the type names of the configuration', () => {
    const types = { ...TYPES, general: 'worker', builder: 'smith', researchers: ['r1'] };
    const named = { types, named: [] };
    expect(route('custom agents please', named).subagentType).to.equal('worker');
    expect(route('use the smith for the parser', named)).to.include({ subagentType: 'smith', mode: 'build' });
    expect(route('research tea', named).subagentType).to.equal('r1');
  });

  it('warns of retired and unsuitable types', () => {
    expect(route('launch the architect agent', OPTIONS).warnings.join()).to.match(/"architect" is retired/);
    expect(route('Run this overnight, it takes 10 minutes', OPTIONS).warnings.join()).to.match(/30 minutes/);
    expect(route('Run it unattended with my notes', OPTIONS).warnings.join()).to.match(/own files/);
    expect(route('Run it overnight but ask me first', OPTIONS).warnings.join()).to.match(/interactive/);
  });

  it('explains which rules were tried, and what was negated', () => {
    const { considered } = explainRoute("don't use custom agents, research tea", OPTIONS);
    expect(considered[0]).to.include({ rule: 'custom', outcome: 'refused', words: 'custom agents' });
    expect(considered[considered.length - 1]).to.include({ rule: 'research', outcome: 'decided' });
  });

  long('reads the beginning and the end of a request of any length in bounded time', () => {
    const long = `${'lorem '.repeat(400_000)} Use custom agents for this.`;
    const decision = route(long, OPTIONS);
    expect(decision.rule).to.equal('custom');
    expect(decision.warnings.join()).to.match(/very long/);
    expect(decision.brief?.prompt.length).to.be.lessThan(20_000);
    expect(route('custom '.repeat(100_000), OPTIONS).rule).to.be.a('string');
    expect(route('launch the use of agent '.repeat(50_000), OPTIONS).rule).to.be.a('string');
    expect(route('"\'`(['.repeat(100_000), OPTIONS).rule).to.be.a('string');
  });

  long('never throws, and is deterministic', () => {
    const words = corpus('requests').flatMap(({ request }) => request.split(' '));
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 5 })), { maxLength: 40 }).map((parts) => parts.join(' ')),
    ); // prettier-ignore
    const count = fc.option(fc.integer({ min: 1, max: MAX_BRIEFS }), { nil: undefined });
    const effort = fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined });
    fc.assert(
      fc.property(text, count, effort, (request, wanted, level) => {
        const options = { ...OPTIONS, ...(wanted === undefined ? {} : { count: wanted }), ...(level === undefined ? {} : { effort: level }) }; // prettier-ignore
        const decision = route(request, options);
        expect(MODEL_TIERS).to.include(decision.model);
        expect(decision.why).not.to.equal('');
        expect(RULES.map(({ id }) => id)).to.include(decision.rule);
        if (decision.briefs !== undefined && decision.worker !== 'named') {
          expect(new Set(decision.briefs.map(({ prompt }) => prompt)).size).to.equal(decision.briefs.length);
        }
        expect(route(request, options)).to.deep.equal(decision);
      }),
      { numRuns: 150 },
    );
  });

  long('ignores case and surrounding spaces', () => {
    for (const { request, rule, effort } of corpus('requests').filter(({ rule: id }) => id !== 'named' && id !== 'native')) {
      const options = { ...OPTIONS, named: [], ...(effort === undefined ? {} : { effort }) };
      if (/[`"'_/]|[a-z][A-Z]/.test(request)) continue;
      expect(route(request.toUpperCase(), options).rule, request).to.equal(rule);
      expect(route(`  ${request}  `, options).rule, request).to.equal(rule);
    }
  }); // prettier-ignore
});
