import { randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Registry as MetricsRegistry } from 'prom-client';
import { stringify } from 'yaml';
import { issueCa, issueClientCertificate, issueServingCertificate } from '../base/x509/index.ts';
import { isJsonObject, type JsonObject, timeText } from '../kubernetes/index.ts';
import type { Application } from '../server/index.ts';
import { type AggregationPace, createAggregator } from './aggregation/aggregator.ts';
import { createSandboxApplication, type SandboxContext, type SandboxEvent } from './http/application.ts';
import { type SandboxResponse, sendUnknownPath } from './http/http.ts';
import { startDefinitionController } from './kinds/definition-controller.ts';
import { builtInResources } from './kinds/kinds.ts';
import { startNamespaceController } from './kinds/namespace-controller.ts';
import { createOpenApi } from './openapi/open-api.ts';
import { Registry } from './resources/registry.ts';
import type { Resource } from './resources/resource.ts';
import { Store, storageKey } from './storage/store.ts';
import { createWebhookCaller, type ResolveService, type ServiceReference } from './webhooks/webhook-call.ts';
import { create } from './writes/writes.ts';

export interface SandboxOptions {
  /** The addresses of webhooks that are referred to by `service`. Default: none. */
  resolveService?: ResolveService;
  /** Port on loopback; 0, the default, lets the system choose. */
  port?: number;
  /** Called for events that are not reported to clients. */
  log?(event: SandboxEvent): void;
  /** Number of writes per resource that are kept for watches. */
  history?: number;
  clock?(): Date;
  /** How often aggregated API servers are contacted; default: every 30 seconds. */
  aggregationPace?: AggregationPace;
}

export interface Sandbox {
  /** https://127.0.0.1:PORT */
  url: string;
  /** The CA certificate that verifies it, in PEM. */
  ca: string;
  token: string;
  /** A kubeconfig (YAML) with one context, for a file that only its owner may read. */
  kubeconfig: string;
  /** Closes all connections and watches; all stored objects are lost. */
  stop(): Promise<void>;
}

/** How long a request may take to arrive, without its response, in milliseconds. */
const requestTimeout = 60_000;

/** Common name of the client certificate for aggregated API servers. */
const proxyClientName = 'front-proxy-client';

const validityMs = 30 * 24 * 60 * 60 * 1000;

/** A CA, whose key never leaves memory, a serving certificate for loopback, and a token. All are PEM but the token. */
function makeCredentials(now: Date) {
  const ca = issueCa(now, validityMs, { sandbox: true });
  const names = ['localhost', '127.0.0.1', '::1'];
  const { certificate, key } = issueServingCertificate(ca, names, now, validityMs);
  return {
    ca: ca.certificate.pem,
    cert: certificate.pem,
    key,
    token: randomBytes(32).toString('base64url'),
    proxyClient() {
      const client = issueClientCertificate(ca, proxyClientName, now, validityMs);
      return { cert: client.certificate.pem, key: client.key };
    },
  };
}

function kubeconfigOf(url: string, ca: string, token: string): string {
  const name = 'extensionconfig-sandbox';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  });
}

const initialNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

function externalName(store: Store, { namespace, name, port }: ServiceReference) {
  const spec = store.collection('services').get(storageKey(namespace, name))?.spec;
  return isJsonObject(spec) && spec.type === 'ExternalName' && typeof spec.externalName === 'string'
    ? { host: spec.externalName, port }
    : undefined;
}

/** How aggregated servers authenticate requests that the API server passes on (k8s.io/apiserver, RequestHeader). */
function authenticationConfig(ca: string): JsonObject {
  return {
    metadata: { name: 'extension-apiserver-authentication' },
    data: {
      'requestheader-allowed-names': JSON.stringify([proxyClientName]),
      'requestheader-client-ca-file': ca,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    },
  };
}

/** Starts an API server on loopback. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = () => new Date(), log = () => {}, history, aggregationPace: pace } = options;
  const now = () => timeText(clock());
  const { ca, cert, key, token, proxyClient } = makeCredentials(clock());
  const store = new Store(history === undefined ? {} : { history });
  const registry = new Registry();
  const metrics = new MetricsRegistry();
  for (const [storage, resources] of Map.groupBy(builtInResources(), (resource) => resource.storage)) {
    registry.set(storage, resources);
  }
  const resolve: ResolveService = (service) => externalName(store, service) ?? options.resolveService?.(service);
  const caller = createWebhookCaller(resolve);
  const stopping = new AbortController();
  const { signal } = stopping;
  const aggregator = createAggregator({ store, registry, now, proxyClient, resolve, pace, signal });
  const openapi = createOpenApi(registry, clock, metrics);
  const context: SandboxContext = { store, registry, aggregator, caller, now, log, openapi, metrics, token };
  const application: Application = createSandboxApplication(context);
  const server = createServer(
    { cert, key, requestTimeout, headersTimeout: 20_000, maxHeaderSize: 32 * 1024 },
    // Express does not route a target that is not a URL.
    (request, response) => application(request, response, () => sendUnknownPath(response as SandboxResponse)),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;
  startDefinitionController(context, signal);
  startNamespaceController(context, signal);
  async function make(plural: string, namespace: string, object: JsonObject): Promise<void> {
    const resource = registry.find('', 'v1', plural) as Resource;
    const body = Buffer.from(JSON.stringify(object));
    const usual = { name: '', subresource: '', query: new URLSearchParams(), view: { as: 'object' } } as const;
    await create(context, { ...usual, resource, namespace, body, mediaType: undefined, warn: () => {} });
  }
  for (const name of initialNamespaces) {
    await make('namespaces', '', { metadata: { name } });
  }
  await make('configmaps', 'kube-system', authenticationConfig(ca));
  return {
    url,
    ca,
    token,
    kubeconfig: kubeconfigOf(url, ca, token),
    async stop() {
      stopping.abort();
      caller.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
