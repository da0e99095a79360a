import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import { FileError, homeFolder, printable, readRegularFileSync } from '../../../base/index.ts';
import { tokenFileOf, withTokenFile } from '../authentication/token-file.ts';
import { checkProxy, proxyFor } from './proxy.ts';
import { keepWhatKubectlReads, prepareUser } from './users.ts';

/** Largest kubeconfig, in bytes: one with 500 clusters and embedded certificates has some 3 MiB. */
const maxKubeconfigBytes = 8 * 1024 * 1024;

/** Path of the service account token in a pod. */
const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** A kubeconfig is unusable. The message is one line and contains nothing secret. */
export class KubeConfigError extends Error {
  constructor(message: string) {
    super(printable(message));
  }
}

/** The API server to use, and the user. */
interface KubeConfigOptions {
  /** The file; undefined for $KUBECONFIG, ~/.kube/config or the pod's service account. */
  kubeconfig?: string | undefined;
  /** A context other than the current one. */
  context?: string | undefined;
}

/** The files to use if none was named: those of $KUBECONFIG, else the one in the home folder. */
function defaultFiles(env: NodeJS.ProcessEnv): string[] {
  // An empty variable counts as unset, as in kubectl.
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const home = homeFolder(env);
  return listed.length > 0 ? listed : home === undefined ? [] : [join(home, '.kube', 'config')];
}

/** Checks that the token of the user can be read, if it is in a file. Requests read it again now and then. */
async function checkTokenFile(config: KubeConfig): Promise<void> {
  try {
    await tokenFileOf(config)?.get();
  } catch (error) {
    throw new KubeConfigError(`the token of the user in the kubeconfig: ${(error as Error).message}`);
  }
}

/**
 * Checks that the certificates and the key can be read and are PEM. Requests would report only the code of an error,
 * without the field or the file.
 */
function checkPem(config: KubeConfig): void {
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  for (const [field, file, data] of [
    ['certificate-authority', cluster?.caFile, cluster?.caData],
    ['client-certificate', user?.certFile, user?.certData],
    ['client-key', user?.keyFile, user?.keyData],
  ] as const) {
    if (data) {
      if (!Buffer.from(data, 'base64').includes('-----BEGIN ')) {
        throw new KubeConfigError(`${field}-data in the kubeconfig is not PEM in base64`);
      }
    } else if (file) {
      let pem: Buffer;
      try {
        pem = readRegularFileSync(file, maxKubeconfigBytes);
      } catch (error) {
        throw new KubeConfigError(`${field} in the kubeconfig: ${(error as Error).message}`);
      }
      if (!pem.includes('-----BEGIN ')) {
        throw new KubeConfigError(`${field} in the kubeconfig: ${file} is not PEM`);
      }
    }
  }
}

/** Why a kubeconfig leads to no cluster. */
function noCluster(config: KubeConfig): string {
  const name = config.getCurrentContext();
  const context = name ? config.getContextObject(name) : null;
  if (context?.cluster) {
    return `context ${JSON.stringify(name)} of the kubeconfig has cluster ${JSON.stringify(context.cluster)}, which is not among clusters with a server: kubectl config set-context ${JSON.stringify(name)} --cluster NAME sets one`;
  }
  const known = config.getContexts()?.map((one) => one.name) ?? [];
  return context === null && known.length > 0
    ? `the kubeconfig has ${name ? `current-context ${JSON.stringify(name)}, which is not among its contexts with a cluster` : 'no current-context'} (it has ${known.join(', ')}): use --context`
    : 'the kubeconfig names no cluster: use --kubeconfig and --context, or run in a pod';
}

/** Gives the current cluster the proxy in the environment, unless it has a valid one of its own. Returns the cluster. */
function useProxy(config: KubeConfig, cluster: Cluster, env: NodeJS.ProcessEnv): Cluster {
  let proxyUrl: string | undefined;
  try {
    if (cluster.proxyUrl) {
      checkProxy('proxy-url in the kubeconfig', cluster.proxyUrl);
    } else {
      proxyUrl = proxyFor(cluster.server, env);
    }
  } catch (error) {
    throw new KubeConfigError((error as Error).message);
  }
  if (proxyUrl === undefined) {
    return cluster;
  }
  const reached = { ...cluster, proxyUrl };
  config.clusters = config.clusters.map((known) => (known === cluster ? reached : known));
  return reached;
}

/** Loads the client library, which only commands that talk to an API server need: it takes longer than the rest. */
async function emptyConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import('../client-node.ts');
  return new KubeConfig();
}

