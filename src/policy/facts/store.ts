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
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { serverAddress } from './address.ts';
import type { KnownSecret } from './secrets.ts';

/** The kinds whose objects are all collected. */
export const collectedKinds = ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service'] as const;
export type CollectedKind = (typeof collectedKinds)[number];
export type FactKind = CollectedKind | 'Secret';

export type KnownExtensionConfig = ReturnType<typeof readExtensionConfig>;
export type HandlerReference = ReturnType<typeof readClusterClass>[number];
export type KnownCluster = ReturnType<typeof readCluster>;

/** A Certificate of cert-manager, which only manifests have, and the Secret that it is stored in, both as NAMESPACE/NAME. */
export interface KnownCertificate {
  readonly key: string;
  readonly secret: string;
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

/** A label selector with defaults for absent fields; undefined if there is none. */
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
    /** The Secret in its annotation, as NAMESPACE/NAME. */
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

/** NAMESPACE/NAME of the ClusterClass of a Cluster. */
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
export function readService(object: JsonObject): { ports: readonly number[] } {
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

/** The objects of one kind by their keys, reduced to what rules need. */
class Collection<Item> extends Map<string, Item> {
  /** The part of an object that is kept, as JSON. */
  readonly reduce: (key: string, object: JsonObject) => Item;

  constructor(reduce: (key: string, object: JsonObject) => Item) {
    super();
    this.reduce = reduce;
  }

  put(key: string, object: JsonObject): void {
    this.set(key, this.reduce(key, object));
  }

  where(matches: (item: Item) => boolean): Item[] {
    return [...this.values()].filter(matches);
  }
}

/** @param isServiceCertain whether a Service that was not added is certainly absent from a namespace. Default: yes. */
export function createFactsStore(isServiceCertain: (namespace: string) => boolean = () => true) {
  const configs = new Collection(readExtensionConfig);
  const classes = new Collection(readClusterClass);
  const clusters = new Collection(readCluster);
  const namespaces = new Collection(readNamespace);
  const services = new Collection((_key, object) => readService(object));
  const collections: Readonly<Record<CollectedKind, Collection<unknown>>> = {
    ExtensionConfig: configs,
    ClusterClass: classes,
    Cluster: clusters,
    Namespace: namespaces,
    Service: services,
  };
  const facts = {
    extensionConfigs: {
      find: (name: string) => configs.get(name),
      /** Those with a server's address, as returned by `serverAddress`. */
      byAddress: (address: string) => configs.where((config) => config.address === address),
      /** Those with a handler for a hook, `HOOK.GROUP`. */
      byHook: (hook: string) => configs.where(({ hooks }) => hooks.includes(hook)),
      /** Those whose annotation names a Secret, `NAMESPACE/NAME`. */
      bySecret: (secret: string) => configs.where((config) => config.secret === secret),
    },
    clusterClasses: {
      /** The places that name a handler of an ExtensionConfig, whether or not the handler exists. */
      namingExtension: (extension: string) =>
        [...classes.values()].flatMap((references) =>
          references.filter(({ handler }) => extensionOfHandler(handler) === extension),
        ),
    },
    clusters: {
      waitingFor: (hook: string) => clusters.where(({ pending }) => pending.includes(hook)),
      /** Those of ClusterClasses, each `NAMESPACE/NAME`. */
      ofClasses: (names: Pick<ReadonlySet<string>, 'has'>) =>
        clusters.where(({ clusterClass = '' }) => names.has(clusterClass)),
    },
    /** Undefined for a namespace that does not exist or is not known yet. */
    namespaces: { labelsOf: (namespace: string) => namespaces.get(namespace) },
    services: {
      /** `absent`: it certainly does not exist; undefined: unknown. */
      find: (namespace: string, name: string) =>
        services.get(`${namespace}/${name}`) ?? (isServiceCertain(namespace) ? 'absent' : undefined),
    },
  };
  return {
    collections,
    /** The facts, for kinds of which all objects have been added; they change with the collections. */
    factsAbout(kinds: readonly CollectedKind[]): { [Part in keyof typeof facts]?: (typeof facts)[Part] | undefined } {
      const ifKnown = <T>(kind: CollectedKind, known: T) => (kinds.includes(kind) ? known : undefined);
      return {
        extensionConfigs: ifKnown('ExtensionConfig', facts.extensionConfigs),
        clusterClasses: ifKnown('ClusterClass', facts.clusterClasses),
        clusters: ifKnown('Cluster', facts.clusters),
        namespaces: ifKnown('Namespace', facts.namespaces),
        services: ifKnown('Service', facts.services),
      };
    },
  };
}

/** The facts about the cluster that rules may use. What is unknown is absent: rules then report nothing. Lookups never wait. */
export interface Facts extends ReturnType<ReturnType<typeof createFactsStore>['factsAbout']> {
  secrets?: { find(namespace: string, name: string): KnownSecret | 'absent' | undefined } | undefined;
  certificates?: { forName(dnsName: string): readonly KnownCertificate[] } | undefined;
}
