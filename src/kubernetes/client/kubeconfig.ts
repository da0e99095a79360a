import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { homeFolder, printable, readRegularFileSync } from '../../base/index.ts';
import { onlyValue } from '../manifests/index.ts';
import { isJsonObject, objectsAt, textAt } from '../objects/json/json.ts';

/** Largest kubeconfig, in bytes: one with 500 clusters and embedded certificates has some 3 MiB. */
const maxKubeconfigBytes = 8 * 1024 * 1024;

/** Largest file that a kubeconfig names, in bytes: bundles of CAs have some 250 KiB. */
const maxNamedBytes = 1024 * 1024;

/** The library's auth-provider for a token in a file. */
const ofFile = 'tokenFile';

/** A kubeconfig is unusable. The message is one line and contains nothing secret. */
export class KubeConfigError extends Error {
  constructor(message: string) {
    super(printable(message));
  }
}

interface KubeConfigOptions {
  /** The file; undefined for $KUBECONFIG, ~/.kube/config or the pod's service account. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
}

/** The files to read; none in a pod. Files in the list of $KUBECONFIG may be missing, but not all of them. */
function filesFor(named: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const listed = named === undefined ? (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '') : [named];
  if (listed.length > 0) {
    const present = listed.filter((path) => existsSync(path));
    return present.length > 0 ? present : listed;
  }
  const home = homeFolder(env);
  const file = home === undefined ? '' : join(home, '.kube', 'config');
  if (existsSync(file)) {
    return [file];
  }
  if (existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token')) {
    return [];
  }
  throw new KubeConfigError(
    'KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod: use --kubeconfig FILE',
  );
}

function textOf(file: string): string {
  try {
    // Not read by the client library, which would block forever on a FIFO.
    return readRegularFileSync(file, maxKubeconfigBytes).toString('utf8');
  } catch (error) {
    throw new KubeConfigError(`the kubeconfig ${(error as Error).message}`);
  }
}

function firstOfEachName<T extends { name: string }>(entries: readonly T[]): T[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].reverse();
}

/** The library would read any user's `tokenFile` at once: it becomes what a pod's token is to it, read when it is sent. */
function load(config: KubeConfig, text: string, folder: string): void {
  const value = onlyValue(text, maxKubeconfigBytes);
  for (const { user } of objectsAt(value, 'users')) {
    const tokenFile = textAt(user, 'tokenFile');
    if (isJsonObject(user) && tokenFile !== '') {
      delete user.tokenFile;
      delete user.token;
      user['auth-provider'] = { name: ofFile, config: { tokenFile: resolve(folder, tokenFile) } };
    }
  }
  config.loadFromString(JSON.stringify(value), { onInvalidEntry: 'filter' });
}

/** Checks the files that the current context names. @throws {FileError} for what is not a small regular file. */
export function checkNamedFiles(config: KubeConfig): void {
  const user = config.getCurrentUser();
  const tokenFile = user?.authProvider?.config?.tokenFile as string | undefined;
  for (const file of [config.getCurrentCluster()?.caFile, user?.certFile, user?.keyFile, tokenFile]) {
    if (file) {
      readRegularFileSync(file, maxNamedBytes);
    }
  }
}

/** Reads files and merges them as kubectl does: the first one wins. The library refuses files that share a name. */
function readFiles(files: readonly string[], newConfig: () => KubeConfig): KubeConfig {
  const merged = newConfig();
  merged.setCurrentContext('');
  for (const file of files) {
    const config = newConfig();
    const text = textOf(file);
    try {
      load(config, text, dirname(file));
    } catch {
      // The library's message quotes the file, which may have a token.
      throw new KubeConfigError(
        `the kubeconfig ${file} cannot be read: "kubectl config view --kubeconfig ${file}" says why`,
      );
    }
    config.makePathsAbsolute(dirname(file));
    merged.loadFromOptions({
      clusters: firstOfEachName([...merged.clusters, ...config.clusters]),
      contexts: firstOfEachName([...merged.contexts, ...config.contexts]),
      users: firstOfEachName([...merged.users, ...config.users]),
      currentContext: merged.getCurrentContext() || (config.getCurrentContext() ?? ''),
    });
  }
  return merged;
}

/** Why the current context cannot be used, in one text for all reasons. */
function problemOf(config: KubeConfig): string | undefined {
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser() as {
    authProvider?: { name?: string; config?: object };
    exec?: { command?: string };
  } | null;
  const provider = user?.authProvider?.name;
  if (user?.authProvider && provider !== 'oidc' && provider !== ofFile) {
    return `its user has the auth-provider ${JSON.stringify(provider)}, which kubectl no longer has, and which may run any program: use a credential plugin (exec)`;
  }
  const protocol = URL.parse(cluster?.server ?? '')?.protocol;
  const proxyUrl = cluster?.proxyUrl;
  const isOpen = protocol === 'http:' && (cluster?.skipTLSVerify === true || Boolean(proxyUrl));
  // Without a user the library would omit the CA as well, and the server would seem to have a bad certificate.
  const isServer = isOpen || (protocol === 'https:' && user !== null);
  const isProxy = !proxyUrl || /^(?:https?|socks5h?):$/.test(URL.parse(proxyUrl)?.protocol ?? '');
  const isUser = (!user?.authProvider || user.authProvider.config) && (!user?.exec || user.exec.command);
  if (isServer && isProxy && isUser) {
    return undefined;
  }
  const known = config.getContexts().map(({ name }) => name);
  return `its context ${JSON.stringify(config.getCurrentContext())} (of ${known.join(', ') || 'none'}) must have a user, whose exec has a command, and a cluster with a server such as https://10.0.0.1:6443 (for http:// also insecure-skip-tls-verify) and no proxy-url but a URL: use --context, or see "kubectl config view --minify"`;
}

function usable(config: KubeConfig, where: string, problem = problemOf(config)): KubeConfig {
  if (problem !== undefined) {
    throw new KubeConfigError(`the kubeconfig ${where} cannot be used: ${problem}`);
  }
  return config;
}

/** @throws {KubeConfigError} when the kubeconfig cannot be read, or its current context cannot be used. */
export async function loadKubeConfig(options: KubeConfigOptions, env: NodeJS.ProcessEnv = process.env) {
  const files = filesFor(options.kubeconfig, env);
  // It takes longer to load than the rest of the program.
  const { KubeConfig } = await import('./client-node.ts');
  const config = readFiles(files, () => new KubeConfig());
  if (files.length === 0) {
    config.loadFromCluster();
  }
  if (options.context !== undefined) {
    config.setCurrentContext(options.context);
  }
  return usable(config, files.join(delimiter));
}

/** Reads a kubeconfig of another program. @throws {KubeConfigError} also if it names files or programs of this machine. */
export async function readKubeConfig(text: string, where: string): Promise<KubeConfig> {
  const { KubeConfig } = await import('./client-node.ts');
  const config = new KubeConfig();
  try {
    load(config, text, '');
  } catch {
    throw new KubeConfigError(`the kubeconfig in ${where} cannot be read`);
  }
  const user = config.getCurrentUser();
  const isForeign = [user?.exec, user?.authProvider, user?.certFile, user?.keyFile, config.getCurrentCluster()?.caFile];
  const problem = isForeign.some((field) => field !== undefined && field !== null)
    ? 'it names files or programs, and must have data instead'
    : undefined;
  return usable(config, `in ${where}`, problem);
}
