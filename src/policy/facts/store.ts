import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import {
  framingProblem,
  isSignedBy,
  maxPemBytes,
  problemOf,
  readCertificates,
  readPem,
  usable,
} from '../../base/x509/index.ts';
import {
  extensionOfHandler,
  injectCaFromSecretAnnotation,
  pendingHooksAnnotation,
} from '../../extensionconfig/index.ts';
import {
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  type LabelSelector,
  objectAt,
  parseRequestUri,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';

export type CollectedKind = keyof typeof kinds;
export type FactKind = CollectedKind | 'Secret';

export type KnownExtensionConfig = ReturnType<typeof readExtensionConfig>;
export type HandlerReference = ReturnType<typeof readClusterClass>[number];
export type KnownCluster = ReturnType<typeof readCluster>;

interface KnownService {
  readonly ports: readonly number[];
}

/** A Certificate of cert-manager, which only manifests have, and the Secret that it is stored in, both as NAMESPACE/NAME. */
export interface KnownCertificate {
  readonly key: string;
  readonly secret: string;
}

function pathOf(path: string): string {
  return posix.join('/', path).replace(/\/$/, '');
}

function addressOfUrl(url: string): string | undefined {
  const uri = parseRequestUri(url);
  if ('problem' in uri || uri.scheme !== 'https' || !uri.host) {
    return undefined;
  }
  const { hostname = '', port = '' } = URL.parse(`https://${uri.host}`) ?? {};
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  const host = name.replace(/\.svc\.cluster\.local$/, '.svc');
  return name === '' ? undefined : `${host}:${port || 443}${pathOf(uri.path.split('#', 1)[0] ?? '')}`;
}

/** `HOST:PORT/PATH`, so that a server is recognized that is registered by Service and by URL; undefined without an address. */
export function serverAddress(clientConfig: JsonObject | undefined): string | undefined {
  const service = objectAt(clientConfig, 'service');
  const [name, namespace, path] = [textAt(service, 'name'), textAt(service, 'namespace'), textAt(service, 'path')];
  if (name !== '' && namespace !== '') {
    const { port } = service;
    return `${name}.${namespace}.svc:${typeof port === 'number' ? port : 443}${pathOf(path)}`;
  }
  return addressOfUrl(textAt(clientConfig, 'url'));
}

/** The hooks of the handlers of an ExtensionConfig as `HOOK.GROUP`, each once. */
function hooksOf(object: JsonObject): string[] {
  const hooks = new Set<string>();
  for (const handler of itemsAt(object, 'status', 'handlers')) {
    const requestHook = objectAt(handler, 'requestHook');
    const [group, version] = textAt(requestHook, 'apiVersion').split('/', 2);
    const hook = textAt(requestHook, 'hook');
    if (hook !== '' && group !== '' && version !== undefined) {
      hooks.add(`${hook}.${group}`);
    }
  }
  return [...hooks];
}

function selectorOf(value: Json | undefined): LabelSelector | undefined {
  if (!isJsonObject(value)) {
    return undefined;
  }
  const matchExpressions = itemsAt(value, 'matchExpressions').map((requirement) => ({
    key: textAt(requirement, 'key'),
    operator: textAt(requirement, 'operator'),
    values: itemsAt(requirement, 'values').filter((item) => typeof item === 'string'),
  }));
  return {
    ...(isJsonObject(value.matchLabels) && { matchLabels: textValues(value.matchLabels) }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}

/** What matters of an ExtensionConfig, of any version, to others: the fields in question have the same path. */
function readExtensionConfig(name: string, object: JsonObject) {
  const spec = objectAt(object, 'spec');
  return {
    name,
    address: serverAddress(objectAt(spec, 'clientConfig')),
    namespaceSelector: selectorOf(spec.namespaceSelector),
    secret: textAt(object, 'metadata', 'annotations', injectCaFromSecretAnnotation) || undefined,
    hooks: hooksOf(object),
  };
}

/** The fields of an external patch that name a handler, in v1beta2 and in earlier versions. */
const patchFields = [
  'generatePatchesExtension',
  'validateTopologyExtension',
  'discoverVariablesExtension',
  'generateExtension',
  'validateExtension',
] as const;

/** The places of a ClusterClass that name a handler; for each handler only the first. One that is being deleted needs none. */
function readClusterClass(clusterClass: string, object: JsonObject) {
  const references = new Map<string, { clusterClass: string; field: string; handler: string }>();
  const add = (holder: JsonObject, at: string, field: string) => {
    const handler = textAt(holder, field);
    // Without a dot it does not name an ExtensionConfig.
    const isName = handler.length <= 512 && handler.includes('.');
    if (isName && !references.has(handler)) {
      references.set(handler, { clusterClass, field: `${at}.${field}`, handler });
    }
  };
  if (textAt(object, 'metadata', 'deletionTimestamp') !== '') {
    return [];
  }
  const spec = objectAt(object, 'spec');
  for (const [index, patch] of itemsAt(spec, 'patches').entries()) {
    const external = objectAt(patch, 'external');
    for (const field of patchFields) {
      add(external, `spec.patches[${index}].external`, field);
    }
  }
  add(objectAt(spec, 'upgrade', 'external'), 'spec.upgrade.external', 'generateUpgradePlanExtension');
  return [...references.values()];
}

function classOf(object: JsonObject, namespace: string): string | undefined {
  const topology = objectAt(object, 'spec', 'topology');
  const classRef = objectAt(topology, 'classRef');
  // v1beta1 has separate fields for the name and the namespace.
  const name = textAt(classRef, 'name') || textAt(topology, 'class');
  const other = textAt(classRef, 'namespace') || textAt(topology, 'classNamespace');
  return name === '' ? undefined : `${other || namespace}/${name}`;
}

/** The pending hooks; none for a Cluster that is being deleted, because Cluster API then calls none of them. */
function pendingOf(object: JsonObject): readonly string[] {
  const pending = textAt(object, 'metadata', 'annotations', pendingHooksAnnotation);
  // Anyone who may write Clusters can write it; all 17 hooks of Cluster API together take 300 characters.
  const isRead = pending !== '' && pending.length <= 1024;
  return isRead && textAt(object, 'metadata', 'deletionTimestamp') === '' ? pending.split(',', 32) : [];
}

function readCluster(key: string, object: JsonObject) {
  const [namespace = ''] = key.split('/', 1);
  return { key, namespace, clusterClass: classOf(object, namespace), pending: pendingOf(object) };
}

/** The labels of a namespace. The API server gives every namespace the first one; manifests do not contain it. */
function readNamespace(name: string, object: JsonObject): Readonly<Record<string, string>> {
  return { 'kubernetes.io/metadata.name': name, ...textValues(objectAt(object, 'metadata', 'labels')) };
}

/** The ports of a Service: none of one of type ExternalName, which accepts every port. */
export function readService(object: JsonObject): KnownService {
  const spec = objectAt(object, 'spec');
  if (spec.type === 'ExternalName') {
    return { ports: [] };
  }
  const ports = itemsAt(spec, 'ports').flatMap((item) => {
    const { port, protocol = 'TCP' } = objectAt(item);
    return typeof port === 'number' && protocol === 'TCP' ? [port] : [];
  });
  return { ports };
}

/** Facts about a Secret whose CA an annotation injects. None of them is secret. */
export interface KnownSecret {
  /** Why `ca.crt` cannot be used (`has no ca.crt`), or undefined. */
  readonly problem: string | undefined;
  /** When the newest certificate became valid, in milliseconds since 1970. */
  readonly newestNotBefore: number;
  /** When the first certificate expires, in milliseconds since 1970. */
  readonly firstNotAfter: number;
  /** Whether a certificate in `ca.crt` has signed `tls.crt`; undefined if there is no `tls.crt`. */
  readonly isSigner: boolean | undefined;
}

/** A value of a Secret as text, from `data` (base64) or, in a manifest, from `stringData`. */
function textIn(secret: JsonObject, key: string): string {
  const plain = textAt(secret, 'stringData', key);
  const encoded = textAt(secret, 'data', key).slice(0, 2 * maxPemBytes);
  return plain.slice(0, maxPemBytes + 1) || Buffer.from(encoded, 'base64').toString('latin1');
}

/** The facts about a Secret whose CA an annotation injects. Its private key is neither read nor kept. */
export function readSecret(secret: JsonObject): KnownSecret {
  const text = textIn(secret, 'ca.crt');
  const reading = readCertificates(text);
  const certificates = usable(reading);
  // Cluster API copies the text unchanged.
  const unread = problemOf(reading) ?? framingProblem(readPem(text));
  if (certificates === undefined || unread !== undefined) {
    const problem = reading.state === 'absent' ? 'has no ca.crt' : `has a ca.crt that ${unread}`;
    return { problem, newestNotBefore: 0, firstNotAfter: 0, isSigner: undefined };
  }
  const [serving] = usable(readCertificates(textIn(secret, 'tls.crt'))) ?? [];
  return {
    problem: undefined,
    newestNotBefore: Math.max(...certificates.map(({ x509 }) => x509.validFromDate.getTime())),
    firstNotAfter: Math.min(...certificates.map(({ x509 }) => x509.validToDate.getTime())),
    isSigner: serving && certificates.some((ca) => ca.fingerprint === serving.fingerprint || isSignedBy(serving, ca)),
  };
}

/** The kinds whose objects are all collected, and what is kept of an object, as JSON, by its key. */
export const kinds = {
  ExtensionConfig: { group: 'runtime.cluster.x-k8s.io', plural: 'extensionconfigs', read: readExtensionConfig },
  ClusterClass: { group: 'cluster.x-k8s.io', plural: 'clusterclasses', read: readClusterClass },
  Cluster: { group: 'cluster.x-k8s.io', plural: 'clusters', read: readCluster },
  Namespace: { group: '', plural: 'namespaces', read: readNamespace },
  Service: { group: '', plural: 'services', read: (_key: string, object: JsonObject) => readService(object) },
};
export const collectedKinds = Object.keys(kinds) as CollectedKind[];

/** The facts about the cluster that rules may use, by key. What is unknown is absent: rules then report nothing. */
export interface Facts {
  extensionConfigs?: ReadonlyMap<string, KnownExtensionConfig> | undefined;
  clusterClasses?: ReadonlyMap<string, readonly HandlerReference[]> | undefined;
  clusters?: ReadonlyMap<string, KnownCluster> | undefined;
  namespaces?: ReadonlyMap<string, Readonly<Record<string, string>>> | undefined;
  /** `absent`: it certainly does not exist; undefined: unknown. */
  services?: { find(namespace: string, name: string): KnownService | 'absent' | undefined } | undefined;
  secrets?: { find(namespace: string, name: string): KnownSecret | 'absent' | undefined } | undefined;
  certificates?: ReadonlyMap<string, readonly KnownCertificate[]> | undefined;
}

/** @param isServiceCertain whether a Service that was not added is certainly absent from a namespace. Default: yes. */
export function createFactsStore(isServiceCertain: (namespace: string) => boolean = () => true) {
  const collections: { [Kind in CollectedKind]: Map<string, ReturnType<(typeof kinds)[Kind]['read']>> } = {
    ExtensionConfig: new Map(),
    ClusterClass: new Map(),
    Cluster: new Map(),
    Namespace: new Map(),
    Service: new Map(),
  };
  const services = {
    find: (namespace: string, name: string) =>
      collections.Service.get(`${namespace}/${name}`) ?? (isServiceCertain(namespace) ? 'absent' : undefined),
  };
  return {
    collections,
    /** The facts, for kinds of which all objects have been added; they change with the collections. */
    factsAbout(known: readonly CollectedKind[]): Facts {
      const ifKnown = <Kind extends CollectedKind>(kind: Kind) =>
        known.includes(kind) ? collections[kind] : undefined;
      return {
        extensionConfigs: ifKnown('ExtensionConfig'),
        clusterClasses: ifKnown('ClusterClass'),
        clusters: ifKnown('Cluster'),
        namespaces: ifKnown('Namespace'),
        services: ifKnown('Service') && services,
      };
    },
  };
}

/** The places in ClusterClasses that name a handler of an ExtensionConfig, whether or not it exists. */
export function referencesTo(extension: string, { clusterClasses }: Facts): HandlerReference[] | undefined {
  const isMeant = ({ handler }: HandlerReference) => extensionOfHandler(handler) === extension;
  return clusterClasses && [...clusterClasses.values()].flatMap((references) => references.filter(isMeant));
}
