import { describe, expect, test } from 'vitest';
import type { AdmissionRequest, JsonObject, JsonPatchOperation } from '../../../src/kubernetes/index.ts';
import { example, exampleCaBundle, exampleCaBundleWithKey, exampleHandler, exampleService } from '../rules/examples.ts';
import { admission, requestFor } from './policy.ts';

const good = example();
const withPort = (port: number) => example({ clientConfig: { service: { ...exampleService, port } } });
const withHandlers = (...handlers: JsonObject[]) => example({ handlers });
const deleting = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object.metadata as JsonObject), deletionTimestamp: '2026-11-20T00:00:00Z', finalizers: ['x/y'] },
});
const v1alpha1 = { group: 'runtime.cluster.x-k8s.io', version: 'v1alpha1', kind: 'ExtensionConfig' };

function patchOf(response: { patch?: string }): JsonPatchOperation[] {
  return response.patch === undefined ? [] : JSON.parse(Buffer.from(response.patch, 'base64').toString());
}

describe('denied requests', () => {
  const cases: [string, JsonObject, Partial<AdmissionRequest>, { code: number; fields?: string[]; rules?: string }][] =
    [
      ['a good object', good, {}, { code: 200 }],
      ['a bad port', withPort(0), {}, { code: 422, fields: ['spec.clientConfig.service.port'], rules: 'service-port' }],
      [
        'everything wrong at once, in the order of the fields',
        example({
          name: 'my.extension',
          annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'x' },
          clientConfig: { url: 'https://u:p@example.com:99999/?a#b', caBundle: 'Zm9v' },
          spec: { namespaceSelector: { matchLabels: { a: '-' } } },
          handler: { name: 'h', timeoutSeconds: 31 },
        }),
        {},
        {
          code: 422,
          fields: [
            'metadata.name',
            'metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret]',
            'spec.clientConfig.url',
            'spec.clientConfig.url',
            'spec.clientConfig.url',
            'spec.clientConfig.url',
            'spec.clientConfig.caBundle',
            'spec.namespaceSelector',
            'status.handlers[0].name',
            'status.handlers[0].timeoutSeconds',
          ],
        },
      ],
      [
        'DELETE of a bad object',
        withPort(0),
        { operation: 'DELETE', object: undefined, oldObject: withPort(0) },
        { code: 200 },
      ],
      ['CONNECT of a bad object', withPort(0), { operation: 'CONNECT' }, { code: 200 }],
      [
        'an update that removes a finalizer from a bad object',
        deleting(withPort(0)),
        { operation: 'UPDATE', oldObject: deleting(withPort(0)) },
        { code: 200 },
      ],
      ['a status write with a bad spec', withPort(0), { operation: 'UPDATE', subResource: 'status' }, { code: 200 }],
      [
        'a status write with a bad handler',
        withHandlers(exampleHandler({ timeoutSeconds: 11 })),
        { operation: 'UPDATE', subResource: 'status', oldObject: good },
        { code: 422, fields: ['status.handlers[0].timeoutSeconds'], rules: 'handler-timeout' },
      ],
      [
        'a wrong type, once, without what follows from it',
        example({ clientConfig: { url: 5 } }),
        {},
        { code: 422, fields: ['spec.clientConfig.url'], rules: 'field-type' },
      ],
      ['another kind', good, { kind: { ...v1alpha1, version: 'v1beta2', kind: 'Cluster' } }, { code: 400 }],
      ['another group', good, { kind: { ...v1alpha1, version: 'v1beta2', group: 'x.io' } }, { code: 400 }],
      ['another version', good, { kind: v1alpha1 }, { code: 400 }],
      ['no object', good, { object: undefined }, { code: 400 }],
      ['an object of another kind than the request', { ...good, kind: 'Pod' }, {}, { code: 400 }],
      ['metadata that is not an object', { ...good, metadata: 7 }, {}, { code: 422, fields: ['metadata'] }],
      ['an unknown subresource', withPort(0), { subResource: 'scale' }, { code: 200 }],
    ];

  test.each(cases)('%s', (_, object, request, expected) => {
    const { response, deniedBy } = admission().validate(requestFor(object, request));
    expect(response.uid).toBe('a-uid');
    expect(response.allowed).toBe(expected.code === 200);
    expect(response.status?.code ?? 200).toBe(expected.code);
    expect(response.status?.details?.causes?.map(({ field }) => field)).toEqual(expected.fields);
    if (expected.rules !== undefined) {
      expect(deniedBy.join(',')).toBe(expected.rules);
      expect(response.auditAnnotations?.['denied-by']).toBe(expected.rules);
    }
  });

  test('a denial is worded like one of the API server', () => {
    const { response } = admission().validate(requestFor(withPort(0)));
    expect(response.status).toEqual({
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      reason: 'Invalid',
      code: 422,
      message:
        'ExtensionConfig.runtime.cluster.x-k8s.io "my-extension" is invalid: spec.clientConfig.service.port: Invalid value: 0: must be a port number between 1 and 65535',
      details: {
        name: 'my-extension',
        group: 'runtime.cluster.x-k8s.io',
        kind: 'ExtensionConfig',
        causes: [
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: 0: must be a port number between 1 and 65535',
            field: 'spec.clientConfig.service.port',
          },
        ],
      },
    });
  });

  test('secrets are not echoed', () => {
    const secret = 'hunter2hunter2';
    const object = example({
      clientConfig: {
        url: `https://user:${secret}@example.com?x`,
        caBundle: Buffer.from(`-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`).toString('base64'),
      },
      spec: { settings: { password: secret } },
    });
    const text = JSON.stringify(admission().validate(requestFor(object)));
    expect(text).toContain('ca-bundle-private-key');
    expect(text).toContain('settings-credentials');
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 12));
  });
});

