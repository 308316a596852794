import { expect } from 'chai';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';

import { commands } from '../../oclif.manifest.json';
import {
  blocksOf,
  callFaults,
  commandLines,
  docPages,
  stewardCalls,
  wordsOf,
  type DocPage,
} from '../helpers/doc-pages';

const ROOT = resolve(__dirname, '..', '..');
const PAGES = docPages();

/** The words of a document at most; without an entry, `MOST_WORDS`. */
const WORDS: Readonly<Record<string, number>> = {
  'ARCHITECTURE.md': 2500,
  'docs/conformance.md': 2500,
  'README.md': 600,
  'docs/origins.md': 400,
};
const MOST_WORDS = 2000;
const ALL_WORDS = 20_000;
const MOST_DOCUMENTS = 15;

describe('the documentation', () => {
  it('stays small', () => {
    expect(PAGES.length).to.be.at.most(MOST_DOCUMENTS);
    const long = PAGES.filter((page) => wordsOf(page) > (WORDS[page.path] ?? MOST_WORDS));
    expect(long.map((page) => `${page.path}: ${wordsOf(page)} words`)).to.deep.equal([]);
    expect(PAGES.reduce((sum, page) => sum + wordsOf(page), 0)).to.be.at.most(ALL_WORDS);
  });

  it('has a README for a terminal of 60 columns, and a changelog of a version in 60 lines', () => {
    const text = (path: string): string => PAGES.find((page) => page.path === path)?.text ?? '';
    const wide = text('README.md')
      .split('\n')
      .filter((line) => line.length > 60 || line.startsWith('|'));
    expect(wide).to.deep.equal([]);
    const [, ...versions] = text('CHANGELOG.md').split(/^## /m);
    expect(versions.filter((version) => version.trimEnd().split('\n').length > 60)).to.deep.equal([]);
  });

  for (const page of PAGES) {
    describe(page.path, () => {
      it('begins with what most readers came for: a command, or a few sentences', () => {
        const [first = ''] = page.text
          .replace(/^# .*\n+|^<!--[^]*?-->\n+/gm, '')
          .trimStart()
          .split('\n\n');
        if (!first.startsWith('```')) expect(first.split(/\s+/).length, first).to.be.at.most(60);
      });

      it('shows commands, flags and arguments that are there', () => {
        const wrong = blocksOf(page).flatMap((block) =>
          commandLines(block).flatMap(({ line }) =>
            stewardCalls(line).flatMap((words) => callFaults(words).map((fault) => `${line}: ${fault}`)),
          ),
        );
        expect(wrong).to.deep.equal([]);
      });

      it('names commands and flags that are there', () => {
        const spans = [...withoutBlocks(page).matchAll(/`steward ([a-z][^`]*)`/g)].map(
          ([, text]) => text ?? '',
        );
        const wrong = spans.flatMap((text) => spanFaults(text).map((fault) => `steward ${text}: ${fault}`));
        expect(wrong).to.deep.equal([]);
      });

      it('has links that lead somewhere', () => {
        const links = [...withoutBlocks(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
          ([, link, picture]) => link ?? picture ?? '',
        );
        const dead = links.filter((link) => !/^https?:/.test(link) && !leadsSomewhere(page, link));
        expect(dead).to.deep.equal([]);
      });

      it('has pictures of less than 150 KB', () => {
        const pictures = [...page.text.matchAll(/"([^"]+\.png)"/g)].map(([, path = '']) =>
          join(ROOT, dirname(page.path), path),
        );
        expect(pictures.filter((path) => statSync(path).size > 150_000)).to.deep.equal([]);
      });

      it('has JSON and YAML that parse, and fences that end', () => {
        for (const { language, lines } of blocksOf(page)) {
          if (language === 'json') JSON.parse(lines.join('\n'));
          if (language === 'yaml') parse(lines.join('\n'));
        }
        expect(page.text.split('\n').filter((line) => line.startsWith('```')).length % 2).to.equal(0);
      });
    });
  }
});

/** The page's text without its fenced blocks. */
function withoutBlocks({ text }: DocPage): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

/** A span may leave out what a reader puts in: only the command and the flags are looked at. */
function spanFaults(text: string): string[] {
  const [words = []] = stewardCalls(`steward ${text.replace(/[…|[\]]/g, ' ')}`);
  return callFaults(words)
    .filter((fault) => !/arguments|lacks its value/.test(fault))
    .filter(() => !isTopic(words));
}

function isTopic(words: readonly string[]): boolean {
  return Object.keys(commands).some((id) => id.startsWith(`${words.join(':')}:`));
}

function leadsSomewhere({ path }: DocPage, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : join(dirname(path), file);
  if (!existsSync(join(ROOT, target))) return false;
  if (anchor === undefined) return true;
  const page = PAGES.find((one) => one.path === target);
  return page !== undefined && headingsOf(page).includes(anchor);
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(page: DocPage): string[] {
  return [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
