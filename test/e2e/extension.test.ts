import { X509Certificate } from 'node:crypto';
import type { CoreV1EventList, V1Secret } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RunningController, startController } from '../../src/controller/index.ts';
import type { Handler, RunningExtension } from '../../src/extension/index.ts';
import { createHostedExtension } from '../../src/extension/sample/index.ts';
import type { ExtensionConfig } from '../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { createClient } from '../../src/runtimehooks/client/index.ts';
import { clusterApiHooks, type HookDefinition } from '../../src/runtimehooks/index.ts';
import { sampleRequest } from '../../src/runtimehooks/messages/index.ts';
import { secretCertificates } from '../../src/webhook/certs/index.ts';
import { runProgram } from '../cli/commands/io.ts';
import { type Environment, retryingClient, startEnvironment } from '../cli/commands/sandbox/environment.ts';
import { type Config, fastPace, recordedHandlers } from '../controller/lab.ts';
import { comparable, recordedDiscovered, recordedFailed } from '../controller/recorded-status.ts';
import type { ApiClient } from '../kubernetes/client/api-client.ts';
import { eventually } from '../sandbox/client.ts';
import { openTls } from '../server/running.ts';

/**
 * The whole setup: webhook, controller and an extension server whose certificate and CA are in Secrets, as `certs`
 * makes them.
 */

const groupVersion = 'runtime.cluster.x-k8s.io/v1beta2';
const collection = `/apis/${groupVersion}/extensionconfigs`;
const namespace = 'default';
const inNamespace = `/api/v1/namespaces/${namespace}`;
const secrets = { secret: 'e2e-extension-tls', caSecret: 'e2e-extension-ca' };
const injectAnnotation = 'runtime.cluster.x-k8s.io/inject-ca-from-secret';
const pausedAnnotation = 'cluster.x-k8s.io/paused';
const beforeCreate = clusterApiHooks.find(({ name }) => name === 'BeforeClusterCreate') as HookDefinition;

let environment: Environment;
let send: ApiClient;
let controller: RunningController;
/** Calls extensions, as Cluster API does. */
const client = createClient();
const quiet = pino({ level: 'silent' });
const running: RunningExtension[] = [];

async function certs(...args: string[]): Promise<void> {
  const names = ['--secret', secrets.secret, '--ca-secret', secrets.caSecret, '--service', 'e2e-extension'];
  const where = ['--kubeconfig', environment.kubeconfigFile, '--namespace', namespace];
  const given = ['--dns-name', 'localhost'];
  expect(await runProgram(['certs', ...args, ...where, ...names, ...given])).toMatchObject({ code: 0 });
}

/** Handlers with the names of the recorded ones, which respond with success. */
function handlers(): Handler[] {
  return recordedHandlers().map((handler) => ({
    ...handler,
    handle: (_request, { answer }) => (answer as unknown as { done(): never }).done(),
  }));
}

async function startServer(port = 0): Promise<RunningExtension> {
  const server = createHostedExtension({
    handlers: handlers(),
    certificates: secretCertificates(environment.config, namespace, secrets.secret),
    ...{ host: '127.0.0.1', port, healthHost: '127.0.0.1', healthPort: 0 },
    log: quiet,
  });
  const started = await server.start();
  running.push(started);
  await eventually(
    async () => (await fetch(`http://127.0.0.1:${started.healthPort}/readyz`)).status,
    (status) => status === 200,
  );
  return started;
}

const stopServer = (server: RunningExtension) => server.stop({ graceMs: 0, timeoutMs: 100 });
/** The fingerprint of the certificate that a server has for a new connection, trusted or not. */
async function servedBy({ port }: RunningExtension): Promise<string> {
  const socket = await openTls(port, { rejectUnauthorized: false });
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}
const urlOf = ({ port }: RunningExtension) => `https://localhost:${port}`;

beforeAll(async () => {
  environment = await startEnvironment();
  send = retryingClient(environment.config);
  await certs('bootstrap');
  controller = startController({
    kubeConfig: environment.config,
    log: quiet,
    pace: { ...fastPace, resyncMs: 500 },
  });
  await controller.synced;
});
// What is registered is discovered again twice a second.
const registered = new Set<string>();
afterEach(async () => {
  for (const name of registered) {
    await send('DELETE', `${collection}/${name}`);
  }
  registered.clear();
  await Promise.all(running.splice(0).map(stopServer));
});
afterAll(async () => {
  await controller?.stop();
  await client.close();
  for (const name of Object.values(secrets)) {
    await send?.('DELETE', `${inNamespace}/secrets/${name}`).catch(() => {});
  }
  await environment?.stop();
});