describe('the response', () => {
  const policy = admission();

  test('to a request without findings', () => {
    const outcome = { response: { uid: 'a-uid', allowed: true }, verdict: 'allowed', deniedBy: [], warnedBy: [] };
    expect(policy.validate(requestFor(good))).toEqual(outcome);
    expect(policy.mutate(requestFor(good))).toEqual(outcome);
    expect(policy.validate(requestFor(undefined, { operation: 'DELETE' }))).toEqual(outcome);
  });

  test('to a request that is not meant for this webhook', () => {
    const outcome = policy.validate(requestFor(good, { kind: { ...v1alpha1, kind: 'Cluster' } }));
    expect(outcome).toMatchObject({ verdict: 'malformed', deniedBy: [], warnedBy: [] });
    expect(outcome.response).toMatchObject({
      uid: 'a-uid',
      allowed: false,
      status: { code: 400, reason: 'BadRequest' },
    });
    expect(outcome.response.status?.message).toBe(
      'this webhook decides on ExtensionConfig runtime.cluster.x-k8s.io/v1beta2, not on "Cluster runtime.cluster.x-k8s.io/v1alpha1"; fix the rules of the webhook configuration (resources [extensionconfigs, extensionconfigs/status], apiVersions [v1beta2], matchPolicy Equivalent)',
    );
    expect(policy.mutate(requestFor(undefined)).response.status?.message).toBe('request.object must be set for CREATE');
    expect(policy.mutate(requestFor({ ...good, apiVersion: 'v1' })).response.status?.message).toBe(
      'request.object must be an ExtensionConfig of runtime.cluster.x-k8s.io/v1beta2 as request.kind says, got kind "ExtensionConfig" and apiVersion "v1"',
    );
  });

  test('has warnings beside a denial', () => {
    const object = example({ annotations: {}, clientConfig: { url: 'https://127.0.0.1:0/?a' } });
    const { response, ...outcome } = policy.validate(requestFor(object));
    expect(outcome).toEqual({
      verdict: 'denied',
      deniedBy: ['url-query', 'url-port'],
      warnedBy: ['url-local-host', 'ca-missing'],
    });
    expect(response.auditAnnotations).toEqual({
      'denied-by': 'url-query,url-port',
      'warned-by': 'url-local-host,ca-missing',
    });
    expect(response.status?.details?.causes).toHaveLength(2);
    expect(response.warnings).toEqual([
      expect.stringMatching(/^spec\.clientConfig\.url: "https:\/\/127\.0\.0\.1:0\/\?a": 127\.0\.0\.1 is the machine /),
      expect.stringMatching(/^spec\.clientConfig\.caBundle: neither caBundle nor the annotation /),
    ]);
  });

  test('has a denial without warnings, or warnings without a denial', () => {
    expect(policy.validate(requestFor(withPort(0))).response).not.toHaveProperty('warnings');
    expect(policy.validate(requestFor(withPort(0))).response.auditAnnotations).toEqual({ 'denied-by': 'service-port' });
    const { response, verdict } = policy.validate(requestFor(example({ annotations: {} })));
    expect(verdict).toBe('warned');
    expect(response).toMatchObject({ allowed: true, auditAnnotations: { 'warned-by': 'ca-missing' } });
    expect(response).not.toHaveProperty('status');
    expect(response.auditAnnotations).not.toHaveProperty('denied-by');
  });

  test('reports the number of omitted findings as a cause without a field', () => {
    const handlers = Array.from({ length: 101 }, () => 7);
    const { response } = policy.validate(requestFor({ ...good, status: { handlers } }));
    expect(response.status?.details?.causes?.at(-1)).toEqual({
      reason: 'FieldValueTooMany',
      message: '4 more findings',
    });
  });

  test.each([
    ['the name of the request', { name: 'from-request' }, example({ name: 'X' }), 'from-request'],
    ['the name of the object', { name: '' }, example({ name: 'X' }), 'X'],
    ['the prefix of a generated name', {}, { ...good, metadata: { generateName: 'X-' } }, 'X-'],
    ['none', {}, { ...good, metadata: {} }, ''],
    ['253 characters', { name: 'n'.repeat(253) }, withPort(0), 'n'.repeat(253)],
    ['the beginning of a longer one', { name: 'n'.repeat(254) }, withPort(0), `${'n'.repeat(253)}…`],
  ] as [string, Partial<AdmissionRequest>, JsonObject, string][])('it names %s', (_, request, object, name) => {
    const { response } = policy.validate(requestFor(object, request));
    expect(response.status?.details?.name ?? '').toBe(name);
  });

  test('warns users who set both a caBundle and the annotation, but not the controller that injects the bundle, nor later writers', () => {
    const withBundle = (caBundle?: string) =>
      example({ clientConfig: { service: exampleService, ...(caBundle && { caBundle }) } });
    const withoutAnnotation = (caBundle?: string) =>
      example({ annotations: {}, clientConfig: { service: exampleService, ...(caBundle && { caBundle }) } });
    const write = (oldObject: JsonObject | undefined) =>
      policy.validate(
        requestFor(withBundle(exampleCaBundle), { operation: oldObject ? 'UPDATE' : 'CREATE', oldObject }),
      );
    expect(write(withBundle()).warnedBy).toEqual([]);
    expect(write(withBundle(exampleCaBundleWithKey)).warnedBy).toEqual([]);
    expect(write(withBundle(exampleCaBundle)).warnedBy).toEqual([]);
    expect(write(withoutAnnotation(exampleCaBundle)).warnedBy).toEqual([]);
    expect(write(withoutAnnotation()).warnedBy).toEqual(['ca-bundle-and-annotation']);
    expect(write(undefined).warnedBy).toEqual(['ca-bundle-and-annotation']);
  });

  test('does not mention fields that the API server has pruned', () => {
    expect(policy.validate(requestFor(example({ spec: { extra: 1 } }))).warnedBy).toEqual([]);
  });

  test('decides on an update of an object that is not being deleted', () => {
    const object = { ...withPort(0), metadata: { name: 'my-extension', deletionTimestamp: null } };
    const { verdict } = policy.validate(requestFor(object, { operation: 'UPDATE', oldObject: good }));
    expect(verdict).toBe('denied');
    expect(policy.validate(requestFor(deleting(withPort(0)))).verdict).toBe('denied');
  });
});

