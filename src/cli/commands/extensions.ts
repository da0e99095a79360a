import { shortList } from '../../base/index.ts';
import { type ExtensionConfig, isExtensionConfig, withAllDefaults } from '../../extensionconfig/index.ts';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import { dns1123SubdomainProblems } from '../../kubernetes/index.ts';
import type { NamespaceLabels, Resolve } from '../../runtimehooks/client/index.ts';
import { type Flags, type FlagValues, listFlag } from '../framework/flags.ts';
import { type Io, UsageError } from '../framework/program.ts';
import { clusterFlags } from './cluster-flags.ts';
import { manifestObjects } from './manifest-objects.ts';
import { reachServices, servicesOf } from './port-forward.ts';
import { readExtensionConfig } from './read-extension-config.ts';
import { type Resolved, resolveFlag, resolveIn } from './resolve-flag.ts';

/** Maximum number of extensions that are called at a time. */
export const callsAtOnce = 10;

export const extensionFlags = {
  filename: listFlag('PATH', 'file or folder with ExtensionConfigs, or - for standard input; may be repeated', {
    defaultText: 'those of the cluster',
    short: 'f',
  }),
  resolve: resolveFlag,
  ...clusterFlags,
} satisfies Flags;

/** ExtensionConfigs, and what is known about where they come from. At the end, Services are no longer reachable (`using`). */
export interface Extensions extends Disposable {
  configs: ExtensionConfig[];
  /** The API server that they come from; undefined for files. */
  cluster: KubernetesClient | undefined;
  /** The addresses of Services that can be reached from here. */
  resolve: Resolve;
  /** Undefined if there is no cluster. */
  namespaceLabels: NamespaceLabels | undefined;
}

/** What to do about the error of a call: a Service has no address outside of its cluster. Undefined for other errors. */
export function unreachableHint(error: string, { cluster }: Pick<Extensions, 'cluster'>): string | undefined {
  if (!error.includes('.svc:') || !error.includes('no such host')) {
    return undefined;
  }
  const hint = 'the name of a Service has an address only in its cluster: use --resolve';
  return cluster === undefined
    ? `${hint}, or read the ExtensionConfig from the cluster, which starts kubectl port-forward`
    : hint;
}

/** @throws {UsageError} for an address of a Service that no ExtensionConfig names. */
function checkResolved(resolved: readonly Resolved[], configs: readonly ExtensionConfig[]): void {
  const services = servicesOf(configs);
  const unused = resolved.find(([host]) => !services.has(host));
  if (unused !== undefined) {
    const [name, namespace, port] = unused[0].split(/\.|svc:/).filter((part) => part !== '');
    const used = [...services.values()].map((service) => `${service.namespace}/${service.name}:${service.port}`);
    throw new UsageError(
      `--resolve: no ExtensionConfig is called at ${namespace}/${name}:${port}; ${used.length === 0 ? 'none is called at a Service' : `they are called at ${shortList(used, 5)}`}`,
    );
  }
}

/** The ExtensionConfigs with these names (all without any) in files, or in the cluster, whose Services are made reachable. */
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
  const places = new Map(flags.resolve);
  const resolve = resolveIn(places);
  if (flags.filename.length > 0) {
    const objects = (await manifestObjects(flags.filename, io)).filter(({ object }) => isExtensionConfig(object));
    // As a webhook fills it in: without a selector, for example, an extension is called for all Clusters.
    const all = objects.map(({ object, where }) => readExtensionConfig(withAllDefaults(object), where));
    const byName = new Map(all.map((config) => [config.metadata.name, config]));
    if (all.length === 0) {
      throw new UsageError('there are no ExtensionConfigs in the files: pass others with -f');
    }
    if (byName.size < all.length) {
      throw new UsageError('two ExtensionConfigs in the files have the same name');
    }
    const missing = names.find((name) => !byName.has(name));
    if (missing !== undefined) {
      throw new UsageError(`no ExtensionConfig in the files has the name ${JSON.stringify(missing)}`);
    }
    checkResolved(flags.resolve, all);
    const configs = names.length === 0 ? all : all.filter(({ metadata }) => names.includes(metadata.name ?? ''));
    return {
      configs,
      cluster: undefined,
      resolve,
      namespaceLabels: undefined,
      [Symbol.dispose]() {},
    };
  }
  // The Kubernetes client is large; files do without it.
  const { extensionsOfCluster } = await import('./cluster-extensions.ts');
  const extensions = await extensionsOfCluster(flags, names, io);
  const { configs, cluster } = extensions;
  checkResolved(flags.resolve, configs);
  return { ...extensions, resolve, ...(await reachServices(configs, places, cluster, flags, io)) };
}

/** A client that is closed at the end of the block (`await using`). */
export function untilEnd<C extends { close(): Promise<void> }>(client: C): C & AsyncDisposable {
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
