import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages, readPage, root } from './pages.ts';

test('the help of all commands explains a flag once that several commands have', () => {
  const text = readPage('docs/commands.txt');
  const explained = [...text.matchAll(/^ {2}(?:-\w, )?--[\w-]+(?: <.*| {2}.*)(?:\n {27}.*)*/gm)].map(([flag]) => flag);
  expect(explained.length).toBeGreaterThan(90);
  expect(explained.filter((flag, index) => explained.indexOf(flag) < index)).toEqual([]);
  expect(text).toMatch(
    /^Usage: .* certs status .*\n(?:.*\n){1,20}Flags explained at the end:\n(?:.*\n){1,4}.*--kubeconfig, /m,
  );
});

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test.each(pages)('every link in %s has a target', (page) => {
  const prose = readPage(page).replaceAll(/^```.*?^```/gms, '');
  const problems = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^https:\/\//.test(target)) {
      return [];
    }
    const [path = '', anchor] = target.split('#', 2);
    const file = new URL(path, new URL(page, root));
    if (!existsSync(file)) {
      return [`${target}: no such file`];
    }
    const lost = anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).has(anchor);
    return lost ? [`${target}: no such heading`] : [];
  });
  expect(problems).toEqual([]);
});

test.each(pages)('every source file and folder that %s names is there', (page) => {
  const named = [...readPage(page).matchAll(/`((?:src|test|tools)\/[\w./-]*)`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test('CONTRIBUTING lists every script for benchmarks and tests', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { scripts: object };
  const named = Object.keys(scripts).filter((name) => /^(bench|test|soak)/.test(name));
  expect(named.length).toBeGreaterThan(5);
  const page = readPage('CONTRIBUTING.md');
  expect(named.filter((name) => !new RegExp(`\`npm (run )?${name}( --[^\`]*)?\``).test(page))).toEqual([]);
});

test('the README is short, and links to every page', () => {
  const readme = readPage('README.md');
  expect(readme.split('\n').length).toBeLessThan(170);
  for (const page of pages.filter((other) => other !== 'README.md' && !other.startsWith('certs/'))) {
    expect(readme).toContain(`](${page})`);
  }
});

/** What a page says in words of its own: without blocks of code, generated parts and lines between rows of tables. */
const wordsOf = (page: string) =>
  readPage(page)
    .replaceAll(/^```.*?^```/gms, '')
    .replaceAll(/<!-- (\w+) -->.*?<!-- \/\1 -->/gs, '')
    .replaceAll(/[| -]{5,}/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '|');

const userPages = pages.filter((page) => page === 'README.md' || page.startsWith('docs/'));

test('every flag that a page names is a flag of a command', () => {
  const known = new Set(readPage('docs/commands.txt').match(/--[a-z][\w-]*/g));
  // Of other programs, in prose: the pages' blocks of commands are run.
  const others = new Set(['--prune', '--all']);
  const named = userPages.flatMap((page) => {
    const prose = readPage(page).replaceAll(/^```.*?^```/gms, '');
    return [...prose.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) =>
      /^(kubectl|npm|npx|docker|helm|clusterctl|openssl|git|promtool) /.test(code)
        ? []
        : (code.match(/(?<![\w-])--[a-z][\w-]*/g) ?? []).map((flag) => `${page}: ${flag}`),
    );
  });
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((flag) => !known.has(flag.replace(/.*: /, '')) && !others.has(flag.replace(/.*: /, '')))).toEqual(
    [],
  );
});

test('no two pages say the same: a passage of twelve words is on one of them, and the others link there', () => {
  const length = 12;
  const passages = userPages.flatMap((page) => {
    const words = wordsOf(page);
    return [...new Set(words.slice(length - 1).map((_, at) => words.slice(at, at + length).join(' ')))];
  });
  expect(passages.filter((passage, at) => passages.indexOf(passage) < at)).toEqual([]);
});
