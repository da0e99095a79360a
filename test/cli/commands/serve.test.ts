import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { allowDeletionAnnotation } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { localhost, testCa } from '../../base/x509/certificates.ts';
import { clusterApiDefinitions, startCluster } from '../../policy/cluster-facts/cluster.ts';
import { example, exampleClass } from '../../policy/rules/examples.ts';
import { eventually, send as sendTo } from '../../sandbox/client.ts';
import { capturedCalls, keepAliveAgent, review, send, until, validate } from '../../server/running.ts';
import { runProgram, startProgram } from './io.ts';

const certificates = mkdtempSync(join(tmpdir(), 'serve-'));
writeFileSync(join(certificates, 'tls.crt'), localhost.cert);
writeFileSync(join(certificates, 'tls.key'), localhost.key);
afterAll(() => rmSync(certificates, { recursive: true }));

const addresses = ['--host', '127.0.0.1', '--port', '0'];
const loopback = ['--cert-dir', certificates, ...addresses];

function lineWith(text: string, msg: string): Record<string, unknown> | undefined {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find((line) => line.msg === msg);
}

/** Runs the command until it is stopped; resolves when it listens. */
async function serving(args: readonly string[], env: Record<string, string> = {}) {
  const program = startProgram(['serve', ...args], { env });
  const listening = () => lineWith(program.stdout(), 'listening') as { webhookPort: number; healthPort: number };
  await until(() => listening() !== undefined, 'listening');
  return { ...program, ...listening() };
}

// Concurrent: some wait for other threads, and for servers that stop.
test.concurrent('the flags decide, on a large body too', async ({ expect }) => {
  const flags = ['--health-port', '0', '--feature-gates', 'RuntimeSDK=true'];
  const { webhookPort, stop, ended } = await serving([...loopback, ...flags]);
  const call = structuredClone(capturedCalls.find((captured) => captured.name === 'update-status-validate.json')!.body);
  const { name, object } = call.request as unknown as {
    name: string;
    object: { spec: Record<string, unknown>; status: Record<string, unknown> };
  };
  object.spec.settings = { padding: 'x'.repeat(300_000) };
  object.status.handlers = [
    {
      name: `before-upgrade.${name}`,
      requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' },
      timeoutSeconds: 11,
      failurePolicy: 'Fail',
    },
  ];
  const answer = await send(webhookPort!, validate, JSON.stringify(call), { rejectUnauthorized: false });
  expect(answer.json().response).toMatchObject({
    allowed: false,
    status: { code: 422, details: { causes: [{ field: 'status.handlers[0].timeoutSeconds' }] } },
  });
  stop('SIGTERM');
  expect((await ended).code).toBe(0);
});

test.concurrent('serves until it is stopped', async ({ expect }) => {
  const flags = ['--self-signed', ...addresses, '--health-port', '0', '--feature-gates', 'RuntimeSDK=true'];
  const { webhookPort, healthPort, stop, ended } = await serving(flags, {
    // As a pod gets it beside a Service of this name, unless it has enableServiceLinks: false.
    EXTENSIONCONFIG_WEBHOOK_PORT: 'tcp://10.96.0.7:443',
  });
  const answer = await send(webhookPort!, validate, review('x'), { rejectUnauthorized: false });
  expect(answer.json().response.uid).toBe('uid-of-x');
  for (const { url, body } of capturedCalls.filter((call) => call.body.kind === 'ConversionReview')) {
    const converted = await send(webhookPort!, url, JSON.stringify(body), { rejectUnauthorized: false });
    const { uid, desiredAPIVersion } = body.request as unknown as Record<string, string>;
    expect(converted.code).toBe(200);
    expect(converted.json().response).toMatchObject({
      uid,
      result: { status: 'Success' },
      convertedObjects: [{ apiVersion: desiredAPIVersion, metadata: { name: 'my-amazing-extensions' } }],
    });
  }
  const metrics = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
  expect(metrics).toContain('feature_enabled{name="RuntimeSDK"} 1');
  expect(metrics).toContain('process_resident_memory_bytes');
  stop('SIGTERM');
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(lineWith(stdout, 'stopped')).toBeDefined();
});

