// Sends the sandbox random, expensive bodies of up to 3 MiB, and measures how long each takes: `npm run
// bench:sandbox-bodies -- [--seconds 60] [--seed N] [--limit 5]`. Exit code 1 if one takes longer than the limit (in
// seconds), gets a response of more than 8 MiB, or causes an internal error. Each finding names the seed that
// reproduces it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { Json, JsonObject } from '../../src/kubernetes/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { send } from '../../test/sandbox/client.ts';

type Address = { url: string; ca: string; token: string };

const maxBytes = 3 * 1024 * 1024 - 4096;
const maxAnswer = 8 * 1024 * 1024;
const timeLimitMs = 30_000;

/** Pseudorandom numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;
const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;

function object(count: number, key: (index: number) => string, value: (index: number) => Json): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [key(index), value(index)]));
}
function list(count: number, value: (index: number) => Json): Json[] {
  return Array.from({ length: count }, (_, index) => value(index));
}

/** Values of roughly `size` bytes, each of a kind that takes some work to process. */
const shapes: Record<string, (bytes: number, random: Random) => Json> = {
  keys: (bytes) =>
    object(
      bytes / 12,
      (index) => `k${index}`,
      () => 1,
    ),
  'bad keys': (bytes) =>
    object(
      bytes / 14,
      (index) => `_${index}/`,
      () => 'v',
    ),
  texts: (bytes) =>
    object(
      bytes / 16,
      (index) => `k${index}`,
      () => 'v_',
    ),
  strings: (bytes) => list(bytes / 10, (index) => `s${index}`),
  'equal strings': (bytes) => list(bytes / 4, () => 'a'),
  numbers: (bytes) => list(bytes / 8, (index) => index),
  nulls: (bytes) => list(bytes / 5, () => null),
  'empty objects': (bytes) => list(bytes / 3, () => ({})),
  'named objects': (bytes) => list(bytes / 20, (index) => ({ name: `n${index}` })),
  'equal objects': (bytes) => list(bytes / 14, () => ({ name: 'n' })),
  'long text': (bytes) => 'a'.repeat(bytes),
  'long odd text': (bytes) => 'é"\n'.repeat(bytes / 8),
  'long key': (bytes) => ({ ['k'.repeat(bytes)]: 1 }),
  'long keys': (bytes) =>
    object(
      bytes / 10_000,
      (index) => `${index}${'k'.repeat(9_980)}`,
      () => ({ a: 1 }),
    ),
  'many below a long key': (bytes) => ({
    ['k'.repeat(bytes / 2)]: object(
      bytes / 24,
      (index) => `k${index}`,
      () => 1,
    ),
  }),
  'many lists below a long key': (bytes) => ({ ['k'.repeat(bytes / 2)]: list(bytes / 16, () => ({ a: 'x' })) }),
  nested: (bytes) => {
    let value: Json = list(bytes / 8, () => 'x');
    for (let depth = 0; depth < 200; depth++) {
      value = depth % 2 === 0 ? { a: value, b: depth } : [value];
    }
    return value;
  },
  'nested wide': (bytes) => {
    let value: Json = 1;
    for (let depth = 0; depth < 200; depth++) {
      value = {
        a: value,
        ...object(
          bytes / 200 / 12,
          (index) => `k${index}`,
          () => 1,
        ),
      };
    }
    return value;
  },
  'nested schemas': (bytes) => {
    let value: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 80; depth++) {
      value = {
        type: 'object',
        properties: {
          a: value,
          ...object(
            bytes / 80 / 30,
            (index) => `p${index}`,
            () => ({ type: 'string' }),
          ),
        },
      };
    }
    return value;
  },
  schemas: (bytes) =>
    object(
      bytes / 32,
      (index) => `p${index}`,
      () => ({ type: 'string', default: '' }),
    ),
  alternatives: (bytes) => list(bytes / 40, (index) => ({ properties: { [`p${index}`]: { minLength: 1 } } })),
  patterns: (bytes) => list(bytes / 40, () => ({ type: 'string', pattern: '^(a+)+([a-z]{1,99})*$' })),
  'long pattern': (bytes) => '(a|b?)*'.repeat(bytes / 8),
  'open groups': (bytes) => '('.repeat(bytes),
  expression: (bytes) => `${'1+'.repeat(bytes / 2)}1 == 1`,
  'nested expression': (bytes) => `${'('.repeat(bytes / 2)}true${')'.repeat(bytes / 2)}`,
  rules: (bytes) => list(bytes / 40, (index) => ({ rule: `self.size() > ${index}`, name: `r${index}` })),
  selectors: (bytes) => list(bytes / 60, () => ({ key: 'a', operator: 'In', values: ['b', 'c'] })),
  operations: (bytes) => list(bytes / 40, () => ({ op: 'add', path: '/data/x', value: 'y' })),
};

