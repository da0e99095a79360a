import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch } from 'rfc6902';
import { ConnectionError, type KubernetesClient, StatusError } from '../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** A Kubernetes object, as far as these tests read it. */
export interface Stored {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of many kinds
  [field: string]: any;
}

/** A write about to be applied, or just applied. */
export interface Write {
  number: number;
  verb: string;
  path: string;
}

/** A request, as far as it is used. */
interface Asked {
  verb: string;
  url: URL;
  contentType: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many kinds
  body: any;
}
/** The response to a request; undefined breaks its connection. */
type Reply = { code: number; value: object } | undefined;

const fail = (code: number, message: string, details?: object): Reply => ({
  code,
  value: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message, details },
});

const collection =
  /^\/api(?:s\/[^/]+)?\/v1[^/]*(?:\/namespaces\/[^/]+)?\/(secrets|mutatingwebhookconfigurations|validatingwebhookconfigurations|customresourcedefinitions|extensionconfigs)$/;

/** The name that a field selector asks for. */
const nameIn = (url: URL) => /metadata\.name=(.+)/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1];

/**
 * Objects over HTTP as kube-apiserver treats them: resourceVersion on every write, 409 for a stale PUT and an existing
 * name, 422 for a JSON patch whose test fails, 403 as configured, watches.
 */