describe('the feature gate', () => {
  const off = admission({ isRuntimeSdkEnabled: false });

  test.each(['CREATE', 'UPDATE'] as const)('forbids %s when it is off', (operation) => {
    const { response, ...outcome } = off.validate(
      requestFor(good, { operation, oldObject: operation === 'UPDATE' ? good : undefined }),
    );
    expect(response.allowed).toBe(false);
    expect(response.status).toMatchObject({ code: 403, reason: 'Forbidden' });
    const message =
      'Forbidden: can be set only if the feature gate RuntimeSDK is enabled; start Cluster API and this webhook with --feature-gates=RuntimeSDK=true';
    expect(response.status).toMatchObject({
      message: `spec: ${message}`,
      details: {
        name: 'my-extension',
        group: 'runtime.cluster.x-k8s.io',
        kind: 'ExtensionConfig',
        causes: [{ reason: 'FieldValueForbidden', message, field: 'spec' }],
      },
    });
    expect(response.auditAnnotations).toEqual({ 'denied-by': 'feature-gate' });
    expect(outcome).toEqual({ verdict: 'denied', deniedBy: ['feature-gate'], warnedBy: [] });
  });

  test.each([
    ['a status write', { operation: 'UPDATE', subResource: 'status', oldObject: good }],
    ['a deletion', { operation: 'DELETE', object: undefined, oldObject: good }],
    ['the removal of a finalizer', { operation: 'UPDATE', object: deleting(good), oldObject: deleting(good) }],
  ] as [string, Partial<AdmissionRequest>][])('off, it lets %s pass', (_, request) => {
    expect(off.validate(requestFor(good, request)).response.allowed).toBe(true);
  });
});

