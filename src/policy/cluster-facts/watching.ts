import type { KubeConfig } from '@kubernetes/client-node';
import type { Registry } from 'prom-client';
import { orAborted } from '../../base/index.ts';
import { metricsIn } from '../../base/metrics/index.ts';
import {
  connect,
  type Informer,
  type KubernetesClient,
  objectKey,
  readObject,
  startInformer,
  type WatchPace,
} from '../../kubernetes/client/index.ts';
import { type AdmissionRequest, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { ClusterKnowledge } from '../admission/admission.ts';
import {
  type CollectedKind,
  collectedKinds,
  createFactsStore,
  type FactKind,
  type Facts,
  kinds,
  readSecret,
  readService,
} from '../facts/store.ts';
import { annotatedSecret, validService } from '../rules/fields.ts';

/** Maximum number of objects of a kind: some 1.6 KiB each, 80 MiB. With more, nothing is known about that kind. */
const maxObjects = 50_000;
/** Maximum number of characters of JSON of a kind in memory, should objects be large: an ordinary one takes 300. */
const maxLength = 32 * 1024 * 1024;
/** Age from which facts are unknown, in ms: the API server must be unreachable, or the permission to watch missing. */
const maxAgeMs = 600_000;
const requestDeadlineMs = 10_000;
/** Longest time that a decision waits for an object, in ms: the timeout of the webhooks is 5 s in our configurations. */
const timeoutMs = 1_000;
/** Maximum number of concurrent reads: anyone who may write ExtensionConfigs causes them. Beyond it, nothing is known. */
const maxReading = 32;

export interface WatchingOptions {
  config: KubeConfig;
  /** Called with why facts about a kind may be stale or missing, and a remedy; with undefined when they are current. */
  onProblem?(kind: FactKind, problem: string | undefined): void;
  pace?: Partial<WatchPace>;
}

function identityOf(object: JsonObject): JsonObject {
  const { namespace = null, name = null, uid = null, resourceVersion = null } = objectAt(object, 'metadata');
  return { namespace, name, uid, resourceVersion };
}

interface Named {
  namespace: string;
  name: string;
}

/** The Service of an object, if the copy lacks it or its port: `kubectl apply` may have created it just now. */
function serviceToReadAgain(object: JsonObject, services: Facts['services']): Named | undefined {
  const service: Json = objectAt(object, 'spec', 'clientConfig', 'service');
  const named = validService(service);
  const fact = named && services?.find(named.namespace, named.name);
  const lacksPort =
    typeof fact === 'object' && fact.ports.length > 0 && !fact.ports.some((port) => port === service.port);
  return fact === 'absent' || lacksPort ? named : undefined;
}

/** Reads objects for single decisions. `onProblem` is called when the problem with one of the resources changes. */
function createReader(client: KubernetesClient, onProblem: (plural: string, problem: string | undefined) => void) {
  let reading = 0;
  /** The fact about an object as it is now, and none about others; undefined if that takes over a second. Never rejects. */
  return async <T>(plural: string, { namespace, name }: Named, factOf: (object: JsonObject) => T) => {
    if (reading >= maxReading) {
      onProblem(plural, `more than ${maxReading} ${plural} are being read at once`);
      return undefined;
    }
    reading++;
    const key = `${namespace}/${name}`;
    const late = AbortSignal.timeout(timeoutMs);
    // It goes on after the decision, until the client gives up.
    const path = `/api/v1/namespaces/${namespace}/${plural}/${name}`;
    const read = readObject(client, path, plural, key).finally(() => reading--);
    try {
      const object = await orAborted(read, late);
      onProblem(plural, undefined);
      const fact = object === undefined ? 'absent' : factOf(object);
      return { find: (one: string, other: string) => (one === namespace && other === name ? fact : undefined) };
    } catch (error) {
      const silence = `${plural}: no answer from the API server within ${timeoutMs} ms`;
      onProblem(plural, late.aborted ? silence : (error as Error).message);
      return undefined;
    }
  };
}

/** Watches the objects that rules have facts about. APIs that are not served are looked for again from time to time. */
export function watchCluster({ config, onProblem, pace = {} }: WatchingOptions) {
  const stop = new AbortController();
  /** Why Secrets cannot be read, according to the last attempt; undefined if they can. */
  let secretProblem: string | undefined;
  const cluster = connect(config, stop.signal, { retries: 0, deadlineMs: requestDeadlineMs });
  const readNow = createReader(cluster, (plural, problem) => {
    if (plural === 'secrets' && problem !== secretProblem && !stop.signal.aborted) {
      secretProblem = problem;
      onProblem?.('Secret', problem);
    }
  });
  const store = createFactsStore();
  const watches = collectedKinds.map((kind) => {
    const collection: Map<string, unknown> = store.collections[kind];
    const { group, plural, read } = kinds[kind];
    const informer = startInformer(config, {
      // Since Cluster API 1.11.
      path: group === '' ? `/api/v1/${plural}` : `/apis/${group}/v1beta2/${plural}`,
      resource: group === '' ? plural : `${plural}.${group}`,
      mayBeAbsent: true,
      keep: (object) => ({
        metadata: identityOf(object),
        facts: read(objectKey(object), object) as Json,
      }),
      maxObjects,
      maxLength,
      onChange({ type, key, object }) {
        if (type === 'deleted') {
          collection.delete(key);
        } else {
          collection.set(key, object.facts);
        }
      },
      onProblem: (problem) => onProblem?.(kind, problem),
      pace,
    });
    return { kind, collection, informer };
  });

  const isKnown = ({ ageMs }: Informer) => ageMs !== undefined && ageMs <= maxAgeMs;

  /** The current facts, but for those about Secrets, without waiting. */
  function read(): ClusterKnowledge {
    const known: CollectedKind[] = [];
    let oldestMs: number | undefined;
    for (const { kind, informer } of watches) {
      if (isKnown(informer)) {
        known.push(kind);
        oldestMs = Math.max(oldestMs ?? 0, informer.ageMs ?? 0);
      }
    }
    const unknown = collectedKinds.filter((kind) => !known.includes(kind));
    return { facts: store.factsAbout(known), ageMs: oldestMs, unknown };
  }

  async function readBoth(secret: Named | undefined, service: Named | undefined): Promise<ClusterKnowledge> {
    const [secrets, services] = await Promise.all([
      secret && readNow('secrets', secret, readSecret),
      service && readNow('services', service, readService),
    ]);
    const { facts, unknown, ...known } = read();
    const unread: FactKind[] = [...(secret && !secrets ? ['Secret' as const] : [])];
    if (service && !services) {
      unread.push('Service');
    }
    return {
      ...known,
      facts: { ...facts, ...(secret && { secrets }), ...(service && { services }) },
      unknown: [...new Set([...unknown, ...unread])],
    };
  }

  return {
    read,
    /**
     * What is known for a decision, with the Secret that is named as it is now, and the Service if the copy of it would be
     * reported; what takes over a second is not known. Undefined if nothing has to be read. Never rejects.
     */
    refresh({
      object,
      operation,
      subResource,
    }: Pick<AdmissionRequest, 'object' | 'operation' | 'subResource'>): Promise<ClusterKnowledge> | undefined {
      if (object === undefined || operation === 'DELETE' || subResource !== '') {
        return undefined;
      }
      const secret = annotatedSecret(object);
      const service = serviceToReadAgain(object, read().facts.services);
      return secret === undefined && service === undefined ? undefined : readBoth(secret, service);
    },
    /** `ageMs` is the age of the copy; undefined if nothing has been read yet, and for Secrets, which are read one by one. */
    status(kind: FactKind) {
      const { informer, collection } = watches.find((candidate) => candidate.kind === kind) ?? {};
      if (informer === undefined) {
        return { isKnown: secretProblem === undefined, ageMs: undefined, objects: 0, problem: secretProblem };
      }
      const { ageMs, problem } = informer;
      return { isKnown: isKnown(informer), ageMs, objects: collection?.size ?? 0, problem };
    },
    /** Resolves when every kind has been listed once, or is known not to be served. */
    synced: Promise.all(watches.map(({ informer }) => informer.synced)),
    stop(): void {
      stop.abort();
      for (const { informer } of watches) {
        informer.stop();
      }
    },
  };
}

export type Watching = ReturnType<typeof watchCluster>;

/** Adds metrics of the facts, which are read at each scrape. */
export function addWatchingMetrics(registry: Registry, prefix: string, watching: Pick<Watching, 'status'>): void {
  const { gauge } = metricsIn(registry, prefix);
  const perKind = (name: string, help: string, read: (status: ReturnType<Watching['status']>) => number | undefined) =>
    gauge(name, help, ['kind'], {
      collect() {
        this.reset();
        for (const kind of [...collectedKinds, 'Secret'] as const) {
          const value = read(watching.status(kind));
          if (value !== undefined) {
            this.set({ kind }, value);
          }
        }
      },
    });
  perKind(
    'facts_known',
    'Whether facts about a kind are known (1) or not (0); without facts, rules about the kind report nothing.',
    ({ isKnown }) => (isKnown ? 1 : 0),
  );
  perKind(
    'facts_age_seconds',
    'Time since the API server last confirmed the facts about a kind; up to 35 s if nothing changes.',
    ({ ageMs }) => ageMs && ageMs / 1000,
  );
  perKind('facts_objects', 'Objects of a kind whose facts are kept.', ({ objects }) => objects);
}
