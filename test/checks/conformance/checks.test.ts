import type { ServerResponse } from 'node:http';
import { beforeEach, expect, onTestFinished, type TestContext, test } from 'vitest';
import { checks } from '../../../src/checks/conformance/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { type Answering, type Received, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { complaints, offered, tryExtension } from './trying.ts';

const success: JsonObject = { status: 'Success', message: '', retryAfterSeconds: 0 };
const encoded = (patch: unknown) => Buffer.from(JSON.stringify(patch)).toString('base64');

/**
 * The behaviour of a test server: handlers, and responses to calls of them. `undefined`: the response was sent in
 * another way.
 */
interface Conduct {
  handlers?: JsonObject[];
  answer?: (request: JsonObject, received: Received, response: ServerResponse) => JsonObject | undefined;
  discovery?: (received: Received, response: ServerResponse) => JsonObject | undefined;
}

function send(response: ServerResponse, code: number, body = ''): undefined {
  response.writeHead(code).end(body);
}

function parsed(body: string): JsonObject | undefined {
  try {
    const value = JSON.parse(body) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A server that behaves correctly unless told otherwise. */
function behaving({ handlers = [offered('ValidateTopology')], answer = () => success, discovery }: Conduct): Answering {
  return (received, response) => {
    const path = received.url.split('?')[0]!;
    if (path.toLowerCase().endsWith('/discovery')) {
      return discovery === undefined ? { status: 'Success', handlers } : discovery(received, response);
    }
    if (!handlers.some(({ name }) => path.toLowerCase().endsWith(`/${name}`))) {
      return send(response, 404, '404 page not found');
    }
    const request = parsed(received.body);
    return request === undefined
      ? { status: 'Failure', message: 'the body is not a JSON object' }
      : answer(request, received, response);
  };
}

/** Counters for servers whose responses differ. */
let counter = 0;
beforeEach(() => {
  counter = 0;
});

/** A Failure for malformed bodies, where only the text of the response matters. */
const failing = (message: () => string): Conduct => ({
  answer: () => ({ ...success, status: 'Failure', message: message() }),
});

const patching = (items: (request: JsonObject) => Json): Conduct => ({
  handlers: [offered('GeneratePatches')],
  answer: (request) => ({ status: 'Success', items: items(request) }),
});
const uidOf = (request: JsonObject, index = 0) => ((request.items as JsonObject[])[index] as { uid: string }).uid;
/** A merge patch of the spec of what a template becomes. */
const specPatch = (a: Json) => ({ spec: { template: { spec: { a } } } });
const onePatch = (patch: unknown, patchType = 'JSONPatch', index = 0) =>
  patching((request) => [{ uid: uidOf(request, index), patchType, patch: encoded(patch) }]);

const variables = (...list: Json[]): Conduct => ({
  handlers: [offered('DiscoverVariables')],
  answer: () => ({ status: 'Success', variables: list }),
});

/** For each check, servers that violate it, and the resulting message. */
const violations: Readonly<Record<string, readonly [string, Conduct & { options?: object }, RegExp | string][]>> = {
  'discovery-valid': [
    ['an unknown hook', { handlers: [offered('NoSuchHook')] }, 'is not in the Runtime SDK catalog'],
    ['a bad name', { handlers: [offered('ValidateTopology', { name: 'A_b' })] }, 'handler name A_b is not valid'],
    ['a Failure', { discovery: () => ({ status: 'Failure', message: 'later' }) }, 'Discovery answers Failure: later'],
  ],
  'answers-calls': [
    ['a Failure', failing(() => 'no quota'), 'answers Failure: no quota'],
    ['no status', { answer: () => ({ message: 'ok' }) }, 'answers without a status: ok'],
    ['another status', { answer: () => ({ status: 'success' }) }, 'answers success'],
    ['an error', { answer: (_request, _received, response) => send(response, 500, 'oops') }, 'answers HTTP 500'],
    [
      'a redirect',
      {
        answer: (_request, _received, response) => {
          response.writeHead(302, { location: '/' }).end();
          return undefined;
        },
      },
      'answers HTTP 302',
    ],
    [
      'a page',
      { answer: (_request, _received, response) => send(response, 200, '<html>') },
      'failed to decode response',
    ],
    ['a wrong type', { answer: () => ({ status: 5 as never }) }, 'status must be of type string, not number'],
    [
      'a hang',
      { handlers: [offered('ValidateTopology', { timeoutSeconds: 1 })], answer: () => undefined },
      'does not answer in time',
    ],
  ],
  'content-type': [
    [
      'a body parser that looks for it',
      {
        answer: (_request, { headers }, response) =>
          headers['content-type'] === 'application/json' ? success : send(response, 415),
      },
      'without a Content-Type it answers HTTP 415',
    ],
    [
      'one that sees an empty body',
      {
        answer: (_request, { headers }) =>
          headers['content-type'] === undefined ? { status: 'Failure', message: 'no request' } : success,
      },
      'the answers differ in',
    ],
    [
      'the same at discovery',
      {
        discovery: ({ headers }, response) =>
          headers['content-type'] === undefined ? send(response, 415) : { status: 'Success', handlers: [] },
      },
      'without a Content-Type Discovery answers HTTP 415',
    ],
  ],
  'unknown-fields': [
    [
      'a strict decoder',
      {
        answer: (request) =>
          'conformanceUnknownField' in request ? { status: 'Failure', message: 'unknown field' } : success,
      },
      'with unknown fields: the answers differ in status',
    ],
  ],
  'large-request': [
    [
      'a limit of 100 KiB',
      { answer: (_request, { body }, response) => (body.length > 100 * 1024 ? send(response, 413) : success) },
      'given 2 MiB it answers HTTP 413',
    ],
  ],
  'malformed-bodies': [
    ['Success for anything', {}, 'given half an object it answers Success'],
    ['HTTP 500', {}, 'given an empty body it answers HTTP 500'],
    ['a hang', {}, 'given an empty body it does not answer in time'],
  ],
  'known-fields': [
    [
      'a misspelt one',
      { handlers: [offered('CanUpdateMachine')], answer: () => ({ status: 'Success', boostrapConfigPatch: {} }) },
      'boostrapConfigPatch is not a field of this answer',
    ],
    [
      'a missing one',
      { handlers: [offered('BeforeClusterCreate')], answer: () => ({ status: 'Success' }) },
      'retryAfterSeconds must be set',
    ],
  ],
  repeatable: [
    [
      'the first call fails',
      { answer: () => (counter++ % 2 === 0 ? { status: 'Failure', message: 'no' } : success) },
      'the answers differ in',
    ],
    [
      'a second call that breaks',
      { answer: (_request, _received, response) => (counter++ % 2 === 0 ? success : send(response, 500)) },
      'called again, it answers HTTP 500',
    ],
  ],
  'sane-retries': [
    [
      'negative',
      { handlers: [offered('BeforeClusterCreate')], answer: () => ({ ...success, retryAfterSeconds: -1 }) },
      'retryAfterSeconds is -1',
    ],
    [
      'a day',
      { handlers: [offered('BeforeClusterCreate')], answer: () => ({ ...success, retryAfterSeconds: 86_400 }) },
      'more than ten minutes',
    ],
  ],
  messages: [
    ['a time', failing(() => `failed at ${new Date().toISOString()}`), 'a message contains a time'],
    ['seconds since 1970', failing(() => `request ${Math.floor(Date.now() / 1000)}`), 'a message contains a time'],
    ['a counter', failing(() => `attempt ${counter++}`), 'the same request gets different messages'],
    ['a counter of malformed ones', {}, 'the same malformed request gets different messages'],
    ['a token', failing(() => 'GET https://api: token=abcdefgh refused'), 'a message contains something labelled'],
    ['a URL with a password', failing(() => 'cannot reach https://user:hunter2@example.com/'), 'a URL with a password'],
    [
      'a stack trace',
      failing(() => 'TypeError: x\n    at handler (/app/a.js:3:4)'),
      'a message contains a stack trace',
    ],
    ['a long text', failing(() => 'x'.repeat(2000)), 'a message has 2000 characters'],
  ],
  'patches-apply': [
    [
      'plain JSON',
      patching((request) => [{ uid: uidOf(request), patchType: 'JSONPatch', patch: '[{"op":"remove"}]' }]),
      'items[0].patch must be standard base64',
    ],
    ['another type', onePatch([], 'StrategicMergePatch'), 'patchType "StrategicMergePatch" is not JSONPatch'],
    [
      'no patch',
      patching((request) => [{ uid: uidOf(request), patchType: 'JSONPatch' }]),
      'an empty patch is only taken as JSONMergePatch',
    ],
    [
      'base64 of something else',
      patching((request) => [{ uid: uidOf(request), patchType: 'JSONPatch', patch: 'aGVsbG8=' }]),
      'error decoding json patch (RFC6902): invalid state detected',
    ],
    [
      'an operation without its value',
      onePatch([{ op: 'add', path: '/spec/x', value: undefined }]),
      "failed to decode 'value': operation, missing value field: missing value",
    ],
    [
      'more operations than are applied',
      onePatch(Array.from({ length: 10_001 }, () => ({ op: 'remove', path: '/spec/x' }))),
      'it has 10001 operations, and at most 10000 are applied here: replace whole objects',
    ],
    ['an object as operations', onePatch({}), 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    [
      'a uid of long ago',
      patching(() => [{ uid: 'old', patchType: 'JSONPatch', patch: encoded([]) }]),
      'items[0]: uid "old" is not in the request',
    ],
    ['a parent that is missing', onePatch([{ op: 'add', path: '/spec/a/b', value: 1 }]), 'doc is missing path'],
    [
      'a list that grows by copies',
      onePatch([
        { op: 'add', path: '/spec/a', value: ['x'.repeat(1000)] },
        ...Array.from({ length: 40 }, () => ({ op: 'copy', from: '/spec/a', path: '/spec/a/-' })),
      ]),
      'exceeding the limit',
    ],
    ['a list as a merge patch', onePatch([], 'JSONMergePatch'), "Object 'Kind' is missing in '[]'"],
    ['another kind', onePatch([{ op: 'replace', path: '/kind', value: 'Other' }]), 'another kind or apiVersion'],
    [
      'a machine',
      {
        handlers: [offered('CanUpdateMachine')],
        answer: () => ({
          status: 'Success',
          machinePatch: { patchType: 'JSONPatch', patch: encoded([{ op: 'remove', path: '/spec/none' }]) },
        }),
      },
      'error applying json patch (RFC6902): error in remove for path',
    ],
  ],
  'patches-deterministic': [
    [
      'a random name',
      patching((request) => [
        { uid: uidOf(request), patchType: 'JSONMergePatch', patch: encoded(specPatch(Math.random())) },
      ]),
      'the patched objects differ',
    ],
    ['the first item', onePatch(specPatch(1), 'JSONMergePatch'), 'the patched objects differ'],
  ],
  'patches-taken': [
    ['a name', onePatch({ metadata: { name: 'mine' } }, 'JSONMergePatch'), 'changes /metadata/name'],
    ['no spec', onePatch([{ op: 'remove', path: '/spec' }]), 'changes /spec'],
    [
      'replicas of the control plane',
      onePatch({ spec: { template: { spec: { replicas: 5 } } } }, 'JSONMergePatch', 1),
      'changes /spec/template/spec/replicas',
    ],
    [
      'labels of a machine',
      {
        handlers: [offered('CanUpdateMachine')],
        answer: () => ({
          status: 'Success',
          machinePatch: { patchType: 'JSONMergePatch', patch: encoded({ metadata: { labels: { a: 'b' } } }) },
        }),
      },
      'changes /metadata/labels',
    ],
  ],
  'variables-valid': [
    [
      'a dot',
      variables({ name: 'a.b', required: true, schema: { openAPIV3Schema: { type: 'string' } } }),
      'variables[a.b].name: Invalid value: "a.b": variable name cannot contain "."',
    ],
    [
      'the same name twice',
      variables(
        { name: 'a', required: true, schema: { openAPIV3Schema: { type: 'string' } } },
        { name: 'a', required: true, schema: { openAPIV3Schema: { type: 'string' } } },
      ),
      'Variable with name "a" is defined more than once',
    ],
    [
      'no type',
      variables({ name: 'a', required: true, schema: { openAPIV3Schema: { type: 'object', properties: { b: {} } } } }),
      'variables[a].schema.openAPIV3Schema.properties[b].type: Required value',
    ],
    ['no schema', variables({ name: 'a', required: true }), 'variables[a].schema.openAPIV3Schema.type: Required value'],
    [
      'a pattern of JavaScript',
      variables({ name: 'a', required: true, schema: { openAPIV3Schema: { type: 'string', pattern: '(?=a)' } } }),
      'openAPIV3Schema.pattern: Invalid value: "(?=a)": must be a valid regular expression',
    ],
    [
      'a default of another type',
      variables({ name: 'a', required: true, schema: { openAPIV3Schema: { type: 'integer', default: 'x' } } }),
      'default: Invalid value: "string":  in body must be of type integer: "string"',
    ],
    [
      'an example that breaks a rule',
      variables({
        name: 'a',
        required: true,
        schema: {
          openAPIV3Schema: {
            type: 'string',
            example: 'x',
            'x-kubernetes-validations': [{ rule: "self.startsWith('y')", message: 'begins with y' }],
          },
        },
      }),
      'variables[a].schema.openAPIV3Schema.example: Invalid value: "x": begins with y',
    ],
    [
      'a rule that only Kubernetes can evaluate',
      variables({
        name: 'a',
        required: true,
        schema: { openAPIV3Schema: { type: 'string', 'x-kubernetes-validations': [{ rule: 'isIP(self)' }] } },
      }),
      "variables[a].schema.openAPIV3Schema.x-kubernetes-validations[0].rule is not evaluated here: found no matching overload for 'isIP(string)'; try it in a cluster",
    ],
    [
      'a default outside the enum',
      variables({
        name: 'a',
        required: true,
        schema: { openAPIV3Schema: { type: 'string', enum: ['x'], default: 'y' } },
      }),
      'openAPIV3Schema.default: Unsupported value: "y": supported values: "x"',
    ],
    [
      'a list of nothing',
      variables({ name: 'a', required: true, schema: { openAPIV3Schema: { type: 'array' } } }),
      'openAPIV3Schema.items: Required value: must be specified',
    ],
  ],
};

/** Servers for violations that need more than a response. */
const special: Readonly<Record<string, () => Answering>> = {
  'malformed-bodies: Success for anything':
    () =>
    ({ url }) =>
      url.includes('/discovery') ? { status: 'Success', handlers: [offered('ValidateTopology')] } : success,
  'malformed-bodies: HTTP 500': () => (received, response, request) =>
    parsed(received.body) === undefined ? send(response, 500) : behaving({})(received, response, request),
  'malformed-bodies: a hang': () => (received, response, request) =>
    parsed(received.body) === undefined && !received.url.includes('/discovery')
      ? undefined
      : behaving({ handlers: [offered('ValidateTopology', { timeoutSeconds: 1 })] })(received, response, request),
  'messages: a counter of malformed ones': () => (received, response, request) =>
    parsed(received.body) === undefined
      ? { ...success, message: `attempt ${counter++}` }
      : behaving({})(received, response, request),
};

const cases = Object.entries(violations).flatMap(([id, servers]) =>
  servers.map(([what, conduct, message]) => ({ id, what, conduct, message })),
);

async function finds(
  { id, what, conduct: { options, ...conduct }, message }: (typeof cases)[number],
  { expect, onTestFinished }: TestContext,
) {
  const answering = special[`${id}: ${what}`]?.() ?? behaving(conduct);
  const server = await startExtension(answering, options);
  onTestFinished(() => server.close());
  const { checks: results } = await tryExtension(server.port, { checks: [id] });
  const result = results.find((one) => one.id === id);
  const texts = result?.problems.map((problem) => problem.message).join('\n');
  expect(texts, JSON.stringify(result)).toMatch(
    message instanceof RegExp ? message : new RegExp(message.replaceAll(/[()[\]/.?+]/g, '\\$&')),
  );
  const found = checks.find((check) => check.id === id);
  expect(result?.status).toBe(
    found?.level === 'should' || result?.problems.every(({ severity }) => severity === 'warning')
      ? 'warning'
      : 'failed',
  );
}

/** Servers that respond late: their cases wait concurrently. */
const waiting = new Set(['answers-calls', 'malformed-bodies']);
test.for(cases.filter(({ id }) => !waiting.has(id)))('$id finds $what', finds);
test.concurrent.for(cases.filter(({ id }) => waiting.has(id)))('$id finds $what', finds);

test('every check finds something', () => {
  expect(
    checks
      .map(({ id }) => id)
      // These need files: test/cli/commands/plan-live.test.ts and crds.test.ts.
      .filter((id) => !['patches-as-recorded', 'patches-valid'].includes(id))
      .sort(),
  ).toEqual(Object.keys(violations).sort());
});

/** Checks that compare answers. */
const comparing = ['content-type', 'unknown-fields', 'repeatable'];

// Go's SDK computes patches from a map: the operations of a JSON patch have another order each time.
test('operations in another order each time, with the same effect, pass the checks that compare answers', async () => {
  const operations = [1, 2, 3].map((value) => ({ op: 'add', path: `/spec/template/spec/a${value}`, value }));
  const shuffled = patching((request) => [
    { uid: uidOf(request), patchType: 'JSONPatch', patch: encoded(operations.toSorted(() => (counter++ % 3) - 1)) },
    {
      uid: uidOf(request, 1),
      patchType: 'JSONPatch',
      patch: encoded([{ op: 'add', path: '/spec/template/metadata/labels/a', value: 'b' }]),
    },
  ]);
  const byPlace: Conduct = {
    ...shuffled,
    answer: (request, received, response) => {
      if (!Array.isArray(request.items)) {
        return { status: 'Failure', message: 'items must be a list' };
      }
      const items = (request.items as JsonObject[]).toSorted((a, b) =>
        JSON.stringify(a.object) < JSON.stringify(b.object) ? -1 : 1,
      );
      return shuffled.answer?.({ ...request, items }, received, response);
    },
  };
  const server = await startExtension(behaving(byPlace));
  onTestFinished(() => server.close());
  const report = await tryExtension(server.port, { checks: [...comparing, 'patches-deterministic'] });
  expect(new Set(server.received.map(({ body }) => body)).size).toBeGreaterThan(3);
  expect(complaints(report)).toEqual({});
  expect(report.checks.find(({ id }) => id === 'patches-deterministic')?.status).toBe('passed');
});

test('a message with a time that stays the same is as good as any other', async () => {
  const conduct = failing(() => 'Cluster lab, created at 2026-01-01T00:00:00Z, has no backup');
  const server = await startExtension(behaving(conduct));
  onTestFinished(() => server.close());
  const report = await tryExtension(server.port, { checks: ['messages'] });
  expect(report.checks[0]).toMatchObject({ status: 'passed', problems: [] });
});

// As the handler of an extension in public use answers: Cluster API takes a merge patch without content.
test('a merge patch without a patch has no effect, and no error', async () => {
  const server = await startExtension(
    behaving(patching((request) => [{ uid: uidOf(request), patchType: 'JSONMergePatch' }])),
  );
  onTestFinished(() => server.close());
  const report = await tryExtension(server.port, { checks: ['patches-apply', 'patches-taken'] });
  expect(report.checks.map(({ status }) => status)).toEqual(['passed', 'passed']);
});

test('without a patch, nothing is known about whether patches are the same each time', async () => {
  const server = await startExtension(behaving(patching(() => [])));
  onTestFinished(() => server.close());
  const report = await tryExtension(server.port, { checks: ['patches-deterministic'] });
  expect(report.checks[0]).toMatchObject({
    status: 'skipped',
    skipReason: 'there are no patches: pass a request that needs some with --request FILE',
  });
});

// Discovery reports it, but what else is wrong is of interest, too.
test('handlers of one name are called by their hooks', async () => {
  const handlers = ['DiscoverVariables', 'GeneratePatches'].map((hook) => offered(hook, { name: 'same' }));
  const server = await startExtension(behaving({ handlers }));
  onTestFinished(() => server.close());
  await tryExtension(server.port, { checks: ['answers-calls'] });
  expect(server.received.map(({ url }) => url.split('/')[3])).toEqual([
    'discovery?timeout=10s',
    'discovervariables',
    'generatepatches',
  ]);
});

test('a variation is not blamed for a handler that by then fails every call', async () => {
  const dying = behaving({
    answer: (_request, _received, response) => (counter++ < 2 ? success : send(response, 500)),
  });
  const server = await startExtension(dying);
  onTestFinished(() => server.close());
  const ids = ['unknown-fields', 'large-request', 'content-type', 'repeatable'];
  expect(complaints(await tryExtension(server.port, { checks: ids }))).toEqual({ repeatable: 'failed' });
});

test('a handler that always fails does not pass, whatever else is checked', async () => {
  const server = await startExtension(behaving(failing(() => 'no')));
  onTestFinished(() => server.close());
  // The others send much.
  const ids = checks.map(({ id }) => id).filter((id) => !/large-request|malformed-bodies/.test(id));
  const report = await tryExtension(server.port, { checks: ids });
  expect(complaints(report)).toEqual({ 'answers-calls': 'failed' });
  expect(report.verdict).toBe('failed');
});

test('an answer that is another one each time is one finding, not also one of each check that compares answers', async () => {
  const random = patching((request) => [
    { uid: uidOf(request), patchType: 'JSONMergePatch', patch: encoded(specPatch(counter++)) },
  ]);
  const server = await startExtension(behaving(random));
  onTestFinished(() => server.close());
  expect(complaints(await tryExtension(server.port, { checks: comparing }))).toEqual({ repeatable: 'failed' });
});

test('patches in another order have the same effect, even if definitions refuse the objects', async () => {
  const conduct = patching((request) => {
    const patch = encoded(specPatch(1));
    const items = (request.items as JsonObject[]).map(({ uid = '' }) => ({ uid, patchType: 'JSONMergePatch', patch }));
    return counter++ % 2 === 0 ? items : items.toReversed();
  });
  const server = await startExtension(behaving(conduct));
  onTestFinished(() => server.close());
  const nested = (schema: Schema, ...names: string[]): Schema =>
    names.reduceRight((inner, name) => ({ type: 'object', properties: { [name]: inner } }), schema);
  const schemaOf = () => nested({ type: 'string' }, 'spec', 'template', 'spec', 'a');
  const report = await tryExtension(server.port, { checks: [...comparing, 'patches-valid'], schemaOf });
  expect(complaints(report)).toEqual({ 'patches-valid': 'failed' });
});

test('of long messages, the longest is one finding', async () => {
  const server = await startExtension(({ url, body }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: [offered('ValidateTopology')] }
      : { status: 'Failure', message: 'x'.repeat(parsed(body) === undefined ? 3000 : 2000) },
  );
  onTestFinished(() => server.close());
  const report = await tryExtension(server.port, { checks: ['messages'] });
  expect(report.checks[0]?.problems.map(({ message }) => message)).toEqual(['a message has 3000 characters']);
});

test('a Failure in the first call only is a warning', async () => {
  const answer = () => (counter++ === 0 ? { ...success, status: 'Failure', message: 'not yet' } : success);
  const server = await startExtension(behaving({ answer }));
  onTestFinished(() => server.close());
  expect(complaints(await tryExtension(server.port, { checks: ['answers-calls'] }))).toEqual({
    'answers-calls': 'warning',
  });
});