describe('ratcheting validation', () => {
  const bad = example({ clientConfig: { url: 'https://example.com/?a' } });
  const worse = example({ clientConfig: { url: 'https://example.com/?a#b' } });

  test('turns a finding that the old object already has into a warning', () => {
    const { response, verdict } = admission().validate(requestFor(bad, { operation: 'UPDATE', oldObject: bad }));
    expect(verdict).toBe('warned');
    expect(response.warnings).toEqual([expect.stringContaining('has a query')]);
  });

  test('denies a finding that is new or has another value', () => {
    const { deniedBy } = admission().validate(requestFor(worse, { operation: 'UPDATE', oldObject: bad }));
    expect(deniedBy).toEqual(['url-query', 'url-fragment']);
  });

  test.each([
    ['a caBundle that is not base64', '?', '!'],
    ['a caBundle without a certificate', 'YQ==', 'Yg=='],
  ])('denies %s in place of another one: its value changed, although the message is the same', (_, before, after) => {
    const withBundle = (caBundle: string) => example({ clientConfig: { url: 'https://example.com', caBundle } });
    const updated = (caBundle: string) =>
      admission().validate(requestFor(withBundle(caBundle), { operation: 'UPDATE', oldObject: withBundle(before) }));
    expect(updated(after).deniedBy).toEqual(['ca-bundle-pem']);
    expect(updated(before).verdict).toBe('warned');
  });

  test('applies only to updates, whatever a request contains as the old object', () => {
    const { deniedBy } = admission().validate(requestFor(bad, { operation: 'CREATE', oldObject: bad }));
    expect(deniedBy).toEqual(['url-query']);
  });

  test("does not apply to Cluster API's own rules", () => {
    const old = withPort(0);
    const { deniedBy } = admission().validate(requestFor(old, { operation: 'UPDATE', oldObject: old }));
    expect(deniedBy).toEqual(['service-port']);
  });

  test('--enforcement warn denies only what Cluster API denies', () => {
    const trial = admission({ enforcement: 'warn' });
    expect(trial.validate(requestFor(bad)).verdict).toBe('warned');
    expect(trial.validate(requestFor(withPort(0))).verdict).toBe('denied');
  });
});

