// What facts about the cluster cost: `npm run bench:facts [-- --rounds 9]`. CPU time of a review with all facts on
// beside one without, with 1,000 ExtensionConfigs and 1,000 ClusterClasses; then a flood of 10,000 changes from an API
// server in a process of its own: how long they take, how long a decision waits meanwhile, and how much memory remains.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { watchCluster } from '../../src/policy/cluster-facts/index.ts';
import { type ClusterKnowledge, createAdmission, createManifestFacts, createRuleSet } from '../../src/policy/index.ts';
import { createHookCatalog, newestKnownRelease } from '../../src/runtimehooks/index.ts';
import { createDecide } from '../../src/webhook/index.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleHandler,
  exampleSecret,
  exampleServiceObject,
} from '../../test/policy/rules/examples.ts';
import { median } from './program.ts';

const count = 1_000;
const changes = 10_000;
/** The ExtensionConfig that reviews are about. */
const subject = 50;

const handlers = [
  'GeneratePatches',
  'ValidateTopology',
  'CanUpdateMachine',
  'BeforeClusterUpgrade',
  'AfterClusterUpgrade',
];

const teams = 100;
const teamOf = (index: number) => `team-${index % teams}`;

/**
 * A typical ExtensionConfig: handlers, a Service, an annotation, the namespaces of a team. One in each team has a
 * handler for in-place updates, too, and those have to be compared with each other.
 */
function extension(index: number): JsonObject {
  const name = nameOf(index);
  return example({
    name,
    clientConfig: { service: { namespace: 'capi-extensions', name, port: 443 } },
    handlers: handlers.slice(0, index < teams ? 5 : 4).map((hook, position) =>
      exampleHandler({
        name: `h${position}.${name}`,
        requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook },
      }),
    ),
    spec: { namespaceSelector: { matchLabels: { team: teamOf(index) } } },
  });
}

const nameOf = (index: number) => `extension-${String(index).padStart(4, '0')}`;

function* clusterObjects(): Generator<JsonObject> {
  for (let index = 0; index < count; index++) {
    const name = nameOf(index);
    const namespace = teamOf(index);
    yield extension(index);
    yield { ...exampleClass(`h0.${name}`, name), metadata: { namespace, name } };
    yield { ...exampleCluster({}, name), metadata: { namespace, name } };
    yield { ...exampleServiceObject, metadata: { namespace: 'capi-extensions', name } };
    yield { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { team: namespace } } };
  }
  yield exampleSecret();
}

function bodyOf(
  operation: string,
  subResource: string,
  object: JsonObject | null,
  oldObject: JsonObject | null,
): Buffer {
  const kind = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', kind: 'ExtensionConfig' };
  const name = nameOf(subject);
  const request = { uid: 'u', kind, requestKind: kind, name, operation, subResource, object, oldObject, userInfo: {} };
  return Buffer.from(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }));
}

const old = extension(subject);
const moved = extension(subject);
(moved.spec as JsonObject).settings = { a: 'b' };
const bodies = {
  create: bodyOf('CREATE', '', old, null),
  update: bodyOf('UPDATE', '', moved, old),
  status: bodyOf('UPDATE', 'status', old, old),
};

