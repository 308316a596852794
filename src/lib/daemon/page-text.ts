/** Matches a comment for the type checker, such as a type cast. */
const TYPE = /\/\*\* @[^*]*\*\/ ?/g;

const BREAK = / ?([,;{}([])\n/g;
/** Matches the name of a property at the start of a line of a style sheet or script. */
const PROPERTY = /^([\w-]+): /gm;

/**
 * Minifies a page, style sheet or script: removes indentation, comments and most line breaks. The text must
 * not contain multi-line strings.
 */
export function withoutComments(text: string): string {
  const lines: string[] = [];
  let isComment = false;
  for (let line of text.split('\n').map((raw) => raw.trim())) {
    if (isComment || line.startsWith('/*')) {
      const end = line.indexOf('*/');
      isComment = end < 0;
      line = isComment ? '' : line.slice(end + 2).trim();
    }
    if (line !== '' && !line.startsWith('//')) lines.push(line.replace(TYPE, ''));
  }
  const joined = `${lines.join('\n')}\n`;
  return joined.startsWith('<') ? joined : joined.replace(PROPERTY, '$1:').replace(BREAK, '$1');
}
