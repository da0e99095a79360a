import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import { FileError, homeFolder, printable, readRegularFileSync } from '../../../base/index.ts';
import { tokenFileOf, withTokenFile } from '../authentication/token-file.ts';
import type { Contents } from './contents.ts';
import { checkProxy, proxyFor } from './proxy.ts';
import { prepareUser } from './users.ts';

/** Largest kubeconfig, in bytes: one with 500 clusters and embedded certificates has some 3 MiB. */
const maxKubeconfigBytes = 8 * 1024 * 1024;

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** A kubeconfig is unusable. The message is one line and contains nothing secret. */
export class KubeConfigError extends Error {
  constructor(message: string) {
    super(printable(message));
  }
}

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
  if (context !== null) {
    return `context ${JSON.stringify(name)} of the kubeconfig has cluster ${JSON.stringify(context.cluster)}, which is not among clusters with a server: kubectl config set-context ${JSON.stringify(name)} --cluster NAME sets one`;
  }
  const known = config.getContexts().map((one) => one.name);
  return known.length > 0
    ? `the kubeconfig has ${name ? `current-context ${JSON.stringify(name)}, which is not among its contexts with a cluster` : 'no current-context'} (it has ${known.join(', ')}): use --context`
    : 'the kubeconfig names no cluster: use --kubeconfig and --context, or run in a pod';
}

/** Gives a cluster the proxy in the environment, unless it has a valid one of its own. */
function useProxy(cluster: Cluster, env: NodeJS.ProcessEnv): void {
  try {
    if (cluster.proxyUrl) {
      checkProxy('proxy-url in the kubeconfig', cluster.proxyUrl);
    } else {
      Object.assign(cluster, { proxyUrl: proxyFor(cluster.server, env) });
    }
  } catch (error) {
    throw new KubeConfigError((error as Error).message);
  }
}

/** Reads a file; undefined when it does not exist. */
async function readFile(file: string): Promise<Contents | undefined> {
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
  const { readContents } = await import('./contents.ts');
  try {
    return readContents(text, dirname(file));
  } catch (error) {
    throw new KubeConfigError(`the kubeconfig ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** The contents of the named file, else of the default ones; undefined in a pod that has none of these. */
async function readFiles(named: string | undefined, env: NodeJS.ProcessEnv): Promise<Contents | undefined> {
  const files = named === undefined ? defaultFiles(env) : [named];
  const contents = (await Promise.all(files.map(readFile))).filter((file) => file !== undefined);
  if (contents.length > 0) {
    const { mergeContents } = await import('./contents.ts');
    return mergeContents(contents);
  }
  if (named !== undefined) {
    throw new KubeConfigError(`the kubeconfig ${named} does not exist`);
  }
  if (env.KUBECONFIG) {
    throw new KubeConfigError(`KUBECONFIG: ${files.join(' and ')} ${files.length === 1 ? 'does' : 'do'} not exist`);
  }
  if (!existsSync(serviceAccountToken)) {
    throw new KubeConfigError(
      'KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod: use --kubeconfig FILE',
    );
  }
  return undefined;
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
  const contents = await readFiles(options.kubeconfig, env);
  // Loaded only here, since only commands that talk to an API server need it: it takes longer than the rest.
  const { KubeConfig } = await import('../client-node.ts');
  const config = new KubeConfig();
  if (contents === undefined) {
    config.loadFromCluster();
    config.users = config.users.map(withTokenFile);
  } else {
    // The library parses a text by other rules than kubectl, and does not check the types of fields. Unused entries may be
    // incomplete.
    config.loadFromString(JSON.stringify(contents), { onInvalidEntry: 'filter' });
  }
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw new KubeConfigError(
        `context ${JSON.stringify(options.context)} with a cluster is not in the kubeconfig (it has ${known.join(', ')})`,
      );
    }
    config.setCurrentContext(options.context);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new KubeConfigError(noCluster(config));
  }
  if (contents !== undefined) {
    useProxy(cluster, env);
  }
  const protocol = URL.parse(cluster.server)?.protocol;
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new KubeConfigError(
      `the kubeconfig has server ${JSON.stringify(cluster.server)}, which is not a URL such as https://10.0.0.1:6443`,
    );
  }
  // Without a proxy, the client library rejects it only at the first request, and reports missing credentials.
  if (protocol === 'http:' && !cluster.skipTLSVerify && !cluster.proxyUrl) {
    throw new KubeConfigError(
      `the kubeconfig has server ${JSON.stringify(cluster.server)}, without TLS: for kubectl proxy add insecure-skip-tls-verify: true to its cluster, otherwise use https`,
    );
  }
  // Without a user, the library omits the CA as well, and the server would seem to have a bad certificate.
  if (config.getCurrentUser() === null && protocol === 'https:') {
    const context = config.getCurrentContext();
    const user = config.getContextObject(context)?.user;
    throw new KubeConfigError(
      `context ${JSON.stringify(context)} of the kubeconfig has ${user ? `user ${JSON.stringify(user)}, which is not among users` : 'no user'}: kubectl config set-context ${JSON.stringify(context)} --user NAME sets one`,
    );
  }
  checkPem(config);
  try {
    prepareUser(config, cluster, contents ?? {});
  } catch (error) {
    throw new KubeConfigError(`the user in the kubeconfig: ${(error as Error).message}`);
  }
  await checkTokenFile(config);
  return config;
}