describe('warnings', () => {
  test("announce the deprecated version in the API server's words", () => {
    const { response } = admission().validate(requestFor(good, { requestKind: v1alpha1 }));
    expect(response).toMatchObject({
      allowed: true,
      warnings: [
        'runtime.cluster.x-k8s.io/v1alpha1 ExtensionConfig is deprecated; use runtime.cluster.x-k8s.io/v1beta2 ExtensionConfig',
      ],
      auditAnnotations: { 'warned-by': 'api-version-deprecated' },
    });
  });

  test.each([
    ['another group', { ...v1alpha1, group: 'x.io' }],
    ['an unknown version', { ...v1alpha1, version: 'v1alpha9' }],
    ['both', { group: 'x.io', version: 'v1alpha9', kind: 'X' }],
  ])('treat an object that was written as %s as one of the newest version', (_, requestKind) => {
    const { response, verdict } = admission().validate(requestFor(good, { requestKind }));
    expect(response).toEqual({ uid: 'a-uid', allowed: true });
    expect(verdict).toBe('allowed');
  });

  test("stay within the API server's limits", () => {
    const settings = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`${i}-${'k'.repeat(250)}-password`, 'x']),
    );
    const { response } = admission().validate(requestFor(example({ spec: { settings } })));
    const warnings = response.warnings ?? [];
    expect(warnings.length).toBeGreaterThan(5);
    expect(Math.max(...warnings.map(({ length }) => length))).toBeLessThanOrEqual(256);
    expect(warnings.join('').length).toBeLessThanOrEqual(4096);
    expect(warnings.at(-1)).toBe('there are more warnings than an API server passes on');
    expect(warnings.slice(0, -1).every((line) => line.length === 256 && line.endsWith('…'))).toBe(true);
  });

  test('are truncated after 256 characters', () => {
    // "spec.settings[KEY]: looks like …": 252 characters with a key of 94.
    const warningOf = (length: number) => {
      const settings = { [`${'k'.repeat(length - 252 + 94 - '-password'.length)}-password`]: 'x' };
      return admission().validate(requestFor(example({ spec: { settings } }))).response.warnings?.[0];
    };
    expect(warningOf(256)).toMatch(/^[^…]{256}$/);
    expect(warningOf(257)).toMatch(/^[^…]{255}…$/);
  });

  test('are complete if they fit', () => {
    // 16 lines of 252 characters are 4,032: with the 64 that are reserved, 4,096.
    const keys = Array.from({ length: 16 }, (_, i) => `${String(i).padStart(2, '0')}${'k'.repeat(83)}-password`);
    const settings = Object.fromEntries(keys.map((key) => [key, 'x']));
    const { warnings = [] } = admission().validate(requestFor(example({ spec: { settings } }))).response;
    expect(warnings).toHaveLength(16);
    expect(new Set(warnings.map(({ length }) => length))).toEqual(new Set([252]));
    expect(warnings.join('')).not.toMatch(/…|left out/);
  });

  test('are one line each, whatever the keys contain', () => {
    const { response } = admission().validate(
      requestFor(example({ spec: { settings: { 'a\nb\u0007password': 'x' } } })),
    );
    expect(response.warnings).toHaveLength(1);
    expect(response.warnings?.[0]).not.toMatch(/\p{Cc}/u);
  });
});

