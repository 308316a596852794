import { StewardError } from '../errors';
import type { AppKind } from './app-kind';
import { foldName, refuseEmptyApp } from './classify';
import { parseClassifyRules } from './classify-rules';

/**
 * The text of a classify.yaml in which an application is of this kind: its own rule says so, or a new first one. Only
 * that rule's bytes change; a file that is built so that this cannot be done is `config`.
 */
export async function withAppRule(
  text: string,
  fileName: string,
  app: string,
  kind: AppKind,
): Promise<string> {
  refuseEmptyApp(app);
  const before = await parseClassifyRules(text, fileName);
  const isAppRule = ({ key, pattern }: (typeof before)[number]): boolean =>
    key === 'app' && foldName(pattern) === foldName(app);
  const index = before.findIndex(isAppRule);
  // A glob or an id further up may match the same application.
  const isFirst = index >= 0 && before.slice(0, index).every(({ key }) => key === 'app');
  const edited = isFirst
    ? await withKind(text, index, kind)
    : await withFirstRule(text, `- {app: ${JSON.stringify(app)}, kind: ${kind}}`);
  const after = edited === undefined ? [] : await parseClassifyRules(edited, fileName);
  const isMeant = after.length === before.length + (isFirst ? 0 : 1) && after.find(isAppRule)?.kind === kind;
  if (edited !== undefined && isMeant) return edited;
  throw new StewardError('config', `${fileName} is written so that no rule can be set in it.`, {
    hint: 'Write the rules as a list, one a line, such as "- {app: Firefox, kind: creation}".',
  });
}

async function withKind(text: string, index: number, kind: AppKind): Promise<string | undefined> {
  const { isMap, isScalar } = await import('yaml');
  const item = (await rulesOf(text))?.items[index];
  const node = isMap(item) ? item.get('kind', true) : undefined;
  const range = isScalar(node) ? node.range : undefined;
  return range === null || range === undefined
    ? undefined
    : text.slice(0, range[0]) + kind + text.slice(range[1]);
}

async function withFirstRule(text: string, rule: string): Promise<string | undefined> {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const rules = await rulesOf(text);
  if (rules === undefined) return `${text}${text === '' || text.endsWith('\n') ? '' : eol}${rule}${eol}`;
  const [first] = rules.items as { range?: [number, number, number] }[];
  if (first?.range === undefined || rules.flow === true) return undefined;
  const start = text.lastIndexOf('\n', first.range[0] - 1) + 1;
  const indent = /^\ufeff?( *)- +$/.exec(text.slice(start, first.range[0]))?.[1];
  if (indent === undefined) return undefined;
  const at = text.charCodeAt(start) === 0xfeff ? start + 1 : start;
  return `${text.slice(0, at)}${indent}${rule}${eol}${text.slice(at)}`;
}

/** The list of the rules; undefined for a file that holds none yet. */
async function rulesOf(text: string) {
  const { parseDocument, isMap, isSeq } = await import('yaml');
  const { contents } = parseDocument(text);
  const list: unknown = isMap(contents) ? contents.get('rules', true) : contents;
  return isSeq(list) ? list : undefined;
}
