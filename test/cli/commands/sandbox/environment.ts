import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { vi } from 'vitest';
import { crd } from '../../../../src/extensionconfig/index.ts';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { selfSignedPair } from '../../../../src/server/index.ts';
import { webhookPaths } from '../../../../src/webhook/index.ts';
import { createCertificateFolder } from '../../../e2e/serve-process.ts';
import { type ApiClient, apiClient, Refusal } from '../../../kubernetes/client/api-client.ts';
import { manifestsFolder, readManifests } from '../../../kubernetes/manifests/kustomization.ts';
import { eventually } from '../../../sandbox/client.ts';
import { runProgram, startProgram } from '../io.ts';
import { ready, startAlone } from './running.ts';

/** An API server with ExtensionConfig registered and the webhook in front of it. */
export interface Environment {
  config: KubeConfig;
  kubeconfigFile: string;
  stop(): Promise<void>;
}

/** The name of the webhook configurations, and of the webhook's Service. */
const name = 'extensionconfig-webhook';
const namespace = 'extensionconfig-webhook-system';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const registrations = '/apis/admissionregistration.k8s.io/v1';
const definition = crd.metadata.name;

/** Time limit for requests of the suite to the API server, in milliseconds. */
const patience = 100_000;
/** Longest wait before a retry, in seconds, whatever the API server asks for. */
const maxRetryAfter = 10;
/** Number of retries, as in client-go. */
const maxRetries = 10;

/**
 * Retries a request when the API server asks for it (429, or another failure with Retry-After).
 *
 * @throws the failure of the request, or the reason of `signal` if that was aborted.
 */
async function insist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let retries = 0; ; retries++) {
    signal.throwIfAborted();
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof Refusal)) {
        throw error;
      }
      if (retries === maxRetries || (error.code !== 429 && error.retryAfter === undefined)) {
        throw error;
      }
      const seconds = Math.min(Math.max(error.retryAfter ?? 1, 0.1), maxRetryAfter);
      await sleep(seconds * 1000, undefined, { signal }).catch(() => {});
    }
  }
}

/**
 * Requests that are retried as kubectl and other clients of client-go do: a changed definition makes an API server
 * answer a few requests with 503 and Retry-After.
 */
export function retryingClient(config: KubeConfig): ApiClient {
  const send = apiClient(config);
  return (method, path, body) => insist(() => send(method, path, body), AbortSignal.timeout(patience));
}

async function hasDefinition(send: ApiClient, signal: AbortSignal): Promise<boolean> {
  const { items } = await insist(() => send<{ items: { metadata: { name: string } }[] }>('GET', definitions), signal);
  return items.some(({ metadata }) => metadata.name === definition);
}

/** A request for which a failure with this code means that nothing is left to do. */
async function unless(code: number, request: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  await insist(request, signal).catch((error: { code?: number }) => {
    if (error.code !== code) {
      throw error;
    }
  });
}

/** Undoes `register`, and deletes every ExtensionConfig with it. */
async function unregister(config: KubeConfig, signal: AbortSignal): Promise<void> {
  const send = apiClient(config);
  for (const path of [
    `${registrations}/validatingwebhookconfigurations/${name}`,
    `${registrations}/mutatingwebhookconfigurations/${name}`,
    `${definitions}/${definition}`,
  ]) {
    await unless(404, () => send('DELETE', path), signal);
  }
  await eventually(
    () => hasDefinition(send, signal),
    (exists) => !exists,
  );
}

/** The clientConfig of the webhook for a path. */
type ClientConfigOf = (path: string) => object;

/** Registers ExtensionConfig and the webhook in front of it. */
async function register(config: KubeConfig, clientConfigOf: ClientConfigOf, signal: AbortSignal): Promise<void> {
  const send = apiClient(config);
  const conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: clientConfigOf(webhookPaths.convert) },
  };
  await insist(() => send('POST', definitions, { ...crd, spec: { ...crd.spec, conversion } }), signal);
  for (const configuration of readManifests(join(manifestsFolder, 'base/webhooks.yaml'))) {
    for (const webhook of configuration.webhooks) {
      webhook.clientConfig = clientConfigOf(webhook.clientConfig.service.path);
    }
    const path = `${registrations}/${configuration.kind.toLowerCase()}s`;
    await insist(() => send('POST', path, configuration), signal);
  }
}

/** Runs `serve` until it is stopped. */
async function serve(...args: string[]): Promise<{ port: number; stop(): Promise<void> }> {
  const local = ['--host', '127.0.0.1', '--health-port', '0'];
  const program = startProgram([
    'serve',
    ...local,
    '--feature-gates',
    'RuntimeSDK=true',
    '--log-level',
    'info',
    ...args,
  ]);
  const line = await vi.waitUntil(() => /^.*"msg":"listening".*$/m.exec(program.stdout())?.[0], { timeout: patience });
  return {
    port: (JSON.parse(line) as { webhookPort: number }).webhookPort,
    async stop() {
      program.stop('SIGINT');
      await program.ended;
    },
  };
}

