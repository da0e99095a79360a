import { Buffer } from 'node:buffer';
import { printable } from '../../base/index.ts';
import { injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import {
  explain,
  Forbidden,
  isStatus,
  type KubernetesClient,
  listPages,
  metadataOf,
  ResponseError,
  readObject,
  StatusError,
} from '../../kubernetes/client/index.ts';
import {
  dns1123SubdomainProblems,
  fieldAt,
  isJsonObject,
  type JsonObject,
  jsonPointer,
} from '../../kubernetes/index.ts';
import { Conflict, type TargetAccess, type TargetKind, type TargetReading, targetKinds, unread } from './store.ts';

/** @param holder path of the object that contains `service` and `caBundle`; none: in each webhook. */
const kindOf = (version: string, plural: string, ...holder: readonly string[]) => ({
  resource: `${plural}.${version.replace(/\/.*/, '')}`,
  base: `/apis/${version}/${plural}`,
  holder,
});
const admission = 'admissionregistration.k8s.io/v1';
const kinds: Readonly<Record<TargetKind, ReturnType<typeof kindOf>>> = {
  MutatingWebhookConfiguration: kindOf(admission, 'mutatingwebhookconfigurations'),
  ValidatingWebhookConfiguration: kindOf(admission, 'validatingwebhookconfigurations'),
  CustomResourceDefinition: kindOf(
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    ...['spec', 'conversion', 'webhook', 'clientConfig'],
  ),
  ExtensionConfig: kindOf('runtime.cluster.x-k8s.io/v1beta2', 'extensionconfigs', 'spec', 'clientConfig'),
};

/** What contains a service and its caBundle: the paths, and what messages call them. */
function holdersIn(kind: TargetKind, object: JsonObject): { path: (string | number)[]; where: string }[] {
  const { holder } = kinds[kind];
  if (holder.length > 0) {
    return isJsonObject(fieldAt(object, ...holder)) ? [{ path: [...holder], where: holder.join('.') }] : [];
  }
  const { webhooks } = object;
  if (!Array.isArray(webhooks ?? [])) {
    throw new ResponseError('the API server returned a webhook configuration whose webhooks are not a list');
  }
  return ((webhooks ?? []) as JsonObject[]).map((webhook, index) => ({
    path: ['webhooks', index, 'clientConfig'],
    where: `webhooks[${index}] (${printable(String(fieldAt(webhook, 'name') ?? ''))})`,
  }));
}

interface Service {
  namespace: string;
  name: string;
}

interface TargetChoice {
  named: readonly { kind: TargetKind; name: string }[];
  /** Label selector in kubectl's syntax, for all kinds. */
  selector?: string | undefined;
  service: Service;
}

interface Raw {
  kind: TargetKind;
  path: string;
  resourceVersion: string;
  fields: { pointer: string; value: unknown }[];
}

/** The entries of an object for `service`, or all. @throws {ResponseError} when the path names another object. */
function readTarget(kind: TargetKind, path: string, object: JsonObject, service: Service | undefined): TargetReading {
  const name = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  const { resourceVersion } = metadataOf(object, `the ${kind} ${name}`, name);
  const wanted = service && `${service.namespace}/${service.name}`;
  const bundles: string[] = [];
  const fields: Raw['fields'] = [];
  const holders = holdersIn(kind, object);
  const skipped = holders.length === 0 ? ['it has no webhook'] : [];
  for (const { where, path: holderPath } of holders) {
    const holder = fieldAt(object, ...holderPath);
    const its = fieldAt(holder, 'service');
    const label = printable(`${String(fieldAt(its, 'namespace'))}/${String(fieldAt(its, 'name'))}`);
    if (wanted !== undefined && label !== wanted) {
      skipped.push(`${where} calls ${isJsonObject(its) ? `the service ${label}` : 'no service'}, not ${wanted}`);
      continue;
    }
    const value = fieldAt(holder, 'caBundle');
    const isText = typeof value === 'string' && value.length < 512 * 1024;
    bundles.push(isText ? Buffer.from(value, 'base64').toString('utf8') : '');
    fields.push({ pointer: jsonPointer([...holderPath, 'caBundle']), value });
  }
  const raw: Raw = { kind, path, resourceVersion, fields };
  return { id: `${kind}/${name}`, state: 'present', bundles, skipped, raw };
}

/** Writes a bundle into the entries of a target that have a different one, unless it has changed since it was read. */
async function injectBundle(
  cluster: KubernetesClient,
  target: TargetReading,
  bundle: string,
): Promise<string | undefined> {
  const { kind, path, resourceVersion, fields } = target.raw as Raw;
  const value = Buffer.from(bundle).toString('base64');
  const patch = [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    ...fields.filter((field) => field.value !== value).map(({ pointer }) => ({ op: 'add', path: pointer, value })),
  ];
  try {
    await cluster.request('PATCH', path, patch);
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) {
      throw error;
    }
    const { resource } = kinds[kind];
    const name = target.id.slice(kind.length + 1);
    // A JSON patch whose test fails also results in a 422; a 404 means that the target was deleted after it was read.
    const hasChanged =
      error.code === 422 &&
      fieldAt(await readObject(cluster, path, resource, name), 'metadata', 'resourceVersion') !== resourceVersion;
    if (hasChanged || [404, 409].includes(error.code)) {
      throw new Conflict(`${target.id} was changed by another client`);
    }
    return (explain(error, 'patch', resource, name) as Error).message;
  }
}

