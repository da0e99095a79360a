import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { makeCredentials } from '../../src/sandbox/credentials.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: JsonObject;
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
  const headers = {
    authorization: `Bearer ${sandbox.token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...options.headers,
  };
  const call = request(new URL(path, sandbox.url), { method, ca: sandbox.ca, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      let json: JsonObject = {};
      try {
        json = JSON.parse(text) as JsonObject;
      } catch {
        // Not JSON: the test looks at the text.
      }
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
    });
  });
  call.on('error', reject);
  call.end(body);
  return promise;
}

/** Sends until the answer is as wanted; fails after ten seconds. */
export async function eventually<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 10_000;
  for (;;) {
    const value = await read();
    if (wanted(value)) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`still ${JSON.stringify(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A webhook over real HTTPS on loopback that answers reviews with a function. */
export async function startWebhook(answer: (url: string, review: JsonObject) => JsonObject) {
  const { ca, cert, key } = await makeCredentials(new Date());
  const server = createServer({ cert, key }, async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) {
      chunks.push(chunk as Buffer);
    }
    const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    const uid = (review.request as JsonObject).uid as string;
    const { apiVersion, kind } = review;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ apiVersion, kind, response: { uid, ...answer(incoming.url ?? '', review) } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    caBundle: Buffer.from(ca).toString('base64'),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
