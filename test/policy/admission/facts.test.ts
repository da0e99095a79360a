import { describe, expect, test } from 'vitest';
import type { Knowledge } from '../../../src/policy/index.ts';
import { createManifestFacts } from '../../../src/policy/index.ts';
import { example, exampleServiceObject } from '../rules/examples.ts';
import { admission, requestFor } from './policy.ts';

describe('known facts', () => {
  const { facts, add } = createManifestFacts();
  add(exampleServiceObject);
  const knowing = (knowledge: Knowledge) => () => ({ facts, ...knowledge });
  test.each<[Knowledge, Record<string, string>]>([
    [{ ageMs: undefined, unknown: [] }, {}],
    [{ ageMs: 0, unknown: [] }, { 'facts-age-seconds': '0' }],
    [{ ageMs: 1001, unknown: [] }, { 'facts-age-seconds': '2' }],
    [{ ageMs: undefined, unknown: ['Cluster', 'Secret'] }, { 'facts-unknown': 'Cluster,Secret' }],
    [
      { ageMs: 60_000, unknown: ['Secret'] },
      { 'facts-age-seconds': '60', 'facts-unknown': 'Secret' },
    ],
  ])('%j appear in the audit log as %j', (knowledge, annotations) => {
    const policy = admission({ facts: knowing(knowledge) });
    const good = policy.validate(requestFor(example()));
    expect(good.response).toEqual({ uid: 'a-uid', allowed: true, auditAnnotations: annotations });
    expect(good.knowledge).toEqual(knowledge);
    const bad = policy.validate(
      requestFor(example({ clientConfig: { service: { namespace: 'capi-extensions', name: 'missing' } } })),
    );
    expect(bad.response.auditAnnotations).toEqual({ 'warned-by': 'service-missing', ...annotations });
  });

  test('do not appear in the audit log if there are none', () => {
    const outcome = admission().validate(requestFor(example()));
    expect(outcome).not.toHaveProperty('knowledge');
    expect(outcome.response).not.toHaveProperty('auditAnnotations');
  });
});