async function register(name: string, url: string, metadata: object = {}, spec: object = {}): Promise<Config> {
  const annotations = { [injectAnnotation]: `${namespace}/${secrets.secret}` };
  const body = {
    apiVersion: groupVersion,
    kind: 'ExtensionConfig',
    metadata: { name, annotations, ...metadata },
    spec: { clientConfig: { url }, ...spec },
  };
  const made = await send<Config>('POST', collection, body);
  registered.add(name);
  return made;
}

const read = (name: string) => send<Config>('GET', `${collection}/${name}`);

function patch(name: string, body: object[]): Promise<unknown> {
  return send('PATCH', `${collection}/${name}`, body);
}

const conditionOf = ({ status }: Config, type: string) => status?.conditions?.find((one) => one.type === type);

/** Waits until a condition has a status for the current spec, and a matching message. */
function condition(name: string, type: string, status: string, message = /^/): Promise<Config> {
  return eventually(
    () => read(name),
    (config) => {
      const found = conditionOf(config, type);
      return (
        found?.status === status &&
        found.observedGeneration === config.metadata.generation &&
        message.test(found.message)
      );
    },
  );
}

/** Calls a handler of an extension as it is stored now; undefined if it succeeded, else the reason. */
async function call(extensionConfig: string): Promise<string | undefined> {
  client.registry.add((await read(extensionConfig)) as object as ExtensionConfig);
  const result = await client.callExtension(beforeCreate, {
    handler: `before-cluster-create.${extensionConfig}`,
    object: { namespace, name: 'a-cluster' },
    request: sampleRequest(beforeCreate) as JsonObject,
  });
  return result.ok ? undefined : result.error.message;
}

/** Waits until calls succeed, which the stored handlers and CA are for. */
const callable = (extensionConfig: string) =>
  eventually(
    () => call(extensionConfig),
    (problem) => problem === undefined,
  );

/** A value in the extension's Secret. */
async function secret(key: string): Promise<string | undefined> {
  return (await send<V1Secret>('GET', `${inNamespace}/secrets/${secrets.secret}`)).data?.[key];
}

/** Reasons of the events about an object, as kubectl describe asks for them. */
async function reasonsOf({ metadata: { name, uid } }: Config): Promise<string[]> {
  const fieldSelector = `involvedObject.kind=ExtensionConfig,involvedObject.name=${name},involvedObject.uid=${uid}`;
  const query = new URLSearchParams({ fieldSelector });
  const { items } = await send<CoreV1EventList>('GET', `${inNamespace}/events?${query}`);
  return items.map(({ reason }) => String(reason));
}

test('a registered extension is discovered; broken, its status says why; repaired, it is discovered again', async () => {
  const server = await startServer();
  const settings = { flavor: 'big' };
  const made = await register('lab', urlOf(server), {}, { settings, namespaceSelector: {} });
  const discovered = await condition('lab', 'Discovered', 'True');
  expect(comparable(discovered.status)).toEqual(
    // The generation after the injection.
    comparable(
      JSON.parse(JSON.stringify(recordedDiscovered).replaceAll('"observedGeneration":1', '"observedGeneration":2')),
    ),
  );
  expect(discovered.spec.clientConfig.caBundle).toBe(await secret('ca.crt'));
  await callable('lab');

  await stopServer(server);
  // A discovery in progress at that time has failed in another way.
  const failed = await condition('lab', 'Discovered', 'False', /refused/);
  const recorded = JSON.stringify(recordedFailed.status).replaceAll('"observedGeneration":1', '"observedGeneration":2');
  expect(comparable(failed.status)).toEqual(comparable(JSON.parse(recorded)));
  // The last connection may have been open when the server ended.
  expect(await call('lab')).toMatch(/connection (refused|reset by peer)|closed the connection/);

  await startServer(server.port);
  const repaired = await condition('lab', 'Discovered', 'True');
  expect(repaired.status?.handlers).toEqual(discovered.status?.handlers);
  await callable('lab');
  const expected = ['CABundleInjected', 'Discovered', 'NotDiscovered'];
  await eventually(
    () => reasonsOf(made),
    (reasons) => expected.every((reason) => reasons.includes(reason)),
  );
});

