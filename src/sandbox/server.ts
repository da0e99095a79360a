import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Registry as MetricsRegistry } from 'prom-client';
import { stringify } from 'yaml';
import { isJsonObject, type JsonObject, timeText } from '../kubernetes/index.ts';
import type { Application } from '../server/index.ts';
import { type AggregationPace, Aggregator } from './aggregation/aggregator.ts';
import { makeCredentials, proxyClientName } from './credentials.ts';
import { createSandboxApplication, type SandboxContext, type SandboxEvent } from './http/application.ts';
import { send, unknownPath } from './http/http.ts';
import { startDefinitionController } from './kinds/definition-controller.ts';
import { builtInResources } from './kinds/kinds.ts';
import { startNamespaceController } from './kinds/namespace-controller.ts';
import { OpenApi } from './openapi/open-api.ts';
import { Registry } from './resources/registry.ts';
import type { Resource } from './resources/resource.ts';
import { Store, storageKey } from './storage/store.ts';
import { VersionConverter } from './webhooks/conversion.ts';
import { type ResolveService, type ServiceReference, WebhookCaller } from './webhooks/webhook-call.ts';
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

/**
 * The address of a Service of type ExternalName, which the API server resolves for webhooks; undefined for other
 * Services.
 */
function externalName(store: Store, { namespace, name, port }: ServiceReference) {
  const spec = store.collection('services').get(storageKey(namespace, name))?.spec;
  return isJsonObject(spec) && spec.type === 'ExternalName' && typeof spec.externalName === 'string'
    ? { host: spec.externalName, port }
    : undefined;
}

/**
 * The ConfigMap with which aggregated API servers authenticate requests that the API server passes on (k8s.io/apiserver,
 * RequestHeader).
 */
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
  const clock = options.clock ?? (() => new Date());
  const now = () => timeText(clock());
  const credentials = makeCredentials(clock());
  const store = new Store(options.history === undefined ? {} : { history: options.history });
  const registry = new Registry();
  const metrics = new MetricsRegistry();
  for (const [storage, resources] of Map.groupBy(builtInResources(), (resource) => resource.storage)) {
    registry.set(storage, resources);
  }
  const resolve: ResolveService = (service) => externalName(store, service) ?? options.resolveService?.(service);
  const caller = new WebhookCaller(resolve);
  const converter = new VersionConverter(caller);
  const { token, proxyClient } = credentials;
  const log = options.log ?? (() => {});
  const stopping = new AbortController();
  const { signal } = stopping;
  const pace = options.aggregationPace;
  const aggregator = new Aggregator({ store, registry, now, proxyClient, resolve, pace, signal });
  const context: SandboxContext = {
    store,
    registry,
    aggregator,
    caller,
    converter,
    now,
    log,
    openapi: new OpenApi(registry, clock, metrics),
    metrics,
    token,
  };
  const application: Application = createSandboxApplication(context);
  const server = createServer(
    { cert: credentials.cert, key: credentials.key, requestTimeout, headersTimeout: 20_000, maxHeaderSize: 32 * 1024 },
    // Express does not route a target that is not a URL.
    (request, response) => application(request, response, () => send(response, unknownPath, [])),
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
    await create(context, {
      resource: registry.find('', 'v1', plural) as Resource,
      namespace,
      name: '',
      subresource: '',
      query: new URLSearchParams(),
      body: Buffer.from(JSON.stringify(object)),
      mediaType: undefined,
      warn: () => {},
    });
  }
  for (const name of initialNamespaces) {
    await make('namespaces', '', { metadata: { name } });
  }
  await make('configmaps', 'kube-system', authenticationConfig(credentials.ca));
  return {
    url,
    ca: credentials.ca,
    token,
    kubeconfig: kubeconfigOf(url, credentials.ca, token),
    async stop() {
      stopping.abort();
      caller.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
