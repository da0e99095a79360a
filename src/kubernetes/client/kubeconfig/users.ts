import { resolve, sep } from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { parseSmallYaml } from '../../../base/index.ts';
import { informed, type Plugin, type WholeCluster } from '../authentication/credential-plugin.ts';
import { type Impersonation, impersonationOf } from '../authentication/impersonation.ts';
import type { TokenFileUser } from '../authentication/token-file.ts';

/** A user with all that kubectl reads. */
type WholeUser = TokenFileUser & Impersonation & { impersonation?: Record<string, string | string[]> };

interface Written {
  users?: { name?: unknown; user?: Record<string, unknown> | null }[];
  clusters?: { name?: unknown; cluster?: { extensions?: { name?: unknown; extension?: unknown }[] } | null }[];
}

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
