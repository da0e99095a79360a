import { expect, test } from 'vitest';
import { missingEntries } from '../../tools/release/breaking-changes.ts';
import { releaseChangelog } from '../../tools/release/changelog.ts';

test('what is under [Unreleased] becomes the section of the version, and its notes', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- `a`.\n\n## [0.1.0]\n\nThe first.\n';
  expect(releaseChangelog(changelog, '0.2.0', '2026-11-22')).toEqual({
    text: '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n\n### Added\n\n- `a`.\n\n## [0.1.0]\n\nThe first.\n',
    notes: '### Added\n\n- `a`.',
  });
});

test('a version that has its section is released as it is: from the tag', () => {
  const changelog = '## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n\n- `a`.\n\n## [0.1.0]\n';
  expect(releaseChangelog(changelog, '0.2.0', '2026-12-01')).toEqual({ text: changelog, notes: '- `a`.' });
});

test.each([
  ['no section', '# Changelog\n', 'CHANGELOG.md has no section [Unreleased]'],
  ['nothing new', '## [Unreleased]\n\n## [0.1.0]\n', 'CHANGELOG.md: there is nothing under [Unreleased] for 0.2.0'],
  [
    'more since',
    '## [Unreleased]\n\n- `b`.\n\n## [0.2.0] - 2026-11-22\n\n- `a`.\n',
    'CHANGELOG.md has a section [0.2.0] and entries under [Unreleased]: release these under another version',
  ],
  [
    'no date',
    '## [Unreleased]\n\n## [0.2.0]\n\n- `a`.\n',
    'CHANGELOG.md: the section [0.2.0] has no date (## [0.2.0] - 2026-12-01)',
  ],
])('%s: there is nothing to release', (_name, changelog, problem) => {
  expect(() => releaseChangelog(changelog, '0.2.0', '2026-12-01')).toThrow(problem);
});

const types = `interface Options {
  port: number;
}
declare function start(options: Options): void;
declare const limits: { bytes: number };
declare class Server {}
type Mode = 'a' | 'b';
export { type Mode, type Options, Server, limits, start };
`;
const program = `command p: [options] [command]
command p lint: [options]
exit code 1: findings
flag p lint --output: <FORMAT> text json
flag p lint --quiet:
metric p_runs_total: counter
rule bad-url: deny
`;

/** What is missing in the changelog after an edit of one of the reports. */
function missingAfter(from: string | RegExp, to: string, notes: string): string[] {
  const before = new Map([
    ['a.d.ts', types],
    ['a.program.txt', program],
  ]);
  const after = new Map([...before].map(([file, text]) => [file, text.replace(from, to)]));
  expect(after).not.toEqual(before);
  return missingEntries(before, after, notes).map((line) => line.replace(/, and CHANGELOG.md lacks .*/, ''));
}

test.each<[name: string, from: string | RegExp, to: string, missing: string[]]>([
  ['an optional field', 'port: number;\n', 'port: number;\n  host?: string;\n', []],
  ['a new export', 'limits, start }', 'limits, start, more }', []],
  ['a new flag', 'metric', 'flag p lint --fix:\nmetric', []],
  ['a field of another type', 'port: number', 'port: string', ['docs/api/a.d.ts: Options has changed']],
  ['another parameter', 'options: Options', 'options: number', ['docs/api/a.d.ts: start has changed']],
  ['another constant', 'bytes: number', 'bytes: string', ['docs/api/a.d.ts: limits has changed']],
  ['an export', 'Server, limits', 'limits', ['docs/api/a.d.ts: export Server is gone']],
  ['a flag', 'flag p lint --quiet:\n', '', ['docs/api/a.program.txt: flag p lint --quiet is gone']],
  ['a choice', 'text json', 'text', ['docs/api/a.program.txt: flag p lint --output has changed']],
  ['a metric', /metric.*\n/, '', ['docs/api/a.program.txt: metric p_runs_total is gone']],
  ['an exit code', /exit.*\n/, '', ['docs/api/a.program.txt: exit code 1 is gone']],
  ['a rule', /rule.*\n/, '', ['docs/api/a.program.txt: rule bad-url is gone']],
  ['a command, with its flags', /(command p|flag p) lint.*\n/g, '', ['docs/api/a.program.txt: command p lint is gone']],
])('%s', (_name, from, to, missing) => {
  expect(missingAfter(from, to, '- **Breaking:** another thing.')).toEqual(missing);
});

test.each([
  ['- **Breaking:** `lint --quiet`\n  is gone.', []],
  ['- `lint --quiet` is gone.', ['docs/api/a.program.txt: flag p lint --quiet is gone']],
  ['- **Breaking:** `--quieter`.', ['docs/api/a.program.txt: flag p lint --quiet is gone']],
  ['- **Breaking:** a.\n- `--quiet`.', ['docs/api/a.program.txt: flag p lint --quiet is gone']],
])('a flag that is gone needs an entry of its own: %j', (notes, missing) => {
  expect(missingAfter('flag p lint --quiet:\n', '', notes)).toEqual(missing);
});

test('a change needs an entry that names it', () => {
  expect(missingAfter('port: number', 'port: string', '- `Options` takes names of ports.')).toEqual([]);
});
