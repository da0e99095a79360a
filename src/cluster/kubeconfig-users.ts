import { Buffer } from 'node:buffer';
import { resolve, sep } from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { parseSmallYaml, readRegularFileSync } from '../files/index.ts';
import type { TokenFileUser } from './token-file.ts';

/** What kubectl reads of a user and its cluster in a kubeconfig, and the client library does not. */
interface MoreOfUser {
  /** Who to act as, besides `as`. */
  groups?: unknown;
  uid?: unknown;
  extra?: unknown;
}

/** A user with all that kubectl reads. */
type WholeUser = TokenFileUser & MoreOfUser & { impersonation?: Record<string, string | string[]> };

/** The configuration for plugins in the extensions of a cluster. */
type WholeCluster = KubeConfig['clusters'][number] & { forPlugins?: unknown };

/** The fields of a plugin that are used here. */
interface Plugin {
  apiVersion?: unknown;
  command?: unknown;
  env?: { name: string; value: string }[] | null;
  provideClusterInfo?: unknown;
}

interface Written {
  users?: { name?: unknown; user?: Record<string, unknown> | null }[];
  clusters?: { name?: unknown; cluster?: { extensions?: { name?: unknown; extension?: unknown }[] } | null }[];
}

/** Largest CA that a plugin is told, in bytes: an environment variable has room for 128 KiB, a third of it base64. */
const maxCaBytes = 64 * 1024;

/** Fields that the library drops: without any of them, the text need not be parsed a second time. */
const dropped = /tokenFile|as-groups|as-uid|as-user-extra|client\.authentication\.k8s\.io\/exec/;

/** Name of the extension of a cluster that plugins get (client-go, ExecConfig.Config). */
const forPluginsName = 'client.authentication.k8s.io/exec';

/** By name; the first entry of a name counts. */
function byName<T extends { name?: unknown }>(entries: readonly T[] | undefined): Map<unknown, T> {
  return new Map((entries ?? []).toReversed().map((entry) => [entry.name, entry]));
}

/** A command with a folder in it is relative to the kubeconfig; any other one is searched in PATH. */
function withAbsoluteCommand(user: User, folder: string): User {
  const { command } = (user.exec ?? {}) as Plugin;
  return typeof command === 'string' && command.includes(sep)
    ? { ...user, exec: { ...user.exec, command: resolve(folder, command) } }
    : user;
}

/**
 * Adds to users and clusters what the library dropped when it read them from `text`. Paths become absolute.
 *
 * @param folder of the kubeconfig.
 * @param maxLength maximum length of the text.
 */
export function keepWhatKubectlReads(config: KubeConfig, text: string, folder: string, maxLength: number): void {
  config.users = (config.users ?? []).map((user) => withAbsoluteCommand(user, folder));
  if (!dropped.test(text)) {
    return;
  }
  const written = parseSmallYaml(text, maxLength) as Written;
  const users = byName(written.users);
  config.users = config.users.map((user): WholeUser => {
    const { tokenFile, ...more } = users.get(user.name)?.user ?? {};
    const [groups, uid, extra] = [more['as-groups'], more['as-uid'], more['as-user-extra']];
    return {
      ...user,
      ...(typeof tokenFile === 'string' && tokenFile !== '' && { tokenFile: resolve(folder, tokenFile) }),
      ...{ groups, uid, extra },
    };
  });
  const clusters = byName(written.clusters);
  config.clusters = (config.clusters ?? []).map((cluster): WholeCluster => {
    const { extensions } = clusters.get(cluster.name)?.cluster ?? {};
    const forPlugins = extensions?.find(({ name }) => name === forPluginsName)?.extension;
    return forPlugins === undefined ? cluster : { ...cluster, forPlugins };
  });
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Header values are bytes, and Node.js writes each character as one. */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

/** Encodes what a header's name must not have, as client-go does. */
function headerName(key: string): string {
  return Buffer.from(key)
    .toString('latin1')
    .replace(
      /[^!#$&'*+.^_`|~0-9A-Za-z-]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
}

/**
 * The headers for acting as somebody else, except that with the user's name, which the library sends.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 * @throws {Error} that says what is wrong.
 */
function impersonationOf({ impersonateUser, groups, uid, extra }: WholeUser): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (groups !== undefined && groups !== null) {
    if (!isTextList(groups)) {
      throw new Error('as-groups must be a list of names');
    }
    headers['Impersonate-Group'] = groups.map(bytesOf);
  }
  if (uid !== undefined && uid !== null) {
    if (typeof uid !== 'string') {
      throw new Error('as-uid must be a string');
    }
    headers['Impersonate-Uid'] = bytesOf(uid);
  }
  for (const [key, values] of Object.entries(extra ?? {})) {
    if (!isTextList(values)) {
      throw new Error(`as-user-extra.${key} must be a list of strings`);
    }
    headers[`Impersonate-Extra-${headerName(key)}`] = values.map(bytesOf);
  }
  if (Object.keys(headers).length > 0 && !impersonateUser) {
    throw new Error('as-groups, as-uid and as-user-extra need as, the name of the user to act as');
  }
  return headers;
}

/** What a plugin that asks for it is told about the cluster, in the form of client-go's ExecCredential. */
function aboutCluster(cluster: WholeCluster): object {
  const { server, tlsServerName, skipTLSVerify, proxyUrl, caData, caFile, forPlugins = null } = cluster;
  return {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': skipTLSVerify || undefined,
    'certificate-authority-data': caFile ? readRegularFileSync(caFile, maxCaBytes).toString('base64') : caData,
    'proxy-url': proxyUrl,
    config: forPlugins,
  };
}

/** A plugin with the variable that says what it is asked for. */
function informed(plugin: Plugin, cluster: WholeCluster | null): Plugin {
  const { apiVersion, env, provideClusterInfo } = plugin;
  const spec = {
    ...(provideClusterInfo === true && cluster && { cluster: aboutCluster(cluster) }),
    interactive: false,
  };
  const value = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  return { ...plugin, env: [...(Array.isArray(env) ? env : []), { name: 'KUBERNETES_EXEC_INFO', value }] };
}

/**
 * Prepares the user of the current context: checks who it acts as, and tells its plugin what kubectl tells it.
 *
 * @throws {Error} that says what is wrong.
 */
export function prepareUser(config: KubeConfig): void {
  const user: WholeUser | null = config.getCurrentUser();
  if (user === null) {
    return;
  }
  const ready: WholeUser = {
    ...user,
    impersonation: impersonationOf(user),
    ...(user.exec && { exec: informed(user.exec, config.getCurrentCluster()) }),
  };
  config.users = config.users.map((known) => (known === user ? ready : known));
}

/** Headers of each request by the user of the current context, besides those of the library. */
export function moreHeaders(config: KubeConfig): Record<string, string | string[]> {
  return (config.getCurrentUser() as WholeUser | null)?.impersonation ?? {};
}
