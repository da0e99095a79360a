import { Buffer } from 'node:buffer';
import { resolve, sep } from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { parseSmallYaml, readRegularFileSync } from '../files/index.ts';
import { isJsonObject } from '../kubernetes/index.ts';
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
type WholeCluster = Cluster & { forPlugins?: unknown };

/** The fields of a plugin that are used here. */
interface Plugin {
  apiVersion?: unknown;
  command?: unknown;
  args?: unknown;
  env?: { name: string; value: string }[] | null;
  provideClusterInfo?: unknown;
}

interface Written {
  users?: { name?: unknown; user?: Record<string, unknown> | null }[];
  clusters?: { name?: unknown; cluster?: { extensions?: { name?: unknown; extension?: unknown }[] } | null }[];
}

/** The environment variable that tells a plugin what it is asked for. */
const infoName = 'KUBERNETES_EXEC_INFO';

/** Longest value of that variable in bytes: Linux has room for 128 KiB, with the name, `=` and a zero byte. */
const maxInfoBytes = 128 * 1024 - infoName.length - 2;

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

/** Drops the path of a file of which the kubeconfig also has the contents: kubectl uses these, and the library the file. */
function clusterWithContents({ caFile, ...cluster }: Cluster): Cluster {
  return caFile && !cluster.caData ? { ...cluster, caFile } : cluster;
}

/** The same for a user's certificate and key. */
function userWithContents({ certFile, keyFile, ...user }: User): User {
  return {
    ...user,
    ...(certFile && !user.certData && { certFile }),
    ...(keyFile && !user.keyData && { keyFile }),
  };
}

/**
 * Makes users and clusters those that kubectl reads in `text`: adds what the library dropped, and drops files of which
 * the text has the contents. Paths become absolute.
 *
 * @param folder of the kubeconfig.
 * @param maxLength maximum length of the text.
 */
export function keepWhatKubectlReads(config: KubeConfig, text: string, folder: string, maxLength: number): void {
  config.users = (config.users ?? []).map((user) => withAbsoluteCommand(userWithContents(user), folder));
  config.clusters = (config.clusters ?? []).map(clusterWithContents);
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
  config.clusters = config.clusters.map((cluster): WholeCluster => {
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
 * The headers for acting as somebody else. The library sends only the user's name, and not as bytes. Empty fields count
 * as missing, as in kubectl.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 * @throws {Error} that says what is wrong.
 */
function impersonationOf({ impersonateUser, groups, uid, extra }: WholeUser): Record<string, string | string[]> {
  const user: unknown = impersonateUser ?? '';
  if (typeof user !== 'string') {
    throw new Error('as must be a string');
  }
  const more: Record<string, string | string[]> = {};
  if (groups !== undefined && groups !== null) {
    if (!isTextList(groups)) {
      throw new Error('as-groups must be a list of names');
    }
    if (groups.length > 0) {
      more['Impersonate-Group'] = groups.map(bytesOf);
    }
  }
  if (uid !== undefined && uid !== null && uid !== '') {
    if (typeof uid !== 'string') {
      throw new Error('as-uid must be a string');
    }
    more['Impersonate-Uid'] = bytesOf(uid);
  }
  for (const [key, values] of Object.entries(extra ?? {})) {
    if (!isTextList(values)) {
      throw new Error(`as-user-extra.${key} must be a list of strings`);
    }
    more[`Impersonate-Extra-${headerName(key)}`] = values.map(bytesOf);
  }
  if (user !== '') {
    return { 'Impersonate-User': bytesOf(user), ...more };
  }
  if (Object.keys(more).length > 0) {
    throw new Error('as-groups, as-uid and as-user-extra need as, the name of the user to act as');
  }
  return more;
}

/** What a plugin that asks for it is told about the cluster, in the form of client-go's ExecCredential. */
function aboutCluster(cluster: WholeCluster): object {
  const { server, tlsServerName, skipTLSVerify, proxyUrl, caData, caFile, forPlugins = null } = cluster;
  return {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': skipTLSVerify || undefined,
    'certificate-authority-data': caFile ? readRegularFileSync(caFile, maxInfoBytes).toString('base64') : caData,
    'proxy-url': proxyUrl,
    config: forPlugins,
  };
}

/** @throws {Error} when a plugin cannot be called as its fields say. */
function checkPlugin({ command, args, env }: Plugin): void {
  if (typeof command !== 'string' || command === '') {
    throw new Error('exec.command must be the name or the path of a program');
  }
  if (args !== undefined && args !== null && !isTextList(args)) {
    throw new Error('exec.args must be a list of strings');
  }
  const isVariable = (entry: unknown) =>
    isJsonObject(entry) && typeof entry.name === 'string' && typeof entry.value === 'string';
  if (env !== undefined && env !== null && !(Array.isArray(env) && env.every(isVariable))) {
    throw new Error('exec.env must be a list of variables, each with name and value, which are strings');
  }
}

/**
 * A plugin with the variable that says what it is asked for.
 *
 * @throws {Error} when it cannot be called, or that is too long for a variable.
 */
function informed(plugin: Plugin, cluster: WholeCluster | null): Plugin {
  checkPlugin(plugin);
  const { apiVersion, env, provideClusterInfo } = plugin;
  const spec = {
    ...(provideClusterInfo === true && cluster && { cluster: aboutCluster(cluster) }),
    interactive: false,
  };
  const value = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  const bytes = Buffer.byteLength(value);
  if (bytes > maxInfoBytes) {
    throw new Error(
      `its cluster, with CA and extension, is too long for exec.provideClusterInfo (${bytes} bytes, at most ${maxInfoBytes}): shorten the CA, or use a plugin that does not need it`,
    );
  }
  return { ...plugin, env: [...(env ?? []), { name: infoName, value }] };
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
