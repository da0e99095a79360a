import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import { informed, type Plugin } from '../authentication/credential-plugin.ts';
import { impersonationOf } from '../authentication/impersonation.ts';
import type { TokenFileUser } from '../authentication/token-file.ts';
import type { Contents } from './contents.ts';

/** A user with the headers of whom it acts as. */
type WholeUser = TokenFileUser & { impersonation?: Record<string, string | string[]> };

/** Name of the extension of a cluster that plugins get (client-go, ExecConfig.Config). */
const forPluginsName = 'client.authentication.k8s.io/exec';

const notInHeaders = /[^\t -~\u0080-\u00ff]/;

/**
 * Prepares the user of the current context: adds what the client library dropped, checks who it acts as, and tells its
 * plugin what kubectl tells it.
 *
 * @throws {Error} that says what is wrong.
 */
export function prepareUser(config: KubeConfig, cluster: Cluster, { users = [], clusters = [] }: Contents): void {
  const user: WholeUser | null = config.getCurrentUser();
  if (user === null) {
    return;
  }
  const { tokenFile, ...more } = users.find(({ name }) => name === user.name)?.user ?? {};
  const { extensions = [] } = clusters.find(({ name }) => name === cluster.name)?.cluster ?? {};
  const forPlugins = extensions.find(({ name }) => name === forPluginsName)?.extension;
  const impersonation = impersonationOf({
    user: user.impersonateUser ?? undefined,
    groups: more['as-groups'],
    uid: more['as-uid'],
    extra: more['as-user-extra'],
  });
  if ([user.token ?? '', ...Object.values(impersonation).flat()].some((value) => notInHeaders.test(value))) {
    throw new Error(
      'token, as, as-uid, as-groups and as-user-extra must not have line breaks or other characters that a header cannot have',
    );
  }
  const exec: Plugin | undefined = user.exec && informed(user.exec, cluster, forPlugins);
  Object.assign(user, { impersonation, ...(tokenFile && { tokenFile }), ...(exec && { exec }) });
}

/** Headers of each request by the user of the current context, besides those of the library. */
export function moreHeaders(config: KubeConfig): Record<string, string | string[]> {
  return (config.getCurrentUser() as WholeUser | null)?.impersonation ?? {};
}
