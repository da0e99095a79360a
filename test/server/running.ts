import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { type ConnectionOptions, connect, createSecureContext, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import type { AdmissionRequest } from '../../src/kubernetes/index.ts';
import type { Admission, AdmissionOutcome } from '../../src/policy/index.ts';
import {
  type BodyHandler,
  type BodyResponse,
  type CertificatePair,
  createApplication,
  createBody,
  fixedCertificate,
  type RunningServer,
  type ServerContext,
} from '../../src/server/index.ts';
import { knownFeatureGates, startWebhook, type WebhookOptions, webhookPaths } from '../../src/webhook/index.ts';
import { localhost, type TestCertificate, testCa } from '../base/x509/certificates.ts';
import { metricsAt } from '../support/metrics.ts';

/**
 * A decision for tests of the transport: denies objects named `denied`, warns about `warned`, fails on `bug`, defaults
 * namespaceSelector.
 */
export const testAdmission: Admission = {
  mutate({ uid, object }: AdmissionRequest): AdmissionOutcome {
    const patch = Buffer.from('[{"op":"add","path":"/spec/namespaceSelector","value":{}}]').toString('base64');
    const spec = object?.spec;
    const patched = typeof spec === 'object' && spec !== null && !('namespaceSelector' in spec);
    return {
      response: { uid, allowed: true, ...(patched && { patchType: 'JSONPatch' as const, patch }) },
      verdict: 'allowed',
      deniedBy: [],
      warnedBy: [],
    };
  },
  validate({ uid, name }: AdmissionRequest): AdmissionOutcome {
    if (name === 'bug') {
      throw new TypeError('the object held: hunter2');
    }
    if (name === 'denied') {
      return {
        response: { uid, allowed: false, status: { code: 422, reason: 'Invalid', message: 'wrong' } },
        verdict: 'denied',
        deniedBy: ['url-scheme', 'url-host'],
        warnedBy: [],
      };
    }
    if (name === 'warned') {
      return {
        response: { uid, allowed: true, warnings: ['hm'] },
        verdict: 'warned',
        deniedBy: [],
        warnedBy: ['ca-soon'],
      };
    }
    return { response: { uid, allowed: true }, verdict: 'allowed', deniedBy: [], warnedBy: [] };
  },
};

/** A logger that records its lines. */
export function collectingLog(level = 'debug') {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level, base: null, timestamp: false }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** Answers a request, whose body has been read. */
export type Answering = (
  request: Parameters<BodyHandler>[0],
  response: BodyResponse,
  context: ServerContext,
) => void | Promise<void>;

/** An application in which every path, method and type gets the same answer. */
export const answering = (answer: Answering) => (context: ServerContext) => {
  const last: BodyHandler = (request, response) => answer(request, response, context);
  return createApplication()
    .all(/.*/, createBody(context.limits, context.inFlight, true), last)
    .use(context.refuse);
};

const pairs = new WeakMap<TestCertificate, CertificatePair>();

/** The pair of a test certificate, which is valid. */
export function pairOf(certificate: TestCertificate): CertificatePair {
  let pair = pairs.get(certificate);
  if (pair === undefined) {
    const { validFromDate, validToDate, fingerprint256, subjectAltName = '' } = new X509Certificate(certificate.cert);
    pair = {
      ...certificate,
      notBefore: validFromDate,
      notAfter: validToDate,
      fingerprint: fingerprint256,
      subjectAltName,
    };
    pairs.set(certificate, pair);
  }
  return pair;
}

const running: RunningServer[] = [];

/** Starts a server on free ports of loopback, and records its log. */
export async function start({
  webhook,
  ...options
}: Partial<WebhookOptions> & { webhook?: WebhookOptions['main'] } = {}) {
  const { log, lines } = collectingLog();
  const server = await startWebhook({
    admission: testAdmission,
    certificates: fixedCertificate(pairOf(localhost)),
    main: webhook ?? { host: '127.0.0.1', port: 0 },
    health: { host: '127.0.0.1', port: 0 },
    log,
    version: '0.0.0-test',
    featureGates: knownFeatureGates,
    processMetrics: false,
    now: () => new Date(),
    ...options,
  });
  running.push(server);
  return { ...server, webhookPort: server.port, lines, health: `http://127.0.0.1:${server.healthPort}` };
}

/** Stops what a test started. */
export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.stop({ timeoutMs: 100 })));
}

/** A response. */
export interface Answer {
  code: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  json: () => Record<string, unknown> & { response: Record<string, unknown>; message: string };
}

/** What connections are made with: reading the test CA for each of them takes as long as a handshake. */
const trust = { secureContext: createSecureContext({ ca: testCa.cert }) };
/** The same where a caller brings anything of its own. */
const trustOf = (options: object) =>
  ['ca', 'cert', 'key', 'minVersion', 'maxVersion', 'ciphers'].some((name) => name in options)
    ? { ca: testCa.cert }
    : trust;

/** Sends one HTTPS request with JSON; by default it trusts the test CA and uses a new connection. */
export function send(port: number, path: string, body: string | Buffer, options: RequestOptions = {}): Promise<Answer> {
  return exchange(port, path, body, {
    ...options,
    headers: { 'content-type': 'application/json', ...options.headers },
  });
}

/** The same with only the given headers. */
export function exchange(port: number, path: string, body: string | Buffer, options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        servername: 'localhost',
        port,
        path,
        method: 'POST',
        agent: false,
        ...trustOf(options),
        ...options,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            code: response.statusCode ?? 0,
            headers: response.headers,
            body: text,
            json: () => JSON.parse(text),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Opens a TLS connection on which a test can write anything. */
export function openTls(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const over = { host: '127.0.0.1', port, servername: 'localhost', ...trustOf(options), ...options };
    const socket = connect(over, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Everything that arrives on a socket until it closes. */
export function readAll(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

/** Waits until a condition is met; fails after a generous timeout. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 30_000;
  // With longer and longer pauses: what takes long takes little more for it.
  for (let pauseMs = 5; performance.now() < end; pauseMs = Math.min(pauseMs * 1.5, 50)) {
    if (await condition()) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`still not: ${what}`);
}

/** An agent that reuses its connections. */
export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, ...trust, servername: 'localhost' });
}

/** An AdmissionReview for an object with this name. */
export function review(name: string): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: `uid-of-${name}`,
      kind: { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', kind: 'ExtensionConfig' },
      name,
      operation: 'CREATE',
      userInfo: { username: 'alice' },
      object: { metadata: { name }, spec: { settings: { password: 'hunter2' } } },
    },
  });
}

/** One captured call of a real API server. */
export interface CapturedCall {
  name: string;
  url: string;
  headers: Record<string, string>;
  body: { kind: string; request: { uid: string; operation: string } };
}

const folder = new URL('../support/fixtures/webhook-calls/', import.meta.url);

/** The captured calls of a real API server, in the order of their names. */
export const capturedCalls: CapturedCall[] = readdirSync(folder)
  .sort()
  .map((name) => ({ name, ...JSON.parse(readFileSync(new URL(name, folder), 'utf8')) }));

export const { mutate, validate } = webhookPaths;

/** The value of a metric of a server, by its name without the prefix, with labels as they are printed; 0 when absent. */
export async function metricOf(health: string, name: string): Promise<number> {
  return (await metricsOf(health, [name]))[0] as number;
}

/** The same of several metrics, read at once. */
export async function metricsOf(health: string, names: readonly string[]): Promise<number[]> {
  const values = await metricsAt(
    health,
    names.map((name) => `extensionconfig_webhook_${name}`),
  );
  return values.map((value) => value || 0);
}
