import { expect, test } from 'vitest';
import { rolloutTicks } from '../../../src/checks/doctor/index.ts';
import { parseRelease, type Release } from '../../../src/runtimehooks/index.ts';

const release = (text: string) => parseRelease(text) as Release;

/** What is said of an upgrade of Cluster API, and of providers that are installed: `RESULT ISSUES`. */
const said = (from: string | undefined, to: string, providers: Record<string, string> = {}) =>
  rolloutTicks(
    new Map(Object.entries(providers).map(([name, version]) => [name, release(version)])),
    from === undefined ? undefined : release(from),
    release(to),
  ).map(({ result, message }) => `${result} ${/ (\d+)\)$/.exec(message)?.[1] ?? message}`);

test.each([
  ['the release with the bug', 'v1.11', 'v1.12', ['warning 14167']],
  ['a patch release with the bug', 'v1.11', 'v1.13.5', ['warning 14167']],
  ['a patch release without it', 'v1.11', 'v1.13.6', []],
  ['past it', 'v1.10', 'v1.14', ['warning 13017', 'warning 14167']],
  ['after it', 'v1.13', 'v1.14', []],
  ['before it', 'v1.9', 'v1.10', []],
  ['from a release that is not known', undefined, 'v1.14', []],
])('Cluster API: %s', (_, from, to, expected) => {
  expect(said(from, to)).toEqual(expected);
});

test.each([
  ['rke2', 'v0.7.1', ['note 596', expect.stringContaining('v0.25.0 replaces Machines')]],
  ['rke2', 'v0.24.4', [expect.stringContaining('rke2 v0.24.4 is installed: v0.25.0 replaces Machines')]],
  ['rke2', 'v0.25.0', []],
  ['k0sproject-k0smotron', 'v1.10.6', ['note 1478']],
  ['k0sproject-k0smotron', 'v2.0.3', []],
  ['talos', 'v0.4.9', ['note 154']],
  ['docker', 'v1.13.0', []],
])('%s %s', (provider, version, expected) => {
  expect(said('v1.13', 'v1.14', { [provider]: version })).toEqual(expected);
});

test('each says where it is reported, and what to do', () => {
  const all = rolloutTicks(
    new Map(['rke2', 'k0sproject-k0smotron', 'talos'].map((name) => [name, release('v0.1.0')])),
    release('v1.0'),
    release('v1.14'),
  );
  expect(all).toHaveLength(7);
  expect(all.every(({ message, remedy = '' }) => message.endsWith(')') && remedy !== '')).toBe(true);
});
