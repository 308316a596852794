import { StewardError } from '../errors';
import { addIssue, addReminder, closeIssue, type AddInput } from '../work/actions';
import { claimIssue } from '../work/claim';
import { openNotify } from '../app/notify';
import { sendNotification } from '../notify/send';
import { openWork } from '../app/work';
import { event, inputOf, issueNumber, priority, source, status, text, whole, type McpTool } from './tool';

const MAX_BODY = 60_000;

/** The tools that write to the work repository, or tell the person something. */
export const WRITE_TOOLS: readonly McpTool[] = [
  {
    name: 'remind',
    description: 'Add a reminder; its time may stand in the text ("call Ann tomorrow at 10").',
    writes: true,
    input: inputOf({
      'text!': text('What to be reminded of.'),
      at: text('When, in natural words; then the text is taken as it is.', 200),
      priority,
    }),
    async run(context, input) {
      const { deps } = await openWork(context);
      return addReminder(deps, input as { text: string; at?: string; priority?: string });
    },
  },
  {
    name: 'add_issue',
    description: 'Add an issue. Labels that the repository does not have are left out and named.',
    writes: true,
    input: inputOf({
      'title!': text('What is to be done, in a few words.'),
      body: text('More about it, in Markdown.', MAX_BODY),
      type: text('Its Type; feature when left out.', 40),
      status,
      priority,
      property: text('Its Property, such as website.', 40),
      labels: { type: 'array', items: text('A label.', 50), maxItems: 20, description: 'Further labels.' },
    }),
    async run(context, input) {
      const { deps } = await openWork(context);
      return addIssue(deps, { type: 'feature', ...(input as unknown as AddInput) });
    },
  },
  {
    name: 'claim',
    description: 'Take an issue as an agent; of two at once exactly one gets it.',
    writes: true,
    input: inputOf({ 'number!': issueNumber, 'agent!': text('The agent, as in its Agent: label.', 40) }),
    async run(context, { number, agent }) {
      const { deps } = await openWork(context);
      return claimIssue(deps, { number: Number(number), agent: String(agent) });
    },
  },
  {
    name: 'close',
    description: 'Close an issue that is done. The evidence becomes its last comment.',
    writes: true,
    input: inputOf({
      'number!': issueNumber,
      'evidence!': text('What shows that it is done: a commit, a link, the output of a test.', MAX_BODY),
    }),
    async run(context, { number, evidence }) {
      // On the command line @FILE is the person's own word; here it would send any file of the machine away.
      if (String(evidence).startsWith('@')) {
        throw new StewardError('usage', 'evidence begins with @, which would name a file.', {
          hint: 'Write the evidence itself, and begin it with a word.',
        });
      }
      const { deps } = await openWork(context);
      return closeIssue(deps, { number: Number(number), evidence: String(evidence) });
    },
  },
  {
    name: 'notify',
    description: 'Tell the person something: spoken, shown or pushed, as the event is routed.',
    writes: true,
    input: inputOf({
      'message!': text('What is said.', 4000),
      title: text('Title of the notification.', 250),
      event,
      priority: whole('1 (lowest) to 5 (passes quiet hours).', 1, 5),
      source,
      url: text('An address that a click opens.', 2000),
      dedupe: text('Messages of one key are one message that changes.', 200),
    }),
    async run(context, input) {
      return sendNotification(await openNotify(context), input);
    },
  },
];
