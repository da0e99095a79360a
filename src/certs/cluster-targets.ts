import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject, type JsonPatchOperation, jsonPointer } from '../kubernetes/index.ts';
import { ApiError, type Cluster, ConnectionError } from './cluster.ts';
import { explain } from './cluster-store.ts';
import { Conflict } from './store.ts';
import { type TargetAccess, type TargetEntry, TargetFailure, type TargetReading } from './target.ts';

/** Kinds that hold a caBundle. */
export type TargetKind =
  | 'MutatingWebhookConfiguration'
  | 'ValidatingWebhookConfiguration'
  | 'CustomResourceDefinition'
  | 'APIService'
  | 'ExtensionConfig';

interface Place {
  where: string;
  /** Path of the object that holds `service` and `caBundle`. */
  path: (string | number)[];
  /** What else must still be there when the patch is applied. */
  tests: [(string | number)[], Json][];
}

interface KindFacts {
  resource: string;
  /** API paths, preferred first. */
  bases: string[];
  places(object: JsonObject): Place[];
}

function at(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (inner, key) => (Array.isArray(inner) ? inner[key as number] : isJsonObject(inner) ? inner[key] : undefined),
    value,
  );
}

function webhookPlaces(object: JsonObject): Place[] {
  return (Array.isArray(object.webhooks) ? object.webhooks : []).map((webhook, index) => {
    const name = at(webhook, ['name']) ?? '';
    return {
      where: `webhooks[${index}] (${String(name)})`,
      path: ['webhooks', index, 'clientConfig'],
      // Another entry may have been put before this one meanwhile.
      tests: [[['webhooks', index, 'name'], name]],
    };
  });
}

const kinds: Readonly<Record<TargetKind, KindFacts>> = {
  MutatingWebhookConfiguration: {
    resource: 'mutatingwebhookconfigurations.admissionregistration.k8s.io',
    bases: ['/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'],
    places: webhookPlaces,
  },
  ValidatingWebhookConfiguration: {
    resource: 'validatingwebhookconfigurations.admissionregistration.k8s.io',
    bases: ['/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'],
    places: webhookPlaces,
  },
  CustomResourceDefinition: {
    resource: 'customresourcedefinitions.apiextensions.k8s.io',
    bases: ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions'],
    places: (object) =>
      isJsonObject(at(object, ['spec', 'conversion', 'webhook', 'clientConfig']))
        ? [{ where: 'spec.conversion.webhook', path: ['spec', 'conversion', 'webhook', 'clientConfig'], tests: [] }]
        : [],
  },
  APIService: {
    resource: 'apiservices.apiregistration.k8s.io',
    bases: ['/apis/apiregistration.k8s.io/v1/apiservices'],
    places: () => [{ where: 'spec', path: ['spec'], tests: [] }],
  },
  ExtensionConfig: {
    resource: 'extensionconfigs.runtime.cluster.x-k8s.io',
    bases: [
      '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs',
      // Cluster API before 1.11 serves only this one.
      '/apis/runtime.cluster.x-k8s.io/v1alpha1/extensionconfigs',
    ],
    places: () => [{ where: 'spec.clientConfig', path: ['spec', 'clientConfig'], tests: [] }],
  },
};

/** All kinds of targets. */
export const targetKinds = Object.keys(kinds) as TargetKind[];

/** Which objects are targets. */
export interface TargetChoice {
  named: readonly { kind: TargetKind; name: string }[];
  /** Label selector in kubectl's syntax, over all kinds. */
  selector?: string | undefined;
  /** Only entries that call this service are written. */
  service: { namespace: string; name: string };
}

interface Raw {
  kind: TargetKind;
  path: string;
  object: JsonObject;
  places: (Place & { current: Json | undefined })[];
}

/** caBundle of an entry as PEM; text that is no string reads as empty. */
function decode(value: Json | undefined): string {
  return typeof value === 'string' && value.length < 512 * 1024 ? Buffer.from(value, 'base64').toString('utf8') : '';
}

/** Finds the entries of an object; `service` undefined takes every entry. */
export function readTarget(
  kind: TargetKind,
  path: string,
  object: JsonObject,
  service: { namespace: string; name: string } | undefined,
): TargetReading {
  const name = String(at(object, ['metadata', 'name']));
  const entries: TargetEntry[] = [];
  const skipped: string[] = [];
  const places: Raw['places'] = [];
  const found = kinds[kind].places(object);
  if (found.length === 0) {
    skipped.push('it has no webhook');
  }
  for (const place of found) {
    const holder = at(object, place.path);
    const its = at(holder, ['service']);
    const label = `${String(at(its, ['namespace']))}/${String(at(its, ['name']))}`;
    if (service !== undefined && label !== `${service.namespace}/${service.name}`) {
      skipped.push(
        `${place.where} ${isJsonObject(its) ? `calls the service ${label}` : 'calls no service'}, not ${service.namespace}/${service.name}`,
      );
      continue;
    }
    const current = at(holder, ['caBundle']);
    entries.push({ where: place.where, bundle: decode(current) });
    places.push({
      ...place,
      tests: service === undefined ? place.tests : [...place.tests, [[...place.path, 'service', 'name'], service.name]],
      current,
    });
  }
  return {
    id: `${kind}/${name}`,
    state: 'present',
    entries,
    skipped,
    raw: { kind, path, object, places } satisfies Raw,
  };
}

