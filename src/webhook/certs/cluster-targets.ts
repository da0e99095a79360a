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
  type Json,
  type JsonObject,
  type JsonPatchOperation,
  jsonPointer,
} from '../../kubernetes/index.ts';
import { Conflict, type TargetAccess, type TargetKind, type TargetReading, targetKinds, unread } from './store.ts';

interface BundleField {
  where: string;
  /** Path of the object that contains `service` and `caBundle`. */
  path: (string | number)[];
}

interface KindFacts {
  resource: string;
  base: string;
  fields(object: JsonObject): BundleField[];
}

function webhookFields(object: JsonObject): BundleField[] {
  const { webhooks = null } = object;
  if (webhooks !== null && !Array.isArray(webhooks)) {
    throw new ResponseError('the API server returned a webhook configuration whose webhooks are not a list');
  }
  return (webhooks ?? []).map((webhook, index) => ({
    where: `webhooks[${index}] (${printable(String(fieldAt(webhook, 'name') ?? ''))})`,
    path: ['webhooks', index, 'clientConfig'],
  }));
}

const kindOf = (version: string, plural: string, fields: KindFacts['fields']): KindFacts => ({
  resource: `${plural}.${version.replace(/\/.*/, '')}`,
  base: `/apis/${version}/${plural}`,
  fields,
});
const conversion = ['spec', 'conversion', 'webhook', 'clientConfig'];
const admission = 'admissionregistration.k8s.io/v1';

const kinds: Readonly<Record<TargetKind, KindFacts>> = {
  MutatingWebhookConfiguration: kindOf(admission, 'mutatingwebhookconfigurations', webhookFields),
  ValidatingWebhookConfiguration: kindOf(admission, 'validatingwebhookconfigurations', webhookFields),
  CustomResourceDefinition: kindOf('apiextensions.k8s.io/v1', 'customresourcedefinitions', (object) =>
    isJsonObject(fieldAt(object, ...conversion)) ? [{ where: 'spec.conversion.webhook', path: conversion }] : [],
  ),
  ExtensionConfig: kindOf('runtime.cluster.x-k8s.io/v1beta2', 'extensionconfigs', () => [
    { where: 'spec.clientConfig', path: ['spec', 'clientConfig'] },
  ]),
};

interface TargetChoice {
  named: readonly { kind: TargetKind; name: string }[];
  /** Label selector in kubectl's syntax, for all kinds. */
  selector?: string | undefined;
  /** Only entries that refer to this service are written. */
  service: { namespace: string; name: string };
}

interface Raw {
  kind: TargetKind;
  path: string;
  resourceVersion: string;
  fields: { pointer: string; value: Json | undefined }[];
}

/** An entry's caBundle as PEM; empty for a value that is not a string. */
function decode(value: Json | undefined): string {
  return typeof value === 'string' && value.length < 512 * 1024 ? Buffer.from(value, 'base64').toString('utf8') : '';
}

/** The entries of an object for `service`, or all. @throws {ResponseError} when the path names another object. */
export function readTarget(
  kind: TargetKind,
  path: string,
  object: JsonObject,
  service: { namespace: string; name: string } | undefined,
): TargetReading {
  const name = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  const { resourceVersion } = metadataOf(object, `the ${kind} ${name}`, name);
  const bundles: string[] = [];
  const skipped: string[] = [];
  const fields: Raw['fields'] = [];
  const bundleFields = kinds[kind].fields(object);
  if (bundleFields.length === 0) {
    skipped.push('it has no webhook');
  }
  for (const field of bundleFields) {
    const holder = fieldAt(object, ...field.path);
    const its = fieldAt(holder, 'service');
    const label = printable(`${String(fieldAt(its, 'namespace'))}/${String(fieldAt(its, 'name'))}`);
    if (service !== undefined && label !== `${service.namespace}/${service.name}`) {
      skipped.push(
        `${field.where} ${isJsonObject(its) ? `calls the service ${label}` : 'calls no service'}, not ${service.namespace}/${service.name}`,
      );
      continue;
    }
    const value = fieldAt(holder, 'caBundle');
    bundles.push(decode(value));
    fields.push({ pointer: jsonPointer([...field.path, 'caBundle']), value });
  }
  return {
    id: `${kind}/${name}`,
    state: 'present',
    bundles,
    skipped,
    raw: { kind, path, resourceVersion, fields } satisfies Raw,
  };
}

