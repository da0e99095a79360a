import { describe, expect, test } from 'vitest';
import type { AdmissionRequest, JsonObject } from '../../../src/kubernetes/index.ts';
import type { AdmissionPolicy, Finding, Knowledge } from '../../../src/policy/index.ts';
import { createManifestFacts } from '../../../src/policy/index.ts';
import { example, exampleServiceObject } from '../rules/examples.ts';
import { factsOf } from '../rules/lines.ts';
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

  test('in another thread do not hand back a write', () => {
    const outcome = admission({ facts: 'elsewhere' }).validate(requestFor(example()));
    expect(outcome).not.toHaveProperty('handedBack');
    expect(outcome.knowledge).toEqual({
      ageMs: undefined,
      unknown: ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service', 'Secret'],
    });
  });

  test('in another thread allow a deletion until that thread has decided', () => {
    const request = requestFor(undefined, { operation: 'DELETE', oldObject: example() });
    const { handedBack, ...outcome } = admission({ facts: 'elsewhere' }).validate(request);
    expect(outcome).toEqual({
      response: { uid: 'a-uid', allowed: true },
      verdict: 'allowed',
      deniedBy: [],
      warnedBy: [],
    });
    expect(handedBack?.oldObject).toMatchObject({ kind: 'ExtensionConfig', metadata: { name: 'my-extension' } });
  });
});

describe('the extension server is probed', () => {
  const url = (text: string) => example({ clientConfig: { url: text } });
  const settled = url('https://a');
  const asks = (
    object: JsonObject,
    request: Partial<AdmissionRequest>,
    policy: Partial<AdmissionPolicy> = { probes: 'warn' },
  ) => admission(policy).validate(requestFor(object, request)).probe !== undefined;
  const update = (oldObject: JsonObject): Partial<AdmissionRequest> => ({ operation: 'UPDATE', oldObject });

  test.each<[string, JsonObject, Partial<AdmissionRequest>, boolean]>([
    ['on creation', settled, {}, true],
    ['not in a dry run', settled, { dryRun: true }, false],
    ['when its address changes', settled, update(url('https://b')), true],
    ['when its CA changes', settled, update(example({ clientConfig: { url: 'https://a', caBundle: 'Cg==' } })), true],
    ['not when something else changes', settled, update({ ...settled, metadata: { name: 'x' } }), false],
    ['when there was no address', settled, update({ ...settled, spec: 'x' }), true],
    ['not when the status is written', settled, { ...update(url('https://b')), subResource: 'status' }, false],
    ['not when the object is denied', url('http://a'), {}, false],
  ])('%s', (_name, object, request, isAsked) => {
    expect(asks(object, request)).toBe(isAsked);
    expect(asks(object, request, {})).toBe(false);
  });

  test('but not before a deletion', () => {
    const facts = () => ({ facts: factsOf({}), ageMs: 0, unknown: [] });
    const request = requestFor(undefined, { operation: 'DELETE', oldObject: settled });
    expect(admission({ facts, probes: 'deny' }).validate(request)).not.toHaveProperty('probe');
  });

  const finding: Finding = { path: ['spec', 'clientConfig'], reason: 'FieldValueInvalid', message: 'is silent' };

  test('and its problems are additional findings', () => {
    const object = example({ annotations: {} });
    const { probe, ...first } = admission({ probes: 'warn' }).validate(requestFor(object));
    expect(first.warnedBy).toEqual(['ca-missing']);
    expect(probe?.config).toEqual(object);
    const concluded = probe!.conclude([finding]);
    expect(concluded.response.allowed).toBe(true);
    expect(concluded.response.warnings).toEqual([
      expect.stringContaining('spec.clientConfig.caBundle: neither'),
      'spec.clientConfig: is silent',
    ]);
    expect([concluded.warnedBy, concluded.deniedBy]).toEqual([['ca-missing', 'probe'], []]);
    expect(concluded).not.toHaveProperty('knowledge');
    expect(probe!.conclude([])).toEqual(first);
  });

  test('and its problems may deny the request, together with facts about the cluster', () => {
    const knowledge: Knowledge = { ageMs: 1000, unknown: ['Secret'] };
    const facts = () => ({ facts: factsOf({}), ...knowledge });
    const { probe } = admission({ probes: 'deny', facts }).validate(requestFor(example()));
    const { response, ...outcome } = probe!.conclude([finding]);
    expect(outcome).toEqual({ verdict: 'denied', deniedBy: ['probe'], warnedBy: [], knowledge });
    expect(response.status?.details?.causes).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: is silent', field: 'spec.clientConfig' },
    ]);
    expect(response.auditAnnotations).toEqual({
      'denied-by': 'probe',
      'facts-age-seconds': '1',
      'facts-unknown': 'Secret',
    });
  });
});