function policy(facts: (() => ClusterKnowledge) | undefined) {
  const options = { profile: 'strict', enforcement: 'deny', maxHandlerTimeoutSeconds: 10 } as const;
  const rules = createRuleSet({ ...options, hooks: createHookCatalog(), clusterApi: newestKnownRelease });
  return createAdmission({ rules, isRuntimeSdkEnabled: true, now: () => new Date(), facts });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The signal of a client that waits. */
const waits = () => AbortSignal.any([]);

async function benchReviews(rounds: number): Promise<void> {
  const { facts, add } = createManifestFacts();
  for (const object of clusterObjects()) {
    add(object);
  }
  const known: ClusterKnowledge = { facts, ageMs: 1000, unknown: [] };
  const decides = {
    without: createDecide({ admission: policy(undefined) }),
    with: createDecide({ admission: policy(() => known) }),
  };
  const perRound = 2_000;
  print(`a review with ${count} ExtensionConfigs and ${count} ClusterClasses, µs of CPU time (median of ${rounds}):`);
  for (const [name, body] of Object.entries(bodies)) {
    const times = { without: [] as number[], with: [] as number[] };
    for (let round = -2; round < rounds; round++) {
      // In turn, so that other load on the machine affects both.
      for (const which of ['without', 'with'] as const) {
        const ms = await cpuMs(async () => {
          for (let index = 0; index < perRound; index++) {
            await decides[which]('validate', body, waits);
          }
        });
        if (round >= 0) {
          times[which].push((ms * 1000) / perRound);
        }
      }
    }
    const [without, withFacts] = [median(times.without), median(times.with)];
    const warnings = JSON.parse((await decides.with('validate', body, waits)).text).response.warnings?.length ?? 0;
    print(
      `  ${name.padEnd(6)} ${body.length} bytes: ${without.toFixed(1)} without, ${withFacts.toFixed(1)} with facts (${(withFacts / without).toFixed(2)}), ${warnings} warnings`,
    );
  }
}

/** An API server that holds the objects, and changes ClusterClasses on request. */
async function serveFlood(): Promise<void> {
  const byPath = new Map<string, JsonObject[]>();
  const plurals: Record<string, string> = {
    ExtensionConfig: '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs',
    ClusterClass: '/apis/cluster.x-k8s.io/v1beta2/clusterclasses',
    Cluster: '/apis/cluster.x-k8s.io/v1beta2/clusters',
    Namespace: '/api/v1/namespaces',
    Service: '/api/v1/services',
  };
  let version = 1;
  const stored = (object: JsonObject): JsonObject => {
    const metadata = { ...(object.metadata as JsonObject), resourceVersion: String(++version) };
    return { ...object, metadata };
  };
  for (const object of clusterObjects()) {
    const path = plurals[String(object.kind)];
    if (path !== undefined) {
      const at = byPath.get(path) ?? [];
      byPath.set(path, at);
      at.push(stored(object));
    }
  }
  let watch: ServerResponse | undefined;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    response.writeHead(200, { 'content-type': 'application/json' });
    const items = byPath.get(pathname);
    if (items === undefined) {
      const names = [...byPath.keys()].filter((path) => path.startsWith(`${pathname}/`));
      response.end(JSON.stringify({ resources: names.map((path) => ({ name: path.slice(pathname.length + 1) })) }));
    } else if (searchParams.get('watch') === 'true') {
      response.flushHeaders();
      if (pathname.endsWith('/clusterclasses')) {
        watch = response;
      }
    } else {
      response.end(JSON.stringify({ metadata: { resourceVersion: String(version) }, items }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.((server.address() as AddressInfo).port);
  for await (const _ of on(process, 'message')) {
    for (let index = 0; index < changes; index++) {
      const name = nameOf(index % count);
      const round = Math.floor(index / count) + 1;
      const object = stored({
        ...exampleClass(`h${round}.${name}`, name),
        metadata: { namespace: teamOf(index % count), name },
      });
      if (watch?.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`) === false) {
        await once(watch, 'drain');
      }
    }
  }
}

async function* on(emitter: NodeJS.Process, event: 'message'): AsyncGenerator<unknown> {
  for (;;) {
    yield (await once(emitter, event))[0];
  }
}

const heapMib = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

async function benchFlood(): Promise<void> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ['--server']);
  try {
    const [port] = await once(child, 'message');
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: 'bench', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
      { name: 'bench' },
    );
    const empty = heapMib();
    const watching = watchCluster({ config });
    await watching.synced;
    // The watch is open once the first bookmark or event can arrive.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = heapMib();
    const decide = createDecide({ admission: policy(watching.read) });
    const last = `h${changes / count}.${nameOf(count - 1)}`;
    const isLastSeen = () => {
      const references = watching.read().facts.clusterClasses?.namingExtension(nameOf(count - 1)) ?? [];
      return [...references].some(({ handler }) => handler === last);
    };
    const times: number[] = [];
    const started = performance.now();
    child.send('flood');
    while (!isLastSeen()) {
      const startedAt = performance.now();
      await setImmediate();
      await decide('validate', bodies.update, waits);
      times.push(performance.now() - startedAt);
    }
    const seconds = (performance.now() - started) / 1000;
    times.sort((a, b) => a - b);
    const [slowest, most] = [times.at(-1) ?? 0, times[Math.floor(times.length * 0.99)] ?? 0];
    print(
      `a flood of ${changes} changes: ${seconds.toFixed(2)} s, ${times.length} decisions meanwhile, the slowest took ${slowest.toFixed(1)} ms (p99 ${most.toFixed(1)} ms)`,
    );
    const after = heapMib();
    print(
      `heap: ${(before - empty).toFixed(1)} MiB for ${4 * count + teams} objects, ${(after - before).toFixed(1)} MiB more after the flood`,
    );
    watching.stop();
  } finally {
    child.kill();
  }
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, server: { type: 'boolean' } } });
if (values.server) {
  await serveFlood();
} else {
  await benchReviews(Number(values.rounds));
  await benchFlood();
}