test('a paused extension keeps what was discovered; afterwards, changes made meanwhile apply', async () => {
  const server = await startServer();
  await register('paused', urlOf(server));
  const before = await condition('paused', 'Discovered', 'True');
  await callable('paused');
  const key = pausedAnnotation.replace('/', '~1');
  await patch('paused', [{ op: 'add', path: `/metadata/annotations/${key}`, value: '' }]);
  await condition('paused', 'Paused', 'True');
  await patch('paused', [{ op: 'replace', path: '/spec/clientConfig/url', value: 'https://localhost:1' }]);
  const paused = await condition('paused', 'Paused', 'True');
  expect(conditionOf(paused, 'Discovered')).toEqual(conditionOf(before, 'Discovered'));
  await patch('paused', [{ op: 'remove', path: `/metadata/annotations/${key}` }]);
  await condition('paused', 'Paused', 'False');
  const after = await condition('paused', 'Discovered', 'False');
  expect(conditionOf(after, 'Discovered')?.message).toMatch(/localhost:1\//);
});

test('an extension that is deleted and registered again is discovered as a new one', async () => {
  const server = await startServer();
  await register('deleted', urlOf(server));
  const first = await condition('deleted', 'Discovered', 'True');
  await callable('deleted');
  await send('DELETE', `${collection}/deleted`);
  await register('deleted', urlOf(server));
  const second = await condition('deleted', 'Discovered', 'True');
  expect(second.metadata.uid).not.toBe(first.metadata.uid);
  await callable('deleted');
});

test('its CA is rotated through its Secret during calls, none of which fails', async () => {
  const server = await startServer();
  await register('rotated', urlOf(server));
  const before = await condition('rotated', 'Discovered', 'True');
  await callable('rotated');
  const failures: string[] = [];
  let calls = 0;
  let isOver = false;
  const caller = (async () => {
    for (; !isOver; calls++) {
      const problem = await call('rotated');
      if (problem !== undefined) {
        failures.push(problem);
      }
      // Connections that stay open would never see a new certificate.
      client.disconnect('rotated');
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  })();
  /** Waits for calls that begin after now. */
  const moreCalls = () => {
    const before = calls;
    return eventually(
      async () => calls,
      (count) => count > before + 3,
    );
  };
  /** Waits until calls trust what the Secret says. */
  const trusted = async () => {
    const bundle = await secret('ca.crt');
    await eventually(
      () => read('rotated'),
      ({ spec }) => spec.clientConfig.caBundle === bundle,
    );
    await moreCalls();
    return Buffer.from(bundle ?? '', 'base64')
      .toString()
      .match(/-----BEGIN/g)?.length;
  };
  // The delays are as long as it takes, whatever else the machine does: each run continues the rotation when what the
  // delay is for has happened.
  await certs('rotate', '--force', 'ca', '--propagation-delay', '24h');
  expect(await trusted()).toBe(2);
  const old = await servedBy(server);
  await certs('rotate', '--propagation-delay', '0');
  const issued = new X509Certificate(Buffer.from((await secret('tls.crt')) ?? '', 'base64'));
  expect(issued.fingerprint256).not.toBe(old);
  await eventually(
    () => servedBy(server),
    (fingerprint) => fingerprint === issued.fingerprint256,
  );
  expect(await trusted()).toBe(2);
  await certs('rotate', '--overlap', '0');
  expect(await trusted()).toBe(1);
  isOver = true;
  await caller;
  expect(failures).toEqual([]);
  const after = await read('rotated');
  const caIn = (config: Config) =>
    new X509Certificate(Buffer.from(config.spec.clientConfig.caBundle ?? '', 'base64')).fingerprint256;
  expect(caIn(after)).not.toBe(caIn(before));
  expect(issued.verify(new X509Certificate(Buffer.from((await secret('ca.crt')) ?? '', 'base64')).publicKey)).toBe(
    true,
  );
  expect(conditionOf(after, 'Discovered')?.status).toBe('True');
});
