import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { framingProblem, hasDates, holdsPrivateKey, readPem, unreadProblem } from '../../base/x509/index.ts';
import {
  type ExtensionConfig,
  injectCaFromSecretAnnotation,
  type SchemaViolation,
} from '../../extensionconfig/index.ts';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  type FieldPath,
  fieldAt,
  formatFieldPath,
  isBase64,
  isJsonObject,
  type JsonObject,
  namespacedNameIn,
  parseRequestUri,
  type RequestUri,
} from '../../kubernetes/index.ts';
import type { HookCatalog, LifecycleKey } from '../../runtimehooks/index.ts';
import type { Facts } from '../facts/store.ts';

type Handler = NonNullable<NonNullable<ExtensionConfig['status']>['handlers']>[number];

export type PlacedHandler = ReturnType<typeof handlersOf>[number];

/** The handlers of an object; `hook` is undefined if the requestHook is incomplete. */
export function handlersOf(object: ExtensionConfig, hooks: HookCatalog) {
  return (object.status?.handlers ?? []).map((handler, index) => {
    const hook = hookOf(handler);
    const lifecycle = hook && hooks.find(hook.group, hook.version, hook.name);
    const path: FieldPath = ['status', 'handlers', index];
    return { handler, path, hook, lifecycle };
  });
}

/** The two parts of GROUP/VERSION, or undefined for any other text. */
export function groupVersionOf(apiVersion: string): { group: string; version: string } | undefined {
  const [group = '', version = '', ...others] = apiVersion.split('/');
  return group !== '' && version !== '' && others.length === 0 ? { group, version } : undefined;
}

function hookOf({ requestHook }: Handler): LifecycleKey | undefined {
  const { apiVersion, hook } = requestHook ?? {};
  const api = apiVersion === undefined ? undefined : groupVersionOf(apiVersion);
  return api && hook ? { ...api, name: hook } : undefined;
}

/** A hook in a message: `GeneratePatches (hooks.runtime.cluster.x-k8s.io/v1alpha1)`. */
export function nameHook({ group, version, name }: LifecycleKey): string {
  return `${name} (${group}/${version})`;
}

export interface ClientUrl extends RequestUri {
  text: string;
  /** Host in lower case, without port, brackets and a trailing dot; empty if there is none. */
  hostname: string;
  /** Port as written, or undefined if there is none. */
  port: string | undefined;
}

export const urlPath = ['spec', 'clientConfig', 'url'] as const;