/** How the API server of E2E_KUBECONFIG reaches the webhook. */
interface Way {
  clientConfigOf: ClientConfigOf;
  /** Creates what must exist before the webhook can run. */
  prepare(config: KubeConfig, signal: AbortSignal): Promise<void>;
  /** Starts the webhook, once the API server knows of it. */
  start(): Promise<{ stop(): Promise<void> }>;
  cleanUp(config: KubeConfig, signal: AbortSignal): Promise<void>;
}

async function byOwnUrl(): Promise<Way> {
  const pair = selfSignedPair(new Date());
  const certificates = createCertificateFolder(pair);
  const local = await serve('--cert-dir', certificates.path, '--port', '0');
  const url = `https://127.0.0.1:${local.port}`;
  const caBundle = Buffer.from(pair.cert).toString('base64');
  return {
    clientConfigOf: (path) => ({ url: `${url}${path}`, caBundle }),
    prepare: async () => {},
    start: async () => local,
    cleanUp: async () => certificates.remove(),
  };
}

/**
 * As in a cluster: by the Service, with certificates of `certs bootstrap`. An API server that runs outside of a cluster
 * accepts a Service of type ExternalName for it, and calls port 443 of that name.
 */
function byExternalName(kubeconfigFile: string): Way {
  const inNamespace = `/api/v1/namespaces/${namespace}`;
  const kubeconfig = ['--kubeconfig', kubeconfigFile];
  return {
    clientConfigOf: (path) => ({ service: { namespace, name, path } }),
    async prepare(config, signal) {
      const send = apiClient(config);
      const body = { metadata: { name }, spec: { type: 'ExternalName', externalName: 'localhost' } };
      // Without a namespace controller, the namespace of the last run still exists.
      await unless(409, () => send('POST', '/api/v1/namespaces', { metadata: { name: namespace } }), signal);
      await insist(() => send('POST', `${inNamespace}/services`, body), signal);
    },
    async start() {
      const targets = [
        '--target',
        `MutatingWebhookConfiguration/${name}`,
        '--target',
        `ValidatingWebhookConfiguration/${name}`,
        '--target',
        `CustomResourceDefinition/${definition}`,
      ];
      const { code, stderr } = await runProgram([
        ...['certs', 'bootstrap', '--namespace', namespace, ...targets, ...kubeconfig],
      ]);
      if (code !== 0) {
        throw new Error(stderr);
      }
      return serve('--cert-secret', `${namespace}/extensionconfig-webhook-tls`, '--port', '443', ...kubeconfig);
    },
    async cleanUp(config, signal) {
      const send = apiClient(config);
      await unless(404, () => send('DELETE', `${inNamespace}/services/${name}`), signal);
      await unless(404, () => send('DELETE', `${inNamespace}/secrets`), signal);
    },
  };
}

async function startElsewhere(kubeconfigFile: string, wayTo: () => Promise<Way> | Way): Promise<Environment> {
  const config = await loadKubeConfig({ kubeconfig: kubeconfigFile });
  const signal = AbortSignal.timeout(patience);
  if (await hasDefinition(apiClient(config), signal)) {
    throw new Error(
      `E2E_KUBECONFIG: the API server of ${kubeconfigFile} has ExtensionConfigs; the suite would delete them: use one without`,
    );
  }
  const way = await wayTo();
  let webhook: { stop(): Promise<void> } | undefined;
  async function stop(): Promise<void> {
    const end = AbortSignal.timeout(patience);
    await unregister(config, end);
    await webhook?.stop();
    await way.cleanUp(config, end);
  }
  try {
    await way.prepare(config, signal);
    await register(config, way.clientConfigOf, signal);
    webhook = await way.start();
    await insist(() => apiClient(config)('GET', '/apis/runtime.cluster.x-k8s.io/v1alpha1/extensionconfigs'), signal);
  } catch (error) {
    // The next file would find what this one left behind.
    await stop().catch((reason: Error) => process.stderr.write(`E2E_KUBECONFIG: cannot clean up: ${reason.message}\n`));
    throw error;
  }
  return { config, kubeconfigFile, stop };
}

/**
 * The API server of E2E_KUBECONFIG if it is set (it must reach this machine's loopback), else a sandbox.
 *
 * @param way how that API server reaches the webhook: by a URL, or by its Service, which a sandbox always does.
 */
export async function startEnvironment(way: 'url' | 'service' = 'url'): Promise<Environment> {
  const elsewhere = process.env.E2E_KUBECONFIG ?? '';
  if (elsewhere === '') {
    const sandbox = startAlone([]);
    const kubeconfigFile = await ready(sandbox.output);
    return {
      config: await loadKubeConfig({ kubeconfig: kubeconfigFile }),
      kubeconfigFile,
      async stop() {
        sandbox.stop.abort();
        await sandbox.ended;
      },
    };
  }
  return startElsewhere(elsewhere, way === 'url' ? byOwnUrl : () => byExternalName(elsewhere));
}

/**
 * Why this machine cannot run the webhook where an API server looks for a Service of type ExternalName; undefined if it
 * can.
 */
export function externalNameProblem(): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer()
    .once('error', (error) => resolve(`port 443 of 127.0.0.1 cannot be listened on (${error.message})`))
    .listen(443, '127.0.0.1', () => server.close(() => resolve(undefined)));
  return promise;
}