function failedReading(id: `${TargetKind}/${string}`, error: unknown): TargetReading {
  if (error instanceof StatusError || error instanceof Forbidden) {
    return unread(id, 'failed', error.message);
  }
  throw error;
}

async function readNamed(cluster: KubernetesClient, kind: TargetKind, name: string, service: Service) {
  const { base, resource } = kinds[kind];
  const path = `${base}/${encodeURIComponent(name)}`;
  try {
    const object = await readObject(cluster, path, resource, name);
    return object === undefined
      ? unread(`${kind}/${name}`, 'missing', 'does not exist: create it, or name other targets')
      : readTarget(kind, path, object, service);
  } catch (error) {
    return failedReading(`${kind}/${name}`, error);
  }
}

const maxListed = 100_000;

/**
 * The targets among the objects of a kind, if the cluster serves it. That they cannot be listed is a target that failed: for kinds
 * that this webhook converts, its own certificate may have expired, and must not stop the renewal.
 */
async function readListed(
  cluster: KubernetesClient,
  kind: TargetKind,
  selector: string | undefined,
  read: (path: string, object: JsonObject) => TargetReading | undefined,
): Promise<TargetReading[]> {
  const { base, resource } = kinds[kind];
  const query = selector === undefined ? undefined : { labelSelector: selector };
  const readings: TargetReading[] = [];
  let isFirst = true;
  try {
    for await (const { items } of listPages(cluster, { path: base, resource, query, maxObjects: maxListed })) {
      isFirst = false;
      for (const object of items) {
        const name = String(fieldAt(object, 'metadata', 'name'));
        // The API server accepts only such names for these kinds; they become part of paths and messages.
        if (dns1123SubdomainProblems(name).length > 0) {
          throw new ResponseError(`the API server listed an object that is not one of ${resource}`);
        }
        readings.push(...[read(`${base}/${encodeURIComponent(name)}`, object) ?? []].flat());
      }
    }
  } catch (error) {
    // A 404 for the first page means that the API server does not serve the kind.
    if (!isStatus(error, 404) || !isFirst) {
      readings.push(failedReading(`${kind}/*`, error));
    }
  }
  return readings;
}

export function clusterTargets(cluster: KubernetesClient, { named, selector, service }: TargetChoice): TargetAccess {
  return {
    async read() {
      const readings = new Map<string, TargetReading>();
      for (const { kind, name } of named) {
        const reading = await readNamed(cluster, kind, name, service);
        readings.set(reading.id, reading);
      }
      for (const kind of selector === undefined ? [] : targetKinds) {
        const read = (path: string, object: JsonObject) => readTarget(kind, path, object, service);
        for (const reading of await readListed(cluster, kind, selector, read)) {
          readings.set(reading.id, readings.get(reading.id) ?? reading);
        }
      }
      return [...readings.values()];
    },
    inject: (target, bundle) => injectBundle(cluster, target, bundle),
  };
}

/** All ExtensionConfigs whose annotation names the Secret with their caBundle, whatever service or URL they refer to. */
export function annotatedExtensionConfigs(cluster: KubernetesClient): TargetAccess {
  return {
    read: () =>
      readListed(cluster, 'ExtensionConfig', undefined, (path, object) => {
        const source = fieldAt(object, 'metadata', 'annotations', injectCaFromSecretAnnotation);
        return typeof source === 'string'
          ? { ...readTarget('ExtensionConfig', path, object, undefined), source }
          : undefined;
      }),
    inject: (target, bundle) => injectBundle(cluster, target, bundle),
  };
}