describe('defaults', () => {
  const status = { operation: 'UPDATE', subResource: 'status' } as const;
  const cases: [string, JsonObject, Partial<AdmissionRequest>, JsonPatchOperation[]][] = [
    ['nothing missing', good, {}, []],
    [
      'selector and port',
      { ...good, spec: { clientConfig: { service: { namespace: 'a', name: 'b' } } } },
      {},
      [
        { op: 'add', path: '/spec/clientConfig/service/port', value: 443 },
        { op: 'add', path: '/spec/namespaceSelector', value: {} },
      ],
    ],
    [
      'nulls are absent',
      {
        ...good,
        spec: { clientConfig: { service: { namespace: 'a', name: 'b', port: null } }, namespaceSelector: null },
      },
      {},
      [
        { op: 'add', path: '/spec/clientConfig/service/port', value: 443 },
        { op: 'add', path: '/spec/namespaceSelector', value: {} },
      ],
    ],
    ['an empty service is none', { ...good, spec: { clientConfig: { service: {} }, namespaceSelector: {} } }, {}, []],
    ['port 0 is a port', { ...good, spec: { clientConfig: { service: { port: 0 } }, namespaceSelector: {} } }, {}, []],
    ['wrong types are left alone', { ...good, spec: 'x' }, {}, []],
    ['wrong types inside are left alone', { ...good, spec: { clientConfig: 7, namespaceSelector: {} } }, {}, []],
    [
      'a service with only a path',
      { ...good, spec: { clientConfig: { service: { path: '/x' } }, namespaceSelector: {} } },
      {},
      [{ op: 'add', path: '/spec/clientConfig/service/port', value: 443 }],
    ],
    [
      'empty and null fields of a service are none',
      { ...good, spec: { clientConfig: { service: { namespace: '', name: null } }, namespaceSelector: {} } },
      {},
      [],
    ],
    ['handlers that are not objects', withHandlers(7 as never, exampleHandler()), status, []],
    ['handlers that are not a list', { ...good, status: { handlers: 'x' } }, status, []],
    ['no status', good, status, []],
    ['more handlers than are allowed', withHandlers(...Array.from({ length: 513 }, () => ({}))), status, []],
    [
      'as many handlers as are allowed',
      withHandlers(...Array.from({ length: 512 }, () => ({ timeoutSeconds: 1 }))),
      status,
      Array.from({ length: 512 }, (_, i) => ({
        op: 'add',
        path: `/status/handlers/${i}/failurePolicy`,
        value: 'Fail',
      })),
    ],
    [
      'no spec',
      { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig', metadata: { name: 'x' } },
      {},
      [{ op: 'add', path: '/spec', value: { namespaceSelector: {} } }],
    ],
    [
      'handlers, on a status write',
      withHandlers({ name: 'a.my-extension' }, exampleHandler()),
      status,
      [
        { op: 'add', path: '/status/handlers/0/timeoutSeconds', value: 10 },
        { op: 'add', path: '/status/handlers/0/failurePolicy', value: 'Fail' },
      ],
    ],
    ['handlers are not defaulted on a write of the object', withHandlers({ name: 'a.my-extension' }), {}, []],
    ['the spec is not defaulted on a status write', { ...good, spec: {} }, status, []],
    ['DELETE', good, { operation: 'DELETE', object: undefined, oldObject: { ...good, spec: {} } }, []],
  ];

  test.each(cases)('%s', (_, object, request, expected) => {
    const { response } = admission().mutate(requestFor(object, request));
    expect(response.allowed).toBe(true);
    expect(response.patchType).toBe(expected.length > 0 ? 'JSONPatch' : undefined);
    expect(patchOf(response)).toEqual(expected);
  });
});

test('no response carries characters that an API server drops or a terminal obeys', () => {
  // Controls, a line separator, and marks that change the direction of text.
  const odd = ' \u0085\u009b\u007f\u2028\u202e';
  const object = example({ clientConfig: { url: `https://127.0.0.1/${odd}` }, annotations: { [`a${odd}`]: odd } });
  for (const more of [{ name: odd }, { kind: { group: 'g', version: 'v', kind: odd } }]) {
    const { response } = admission().validate(requestFor({ ...object, [`field${odd}`]: 1 }, more));
    expect(response.status ?? response.warnings).toBeDefined();
    expect(
      Object.values(response).flatMap((part) => JSON.stringify(part).match(/[\u007f-\u009f\u2028\u202e]/g) ?? []),
    ).toEqual([]);
  }
  const { response } = admission().validate(
    requestFor(example({ annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `a/b${odd}` } })),
  );
  expect(JSON.stringify(response)).toContain('\\\\u202e');
  expect(JSON.stringify(response)).not.toContain('\u202e');
});