export class ApiServer {
  readonly objects = new Map<string, Stored>();
  /** Every state of all objects, one per write, with the time that `now` returned. */
  readonly history: { at: number; objects: Map<string, Stored> }[] = [];
  /** Forbidden requests, as `VERB path`; the verb of a watch is WATCH. */
  readonly forbidden = new Set<string>();
  writes = 0;
  requests = 0;
  /** Number of watches opened so far. */
  opened = 0;
  now: () => number = Date.now;
  /** Called before a write is applied; `refuse` drops the connection without applying it. */
  before: (write: Write) => 'apply' | 'refuse' | undefined = () => 'apply';
  /** Called after a write is applied; `drop` breaks the connection instead of responding. */
  after: (write: Write) => 'answer' | 'drop' | undefined = () => 'answer';
  /** Delays the response to a request, which has been processed already, until the promise resolves. */
  hold: ((verb: string, path: string) => Promise<void>) | undefined;
  /** Status codes of the next responses. */
  readonly faults: number[] = [];
  /** Retry-After of those responses, in seconds. */
  retryAfterSeconds: number | undefined;
  /** Largest number of items in a page; undefined: as many as the client asks for. */
  maxPage: number | undefined;
  /** The longest that a watch stays open, in ms, whatever the client asks for. */
  maxWatchMs = Number.POSITIVE_INFINITY;
  #version = 1;
  readonly #folders: string[] = [];
  readonly #watches = new Set<{ prefix: string; name: string | undefined; response: ServerResponse }>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    for (const folder of this.#folders) {
      rmSync(folder, { recursive: true });
    }
  }

  /** Ends all watches, as an API server does now and then. */
  dropWatches(): void {
    for (const { response } of this.#watches) {
      response.destroy();
    }
  }

  /** From now on, open watches neither report anything nor end. */
  silenceWatches(): void {
    this.#watches.clear();
  }

  get watching(): number {
    return this.#watches.size;
  }

  /** A kubeconfig file for this server. */
  kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
    this.#folders.push(folder);
    const file = join(folder, 'config');
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'test', user: { token: 'test' } }],
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
        'current-context': 'test',
      }),
    );
    return file;
  }

  put(path: string, object: Stored, type: 'ADDED' | 'MODIFIED' = 'MODIFIED'): Stored {
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(++this.#version);
    this.objects.set(path, stored);
    this.history.push({ at: this.now(), objects: new Map(this.objects) });
    this.#tell(path, type, stored);
    return stored;
  }

  delete(path: string): void {
    const object = this.objects.get(path);
    if (object !== undefined) {
      this.objects.delete(path);
      this.history.push({ at: this.now(), objects: new Map(this.objects) });
      this.#tell(path, 'DELETED', object);
    }
  }

  #tell(path: string, type: string, object: Stored): void {
    for (const watch of this.#watches) {
      if (path.startsWith(`${watch.prefix}/`) && (watch.name === undefined || watch.name === object.metadata.name)) {
        watch.response.write(`${JSON.stringify({ type, object })}\n`);
      }
    }
  }

  /** A client without HTTP in between, for tests of which requests are made and in which order. It does not retry. */
  client(): KubernetesClient {
    return {
      request: async (verb, path, body) => {
        this.requests++;
        const contentType = Array.isArray(body) ? 'application/json-patch+json' : 'application/json';
        const reply = this.#reply({ verb, url: new URL(path, 'http://server'), contentType, body });
        if (reply === undefined) {
          throw new ConnectionError('http://server', 'the connection broke');
        }
        const { code, value } = reply;
        if (code > 299) {
          throw new StatusError(code, (value as { message: string }).message);
        }
        return structuredClone(value) as JsonObject;
      },
      watch: () => Promise.reject(new Error('only over HTTP')),
    };
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    const url = new URL(request.url ?? '/', 'http://server');
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const body = chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
    const asked = { verb: request.method ?? 'GET', url, contentType: request.headers['content-type'], body };
    const reply = url.searchParams.get('watch') === 'true' ? this.#watch(url, response) : this.#reply(asked);
    if (reply === 'watching') {
      return;
    }
    await this.hold?.(asked.verb, url.pathname);
    if (reply === undefined) {
      response.destroy();
    } else {
      const seconds = reply.code === 429 || reply.code >= 500 ? this.retryAfterSeconds : undefined;
      const retryAfter = seconds === undefined ? {} : { 'retry-after': String(seconds) };
      response
        .writeHead(reply.code, { 'content-type': 'application/json', ...retryAfter })
        .end(JSON.stringify(reply.value));
    }
  }

  /** The fault to return instead of a response. */
  #fault(): { reply: Reply } | undefined {
    const fault = this.faults.shift();
    if (fault === undefined) {
      return undefined;
    }
    return { reply: fault === 0 ? undefined : fail(fault, 'a fault of the test') };
  }

  #watch(url: URL, response: ServerResponse): Reply | 'watching' {
    const path = url.pathname;
    const fault = this.#fault();
    if (fault !== undefined) {
      return fault.reply;
    }
    if (this.forbidden.has(`WATCH ${path}`) || this.forbidden.has(`GET ${path}`)) {
      return fail(403, `User "test" cannot watch ${path}`);
    }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    const name = nameIn(url);
    const watch = { prefix: path, name, response };
    this.#watches.add(watch);
    this.opened++;
    const asked = Number(url.searchParams.get('timeoutSeconds') ?? 1800) * 1000;
    const timer = setTimeout(() => this.#watches.has(watch) && response.end(), Math.min(asked, this.maxWatchMs));
    response.on('close', () => {
      clearTimeout(timer);
      this.#watches.delete(watch);
    });
    // Events since the version that the client knows.
    const since = Number(url.searchParams.get('resourceVersion') ?? 0);
    for (const [at, object] of this.objects) {
      if (at.startsWith(`${path}/`) && Number(object.metadata.resourceVersion) > since) {
        this.#tell(at, 'MODIFIED', object);
      }
    }
    return 'watching';
  }

  #reply({ verb, url, contentType, body }: Asked): Reply {
    const path = url.pathname;
    const fault = this.#fault();
    if (fault !== undefined) {
      return fault.reply;
    }
    if (this.forbidden.has(`${verb} ${path}`)) {
      return fail(403, `User "test" cannot ${verb} ${path}`);
    }
    const isCollection = collection.test(path);
    if (verb === 'GET' && isCollection) {
      return this.#list(url);
    }
    let current = this.objects.get(path);
    if (verb === 'GET') {
      return current === undefined ? fail(404, `${path} not found`) : { code: 200, value: current };
    }

    const write: Write = { number: ++this.writes, verb, path };
    if (this.before(write) === 'refuse') {
      return undefined;
    }
    current = this.objects.get(path);
    let stored: Stored;
    if (verb === 'POST' && isCollection) {
      const at = `${path}/${body.metadata.name}`;
      if (this.objects.has(at)) {
        return fail(409, `${at} already exists`);
      }
      stored = this.put(at, body, 'ADDED');
    } else if (current === undefined) {
      return fail(404, `${path} not found`);
    } else if (verb === 'PUT') {
      if (body.metadata.resourceVersion !== current.metadata.resourceVersion) {
        return fail(409, 'the object has been modified; please apply your changes to the latest version and try again');
      }
      stored = this.put(path, body);
    } else {
      if (contentType !== 'application/json-patch+json') {
        return fail(415, 'only JSON patches here');
      }
      const patched = structuredClone(current);
      if (applyPatch(patched, body).some((error) => error !== null)) {
        return fail(422, 'the server rejected our request due to an error in our request');
      }
      stored = this.put(path, patched);
    }
    return this.after(write) === 'drop' ? undefined : { code: verb === 'POST' ? 201 : 200, value: stored };
  }

  #list(url: URL): Reply {
    const [key, value] = (url.searchParams.get('labelSelector') ?? '').split('=');
    const items = [...this.objects]
      .filter(([at]) => at.startsWith(`${url.pathname}/`))
      .map(([, object]) => object)
      .filter((object) => !key || object.metadata.labels?.[key] === value)
      .filter(({ metadata }) => metadata.name === (nameIn(url) ?? metadata.name));
    const from = Number(url.searchParams.get('continue') ?? 0);
    const to = from + Math.min(Number(url.searchParams.get('limit') ?? items.length), this.maxPage ?? items.length);
    const metadata = {
      resourceVersion: String(this.#version),
      ...(to < items.length && { continue: String(to) }),
    };
    return { code: 200, value: { kind: 'List', metadata, items: items.slice(from, to) } };
  }
}

