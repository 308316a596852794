import { expect } from 'chai';

import { batchOf } from '../../../src/lib/agents/brief';
import { explainRoute } from '../../../src/lib/agents/routing';
import { alertText, watchedText, briefsText, routeText, traitsText } from '../../../src/lib/agents/view';
import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { NAMED, TYPES } from '../../helpers/agents';

const ALERT = { ts: '2026-11-20T09:05:00Z', session: 'one', task: 'Plan', agents: 2, silentSec: 90, since: '2026-11-20T09:03:30Z', lastTool: 'Bash', message: '2 agents in Plan: no tool call for 90 s.' }; // prettier-ignore

describe('agents: views', () => {
  const { decision, considered } = explainRoute(
    'Launch three custom agents to review the plan, do not use Marcus',
    { types: TYPES, named: NAMED },
  );
  const texts = (columns: number): Record<string, string> => {
    const options = { columns, color: false };
    const seen = { ...ALERT, status: 'working' as const, silent: true };
    return {
      route: routeText(decision, options, considered),
      briefs: briefsText(
        batchOf('review the plan', { count: 2, subagentType: 'general-purpose', model: 'deep' }),
        options,
      ),
      traits: traitsText(options),
      watched: watchedText([seen], options),
      alert: alertText(ALERT, { ...options, zone: 'Europe/Paris' }),
    };
  };

  for (const columns of [80, 40]) {
    it(`fits into ${columns} columns`, () => {
      for (const [name, text] of Object.entries(texts(columns))) {
        for (const line of text.split('\n')) {
          expect(displayWidth(line), `${name}: ${line}`).to.be.at.most(columns);
        }
      }
    });
  }

  it('cuts nothing from briefs, traits and alerts on a narrow terminal', () => {
    const { briefs = '', traits = '', alert = '' } = texts(40);
    for (const text of [briefs, traits, alert]) expect(text).not.to.include('…');
    expect(briefs).to.include('general-purpose');
  });

  it('shows an alert in the configured time zone', () => {
    expect(texts(80)['alert']).to.equal('10:05  2 agents in Plan: no tool call for 90 s. Last tool: Bash.');
  });
});
