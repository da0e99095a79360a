import {
  apiVersionOf,
  decodeExtensionConfig,
  type ExtensionConfig,
  group,
  hubVersion,
  isExtensionConfig,
  kind,
  type Version,
  versionOf,
} from '../api/index.ts';
import { FailureError, type Flags, type FlagValues, type Io, listFlag, UsageError } from '../cli/index.ts';
import { type Cluster, connect, loadKubeConfig, StatusError } from '../cluster/index.ts';
import { ConversionError, extensionConfigConverter } from '../conversion/index.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, isJsonObject, type JsonObject } from '../kubernetes/index.ts';
import type { Resolve } from '../runtime/index.ts';
import { withoutControls } from '../terminal/index.ts';
import { clusterFlags } from './cluster-flags.ts';
import { manifestObjects } from './manifest-objects.ts';
import { resolveFlag, resolveOf } from './resolve-flag.ts';

/** The flags that say which extensions there are and how they are reached. */
export const extensionFlags = {
  filename: {
    ...listFlag('PATH', 'file or folder with ExtensionConfigs, or - for standard input; may be repeated'),
    defaultText: 'those of the cluster',
    short: 'f',
  },
  resolve: resolveFlag,
  ...clusterFlags,
} satisfies Flags;

/** ExtensionConfigs, and what is known about where they are. */
export interface Extensions {
  configs: ExtensionConfig[];
  /** The objects as they were written, or as the API server gave them. */
  originals: ReadonlyMap<ExtensionConfig, JsonObject>;
  /** The API server that they are from; undefined for files. */
  cluster: Cluster | undefined;
  resolve: Resolve;
  /** Labels of a namespace; undefined when there is no cluster to ask. */
  namespaceLabels: ((namespace: string) => Promise<Readonly<Record<string, string>> | undefined>) | undefined;
}

/** An object as v1beta2. */
function read(object: JsonObject, where: string): ExtensionConfig {
  const version = versionOf(object.apiVersion);
  if (version === undefined) {
    throw new UsageError(`${where}: ${kind} of an unknown apiVersion: write ${apiVersionOf(hubVersion)}`);
  }
  let current = object;
  try {
    current = extensionConfigConverter.convert(object, apiVersionOf(hubVersion));
  } catch (error) {
    if (error instanceof ConversionError) {
      throw new UsageError(`${where}: ${error.path.join('.')} ${error.message}`);
    }
    throw error;
  }
  const { object: config, violations } = decodeExtensionConfig(current, hubVersion);
  const [wrong] = violations.filter(({ problem }) => problem === 'type');
  if (wrong !== undefined) {
    throw new UsageError(`${where}: ${wrong.path.join('.')} ${wrong.message}; "lint" reports everything that is wrong`);
  }
  const name = config.metadata.name ?? '';
  if (dns1123LabelProblems(name).length > 0) {
    throw new UsageError(
      `${where}: metadata.name ${JSON.stringify(withoutControls(name.slice(0, 100)))} is not a DNS label`,
    );
  }
  return config;
}

/** ExtensionConfigs, each with the object that it was read from. */
type Read = Map<ExtensionConfig, JsonObject>;

async function fromFiles(paths: readonly string[], io: Io): Promise<Read> {
  const configs: Read = new Map();
  for await (const { object, where } of manifestObjects(paths, io)) {
    if (isExtensionConfig(object)) {
      configs.set(read(object, where()), object);
    }
  }
  return configs;
}

async function fromClusterIn(version: Version, cluster: Cluster, names: readonly string[]): Promise<Read> {
  const collection = `/apis/${apiVersionOf(version)}/extensionconfigs`;
  if (names.length > 0) {
    const objects = [...new Set(names)].map((name) => cluster.request('GET', `${collection}/${name}`));
    return new Map((await Promise.all(objects)).map((object) => [read(object, 'the cluster'), object]));
  }
  const { items } = await cluster.request('GET', collection);
  return new Map(
    (Array.isArray(items) ? items : []).filter(isJsonObject).map((item) => {
      // The items of a list have no apiVersion and kind.
      const object = { ...item, apiVersion: apiVersionOf(version), kind };
      return [read(object, 'the cluster'), object];
    }),
  );
}

const isUnserved = (error: unknown) =>
  error instanceof StatusError && error.code === 404 && error.message.includes('does not serve');

async function fromCluster(cluster: Cluster, names: readonly string[]): Promise<Read> {
  try {
    return await fromClusterIn(hubVersion, cluster, names);
  } catch (error) {
    if (!isUnserved(error)) {
      throw error;
    }
    try {
      // Cluster API up to 1.10 has no other version.
      return await fromClusterIn('v1alpha1', cluster, names);
    } catch (older) {
      throw isUnserved(older) ? error : older;
    }
  }
}

/** What an API server's refusal means to the user. */
function explained(error: unknown): Error {
  if (error instanceof UsageError || !(error instanceof Error)) {
    return error as Error;
  }
  const hint = isUnserved(error) ? `: the cluster has no ${kind}s of ${group}; pass files with -f` : '';
  return new FailureError(`${error.message}${hint}`);
}

/**
 * The ExtensionConfigs of files, or of the cluster.
 *
 * @param names only these; empty for all.
 * @throws {UsageError} for files that cannot be read, and for a name that no ExtensionConfig of the files has.
 * @throws {FailureError} when the API server does not answer, or has no such object.
 */
export async function readExtensions(
  flags: FlagValues<typeof extensionFlags>,
  names: readonly string[],
  io: Io,
): Promise<Extensions> {
  for (const name of names) {
    const [problem] = dns1123SubdomainProblems(name);
    if (problem !== undefined) {
      throw new UsageError(`${JSON.stringify(name.slice(0, 100))} is not the name of an ExtensionConfig: ${problem}`);
    }
  }
  const resolve = resolveOf(flags.resolve);
  if (flags.filename.length > 0) {
    const originals = await fromFiles(flags.filename, io);
    const all = [...originals.keys()];
    const byName = new Map(all.map((config) => [config.metadata.name, config]));
    if (byName.size < all.length) {
      throw new UsageError('two ExtensionConfigs in the files have the same name');
    }
    const missing = names.find((name) => !byName.has(name));
    if (missing !== undefined) {
      throw new UsageError(`no ExtensionConfig in the files has the name ${JSON.stringify(missing)}`);
    }
    const configs = names.length === 0 ? all : all.filter(({ metadata }) => names.includes(metadata.name ?? ''));
    return { configs, originals, cluster: undefined, resolve, namespaceLabels: undefined };
  }
  let cluster: Cluster;
  try {
    cluster = connect(loadKubeConfig(flags, io.env), io.signal);
  } catch (error) {
    throw new UsageError(`no cluster: ${(error as Error).message}; or pass files with -f`);
  }
  try {
    const originals = await fromCluster(cluster, names);
    return {
      configs: [...originals.keys()],
      originals,
      cluster,
      resolve,
      namespaceLabels: async (namespace) => {
        try {
          const { metadata } = await cluster.request('GET', `/api/v1/namespaces/${encodeURIComponent(namespace)}`);
          const labels = isJsonObject(metadata) ? metadata.labels : undefined;
          return (isJsonObject(labels) ? labels : {}) as Record<string, string>;
        } catch (error) {
          if (error instanceof StatusError && error.code === 404) {
            return undefined;
          }
          throw error;
        }
      },
    };
  } catch (error) {
    io.signal.throwIfAborted();
    throw explained(error);
  }
}