/** The parsed url of an object; undefined if it is absent, or none. Another scheme than https is a finding of its own. */
export function clientUrlOf(object: ExtensionConfig): ClientUrl | undefined {
  const text = object.spec?.clientConfig?.url ?? '';
  const uri = parseRequestUri(text);
  if ('problem' in uri || uri.scheme === '') {
    return undefined;
  }
  const authority = uri.host ?? '';
  // The part after the last colon outside brackets is the port, as in Go: other colons may be those of an IPv6 address.
  const port = /:(\d*)$/.exec(authority)?.[1];
  const address = port === undefined ? authority : authority.slice(0, -port.length - 1);
  const host = address.startsWith('[') ? address.slice(1, -1) : address;
  return { ...uri, text, hostname: (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase(), port };
}

/** A url for a message: without the password in its user info. */
export function showableUrl(url: string): string {
  const slashes = url.indexOf('//');
  const start = slashes + 2;
  if (slashes === -1 || /[?#]/.test(url.slice(0, slashes))) {
    return url;
  }
  const length = url.slice(start).search(/[/?#]/);
  const authority = url.slice(start, length === -1 ? undefined : start + length);
  const colon = authority.indexOf(':');
  const at = authority.lastIndexOf('@');
  return colon === -1 || at < colon ? url : `${url.slice(0, start + colon)}:xxxxx${url.slice(start + at)}`;
}

export type Service = NonNullable<NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>['service']>;

/** Whether `spec.clientConfig.service` counts as set: Cluster API treats a service without any value as absent. */
export function isServiceDefined(service: Service | undefined): service is Service {
  return (
    service !== undefined &&
    (Boolean(service.namespace) || Boolean(service.name) || Boolean(service.path) || service.port !== undefined)
  );
}

/** The names in a reference to a Service; undefined if they are not valid: they get into commands and paths. */
export function validService(service: { namespace?: unknown; name?: unknown } | undefined) {
  const { namespace, name } = service ?? {};
  const isValid =
    typeof namespace === 'string' &&
    typeof name === 'string' &&
    dns1123LabelProblems(namespace).length === 0 &&
    dns1035LabelProblems(name).length === 0;
  return isValid ? { namespace, name } : undefined;
}

/** The Service that an object names, and the port, if any; undefined for invalid names. */
export function namedService({ spec }: ExtensionConfig) {
  const service = spec?.clientConfig?.service;
  const names = validService(service);
  return names && { ...names, port: service?.port };
}

export const secretAnnotationPath = ['metadata', 'annotations', injectCaFromSecretAnnotation] as const;

/** The Secret that the annotation of an object of any form names; undefined without a valid annotation. */
export function annotatedSecret(object: JsonObject): { namespace: string; name: string } | undefined {
  const value = fieldAt(object, ...secretAnnotationPath);
  return typeof value === 'string' ? namespacedNameIn(value) : undefined;
}

/** The Secret that the annotation of an object names, and what is known about it. */
export function namedSecret(object: ExtensionConfig, facts: Facts | undefined) {
  const { namespace, name } = annotatedSecret(object as object as JsonObject) ?? {};
  return namespace === undefined || name === undefined
    ? undefined
    : { namespace, name, key: `${namespace}/${name}`, found: facts?.secrets?.find(namespace, name) };
}

/** The Secret that the annotation of an object names, if it is known to have a usable CA. */
export function usableSecret(object: ExtensionConfig, facts: Facts | undefined) {
  const secret = namedSecret(object, facts);
  const found = secret?.found;
  return secret === undefined || found === undefined || found === 'absent' || found.problem !== undefined
    ? undefined
    : { ...secret, found };
}

export interface CaBundle {
  /** Why it is not a trust bundle, or undefined. */
  problem: string | undefined;
  hasPrivateKey: boolean;
  certificates: readonly BundledCertificate[];
}

export type BundledCertificate = ReturnType<typeof certificateOf>;

/** How long before its expiry a certificate is reported, in milliseconds: 30 days. */
export const expiryNoticeMs = 30 * 24 * 60 * 60 * 1000;

export const caBundlePath = ['spec', 'clientConfig', 'caBundle'] as const;

/** Times are in milliseconds since 1970; both are NaN if one of them is unreadable. @throws {Error} for other bytes. */
function certificateOf(der: Buffer) {
  const certificate = new X509Certificate(der);
  if (certificate.raw.length !== der.length) {
    throw new Error('bytes after the certificate');
  }
  const { validFromDate, validToDate } = certificate;
  const isDated = hasDates(certificate);
  return {
    subject: certificate.subject.replaceAll('\n', ', '),
    /** Why Cluster API cannot read it, as the end of a sentence, or undefined. */
    unread: unreadProblem(certificate),
    notBefore: isDated ? validFromDate.getTime() : Number.NaN,
    notAfter: isDated ? validToDate.getTime() : Number.NaN,
    isCa: certificate.ca,
  };
}

function parseCaBundle(encoded: string): CaBundle | undefined {
  if (!isBase64(encoded)) {
    return { problem: 'is not base64', hasPrivateKey: holdsPrivateKey(Buffer.from(encoded)), certificates: [] };
  }
  const bytes = Buffer.from(encoded, 'base64');
  const text = bytes.toString('latin1');
  // ASCII only: for `trim`, the byte A0 would be white space too.
  if (/^[ \t\r\n\v\f]*$/.test(text)) {
    return undefined;
  }
  const content = readPem(text);
  const hasPrivateKey = holdsPrivateKey(bytes);
  const certificates: BundledCertificate[] = [];
  for (const der of content) {
    if (der === undefined) {
      return { problem: framingProblem(content), hasPrivateKey, certificates };
    }
    try {
      certificates.push(certificateOf(der));
    } catch {
      const problem = `has a certificate that cannot be parsed (number ${certificates.length + 1})`;
      return { problem, hasPrivateKey, certificates };
    }
  }
  const index = certificates.findIndex(({ unread }) => unread !== undefined);
  const unread = certificates[index] && `has a certificate (number ${index + 1}) that ${certificates[index].unread}`;
  const problem = certificates.length === 0 ? 'contains no PEM certificate' : unread;
  return { problem, hasPrivateKey, certificates };
}

/** The bundles parsed last, by text: at most 64, each of at most 50 KiB. Clients repeat theirs, and parsing one takes longer than all other work. */
const parsed = new LRUCache<string, { bundle: CaBundle | undefined }>({
  max: 64,
  memoMethod: (encoded) => ({ bundle: parseCaBundle(encoded) }),
});

/** The parsed caBundle of an object; undefined if it is absent or only white space (the placeholder `Cg==`). */
export function caBundleOf(object: ExtensionConfig): CaBundle | undefined {
  const encoded = object.spec?.clientConfig?.caBundle;
  return encoded ? parsed.memo(encoded).bundle : undefined;
}

/** A variable as envsubst and clusterctl write it (`${NAME}`, `${NAME:=default}`), or an action of a Go template. */
const placeholder = /\$\{[A-Za-z_]|\{\{/;

function* stringsIn(value: unknown, path: FieldPath): Generator<{ path: FieldPath; value: string }> {
  if (typeof value === 'string') {
    yield { path, value };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* stringsIn(item, [...path, index]);
    }
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      yield* stringsIn(item, [...path, key]);
    }
  }
}

/** The placeholders in values that the API restricts; settings and other annotations may have any text. */
export function unrenderedIn(object: ExtensionConfig, violations: readonly SchemaViolation[]) {
  const { metadata, spec } = object;
  const values = [
    ...stringsIn(metadata.name, ['metadata', 'name']),
    ...stringsIn(metadata.generateName, ['metadata', 'generateName']),
    ...stringsIn(metadata.labels, ['metadata', 'labels']),
    ...stringsIn(metadata.annotations?.[injectCaFromSecretAnnotation], secretAnnotationPath),
    ...stringsIn(spec?.clientConfig, ['spec', 'clientConfig']),
    ...stringsIn(spec?.namespaceSelector, ['spec', 'namespaceSelector']),
    // Of the wrong type, so not in the object: the port of a Service, for example.
    ...violations.flatMap(({ path, value }) => [...stringsIn(value, path)]),
  ];
  const unrendered = values.filter(({ value, path }) => placeholder.test(value) && !path.includes('settings'));
  // A value that violates the schema may be in the object, too: a caBundle that is not base64, for example.
  return [...new Map(unrendered.map((one) => [formatFieldPath(one.path), one])).values()];
}
