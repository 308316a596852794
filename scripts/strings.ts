// npm run strings [-- --comments | --banned] [FOLDER...]: lists the texts that a person sees, the comments, or the uses of
// banned terms in both, each with its place.
import {
  commentsOf,
  languageFaults,
  modules,
  proseOf,
  stringsOf,
  templateTexts,
} from '../test/helpers/strings';

function lines(args: readonly string[]): string[] {
  if (args.includes('--banned')) return languageFaults().map(({ words }) => words);
  const sources = modules('src', 'templates');
  const texts = args.includes('--comments')
    ? commentsOf(sources)
    : [...stringsOf(sources), ...proseOf(templateTexts())];
  return texts.map(({ at, text }) => `${at}: ${text}`);
}

const args = process.argv.slice(2);
const folders = args.filter((arg) => !arg.startsWith('-'));
for (const line of lines(args)) {
  if (folders.length === 0 || folders.some((folder) => line.startsWith(folder))) console.log(line);
}
