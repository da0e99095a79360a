// What the kubeconfig of the Kubernetes client uses of the rest of it, and of other packages: see client-node.ts.
import { createRequire } from 'node:module';
import type { User } from '@kubernetes/client-node';
import type { Authenticator } from '@kubernetes/client-node/dist/auth.js';

export { createConfiguration } from '@kubernetes/client-node/dist/gen/configuration.js';
export { ServerConfiguration } from '@kubernetes/client-node/dist/gen/servers.js';

// Credentials and proxies of few clusters have sixty files. They are loaded on first use.

const require = createRequire(import.meta.url);
// The packages of the Kubernetes client, not of this project.
const requireOfClient = createRequire(require.resolve('@kubernetes/client-node/dist/config.js'));

/** Credentials of a provider that the kubeconfig names. Those of a pod are of a provider as well: of a file. */
abstract class ProviderAuth implements Authenticator {
  protected abstract readonly name: string;
  protected abstract load(): new () => Authenticator;
  #loaded: Authenticator | undefined;

  get #authenticator(): Authenticator {
    this.#loaded ??= new (this.load())();
    return this.#loaded;
  }

  isAuthProvider(user: User): boolean {
    return user.authProvider?.name === this.name;
  }

  applyAuthentication(...call: Parameters<Authenticator['applyAuthentication']>): Promise<void> {
    return this.#authenticator.applyAuthentication(...call);
  }
}

export class AzureAuth extends ProviderAuth {
  protected readonly name = 'azure';
  protected load = () => require('@kubernetes/client-node/dist/azure_auth.js').AzureAuth;
}

export class GoogleCloudPlatformAuth extends ProviderAuth {
  protected readonly name = 'gcp';
  protected load = () => require('@kubernetes/client-node/dist/gcp_auth.js').GoogleCloudPlatformAuth;
}

export class OpenIDConnectAuth extends ProviderAuth {
  protected readonly name = 'oidc';
  protected load = () => require('@kubernetes/client-node/dist/oidc_auth.js').OpenIDConnectAuth;
}

export const SocksClient = {
  createConnection: (...options: unknown[]) => requireOfClient('socks').SocksClient.createConnection(...options),
};

// Called with `new`, which returns the object that a function returns.

export function SocksProxyAgent(...options: unknown[]): object {
  return new (requireOfClient('socks-proxy-agent').SocksProxyAgent)(...options);
}

export function HttpProxyAgent(...options: unknown[]): object {
  return new (requireOfClient('hpagent').HttpProxyAgent)(...options);
}

export function HttpsProxyAgent(...options: unknown[]): object {
  return new (requireOfClient('hpagent').HttpsProxyAgent)(...options);
}
