import { expect, test } from 'vitest';
import { plain } from '../../../src/base/index.ts';
import type { Verdict } from '../../../src/checks/preflight/index.ts';
import { preflightAsText } from '../../../src/checks/preflight/index.ts';

test.each<[Verdict[], string]>([
  [[], '0 extensions, 0 not safe'],
  [['safe'], '1 extension, 0 not safe'],
  [['safe', 'unsafe', 'unsafe'], '3 extensions, 2 not safe'],
  [['unsafe', 'unknown'], '2 extensions, 1 not safe, 1 not known'],
  [['unknown'], '1 extension, 0 not safe, 1 not known'],
])('unknown facts do not count as unsafe: %j', (verdicts, counts) => {
  const [first] = preflightAsText(
    {
      from: 'v1.13',
      isFromKnown: true,
      to: 'v1.14',
      verdict: 'unsafe',
      findings: [],
      extensions: verdicts.map((verdict, index) => ({
        extensionConfig: `one-${index}`,
        verdict,
        hooks: [],
        findings: [],
      })),
    },
    plain,
  ).split('\n');
  expect(first).toBe(`Cluster API v1.13 to v1.14: NOT SAFE (${counts})`);
});