test.concurrent('with --cluster-facts the objects in the cluster decide on a deletion', async ({ expect }) => {
  const cluster = await startCluster();
  await cluster.define(...clusterApiDefinitions);
  await cluster.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'clusters' } }, exampleClass());
  const folder = mkdtempSync(join(tmpdir(), 'serve-'));
  writeFileSync(join(folder, 'kubeconfig'), cluster.sandbox.kubeconfig);
  const flags = ['--health-port', '0', '--cluster-facts', '--kubeconfig', join(folder, 'kubeconfig')];
  const { webhookPort, healthPort, stop, ended } = await serving([...loopback, ...flags]);
  try {
    const deletion = (oldObject: JsonObject) => {
      const kind = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', kind: 'ExtensionConfig' };
      const request = { uid: 'u', kind, name: 'my-extension', operation: 'DELETE', oldObject, userInfo: {} };
      return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
    };
    const ask = async (body: string) =>
      (await send(webhookPort!, validate, body, { rejectUnauthorized: false })).json().response;
    await eventually(
      () => ask(deletion(example())),
      ({ allowed }) => allowed === false,
    );
    expect(await ask(deletion(example()))).toMatchObject({
      allowed: false,
      status: { code: 403 },
      auditAnnotations: { 'facts-age-seconds': expect.stringMatching(/^\d+$/) },
    });
    // However large the object is.
    const large = example({ spec: { settings: { padding: 'x'.repeat(300_000) } } });
    expect(await ask(deletion(large))).toMatchObject({ allowed: false, status: { code: 403 } });
    const allowing = { [allowDeletionAnnotation]: 'true' };
    expect(await ask(deletion({ ...large, metadata: { name: 'my-extension', annotations: allowing } }))).toMatchObject({
      allowed: true,
    });
    const metrics = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
    expect(metrics).toContain('extensionconfig_webhook_facts_known{kind="ClusterClass"} 1');
    expect(metrics).toContain('extensionconfig_webhook_facts_objects{kind="ClusterClass"} 1');
    expect(metrics).toMatch(/extensionconfig_webhook_facts_age_seconds\{kind="Cluster"\} \d/);
  } finally {
    stop('SIGTERM');
    await ended;
    await cluster.sandbox.stop();
    rmSync(folder, { recursive: true });
  }
});