/** Reads a file; undefined when it does not exist. */
async function load(file: string): Promise<KubeConfig | undefined> {
  let text: string;
  try {
    // Not read by the client library, which would block forever on a FIFO.
    text = readRegularFileSync(file, maxKubeconfigBytes).toString('utf8');
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') {
      return undefined;
    }
    throw new KubeConfigError(`the kubeconfig ${(error as Error).message}`);
  }
  const config = await emptyConfig();
  const { readContents } = await import('./contents.ts');
  try {
    const contents = readContents(text);
    // The library parses a text by other rules than kubectl, and does not check the types of fields. Unused entries may be
    // incomplete.
    config.loadFromString(JSON.stringify(contents), { onInvalidEntry: 'filter' });
    config.makePathsAbsolute(dirname(file));
    keepWhatKubectlReads(config, contents, dirname(file));
  } catch (error) {
    throw new KubeConfigError(`the kubeconfig ${file} cannot be read: ${(error as Error).message}`);
  }
  return config;
}

function firstOfEachName<T extends { name: string }>(entries: readonly T[]): T[] {
  const byName = new Map<string, T>();
  for (const entry of entries) {
    if (!byName.has(entry.name)) {
      byName.set(entry.name, entry);
    }
  }
  return [...byName.values()];
}

/**
 * Merges several files: for each name, and for the current context, the first one wins (kubectl, "Merging kubeconfig
 * files").
 */
async function merged(configs: readonly KubeConfig[]): Promise<KubeConfig> {
  const config = await emptyConfig();
  config.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap(({ clusters }) => clusters ?? [])),
    users: firstOfEachName(configs.flatMap(({ users }) => users ?? [])),
    contexts: firstOfEachName(configs.flatMap(({ contexts }) => contexts ?? [])),
    currentContext: configs.find(({ currentContext }) => currentContext)?.currentContext,
  });
  return config;
}

/** The kubeconfig in the named file, else in the default ones; undefined if there are none of these. */
async function loadFiles(named: string | undefined, env: NodeJS.ProcessEnv): Promise<KubeConfig | undefined> {
  if (named !== undefined) {
    const config = await load(named);
    if (config === undefined) {
      throw new KubeConfigError(`the kubeconfig ${named} does not exist`);
    }
    return config;
  }
  const files = defaultFiles(env);
  const configs = (await Promise.all(files.map(load))).filter((config) => config !== undefined);
  if (configs.length === 0 && env.KUBECONFIG) {
    throw new KubeConfigError(`KUBECONFIG: ${files.join(' and ')} ${files.length === 1 ? 'does' : 'do'} not exist`);
  }
  return configs.length > 0 ? merged(configs) : undefined;
}

/** What a pod's service account leads to. */
async function loadPod(): Promise<KubeConfig> {
  if (!existsSync(serviceAccountToken)) {
    throw new KubeConfigError(
      'KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod: use --kubeconfig FILE',
    );
  }
  const config = await emptyConfig();
  config.loadFromCluster();
  config.users = config.users.map(withTokenFile);
  return config;
}

/**
 * Loads a kubeconfig: the named file, else $KUBECONFIG, ~/.kube/config, or the pod's service account.
 *
 * @param env the environment; KUBECONFIG, HOME, HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read. In a pod, the API server
 *   is reached directly.
 * @throws {KubeConfigError} when it cannot be read, names no cluster, or lacks the context.
 */
export async function loadKubeConfig(
  options: KubeConfigOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<KubeConfig> {
  const inFiles = await loadFiles(options.kubeconfig, env);
  const config = inFiles ?? (await loadPod());
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw new KubeConfigError(
        `context ${JSON.stringify(options.context)} with a cluster is not in the kubeconfig (it has ${known.join(', ')})`,
      );
    }
    config.setCurrentContext(options.context);
  }
  const current = config.getCurrentCluster();
  if (current === null) {
    throw new KubeConfigError(noCluster(config));
  }
  const cluster = inFiles === undefined ? current : useProxy(config, current, env);
  if (!/^https?:$/.test(URL.parse(cluster.server)?.protocol ?? '')) {
    throw new KubeConfigError(
      `the kubeconfig has server ${JSON.stringify(cluster.server)}, which is not a URL such as https://10.0.0.1:6443`,
    );
  }
  // Without a proxy, the client library rejects it only at the first request, and reports missing credentials.
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify && !cluster.proxyUrl) {
    throw new KubeConfigError(
      `the kubeconfig has server ${JSON.stringify(cluster.server)}, without TLS: for kubectl proxy add insecure-skip-tls-verify: true to its cluster, otherwise use https`,
    );
  }
  // Without a user, the library omits the CA as well, and the server would seem to have a bad certificate.
  if (config.getCurrentUser() === null && !cluster.server.startsWith('http:')) {
    const context = config.getCurrentContext();
    const user = config.getContextObject(context)?.user;
    throw new KubeConfigError(
      `context ${JSON.stringify(context)} of the kubeconfig has ${user ? `user ${JSON.stringify(user)}, which is not among users` : 'no user'}: kubectl config set-context ${JSON.stringify(context)} --user NAME sets one`,
    );
  }
  checkPem(config);
  await checkTokenFile(config);
  try {
    prepareUser(config);
  } catch (error) {
    throw new KubeConfigError(`the user in the kubeconfig: ${(error as Error).message}`);
  }
  return config;
}