export const namespace = 'extensionconfig-webhook-system';
export const servingPath = `/api/v1/namespaces/${namespace}/secrets/extensionconfig-webhook-tls`;
export const caPath = `/api/v1/namespaces/${namespace}/secrets/extensionconfig-webhook-ca`;
export const mutatingPath = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/ours';
export const validatingPath = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/ours';
export const crdPath =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/extensionconfigs.runtime.cluster.x-k8s.io';
export const extensionPath = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs/ours';

/** A clientConfig that calls the webhook's service. */
export const ourService = { name: 'extensionconfig-webhook', namespace, path: '/validate' };

/** Puts one target of each kind, without a bundle, on a server. */
export function putTargets(server: ApiServer): void {
  server.put(mutatingPath, {
    metadata: { name: 'ours', labels: { app: 'ours' } },
    webhooks: [
      {
        name: 'foreign.example.com',
        clientConfig: { service: { name: 'other', namespace }, caBundle: 'Zm9yZWlnbg==' },
      },
      { name: 'default.ours.example.com', clientConfig: { service: ourService } },
    ],
  });
  server.put(validatingPath, {
    metadata: { name: 'ours', labels: { app: 'ours' } },
    webhooks: [
      // The placeholder that kubebuilder writes.
      { name: 'a.ours.example.com', clientConfig: { service: ourService, caBundle: 'Cg==' } },
      { name: 'url.example.com', clientConfig: { url: 'https://example.com' } },
    ],
  });
  server.put(crdPath, {
    metadata: { name: 'extensionconfigs.runtime.cluster.x-k8s.io' },
    spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: ourService } } } },
  });
  server.put(extensionPath, { metadata: { name: 'ours' }, spec: { clientConfig: { service: ourService } } });
}

/** The flags that name those targets. */
export const targetFlags = [
  '--target',
  'MutatingWebhookConfiguration/ours',
  '--target',
  'ValidatingWebhookConfiguration/ours',
  '--target',
  'CustomResourceDefinition/extensionconfigs.runtime.cluster.x-k8s.io',
  '--target',
  'ExtensionConfig/ours',
];

/** All caBundles that belong to our service, as PEM, in one state of the server. */
export function bundlesOf(objects: ReadonlyMap<string, Stored>): string[] {
  const decode = (value: unknown) => Buffer.from(String(value ?? ''), 'base64').toString();
  const found: string[] = [];
  for (const object of objects.values()) {
    const configs = [
      ...(object.webhooks ?? []).map((webhook: Stored) => webhook.clientConfig),
      object.spec?.conversion?.webhook?.clientConfig,
      object.spec,
    ];
    for (const config of configs) {
      if (config?.service?.name === ourService.name) {
        found.push(decode(config.caBundle));
      }
    }
  }
  return found;
}

/** A value of a Secret as text. */
export function valueIn(object: Stored | undefined, key: string): string {
  return Buffer.from(String(object?.data?.[key] ?? ''), 'base64').toString();
}