/** The JSON patch that writes a bundle into the entries that have a different one, unless the object has changed. */
export function bundlePatch(target: TargetReading, bundle: string): JsonPatchOperation[] {
  const { resourceVersion, fields } = target.raw as Raw;
  const value = Buffer.from(bundle).toString('base64');
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    ...fields
      .filter((field) => field.value !== value)
      .map(({ pointer }) => ({ op: 'add', path: pointer, value }) as const),
  ];
}

/** Writes a bundle into a target that has been read; returns why the API server refuses it, if it does. */
export async function injectBundle(
  cluster: KubernetesClient,
  target: TargetReading,
  bundle: string,
): Promise<string | undefined> {
  const { kind, path, resourceVersion } = target.raw as Raw;
  try {
    await cluster.request('PATCH', path, bundlePatch(target, bundle) as unknown as Json);
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) {
      throw error;
    }
    // A JSON patch whose test fails also results in a 422; a 404 means that the target was deleted after it was read.
    if ([404, 409].includes(error.code)) {
      throw new Conflict(`${target.id} was changed by another client`);
    }
    if (error.code === 422) {
      const name = target.id.slice(kind.length + 1);
      const now = await readObject(cluster, path, kinds[kind].resource, name);
      if (fieldAt(now, 'metadata', 'resourceVersion') !== resourceVersion) {
        throw new Conflict(`${target.id} was changed by another client`);
      }
    }
    const explained = explain(error, 'patch', kinds[kind].resource, target.id.slice(kind.length + 1)) as Error;
    return explained.message;
  }
}

async function readNamed(cluster: KubernetesClient, kind: TargetKind, name: string, service: TargetChoice['service']) {
  const { base, resource } = kinds[kind];
  const path = `${base}/${encodeURIComponent(name)}`;
  try {
    const object = await readObject(cluster, path, resource, name);
    return object === undefined
      ? unread(`${kind}/${name}`, 'missing', 'does not exist: create it, or name other targets')
      : readTarget(kind, path, object, service);
  } catch (error) {
    if (!(error instanceof StatusError || error instanceof Forbidden)) {
      throw error;
    }
    return unread(`${kind}/${name}`, 'failed', error.message);
  }
}

const maxListed = 100_000;

/**
 * Reads the targets among the objects of a kind; none if the cluster does not serve it. That they cannot be listed is a
 * target that failed: for kinds that this webhook converts, that may be because its own certificate has expired, and must
 * not stop the renewal.
 *
 * @param read reads an object; undefined for one that is not a target.
 * @throws {ResponseError} for a response that is not a list.
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
        const reading = read(`${base}/${encodeURIComponent(name)}`, object);
        if (reading !== undefined) {
          readings.push(reading);
        }
      }
    }
  } catch (error) {
    // A 404 for the first page means that the API server does not serve the kind.
    if (isStatus(error, 404) && isFirst) {
      return [];
    }
    if (!(error instanceof StatusError || error instanceof Forbidden)) {
      throw error;
    }
    readings.push(unread(`${kind}/*`, 'failed', error.message));
  }
  return readings;
}

export function clusterTargets(cluster: KubernetesClient, choice: TargetChoice): TargetAccess {
  return {
    async read() {
      const readings = new Map<string, TargetReading>();
      for (const { kind, name } of choice.named) {
        const reading = await readNamed(cluster, kind, name, choice.service);
        readings.set(reading.id, reading);
      }
      for (const kind of choice.selector === undefined ? [] : targetKinds) {
        const read = (path: string, object: JsonObject) => readTarget(kind, path, object, choice.service);
        for (const reading of await readListed(cluster, kind, choice.selector, read)) {
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
