import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  createJobs,
  type Handler,
  handler,
  type Job,
  type JobSpec,
  type KubernetesJobsOptions,
} from '../../../../src/extension/index.ts';
import { call as callInProcess } from '../../../../src/extension/sdk/calls/call.ts';
import { createLifetime, type EndedLifetime } from '../../../../src/extension/sdk/calls/lifetime.ts';
import { callHandler, requestFor } from '../../../../src/extension/sdk/testing/index.ts';
import { connect, type KubernetesClient, loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import type { Json, JsonObject } from '../../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../../src/sandbox/index.ts';
import { localhost, testCa } from '../../../base/x509/certificates.ts';

let sandbox: Sandbox;
let client: KubernetesClient;
let kubeconfig: string;
const folder = mkdtempSync(join(tmpdir(), 'jobs-'));
const ended = new AbortController();
beforeAll(async () => {
  sandbox = await startSandbox();
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  client = connect(await loadKubeConfig({ kubeconfig }), ended.signal);
});
afterAll(async () => {
  ended.abort();
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

/** Sends a request to the API server. */
const send = (method = '', path = '', headers: IncomingHttpHeaders = {}, body = '') =>
  new Promise<{ code: number; body: string }>((resolve, reject) => {
    const own = {
      authorization: `Bearer ${sandbox.token}`,
      'content-type': headers['content-type'] ?? 'application/json',
    };
    request(new URL(path, sandbox.url), { method, ca: sandbox.ca, headers: own }, async (response) =>
      resolve({ code: response.statusCode ?? 0, body: await text(response) }),
    )
      .on('error', reject)
      .end(body);
  });

// A test may run several times in one process.
beforeEach(async () => {
  await send('DELETE', '/apis/batch/v1/namespaces/default/jobs');
  await send('DELETE', '/api/v1/namespaces/default/pods');
});

const template: JobSpec = {
  backoffLimit: 2,
  template: { spec: { restartPolicy: 'Never', containers: [{ name: 'backup', image: 'backup:1', env: [] }] } },
};

function handlerOf(options: Partial<KubernetesJobsOptions>) {
  const jobs = createJobs({ namespace: 'default', template, ...options });
  return handler('BeforeClusterUpgrade', {
    name: 'wait',
    handle: (request, context) =>
      jobs.answer(context, {
        key: `${request.cluster.metadata?.uid} ${request.toKubernetesVersion}`,
        message: 'backups run',
        env: { VERSION: request.toKubernetesVersion },
        cluster: request.cluster,
      }),
  });
}

/** Calls a replica of an extension that was started anew: it remembers nothing. */
async function call(toKubernetesVersion: string, more: Partial<KubernetesJobsOptions> = {}) {
  const { result, response, lines } = await callHandler(
    handlerOf({ kubeconfig, ...more }),
    requestFor('BeforeClusterUpgrade', { toKubernetesVersion }),
  );
  return { answer: [result, response.message], lines };
}

const list = async (version: string): Promise<JsonObject[]> => {
  const { items } = await client.request('GET', '/apis/batch/v1/namespaces/default/jobs');
  return (items as JsonObject[]).filter((job) => JSON.stringify(job).includes(`"value":"${version}"`));
};
const isMarked = async (version: string) => JSON.stringify(await list(version)).includes('failure-reported');
const nameOf = (job: JsonObject) => String((job.metadata as JsonObject).name);
const path = (job: JsonObject) => `/apis/batch/v1/namespaces/default/jobs/${nameOf(job)}`;
/** Makes a Pod of a Job, whose containers ended with these messages. */
async function failPod(job: JsonObject, messages: readonly (string | undefined)[], pod = 'x'): Promise<void> {
  const name = nameOf(job);
  await client.request('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-${pod}`, labels: { 'batch.kubernetes.io/job-name': name } },
    spec: { containers: [{ name: 'backup', image: 'backup:1' }] },
  });
  await client.request('PATCH', `/api/v1/namespaces/default/pods/${name}-${pod}/status`, {
    status: {
      phase: 'Failed',
      containerStatuses: messages.map((message, index) => ({
        ...{ name: `backup-${index}`, image: 'backup:1', imageID: '', ready: false, restartCount: 0 },
        state: { terminated: { exitCode: 1, ...(message !== undefined && { message }) } },
      })),
    },
  });
}
const end = (job: JsonObject, type: string) =>
  client.request('PATCH', `${path(job)}/status`, {
    status: {
      startTime: '2026-01-01T00:00:00Z',
      conditions: [
        { type: type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget', status: 'True' },
        { type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
      ...(type === 'Complete' && { completionTime: '2026-01-01T00:00:00Z' }),
    },
  });

const blocking = ['blocking', 'backups run'];

test('each key is one Job, whichever replicas are asked, and its status is the answer', async () => {
  const answers = await Promise.all([call('v1.40.0'), call('v1.40.0'), call('v1.40.0')]);
  expect(answers.map(({ answer }) => answer)).toEqual([blocking, blocking, blocking]);
  const [job, ...others] = await list('v1.40.0');
  expect(others).toEqual([]);
  expect(job).toMatchObject({
    metadata: {
      name: (job?.metadata as JsonObject).name,
      labels: { 'cluster.x-k8s.io/cluster-name': 'example' },
      ownerReferences: [{ kind: 'Cluster', name: 'example', uid: '227d048d-691e-418b-a2cb-736154635d0a' }],
    },
    spec: {
      backoffLimit: 2,
      ttlSecondsAfterFinished: 86_400,
      template: { spec: { containers: [{ env: [{ name: 'VERSION', value: 'v1.40.0' }] }] } },
    },
  });
  await end(job!, 'Complete');
  expect((await call('v1.40.0')).answer).toEqual(['success', undefined]);
  expect((await call('v1.40.0')).answer).toEqual(['success', undefined]);
  expect((await call('v1.41.0')).answer).toEqual(blocking);
});

/** Calls a handler with a job of its own. */
async function callJob(job: Partial<Job>, options: Partial<KubernetesJobsOptions> = {}) {
  const jobs = createJobs({ namespace: 'default', template, kubeconfig, ...options });
  return callHandler(
    handler('BeforeClusterUpgrade', {
      name: 'wait',
      handle: (_, context) => jobs.answer(context, { key: 'one', message: 'backups run', ...job }),
    }),
    requestFor('BeforeClusterUpgrade', {}),
  );
}

const sample = requestFor('BeforeClusterUpgrade').cluster.metadata;
const subject = `BeforeClusterUpgrade wait ${sample?.namespace}/${sample?.name} ${sample?.uid}`;
/** JSON leaves out the name of the set. */
const hash = createHash('sha256')
  .update(JSON.stringify([null, subject, 'one', template]))
  .digest('hex')
  .slice(0, 20);
const identity = { 'cluster-api-extension/key': hash, 'cluster-api-extension/attempt': '0' };
const cluster = { name: 'c', namespace: 'default', uid: 'u' };
const clusterLabel = { 'cluster.x-k8s.io/cluster-name': 'c' };
const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'c', uid: 'u' };

test.each<[string, Partial<Job>, labels: object, owners: object[] | undefined]>([
  ['no Cluster', {}, {}, undefined],
  ['a Cluster in its namespace', { cluster: { metadata: cluster } }, clusterLabel, [owner]],
  [
    'a Cluster in another namespace',
    { cluster: { metadata: { ...cluster, namespace: 'other' } } },
    clusterLabel,
    undefined,
  ],
  ['a Cluster without a uid', { cluster: { metadata: { name: 'c', namespace: 'default' } } }, clusterLabel, undefined],
  ['a Cluster without a name', { cluster: { metadata: { namespace: 'default', uid: 'u' } } }, {}, undefined],
  ['a Cluster without metadata', { cluster: {} }, {}, undefined],
])('the metadata of a Job for %s', async (_, job, labels, owners) => {
  const { lines } = await callJob(job);
  expect(lines).toMatchObject([{ msg: 'Job created', job: `beforeclusterupgrade-wait-${hash}-0` }]);
  const { items } = await client.request('GET', '/apis/batch/v1/namespaces/default/jobs');
  const [{ metadata }] = items as [{ metadata: JsonObject }];
  expect([metadata.name, metadata.labels, metadata.annotations, metadata.ownerReferences]).toEqual([
    `beforeclusterupgrade-wait-${hash}-0`,
    { ...identity, ...labels },
    { 'cluster-api-extension/key': 'one' },
    owners,
  ]);
});

const jobNames = async () => {
  const { items } = await client.request('GET', '/apis/batch/v1/namespaces/default/jobs');
  return (items as JsonObject[]).map(nameOf);
};

test('two sets with one key have a Job each, and the second is not done because the first is', async () => {
  const drain = { ...template, backoffLimit: 5 };
  await callJob({});
  const [first] = await jobNames();
  await end({ metadata: { name: first! } }, 'Complete');
  expect((await callJob({})).result).toBe('success');
  expect((await callJob({}, { template: drain })).result).toBe('blocking');
  expect((await callJob({}, { name: 'drain' })).result).toBe('blocking');
  expect(await jobNames()).toHaveLength(3);
});

test('the same key is other work for another Cluster, and in another handler', async () => {
  const jobs = createJobs({ namespace: 'default', template, kubeconfig });
  const waiting = (name: string) =>
    handler('BeforeClusterUpgrade', {
      name,
      handle: (_, context) => jobs.answer(context, { key: 'v1.34.0', message: 'backups run' }),
    });
  const { cluster } = requestFor('BeforeClusterUpgrade');
  const other = { ...cluster, metadata: { ...cluster.metadata, name: 'other', uid: 'other' } };
  await callHandler(waiting('wait'));
  await callHandler(waiting('wait'), requestFor('BeforeClusterUpgrade', { cluster: other }));
  await callHandler(waiting('drain'));
  expect(new Set(await jobNames()).size).toBe(3);
});

test('a Job of that name which is not of this work is an error, which says what to do', async () => {
  await client.request('POST', '/apis/batch/v1/namespaces/default/jobs', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `beforeclusterupgrade-wait-${hash}-0` },
    spec: template as unknown as JsonObject,
  });
  const { result, lines } = await callJob({});
  expect([result, lines.at(-1)?.message]).toEqual([
    'error',
    `Job default/beforeclusterupgrade-wait-${hash}-0 exists, and is not of this work: delete it`,
  ]);
});

test('the replica that created a Job says so, and only that one', async () => {
  const calls = await Promise.all([callJob({}), callJob({}), callJob({})]);
  const messages = calls.flatMap(({ lines }) => lines.map(({ msg }) => msg));
  expect(messages.filter((msg) => msg === 'Job created')).toHaveLength(1);
});

test('a Job has the environment and the time of its template, too', async () => {
  const container = { name: 'backup', image: 'backup:1', env: [{ name: 'A', value: '1' }] };
  const spec = { restartPolicy: 'Never' as const, containers: [container] };
  await callJob({ env: { B: '2' } }, { template: { ttlSecondsAfterFinished: 60, template: { spec } } });
  const { items } = await client.request('GET', '/apis/batch/v1/namespaces/default/jobs');
  const env = [...container.env, { name: 'B', value: '2' }];
  expect(items).toMatchObject([
    { spec: { ttlSecondsAfterFinished: 60, template: { spec: { containers: [{ env }] } } } },
  ]);
});

test.each(['Complete', 'Failed'])('a Job whose condition %s is False runs', async (type) => {
  await call('v1.54.0');
  const [job] = await list('v1.54.0');
  await client.request('PATCH', `${path(job!)}/status`, { status: { conditions: [{ type, status: 'False' }] } });
  expect((await call('v1.54.0')).answer).toEqual(blocking);
  expect(await list('v1.54.0')).toHaveLength(1);
});

test.each<[string, string, (string | undefined)[] | undefined, string]>([
  ['no Pod', 'v1.50.0', undefined, 'the work failed: see the log of its Job'],
  ['a Pod without messages', 'v1.51.0', [undefined, ''], 'the work failed: see the log of its Job'],
  ['the second container', 'v1.52.0', [undefined, 'no space left', 'other'], 'no space left'],
  ['a long message', 'v1.53.0', ['x'.repeat(5000)], 'x'.repeat(4096)],
])('a failure with the message of %s', async (_, version, messages, expected) => {
  await call(version);
  const [job] = await list(version);
  // Another Job, and the first of two attempts.
  await failPod({ metadata: { name: 'another' } }, ['another']);
  if (messages !== undefined) {
    await failPod(job!, [undefined], 'a');
    await failPod(job!, messages);
  }
  await end(job!, 'Failed');
  expect((await call(version)).answer).toEqual(['failure', expected]);
});

describe('two replicas, of which one is killed', () => {
  const silent = pino({ enabled: false });

  /** At which of its requests to the API server, and whether that still processes it. */
  interface Kill {
    request: number;
    when: 'before' | 'after';
  }

  interface Replica {
    requests: string[];
    isKilled: boolean;
    kill: Kill | undefined;
    lifetime: EndedLifetime;
    handler: Handler;
  }

  /** By the tokens of their requests to the API server, which pass through here. */
  const replicas = new Map<string | undefined, Replica>();
  const proxy = createServer({ ...localhost }, async (incoming, response) => {
    const { method, url, headers } = incoming;
    const body = await text(incoming);
    const replica = replicas.get(headers.authorization) as Replica;
    const { requests, kill, lifetime } = replica;
    // A process that was killed would not try again.
    if (replica.isKilled) {
      response.destroy();
      return;
    }
    requests.push(`${method} ${/\/(jobs|pods)\b/.exec(url ?? '')?.[1]}`);
    const isLast = requests.length === kill?.request;
    const answer = isLast && kill?.when === 'before' ? undefined : await send(method, url, headers, body);
    if (answer !== undefined && !isLast) {
      response.writeHead(answer.code, { 'content-type': 'application/json' }).end(answer.body);
      return;
    }
    replica.isKilled = true;
    await lifetime.end(0);
    response.destroy();
  });
  beforeAll(() => new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    proxy.closeAllConnections();
    proxy.close();
  });

  function startReplica(kill?: Kill): Replica {
    const token = `replica-${replicas.size}`;
    const server = `https://localhost:${(proxy.address() as AddressInfo).port}`;
    const ca = Buffer.from(testCa.cert).toString('base64');
    const file = join(folder, token);
    const one = { name: 'one', context: { cluster: 'one', user: 'one' }, user: { token } };
    writeFileSync(
      file,
      JSON.stringify({
        'current-context': 'one',
        clusters: [{ name: 'one', cluster: { server, 'certificate-authority-data': ca } }],
        contexts: [one],
        users: [one],
      }),
      { mode: 0o600 },
    );
    const lifetime = createLifetime();
    const replica = { requests: [], isKilled: false, kill, lifetime, handler: handlerOf({ kubeconfig: file }) };
    replicas.set(`Bearer ${token}`, replica);
    return replica;
  }

  /**
   * The whole life of two Jobs, the first of which fails. Cluster API calls the other replica once one is gone.
   *
   * @returns the requests of the first replica.
   */
  async function live(version: string, kill?: Kill): Promise<string[]> {
    const first = startReplica(kill);
    const second = startReplica();
    const upgrade = requestFor('BeforeClusterUpgrade', { toKubernetesVersion: version }) as unknown as Json;
    async function ask(): Promise<string> {
      for (const replica of [first, second]) {
        const { handler, lifetime } = replica;
        if (!replica.isKilled) {
          const { response } = await callInProcess(handler, upgrade, {
            ending: new AbortController(),
            log: silent,
            lifetime,
          });
          // Whoever is killed at its last request does not answer any more.
          if (!replica.isKilled) {
            const { status, message, retryAfterSeconds } = response;
            return `${status} ${retryAfterSeconds} ${message ?? ''}`.trim();
          }
        }
      }
      return 'no replica answers';
    }
    expect(await ask()).toBe('Success 10 backups run');
    const [job, ...others] = await list(version);
    expect(others).toEqual([]);
    await client.request('PATCH', `${path(job!)}/status`, { status: { active: 1, startTime: '2026-01-01T00:00:00Z' } });
    expect(await ask()).toBe('Success 10 backups run');
    await failPod(job!, ['no space left']);
    await end(job!, 'Failed');
    let failures = 0;
    let answer = await ask();
    for (; answer === 'Failure 0 no space left'; failures++) {
      // A failure is marked as reported while its answer is on its way; never by a replica that was killed before.
      for (let tries = 0; tries < 50 && !(first.isKilled || (await isMarked(version))); tries++) {
        await sleep(20);
      }
      answer = await ask();
    }
    expect([answer, failures > 0]).toEqual(['Success 10 backups run', true]);
    const attempts = await list(version);
    expect(attempts.map((attempt) => nameOf(attempt).at(-1))).toEqual(['0', '1']);
    await end(attempts[1]!, 'Complete');
    expect([await ask(), await ask()]).toEqual(['Success 0', 'Success 0']);
    // As Kubernetes does when ttlSecondsAfterFinished is over.
    for (const attempt of attempts) {
      expect(await send('DELETE', path(attempt))).toMatchObject({ code: 200 });
    }
    expect(await ask()).toBe('Success 10 backups run');
    expect(await list(version)).toHaveLength(1);
    return first.requests;
  }

  // As the Role in manifests/api-server of a generated project allows.
  const life = [
    ...['GET jobs', 'POST jobs'],
    'GET jobs',
    ...['GET jobs', 'GET pods', 'PATCH jobs'],
    ...['GET jobs', 'POST jobs'],
    ...['GET jobs', 'GET jobs'],
    ...['GET jobs', 'POST jobs'],
  ];

  test('one that is not killed makes these requests', async () => {
    expect(await live('v1.70.0')).toEqual(life);
  });

  // What is stored then differs only after a write: before the next one, it is as after the last. The last is as the first.
  const kills = life
    .slice(0, -1)
    .flatMap((name, index) => (name.startsWith('GET') ? [] : [[index + 1, name, 'after'] as const]));

  test.each([
    [1, life[0]!, 'before'] as const,
    ...kills,
  ])('at request %i, %s, %s it is processed', async (number, _, when) => {
    const requests = await live(`v1.${100 + number}.${when === 'after' ? 1 : 0}`, { request: number, when });
    expect(requests).toEqual(life.slice(0, number));
  });
});

test('a refused request is a fault of the handler, with the reason in the log', async () => {
  const { answer, lines } = await call('v1.60.0', { namespace: 'missing' });
  expect(answer).toEqual(['error', 'handler wait failed: see the log of the extension']);
  expect(lines.at(-1)?.message).toContain('missing');
});

test('what RBAC refuses names the manifest that allows it', async () => {
  const server = createServer({ ...localhost }, (_, response) => {
    const status = {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      reason: 'Forbidden',
      code: 403,
      message: 'no',
    };
    response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const file = join(folder, 'forbidden');
  const one = { name: 'one', context: { cluster: 'one', user: 'one' }, user: { token: 'a' } };
  const ca = Buffer.from(testCa.cert).toString('base64');
  const api = `https://localhost:${(server.address() as AddressInfo).port}`;
  const clusters = [{ name: 'one', cluster: { server: api, 'certificate-authority-data': ca } }];
  writeFileSync(file, JSON.stringify({ 'current-context': 'one', clusters, contexts: [one], users: [one] }));
  const { lines } = await callJob({}, { kubeconfig: file });
  server.closeAllConnections();
  server.close();
  expect(lines.at(-1)?.message).toContain('Role in manifests/api-server/role.yaml');
});

test('first calls at the same time share one client, and one run of the credential plugin', async () => {
  const [file, runs] = [join(folder, 'plugin'), join(folder, 'runs')];
  const command = 'echo >> "$0"; echo "$1"';
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: sandbox.token },
  };
  const exec = {
    apiVersion: credential.apiVersion,
    command: 'sh',
    args: ['-c', command, runs, JSON.stringify(credential)],
    interactiveMode: 'Never',
  };
  const config = parse(sandbox.kubeconfig) as { users: [{ user: unknown }] };
  config.users[0].user = { exec };
  writeFileSync(file, JSON.stringify(config));
  const one = handlerOf({ kubeconfig: file });
  const calls = ['v1.70.0', 'v1.70.1'].map((toKubernetesVersion) =>
    callHandler(one, requestFor('BeforeClusterUpgrade', { toKubernetesVersion })),
  );
  expect((await Promise.all(calls)).map(({ result }) => result)).toEqual(['blocking', 'blocking']);
  expect(readFileSync(runs, 'utf8')).toBe('\n');
});

test.each([
  {},
  { template: {} },
  { template: { spec: { containers: [] } } },
])('the template %j, which has no containers, is refused at once', (empty) => {
  expect(() => createJobs({ namespace: 'default', template: empty as never })).toThrow(
    /^template: spec of a Job is needed/,
  );
});

test.each([undefined, '', 'a/b'])('the namespace %j is refused', (namespace) => {
  expect(() => createJobs({ namespace: namespace as string, template })).toThrow(/^namespace: .*(must|is needed)/);
});

test.each([
  [{ keepSeconds: 5 }, 'keepSeconds: 5 is not a whole number of at least 10'],
])('%j is refused', (more, message) => {
  expect(() => createJobs({ namespace: 'a', template, ...more })).toThrow(new RangeError(message));
});
