import { resolve, sep } from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { informed, type Plugin, type WholeCluster } from '../authentication/credential-plugin.ts';
import { type Impersonation, impersonationOf } from '../authentication/impersonation.ts';
import type { TokenFileUser } from '../authentication/token-file.ts';
import type { Contents } from './contents.ts';

/** A user with all that kubectl reads. */
type WholeUser = TokenFileUser & Impersonation & { impersonation?: Record<string, string | string[]> };

/** Name of the extension of a cluster that plugins get (client-go, ExecConfig.Config). */
const forPluginsName = 'client.authentication.k8s.io/exec';

/** By name; the first entry of a name counts. */
function byName<T extends { name?: string }>(entries: readonly T[] = []): Map<string | undefined, T> {
  return new Map(entries.toReversed().map((entry) => [entry.name, entry]));
}

/** A command with a folder in it is relative to the kubeconfig; any other one is searched in PATH. */
function withAbsoluteCommand(user: User, folder: string): User {
  const { command } = (user.exec ?? {}) as Plugin;
  return command?.includes(sep) ? { ...user, exec: { ...user.exec, command: resolve(folder, command) } } : user;
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
 * Makes users and clusters those that kubectl reads: adds what the library dropped, and drops files of which the kubeconfig
 * has the contents. Paths become absolute.
 *
 * @param folder of the kubeconfig.
 */
export function keepWhatKubectlReads(config: KubeConfig, contents: Contents, folder: string): void {
  const users = byName(contents.users);
  config.users = config.users.map((user): WholeUser => {
    const { tokenFile, ...more } = users.get(user.name)?.user ?? {};
    return {
      ...withAbsoluteCommand(userWithContents(user), folder),
      ...(tokenFile && { tokenFile: resolve(folder, tokenFile) }),
      ...{ groups: more['as-groups'], uid: more['as-uid'], extra: more['as-user-extra'] },
    };
  });
  const clusters = byName(contents.clusters);
  config.clusters = config.clusters.map((cluster): WholeCluster => {
    const { extensions = [] } = clusters.get(cluster.name)?.cluster ?? {};
    const forPlugins = extensions.find(({ name }) => name === forPluginsName)?.extension;
    return { ...clusterWithContents(cluster), ...(forPlugins !== undefined && { forPlugins }) };
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
