import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Corpus {
  /** Sentences in which "live" is the verb, and stays. */
  verb: string[];
  /** Sentences in which it is what is said of a broadcast, of what is in operation, of a living thing. */
  broadcast: string[];
}

/** A file of sentences under the headings "# verb" and "# broadcast"; other lines with # are remarks. */
export function readCorpus(name: string): Corpus {
  const path = join(__dirname, '..', 'lib', 'notify', 'speech', 'corpus', name);
  const corpus: Corpus = { verb: [], broadcast: [] };
  let kind: keyof Corpus = 'verb';
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '# verb' || line === '# broadcast') kind = line.slice(2) as keyof Corpus;
    else if (line !== '' && !line.startsWith('#')) corpus[kind].push(line);
  }
  return corpus;
}