const thing = {
  name: 'v1',
  served: true,
  storage: true,
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      'x-kubernetes-validations': [{ rule: 'size(self.spec.texts) >= 0 || true' }],
      properties: {
        spec: {
          type: 'object',
          default: {},
          properties: {
            open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            texts: { type: 'array', items: { type: 'string', pattern: '^(a|b|c)+$' } },
            set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
            map: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
              items: {
                type: 'object',
                required: ['name', 'value'],
                properties: { name: { type: 'string' }, value: { type: 'string', default: 'x' } },
                'x-kubernetes-validations': [{ rule: 'self.name == oldSelf.name' }],
              },
            },
            fields: {
              type: 'object',
              additionalProperties: { type: 'object', properties: { a: { type: 'integer', default: 1 } } },
            },
            either: { anyOf: [{ minLength: 1 }, { maxLength: 0 }], type: 'string', format: 'date-time' },
          },
        },
      },
    },
  },
};
const definition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing', shortNames: ['th'], categories: ['all'] },
    versions: [thing],
    conversion: { strategy: 'None' },
  },
};
const aThing: JsonObject = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', labels: {}, annotations: {}, finalizers: [], ownerReferences: [] },
  spec: { open: {}, texts: [], set: [], map: [], fields: {}, either: '2026-01-01T00:00:00Z' },
};
const aMap: JsonObject = {
  metadata: { name: 'a', labels: {}, annotations: {}, finalizers: [] },
  data: {},
  immutable: false,
};
const aDeployment: JsonObject = {
  metadata: { name: 'a' },
  spec: {
    selector: { matchLabels: {}, matchExpressions: [] },
    template: { spec: { containers: [{ name: 'a', env: [], ports: [], args: [] }], volumes: [] } },
  },
};
const aConfiguration: JsonObject = {
  metadata: { name: 'a' },
  webhooks: [
    {
      name: 'a.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Ignore',
      clientConfig: { url: 'https://127.0.0.1:1/', caBundle: '' },
      namespaceSelector: { matchLabels: {}, matchExpressions: [] },
      objectSelector: { matchExpressions: [] },
      matchConditions: [{ name: 'a', expression: 'true' }],
      rules: [{ apiGroups: ['none'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: '*' }],
    },
  ],
};
const patched = { metadata: { labels: {}, finalizers: [] }, data: {}, spec: { open: {}, map: [], template: {} } };

const maps = '/api/v1/namespaces/default/configmaps';
const things = '/apis/example.com/v1/things';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
/** Requests whose bodies get something large in a random place. Those for definitions are not stored. */
const requests: [method: string, path: string, type: string, body: Json][] = [
  ['POST', `${maps}?dryRun=All`, 'json', aMap],
  ['POST', `${maps}?dryRun=All&fieldValidation=Strict`, 'json', aMap],
  ['POST', `${maps}?dryRun=All`, 'yaml', aMap],
  ['POST', `${things}?dryRun=All`, 'json', aThing],
  ['POST', `${things}?dryRun=All&fieldValidation=Strict`, 'json', aThing],
  ['PUT', `${things}/stored`, 'json', { ...aThing, metadata: { name: 'stored', finalizers: [], labels: {} } }],
  ['PATCH', `${things}/stored`, 'merge-patch+json', patched],
  ['PATCH', `${things}/deleted?dryRun=All`, 'merge-patch+json', { metadata: { finalizers: [] } }],
  ['PATCH', `${things}/stored?dryRun=All`, 'json-patch+json', [{ op: 'add', path: '/spec/open', value: {} }]],
  ['POST', `${deployments}?dryRun=All`, 'json', aDeployment],
  ['PATCH', `${deployments}/stored?dryRun=All`, 'strategic-merge-patch+json', aDeployment],
  ['POST', `${definitions}?dryRun=All`, 'json', definition],
  ['PATCH', `${definitions}/things.example.com?dryRun=All`, 'merge-patch+json', definition],
  ['POST', `${configurations}?dryRun=All`, 'json', aConfiguration],
  ['DELETE', `${things}/none`, 'json', { preconditions: {}, dryRun: [] }],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'json', { spec: { resourceAttributes: {} } }],
];

