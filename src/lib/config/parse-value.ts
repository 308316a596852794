/**
 * What a text on the command line or in a variable may mean, in the order to try: as JSON (`60`, `true`,
 * `["a","b"]`), as it stands, and as a list with commas (`a,b`; an empty text is an empty list).
 */
export function candidates(text: string): unknown[] {
  const asList = text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
  return [...asJson(text), text, asList];
}

function asJson(text: string): unknown[] {
  try {
    return [JSON.parse(text) as unknown];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