describe.concurrent('a shutdown with default flags', () => {
  const byDefault = (env: Record<string, string> = {}, ...more: string[]) =>
    serving([...loopback, '--health-port', '0', '--feature-gates', 'RuntimeSDK=true', ...more], env);

  /** Stops a server under load; how many of 20 callers were served to the end, and the failures of the others. */
  async function stoppedUnderLoad() {
    const { webhookPort: port, stop, ended } = await byDefault();
    let answered = 0;
    let longestMs = 0;
    async function callUntilTold(pauseMs: number): Promise<string> {
      const agent = keepAliveAgent();
      const ask = () => send(port, validate, review('x'), { agent, rejectUnauthorized: false });
      try {
        for (;;) {
          const began = performance.now();
          const { code, headers } = await ask();
          answered++;
          if (code !== 200 || headers.connection === 'close') {
            break;
          }
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          longestMs = Math.max(longestMs, performance.now() - began - pauseMs);
        }
        // A new connection, while the server still accepts them.
        const { code, headers } = await ask();
        return `${code} ${headers.connection}`;
      } catch (error) {
        return String(error);
      } finally {
        agent.destroy();
      }
    }
    const callers = Promise.all(Array.from({ length: 20 }, (_value, index) => callUntilTold(index * 40)));
    await until(() => answered > 100, 'load');
    // SIGTERM under load, to a process: test/e2e/faults.test.ts.
    stop('SIGHUP');
    const ends = await callers;
    return { ends: [...new Set(ends)], code: (await ended).code, longestMs };
  }

  test('loses no request of 20 clients who reuse their connections, with or without pauses', async ({ expect }) => {
    const expected = { ends: ['200 close'], code: 0 };
    let stopped = await stoppedUnderLoad();
    // Idle connections stay open for two seconds: retried if a busy machine has closed them under the callers.
    for (let more = 0; more < 20 && stopped.longestMs > 500; more++) {
      const { longestMs: _, ...result } = stopped;
      if (isDeepStrictEqual(result, expected)) {
        break;
      }
      stopped = await stoppedUnderLoad();
    }
    expect(stopped).toMatchObject(expected);
  });

  test('without connections it ends at once', async ({ expect }) => {
    // A busy machine is slow now and then; a server that waits is slow every time.
    await vi.waitFor(async () => {
      const { stop, ended } = await byDefault();
      const startedAt = performance.now();
      stop('SIGTERM');
      expect((await ended).code).toBe(0);
      expect(performance.now() - startedAt).toBeLessThan(1_500);
    }, 60_000);
  });

  test('in a pod, accepts connections until endpoints have been updated; Ctrl-C does not wait for that', async ({
    expect,
  }) => {
    const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
    const { webhookPort: port, stop, ended } = await byDefault(pod, '--shutdown-delay', '2');
    const startedAt = performance.now();
    stop('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { code, headers } = await send(port, validate, review('x'), { rejectUnauthorized: false });
    expect([code, headers.connection]).toEqual([200, 'close']);
    expect((await ended).code).toBe(0);
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    // A server that waits would do so for a hundred seconds.
    const waiting = ['--shutdown-delay', '100'];
    const other = await byDefault({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, ...waiting);
    const interruptedAt = performance.now();
    other.stop('SIGINT');
    expect((await other.ended).code).toBe(0);
    expect(performance.now() - interruptedAt).toBeLessThan(60_000);
  });
});

describe('usage errors have exit code 2 and name the flag, the value and what is allowed', () => {
  test.each<[string[], RegExp]>([
    [['--port', 'x'], /--port: "x" is not allowed: it must be a whole number from 0 to 65535/],
    [['--port', '65536'], /--port: "65536"/],
    [['--port', '-1'], /--port: "-1"/],
    [['--port', ''], /--port: ""/],
    [['--port', '1e3'], /--port: "1e3"/],
    [['--profile', 'lax'], /--profile: "lax" is not allowed: it must be one of strict, upstream/],
    [['--enforcement', 'audit'], /--enforcement: .* one of deny, warn/],
    [['--log-level', 'loud'], /--log-level: .* one of trace, debug/],
    [['--feature-gates', 'ClusterTopology=true'], /unknown feature gate "ClusterTopology"; known: RuntimeSDK/],
    [['--feature-gates', 'RuntimeSDK=maybe'], /--feature-gates: .*RuntimeSDK=true or/],
    [['--max-body-bytes', '1'], /unknown option '--max-body-bytes'/],
    [['--probe', 'warn'], /unknown option '--probe'/],
    [['--cluster-api-version', 'new'], /it must be a release such as 1.11/],
    [['--cluster-api-version', 'v9.9'], /"v9.9" is not allowed: known are the releases v1\.2 to v1\.\d+/],
    [['--rules-config', '/does/not/exist'], /--rules-config: \/does\/not\/exist: no such file/],
    [['--shutdown-delay', '3601'], /--shutdown-delay: "3601"/],
    [['--cert-dir', '/x'], /--cert-dir, --cert-secret and --self-signed exclude each other/],
    [['--cert-secret', 'a/b'], /exclude each other/],
    [['--client-allowed-name', 'x'], /--client-allowed-name needs --client-ca-file/],
    [['--client-ca-file', '/does/not/exist'], /--client-ca-file: \/does\/not\/exist does not exist/],
    [['--client-ca-file', ''], /--client-ca-file: "" is not allowed: it must not be empty/],
    [['--cluster-facts', '--kubeconfig', '/does/not/exist'], /--cluster-facts: no cluster: .*does not exist/],
    [['--nonsense'], /unknown option '--nonsense'/],
  ])('%j', async (args, message) => {
    const start = ['serve', '--self-signed', '--health-port', '0'];
    const { code, stderr } = await runProgram([...start, ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test.each([
    ['name', '--cert-secret: "name" is not allowed: it must be the NAMESPACE/NAME of a Secret'],
    ['Bad_NS/name', '--cert-secret: "Bad_NS/name" is not allowed: it must be the NAMESPACE/NAME of a Secret'],
    ['ns/Bad_Name', '--cert-secret: "ns/Bad_Name" is not allowed: it must be the NAMESPACE/NAME of a Secret'],
  ])('--cert-secret %s', async (secret, message) => {
    const { code, stderr } = await runProgram(['serve', '--cert-secret', secret]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('no certificate', async () => {
    const { code, stderr } = await runProgram(['serve']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /pass --cert-dir with a folder that has tls.crt and tls.key, --cert-secret with a Secret, or --self-signed/,
    );
  });
});

test.each(['--port', '--health-port'])('a %s that is taken is a failure with a remedy', async (flag) => {
  const occupant = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => occupant.once('listening', resolve));
  const { port } = occupant.address() as AddressInfo;
  const other = flag === '--port' ? '--health-port' : '--port';
  try {
    const { code, stderr } = await runProgram(['serve', ...loopback, other, '0', flag, String(port)]);
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${port} is in use: stop what listens there or choose another with ${flag}`);
  } finally {
    occupant.close();
  }
});

test('an address of another machine is a failure that names the flag', async () => {
  const flags = ['--self-signed', '--health-port', '0', '--host', '192.0.2.1'];
  const { code, stderr } = await runProgram(['serve', ...flags]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/192.0.2.1 is not an address of this machine: correct --host/);
});

test.concurrent('an emptied caBundle is filled in at once, and again', async ({ expect }) => {
  const cluster = await startCluster();
  const name = 'extensionconfig-webhook';
  const service = { namespace: 'extensionconfig-webhook-system', name };
  const webhook = { name: 'a.b.c', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { service } };
  const paths = ['Mutating', 'Validating'].map((kind) => ({
    kind: `${kind}WebhookConfiguration`,
    path: `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`,
  }));
  for (const { kind, path } of paths) {
    const body = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks: [webhook] };
    expect((await sendTo(cluster.sandbox, 'POST', path, { body })).status).toBe(201);
  }
  const bundles = () =>
    Promise.all(
      paths.map(async ({ path }) => {
        const { json } = await sendTo(cluster.sandbox, 'GET', `${path}/${name}`);
        const [{ clientConfig }] = json.webhooks as [{ clientConfig: { caBundle?: string } }];
        return Buffer.from(clientConfig.caBundle ?? '', 'base64').toString() === testCa.cert;
      }),
    );
  const folder = mkdtempSync(join(tmpdir(), 'serve-'));
  writeFileSync(join(folder, 'kubeconfig'), cluster.sandbox.kubeconfig);
  writeFileSync(join(folder, 'tls.crt'), localhost.cert);
  writeFileSync(join(folder, 'tls.key'), localhost.key);
  writeFileSync(join(folder, 'ca.crt'), testCa.cert);
  const { stop, ended, stdout } = await serving([
    ...['--cert-dir', folder, ...addresses, '--health-port', '0'],
    ...['--repair-ca-bundle', name, '--kubeconfig', join(folder, 'kubeconfig')],
  ]);
  try {
    await eventually(bundles, (both) => both.every(Boolean));
    const emptied = [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: '' }];
    const { path } = paths[1]!;
    await sendTo(cluster.sandbox, 'PATCH', `${path}/${name}`, {
      body: emptied,
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect(await bundles()).toEqual([true, false]);
    await vi.waitFor(async () => expect(await bundles()).toEqual([true, true]), { timeout: 30_000, interval: 200 });
    expect(lineWith(stdout(), 'an empty caBundle was filled in')).toMatchObject({ level: 'warn' });
  } finally {
    stop('SIGTERM');
    expect((await ended).code).toBe(0);
    await cluster.sandbox.stop();
    rmSync(folder, { recursive: true });
  }
});