/** A copy with one value replaced, found by a random descent. */
function replaced(value: Json, random: Random, large: Json, depth = 0): Json {
  const isOver = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isOver || (depth > 0 && random() < 0.15)) {
    return large;
  }
  if (Array.isArray(value)) {
    const at = Math.floor(random() * value.length);
    return value.map((item, index) => (index === at ? replaced(item, random, large, depth + 1) : item));
  }
  const key = pick(random, Object.keys(value));
  return { ...value, [key]: replaced(value[key] as Json, random, large, depth + 1) };
}

function requestOf(seed: number) {
  const random = randomOf(seed);
  const [method, path, type, body] = pick(random, requests);
  const shape = pick(random, Object.keys(shapes));
  const bytes = Math.floor(maxBytes * (0.2 + 0.75 * random()));
  const large = (shapes[shape] as (typeof shapes)[string])(bytes, random);
  let text = JSON.stringify(replaced(body, random, large));
  if (Buffer.byteLength(text) > maxBytes) {
    text = text.slice(0, maxBytes);
  }
  return { method, path, type, shape, text };
}

async function prepare(address: Address): Promise<void> {
  const put = async (path: string, body: JsonObject) => {
    const { status, text } = await send(address, 'POST', path, { body });
    if (status !== 201) {
      throw new Error(`cannot prepare ${path}: ${text.slice(0, 500)}`);
    }
  };
  await put(definitions, definition);
  while ((await send(address, 'GET', things)).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const finalizers = ['example.com/a'];
  await put(things, { ...aThing, metadata: { name: 'stored' } });
  await put(things, { ...aThing, metadata: { name: 'deleted', finalizers } });
  await send(address, 'DELETE', `${things}/deleted`);
  await put(deployments, { ...aDeployment, metadata: { name: 'stored' } });
}

interface Running {
  child: ChildProcess;
  address: Address;
  bugs: string[];
}

async function start(): Promise<Running> {
  const child = fork(new URL(import.meta.url), ['serve'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [address] = (await once(child, 'message')) as [Address];
  const bugs: string[] = [];
  child.on('message', (message) => bugs.push(String(message)));
  await prepare(address);
  return { child, address, bugs };
}

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string' },
      limit: { type: 'string', default: '5' },
    },
  });
  const limitMs = Number(values.limit) * 1000;
  const first = Number(values.seed ?? Date.now() % 1_000_000_000);
  const end = performance.now() + Number(values.seconds) * 1000;
  let running = await start();
  let count = 0;
  let slowest = 0;
  let findings = 0;
  for (let seed = first; performance.now() < end && findings < 50; seed++) {
    const { method, path, type, shape, text } = requestOf(seed);
    const began = performance.now();
    const over = new Promise<undefined>((resolve) => setTimeout(resolve, timeLimitMs, undefined).unref());
    const headers = { 'content-type': `application/${type}` };
    const answered = send(running.address, method, path, { headers, body: text }).catch((error: Error) => error);
    const answer = await Promise.race([answered, over]);
    const took = performance.now() - began;
    slowest = Math.max(slowest, took);
    count++;
    const problems: string[] = running.bugs.splice(0).map((bug) => `bug: ${bug.slice(0, 600)}`);
    if (answer === undefined) {
      problems.push('no end');
    } else if (answer instanceof Error) {
      problems.push(`no answer: ${answer.message}`);
    } else if (answer.text.length > maxAnswer) {
      problems.push(`an answer of ${answer.text.length} characters`);
    } else if (answer.status >= 500) {
      problems.push(`status ${answer.status}: ${answer.text.slice(0, 300)}`);
    }
    if (took > limitMs) {
      problems.push(`took ${Math.round(took)} ms`);
    }
    for (const problem of problems) {
      findings++;
      process.stdout.write(`--seed ${seed}: ${method} ${path} (${type}), ${shape}: ${problem}\n`);
    }
    if (answer === undefined || answer instanceof Error) {
      running.child.kill('SIGKILL');
      running = await start();
    }
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[K${count} bodies, the slowest ${Math.round(slowest)} ms`);
    }
  }
  running.child.kill();
  process.stdout.write(
    `${count} bodies from seed ${first} on, the slowest ${Math.round(slowest)} ms, ${findings} findings\n`,
  );
  process.exitCode = findings > 0 ? 1 : 0;
}

if (process.argv[2] === 'serve') {
  const { url, ca, token } = await startSandbox({
    log: (event) => event.event === 'bug' && process.send?.(`${event.request}: ${event.message}`),
  });
  process.send?.({ url, ca, token });
  // Killed when its parent exits, however that happens.
  process.on('disconnect', () => process.exit());
} else {
  await run();
}