/** The JSON patch that writes a bundle into the entries that hold another one, and nothing else. */
export function bundlePatch(target: TargetReading, bundle: string): JsonPatchOperation[] {
  const { object, places } = target.raw as Raw;
  const value = Buffer.from(bundle).toString('base64');
  const operations: JsonPatchOperation[] = [];
  for (const place of places.filter(({ current }) => current !== value)) {
    const pointer = jsonPointer([...place.path, 'caBundle']);
    for (const [path, expected] of place.tests) {
      operations.push({ op: 'test', path: jsonPointer(path), value: expected });
    }
    if (place.current === undefined) {
      // JSON Patch can't test that a field is absent; the object as a whole must be the one that was read then.
      const version = at(object, ['metadata', 'resourceVersion']) ?? '';
      operations.push({ op: 'test', path: '/metadata/resourceVersion', value: version });
      operations.push({ op: 'add', path: pointer, value });
    } else {
      operations.push({ op: 'test', path: pointer, value: place.current });
      operations.push({ op: 'replace', path: pointer, value });
    }
  }
  return operations;
}

/** Writes a bundle into a target that was read. */
export async function injectBundle(cluster: Cluster, target: TargetReading, bundle: string): Promise<void> {
  const { kind, path } = target.raw as Raw;
  try {
    await cluster.request('PATCH', path, bundlePatch(target, bundle) as unknown as Json);
  } catch (error) {
    // 422 is also the answer to a JSON patch whose test fails; 404 means that the target vanished since it was read.
    if (error instanceof ApiError && [404, 409].includes(error.code)) {
      throw new Conflict(`${target.id} was changed by somebody else`);
    }
    if (error instanceof ApiError && error.code === 422) {
      const now = at(await cluster.request('GET', path), ['metadata', 'resourceVersion']);
      if (now !== at((target.raw as Raw).object, ['metadata', 'resourceVersion'])) {
        throw new Conflict(`${target.id} was changed by somebody else`);
      }
    }
    const explained = explain(error, 'patch', kinds[kind].resource, target.id.slice(kind.length + 1)) as Error;
    throw explained instanceof ConnectionError ? explained : new TargetFailure(explained.message);
  }
}

/** Reads one named target. */
async function readNamed(cluster: Cluster, kind: TargetKind, name: string, service: TargetChoice['service']) {
  const facts = kinds[kind];
  for (const base of facts.bases) {
    const path = `${base}/${encodeURIComponent(name)}`;
    try {
      return readTarget(kind, path, await cluster.request('GET', path), service);
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      if (error.code !== 404) {
        const { message } = explain(error, 'get', facts.resource, name) as Error;
        return { id: `${kind}/${name}`, state: 'failed', problem: message, entries: [], skipped: [] } as TargetReading;
      }
    }
  }
  return {
    id: `${kind}/${name}`,
    state: 'missing',
    problem: 'does not exist',
    entries: [],
    skipped: [],
  } as TargetReading;
}

/** Lists the objects of a kind, with their paths; none when the cluster does not know the kind. */
export async function listTargets(
  cluster: Cluster,
  kind: TargetKind,
  selector?: string,
): Promise<{ path: string; object: JsonObject }[]> {
  const facts = kinds[kind];
  for (const base of facts.bases) {
    const query = selector === undefined ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
    try {
      const list = await cluster.request('GET', `${base}${query}`);
      return (Array.isArray(list.items) ? list.items : [])
        .filter(isJsonObject)
        .map((object) => ({ path: `${base}/${encodeURIComponent(String(at(object, ['metadata', 'name'])))}`, object }));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) {
        throw explain(error, 'list', facts.resource, '(all)');
      }
    }
  }
  return [];
}

/** The targets of a cluster. */
export function clusterTargets(cluster: Cluster, choice: TargetChoice): TargetAccess {
  return {
    async read() {
      const found = new Map<string, TargetReading>();
      for (const { kind, name } of choice.named) {
        const reading = await readNamed(cluster, kind, name, choice.service);
        found.set(reading.id, reading);
      }
      for (const kind of choice.selector === undefined ? [] : targetKinds) {
        for (const { path, object } of await listTargets(cluster, kind, choice.selector)) {
          const reading = readTarget(kind, path, object, choice.service);
          found.set(reading.id, found.get(reading.id) ?? reading);
        }
      }
      return [...found.values()];
    },
    inject: (target, bundle) => injectBundle(cluster, target, bundle),
  };
}

/** No targets: for a folder of files. */
export const noTargets: TargetAccess = { read: async () => [], inject: async () => {} };
