import { describe, expect, test } from 'vitest';
import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { Facts, KnownSecret } from '../../../src/policy/index.ts';
import { annotatedSecret, namedSecret, usableSecret } from '../../../src/policy/rules/fields.ts';
import { now } from '../admission/policy.ts';
import { example, exampleCaBundle, exampleFutureCaBundle, exampleService } from './examples.ts';
import { factsOf, linesWith } from './lines.ts';

describe('a Secret', () => {
  const named = example({ annotations: { [injectCaFromSecretAnnotation]: 'ns/ca' } });
  const usable: KnownSecret = {
    problem: undefined,
    newestNotBefore: 0,
    firstNotAfter: Number.MAX_SAFE_INTEGER,
    isSigner: undefined,
  };
  const about = ['secret-missing', 'secret-not-signer', 'secret-expiring', 'ca-bundle-outdated'];
  const users = (...names: string[]): Facts['extensionConfigs'] => {
    const rest = { secret: 'ns/ca', address: undefined, namespaceSelector: undefined, hooks: [] };
    return new Map(names.map((name) => [name, { name, ...rest }]));
  };
  const found = (secret: KnownSecret | 'absent' | undefined, object = named) => {
    const secrets = {
      find: (namespace: string, name: string) => (`${namespace}/${name}` === 'ns/ca' ? secret : 'absent'),
    };
    const facts = factsOf({ secrets: secrets as Facts['secrets'], extensionConfigs: users('my-extension', 'other') });
    return about.flatMap((id) => linesWith(id, object, { facts }).map(() => id));
  };
  const days30 = 30 * 24 * 60 * 60 * 1000;
  const bundled = (...texts: string[]): JsonObject => ({
    service: exampleService,
    caBundle: Buffer.from(texts.map((text) => Buffer.from(text, 'base64').toString()).join('')).toString('base64'),
  });
  const withBundle = (...texts: string[]) =>
    example({ annotations: { [injectCaFromSecretAnnotation]: 'ns/ca' }, clientConfig: bundled(...texts) });
  const year = (of: number) => Date.UTC(of, 0, 1);

  test.each<[string, KnownSecret | 'absent' | undefined, string[], JsonObject?]>([
    ['that is not known', undefined, []],
    ['that does not exist', 'absent', ['secret-missing']],
    [
      'that cannot be used is reported once',
      { ...usable, problem: 'has no ca.crt', isSigner: undefined, firstNotAfter: 0 },
      ['secret-missing'],
    ],
    ['that can be used', { ...usable, isSigner: true }, []],
    ['whose CA did not sign', { ...usable, isSigner: false }, ['secret-not-signer']],
    ['that ends in 30 days', { ...usable, firstNotAfter: now.getTime() + days30 }, []],
    ['that ends a little earlier', { ...usable, firstNotAfter: now.getTime() + days30 - 1 }, ['secret-expiring']],
    [
      'newer than the bundle',
      { ...usable, newestNotBefore: year(2020) + 1 },
      ['ca-bundle-outdated'],
      withBundle(exampleCaBundle),
    ],
    ['as old as the bundle', { ...usable, newestNotBefore: year(2020) }, [], withBundle(exampleCaBundle)],
    [
      'as old as the newest of the bundle',
      { ...usable, newestNotBefore: year(2100) },
      [],
      withBundle(exampleCaBundle, exampleFutureCaBundle),
    ],
    ['while there is no bundle yet', { ...usable, newestNotBefore: year(2020) }, []],
    [
      'that the annotation does not name correctly',
      'absent',
      [],
      example({ annotations: { [injectCaFromSecretAnnotation]: 'ns/ca/x' } }),
    ],
  ])('%s', (_name, secret, rules, object) => {
    expect(found(secret, object)).toEqual(rules);
  });

  test('that does not exist is not found', () => {
    expect(linesWith('secret-missing', named, { facts: factsOf({ secrets: { find: () => 'absent' } }) })).toEqual([
      expect.stringMatching(/inject-ca-from-secret\] NotFound "ns\/ca": this Secret does not exist; .* secret ca$/),
    ]);
  });

  test('whose other users are unknown causes no error', () => {
    const secrets: Facts['secrets'] = { find: () => ({ ...usable, firstNotAfter: 0 }) };
    expect(linesWith('secret-expiring', named, { facts: factsOf({ secrets }) })).toEqual([]);
    const foreign = { name: 'foreign', secret: 'ns/b', address: undefined, namespaceSelector: undefined, hooks: [] };
    const alone = new Map([...(users('my-extension') ?? []), ['foreign', foreign] as const]);
    expect(linesWith('secret-expiring', named, { facts: factsOf({ secrets, extensionConfigs: alone }) })).toEqual([]);
  });
});

test('reads the Secret that an object names, and what is known of it', () => {
  const object = (annotation: string) =>
    ({ metadata: { annotations: { [injectCaFromSecretAnnotation]: annotation } } }) as unknown as ExtensionConfig;
  const found = { problem: undefined } as KnownSecret;
  const of = (secret: KnownSecret | 'absent' | undefined) => factsOf({ secrets: { find: () => secret } });
  const parts = { namespace: 'ns', name: 'a', key: 'ns/a' };
  expect(namedSecret(object('ns/a'), of(found))).toEqual({ ...parts, found });
  expect(namedSecret(object('ns/b'), of('absent'))).toMatchObject({ key: 'ns/b', name: 'b', found: 'absent' });
  for (const unknown of [undefined, factsOf({})]) {
    expect(namedSecret(object('ns/a'), unknown)).toEqual({ ...parts, found: undefined });
  }
  expect(namedSecret(object('ns'), of(found))).toBeUndefined();
  expect(namedSecret(object(''), of(found))).toBeUndefined();
  expect(namedSecret({ metadata: {} } as ExtensionConfig, of(found))).toBeUndefined();

  expect(usableSecret(object('ns/a'), of(found))).toEqual({ ...parts, found });
  for (const unusable of [undefined, 'absent', { problem: 'x' } as KnownSecret] as const) {
    expect(usableSecret(object('ns/a'), of(unusable))).toBeUndefined();
  }
  expect(usableSecret(object('ns'), of(found))).toBeUndefined();
});

test.each([
  ['names a Secret', { annotations: { [injectCaFromSecretAnnotation]: 'a/b' } }, { namespace: 'a', name: 'b' }],
  ['names none', { annotations: { [injectCaFromSecretAnnotation]: 'a' } }, undefined],
  ['is not a string', { annotations: { [injectCaFromSecretAnnotation]: 1 } }, undefined],
  ['does not exist', { annotations: {} }, undefined],
  ['is in no map', { annotations: 'a/b' }, undefined],
  ['is in no metadata', 'a/b', undefined],
])('an annotation that %s, in an object of any form', (_what, metadata, expected) => {
  expect(annotatedSecret({ metadata })).toEqual(expected);
});
