import { X509Certificate } from 'node:crypto';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'vitest';
import { connect, type KubernetesClient } from '../../../src/kubernetes/client/index.ts';
import { type Clock, clusterStore, clusterTargets, type Run, type Step } from '../../../src/webhook/certs/index.ts';
import { shakeHands } from '../../base/x509/handshake.ts';
import {
  ApiServer,
  bundlesOf,
  caPath,
  namespace,
  putTargets,
  servingPath,
  valueIn,
} from '../../kubernetes/client/api-server.ts';

/** A clock that only a sleep and `tick` advance. */
export class FakeClock implements Clock {
  time: number;
  /** Every sleep, in ms. */
  readonly slept: number[] = [];
  constructor(start: number) {
    this.time = start;
  }
  now(): Date {
    return new Date(this.time);
  }
  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.time += ms;
  }
}

/** A server that has the targets, and a clock that it shares. */
export async function serverWithTargets(): Promise<{ server: ApiServer; clock: FakeClock }> {
  const clock = new FakeClock(Date.parse('2026-06-01T00:00:00Z'));
  const server = await new ApiServer().start();
  server.now = () => clock.time;
  putTargets(server);
  return { server, clock };
}

const retryOptions = { retries: 2, minTimeoutMs: 1, maxTimeoutMs: 5, deadlineMs: 10_000 };

/** A client of a server, over HTTP. */
export function overHttp(server: ApiServer): KubernetesClient {
  const config = new KubeConfig();
  config.loadFromFile(server.kubeconfig());
  return connect(config, new AbortController().signal, retryOptions);
}

/** A run against a server, with the given settings changed. */
export function runFor(
  server: ApiServer,
  clock: Clock,
  settings: Partial<Run['settings']> = {},
  changes: Partial<Run> = {},
  cluster: KubernetesClient = server.client(),
): Run & { progress: Step[] } {
  const progress: Step[] = [];
  return {
    store: clusterStore(cluster, namespace, {
      ca: 'extensionconfig-webhook-ca',
      serving: 'extensionconfig-webhook-tls',
    }),
    targets: clusterTargets(cluster, {
      named: [
        { kind: 'MutatingWebhookConfiguration', name: 'ours' },
        { kind: 'ValidatingWebhookConfiguration', name: 'ours' },
        { kind: 'CustomResourceDefinition', name: 'extensionconfigs.runtime.cluster.x-k8s.io' },
        { kind: 'ExtensionConfig', name: 'ours' },
      ],
      service: { namespace, name: 'extensionconfig-webhook' },
    }),
    clock,
    names: ['extensionconfig-webhook', `extensionconfig-webhook.${namespace}.svc`],
    blockOn: new Set(['propagation', 'overlap']),
    settings: {
      mode: 'rotate',
      force: false,
      forceCa: false,
      propagationDelayMs: 30_000,
      overlapMs: 180_000,
      ...settings,
    },
    report: (entry) => void progress.push(entry),
    signal: new AbortController().signal,
    progress,
    ...changes,
  };
}

const parsed = new Map<string, X509Certificate[]>();
function certificates(pem: string): X509Certificate[] {
  let found = parsed.get(pem);
  if (found === undefined) {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    found = blocks.map((block) => new X509Certificate(block));
    parsed.set(pem, found);
  }
  return found;
}

const known = new Map<string, boolean>();
function trusts(bundle: string, serving: string): boolean {
  const pair = `${serving}\n${bundle}`;
  let isTrusted = known.get(pair);
  if (isTrusted === undefined) {
    const [served] = certificates(serving);
    isTrusted =
      served !== undefined && certificates(bundle).some((ca) => served.checkIssued(ca) && served.verify(ca.publicKey));
    known.set(pair, isTrusted);
  }
  return isTrusted;
}

/**
 * The slowest parts: a kubelet that syncs after 90 s, an API server that notices a changed configuration after 10 s.
 */
const podLag = 90_000;
const apiLag = 10_000;

/** A trust bundle of a target, and the serving certificate of a pod that an API server with it may connect to. */
interface Meeting {
  bundle: string;
  serving: string;
  key: string;
}

/**
 * What can meet at a moment in a server's history: all targets, as they are and as they were `apiLag` ago, and all
 * serving certificates of pods, which notice a changed Secret up to `podLag` late.
 */
function meetingsAt({ history }: ApiServer, index: number): Meeting[] {
  const seenSince = (lag: number) => {
    // States that a client with that lag may still see at this moment: the last one before the lag, and all later ones.
    const end = history[index]!.at - lag;
    let first = index;
    while (first > 0 && history[first]!.at > end) {
      first--;
    }
    return history.slice(first, index + 1);
  };
  const served = new Map<string, string>();
  for (const { objects } of seenSince(podLag)) {
    const secret = objects.get(servingPath);
    const serving = valueIn(secret, 'tls.crt');
    if (serving !== '') {
      served.set(serving, valueIn(secret, 'tls.key'));
    }
  }
  const bundles = new Set(seenSince(apiLag).flatMap(({ objects }) => bundlesOf(objects)));
  return [...bundles].flatMap((bundle) => [...served].map(([serving, key]) => ({ bundle, serving, key })));
}

/** Every moment in a server's history at which some API server could fail to connect to some pod. */
export function brokenMoments(server: ApiServer, from: number): string[] {
  const broken: string[] = [];
  for (let index = from; index < server.history.length; index++) {
    for (const { bundle, serving } of meetingsAt(server, index)) {
      if (!trusts(bundle, serving)) {
        broken.push(`state ${index}: a target does not trust a served certificate`);
      }
    }
  }
  return broken;
}

/** The results of TLS connections between all API servers and pods that could meet since a moment. */
export async function connections(server: ApiServer, from: number): Promise<string[]> {
  const meetings = new Map<string, Meeting>();
  for (let index = from; index < server.history.length; index++) {
    for (const meeting of meetingsAt(server, index)) {
      meetings.set(JSON.stringify(meeting), meeting);
    }
  }
  const host = `extensionconfig-webhook.${namespace}.svc`;
  return await Promise.all(
    [...meetings.values()].map(({ bundle, serving, key }) => shakeHands({ cert: serving, key }, bundle, host)),
  );
}

/** One CA, in its Secret, in the bundle of the serving Secret, and in every target. */
export function expectSteady(server: ApiServer): void {
  const ca = server.objects.get(caPath);
  const bundle = valueIn(server.objects.get(servingPath), 'ca.crt');
  expect(Object.keys(ca?.data ?? {}).sort()).toEqual(['ca.crt', 'ca.key']);
  expect(bundle).toBe(valueIn(ca, 'ca.crt'));
  expect(new Set(bundlesOf(server.objects))).toEqual(new Set([bundle]));
}
