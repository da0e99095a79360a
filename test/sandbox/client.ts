import type { IncomingHttpHeaders } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { crd } from '../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { selfSignedPair } from '../../src/server/index.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  json: JsonObject;
}

const contexts = new Map<string, SecureContext>();

/** The TLS settings for connections to a server: reading its CA for each of them takes as long as a handshake. */
function contextOf(ca: string): SecureContext {
  let context = contexts.get(ca);
  if (context === undefined) {
    // Tests that run at the same time have a server each.
    if (contexts.size >= 32) {
      contexts.clear();
    }
    context = createSecureContext({ ca });
    contexts.set(ca, context);
  }
  return context;
}

/** One request to a sandbox, with its token. */
export function send(
  sandbox: Pick<Sandbox, 'url' | 'ca' | 'token'>,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer | object } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const given = options.body;
  const body = typeof given === 'object' && !Buffer.isBuffer(given) ? JSON.stringify(given) : given;
  const over = {
    method,
    secureContext: contextOf(sandbox.ca),
    headers: {
      authorization: `Bearer ${sandbox.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...options.headers,
    },
  };
  const call = request(new URL(path, sandbox.url), over, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = bytes.toString();
      let json: JsonObject = {};
      try {
        json = JSON.parse(text) as JsonObject;
      } catch {
        // Not JSON: the test uses the text.
      }
      resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, json });
    });
  });
  call.on('error', (error: NodeJS.ErrnoException) => {
    // A test that computes for seconds blocks both ends: then the server closes a connection that seems idle while the
    // request is being written.
    if (call.reusedSocket && error.code === 'ECONNRESET') {
      resolve(send(sandbox, method, path, options));
    } else {
      reject(error);
    }
  });
  call.end(body);
  return promise;
}

/** Repeats a request until the response is as wanted, with growing pauses; fails after 100 seconds. */
export async function eventually<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 100_000;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    const value = await read();
    if (wanted(value)) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`still ${JSON.stringify(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** A webhook over real HTTPS on loopback, whose responses to reviews come from a function. */
export async function startWebhook(
  answer: (url: string, review: JsonObject, headers: IncomingHttpHeaders) => JsonObject | Promise<JsonObject>,
) {
  const { cert, key } = selfSignedPair(new Date());
  const server = createServer({ cert, key }, async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) {
      chunks.push(chunk as Buffer);
    }
    const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    const uid = (review.request as JsonObject).uid as string;
    const { apiVersion, kind } = review;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        apiVersion,
        kind,
        response: { uid, ...(await answer(incoming.url ?? '', review, incoming.headers)) },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    caBundle: Buffer.from(cert).toString('base64'),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A webhook that converts by changing only the apiVersion, and allows every write, with the warnings that `onCall`
 * returns.
 */
export function startAgreeingWebhook(
  onCall: (url: string, review: JsonObject, headers: IncomingHttpHeaders) => string[] | undefined,
) {
  return startWebhook((url, review, headers) => {
    const warnings = onCall(url, review, headers);
    if (url.startsWith('/convert')) {
      const { objects, desiredAPIVersion } = review.request as { objects: JsonObject[]; desiredAPIVersion: string };
      const convertedObjects = objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }));
      return { result: { status: 'Success' }, convertedObjects };
    }
    return { allowed: true, ...(warnings === undefined ? {} : { warnings }) };
  });
}

/** Registers ExtensionConfig and a webhook for it, as when the exchanges in test/support/fixtures were captured. */
export async function registerAsCaptured(
  sandbox: Pick<Sandbox, 'url' | 'ca' | 'token'>,
  webhook: { url: string; caBundle: string },
): Promise<void> {
  const clientConfig = (path: string) => ({ url: `${webhook.url}${path}`, caBundle: webhook.caBundle });
  const definition = structuredClone(crd) as unknown as { spec: { conversion: object } };
  definition.spec.conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: clientConfig('/convert') },
  };
  await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
  await eventually(
    () => send(sandbox, 'GET', '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs'),
    ({ status }) => status === 200,
  );
  for (const [kind, path, operations, resources] of [
    ['mutating', '/mutate', ['CREATE', 'UPDATE'], ['extensionconfigs']],
    ['validating', '/validate', ['CREATE', 'UPDATE', 'DELETE'], ['extensionconfigs', 'extensionconfigs/status']],
  ] as const) {
    const rules = [{ apiGroups: ['runtime.cluster.x-k8s.io'], apiVersions: ['v1beta2'], operations, resources }];
    const shared = { name: 'captured.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', rules };
    const url = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
    const webhooks = [{ ...shared, clientConfig: clientConfig(path) }];
    const { status, text } = await send(sandbox, 'POST', url, { body: { metadata: { name: 'captured' }, webhooks } });
    if (status !== 201) {
      throw new Error(text);
    }
  }
}
