import type { Preferred } from './brief';
import { findCode } from './routing-code';
import { findNamed } from './routing-named';
import {
  ARCHITECTURE,
  CUSTOM,
  findAudit,
  findDeclined,
  findParallel,
  findProduction,
  findType,
  MANAGED,
  RESEARCH,
  RULE_2,
  TEAM_NAMED,
  TOOL_GUIDE,
  unsuitableForManaged,
} from './routing-looks';
import { look, type Look } from './routing-match';
import type { AgentTypes, Asked, Rule } from './routing-types';

const general = (types: AgentTypes): string => types.general;
const none = (): null => null;
const words = (wanted: Look) => (asked: Asked) => look(asked.request, wanted);

const ENGINEER: Preferred = {
  expertise: ['technical'],
  personality: ['meticulous'],
  approach: ['systematic'],
};
const TEST_DRIVEN =
  'Work test-driven: first a test that fails for the right reason, then the smallest change that makes it pass, then clean up. Run the tests before you report.';
const PRODUCTION_METHOD = `${TEST_DRIVEN} No shortcuts: errors handled, limits tested, no placeholder left.`;

/** The table, in the order that decides. To add a rule, add an entry where it stands in that order. */
export const RULES: readonly Rule[] = [
  {
    id: 'custom',
    from: 'rule 1',
    says: 'The word custom, said of agents: one inline brief an agent, each launched with the general type.',
    find: words(CUSTOM),
    gives: { worker: 'custom', type: general, model: 'balanced', brief: {} },
  },
  {
    id: 'named',
    from: 'rule 4',
    says: 'An agent of your roster is named: that agent, with its own persona.',
    find: findNamed,
    gives: { worker: 'named', type: general, model: 'balanced' },
  },
  {
    id: 'agent-team',
    from: 'rule 9.1',
    says: 'An agent team is asked for by name.',
    find: words(TEAM_NAMED),
    gives: { worker: 'team', type: general, model: 'balanced', parallel: true },
  },
  {
    id: 'managed',
    from: 'rules 9.3 and 12',
    says: 'Unattended, overnight, in CI, for hours, in a sandbox or beyond a disconnect: a hosted managed agent; not for interactive work, under 30 minutes, or with your own context.',
    find: words(MANAGED),
    gives: { worker: 'managed', type: none, model: 'balanced', brief: {} },
    unsuitable: unsuitableForManaged,
  },
  {
    id: 'built-in',
    from: 'rule 9.4',
    says: 'A built-in type of the task tool is asked for by name.',
    find: findType,
    gives: { worker: 'builtin', type: general, model: 'balanced' },
  },
  {
    id: 'declined',
    from: 'your word',
    says: 'The request wants no agents: no delegation.',
    find: findDeclined,
    gives: { worker: 'native', type: none, model: 'balanced' },
  },
  {
    id: 'research',
    from: 'rule 3',
    says: 'Research X, or investigate Y: the research skill and its researchers.',
    find: words(RESEARCH),
    gives: {
      worker: 'research',
      type: ({ researchers }) => researchers[0] ?? null,
      model: 'balanced',
      brief: {
        role: 'researcher',
        method: 'Name the source of every claim, and say how far you trust it.',
        prefer: { expertise: ['research'], personality: ['analytical'], approach: ['thorough'] },
      },
    },
  },
  {
    id: 'tool-guide',
    from: 'rule 8',
    says: "A question about the assistant's hooks, settings, commands, MCP, agents or API: the tool guide.",
    find: words(TOOL_GUIDE),
    gives: {
      worker: 'builtin',
      type: ({ toolGuide }) => toolGuide,
      model: 'balanced',
      brief: {
        role: 'guide to the assistant tool',
        method: 'Verify the latest features in its current documentation before you answer.',
        prefer: { expertise: ['technical'], personality: ['meticulous'], approach: ['rapid'] },
      },
    },
  },
  {
    id: 'audit',
    from: 'rule 6',
    says: 'A cross-vendor audit, or an audit at effort E4 or E5: the builder, read-only.',
    find: findAudit,
    gives: {
      worker: 'builtin',
      type: ({ builder }) => builder,
      model: 'deep',
      fixedModel: true,
      mode: 'audit',
      brief: {
        role: 'auditor',
        method:
          'Change nothing. Report each finding with its place, its evidence and how severe it is, the worst first, and say what you did not look at.',
        prefer: { expertise: ['technical'], personality: ['skeptical'], approach: ['adversarial'] },
      },
    },
  },
  {
    id: 'production',
    from: 'rule 6',
    says: 'Production-grade code (effort E3 and up, no shortcuts, or the builder is named): the builder in build mode.',
    find: findProduction,
    gives: {
      worker: 'builtin',
      type: ({ builder }) => builder,
      model: 'balanced',
      mode: 'build',
      brief: { role: 'senior engineer', method: PRODUCTION_METHOD, prefer: ENGINEER },
    },
  },
  {
    id: 'architecture',
    from: 'rule 7',
    says: 'Architecture or design of a system: the general type with a system-design brief.',
    find: words(ARCHITECTURE),
    gives: {
      worker: 'builtin',
      type: general,
      model: 'deep',
      fixedModel: true,
      brief: {
        role: 'system architect',
        method:
          'Design before code: requirements and limits first, then two or three options with their trade-offs, then one recommendation, its interfaces, and what would make it wrong.',
        prefer: { expertise: ['technical'], personality: ['analytical'], approach: ['comparative'] },
      },
    },
  },
  {
    id: 'code',
    from: 'rule 5',
    says: 'Code: the general type with the brief of a senior engineer who works test-driven.',
    find: findCode,
    gives: {
      worker: 'builtin',
      type: general,
      model: 'balanced',
      brief: { role: 'senior engineer', method: TEST_DRIVEN, prefer: ENGINEER },
    },
  },
  {
    id: 'agents',
    from: 'rule 2',
    says: 'Agents, specialized agents, launch agents, parallel agents: inline briefs, one a perspective.',
    find: words(RULE_2),
    gives: { worker: 'custom', type: general, model: 'balanced', brief: {} },
  },
  {
    id: 'parallel',
    from: 'rule 9.1',
    says: 'Other parallel work, or work with dependencies: an agent team.',
    find: findParallel,
    gives: { worker: 'team', type: general, model: 'balanced', parallel: true },
  },
  {
    id: 'native',
    from: 'otherwise',
    says: 'Everything else: no delegation.',
    find: () => ({ hit: { words: '', at: 0, length: 0 } }),
    gives: { worker: 'native', type: none, model: 'balanced' },
  },
];
