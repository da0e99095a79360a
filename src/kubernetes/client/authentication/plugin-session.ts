import { Buffer } from 'node:buffer';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { orAborted } from '../../../base/index.ts';
import { mayAsk, ownTerminal, type Plugin } from './credential-plugin.ts';
import { type Credential, type PluginCall, PluginError, runPlugin } from './plugin-run.ts';

// Credential plugins as client-go runs them (client.authentication.k8s.io, ExecConfig): the library gives them a standard
// input that never ends, keeps what they write for a person until they end, and never stops them. So it gets a user with
// the credentials instead of the plugin.

/** How long a plugin may take, in ms: those of clouds take up to some seconds. Commands and servers wait for it. */
const maxRunMs = 8_000;
/** How long a person may take to sign in, in ms: the codes that plugins show are valid that long. */
const maxSignInMs = 15 * 60_000;

/** A run of a plugin, which ends when nobody waits for it any longer. */
interface PluginRun {
  credential: Promise<Credential>;
  waiting: number;
  stop: AbortController;
}

/** A user with credentials instead of a plugin. A token of its own comes first, as in kubectl. */
function userWith({ exec: _, ...user }: User, { token, clientCertificateData, clientKeyData }: Credential): User {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  if (clientCertificateData === undefined || clientKeyData === undefined) {
    return { ...user, ...(token !== undefined && !user.token && { token }) };
  }
  const { certFile: _certFile, keyFile: _keyFile, ...withoutFiles } = user;
  return {
    ...withoutFiles,
    ...(token !== undefined && !user.token && { token }),
    certData: base64(clientCertificateData),
    keyData: base64(clientKeyData),
  };
}

const sessions = new WeakMap<KubeConfig, PluginSession>();

/** The credential plugin of the current user: of all connections with a kubeconfig, so that it asks a person once. */
export class PluginSession {
  readonly #config: KubeConfig;
  readonly #call: PluginCall;
  #run: PluginRun | undefined;
  #held: Credential | undefined;
  /** The kubeconfig with the credentials that are held. */
  #signedIn: { config: KubeConfig; credential: Credential } | undefined;

  private constructor(config: KubeConfig, plugin: Plugin) {
    const terminal = ownTerminal();
    const { command = '', args = [], env = [] } = plugin;
    this.#config = config;
    this.#call = {
      command,
      args,
      env: { ...process.env, ...Object.fromEntries(env.map(({ name, value = '' }) => [name, value])) },
      asks: mayAsk(plugin, terminal),
      isSeen: terminal.errors,
    };
  }

  /** The plugin of a kubeconfig; undefined if its current user has none. */
  static of(config: KubeConfig): PluginSession | undefined {
    const known = sessions.get(config);
    const plugin = config.getCurrentUser()?.exec as Plugin | null | undefined;
    if (known !== undefined || !plugin) {
      return known;
    }
    const session = new PluginSession(config, plugin);
    sessions.set(config, session);
    return session;
  }

  /** The kubeconfig for the next request: its user has the credentials that the plugin gave last. */
  async signedIn(): Promise<KubeConfig> {
    const credential = this.#held;
    const [cluster, user] = [this.#config.getCurrentCluster(), this.#config.getCurrentUser()];
    if (credential === undefined || cluster === null || user === null) {
      return this.#config;
    }
    if (this.#signedIn?.credential !== credential) {
      const { KubeConfig } = await import('../client-node.ts');
      const config = new KubeConfig();
      config.loadFromClusterAndUser(cluster, userWith(user, credential));
      this.#signedIn = { config, credential };
    }
    return this.#signedIn.config;
  }

  /** The credentials that requests send; undefined before the first run. */
  get held(): Credential | undefined {
    return this.#held;
  }

  /**
   * Credentials for the next requests, for which the plugin runs if it has given none that are still valid. That may
   * take longer than a request: a person may have to do something.
   *
   * @throws {PluginError} when it fails, or takes too long.
   */
  async credential(signal: AbortSignal): Promise<Credential> {
    const { expirationTimestamp } = this.#held ?? {};
    const isExpired = expirationTimestamp !== undefined && Date.parse(expirationTimestamp) <= Date.now();
    return this.#held === undefined || isExpired ? this.#ask(signal) : this.#held;
  }

  /** Whether there are other credentials than some that the API server has refused; the plugin is asked for them. */
  async hasOtherThan(refused: Credential, signal: AbortSignal): Promise<boolean> {
    const other = this.#held === refused ? await this.#ask(signal) : this.#held;
    return (
      other?.token !== refused.token ||
      other?.clientCertificateData !== refused.clientCertificateData ||
      other?.clientKeyData !== refused.clientKeyData
    );
  }

  /** Requests at the same time share a run: otherwise a person would be asked several times. */
  async #ask(signal: AbortSignal): Promise<Credential> {
    const maxMs = this.#call.asks || this.#call.isSeen ? maxSignInMs : maxRunMs;
    const end = AbortSignal.timeout(maxMs);
    this.#run ??= this.#start();
    const run = this.#run;
    run.waiting++;
    try {
      return await orAborted(run.credential, AbortSignal.any([signal, end]));
    } catch (error) {
      signal.throwIfAborted();
      const limit = maxMs === maxRunMs ? `${maxRunMs / 1000} s` : `${maxSignInMs / 60_000} minutes`;
      throw end.aborted ? new PluginError(this.#call.command, `has not ended for ${limit}`) : error;
    } finally {
      if (--run.waiting === 0) {
        this.#forget(run);
        run.stop.abort();
      }
    }
  }

  #start(): PluginRun {
    const stop = new AbortController();
    const run: PluginRun = { credential: runPlugin(this.#call, stop.signal), waiting: 0, stop };
    const onEnd = (credential?: Credential) => {
      this.#forget(run);
      this.#held = credential ?? this.#held;
    };
    run.credential = run.credential.then(
      (credential) => {
        onEnd(credential);
        return credential;
      },
      (error) => {
        onEnd();
        throw error;
      },
    );
    return run;
  }

  #forget(run: PluginRun): void {
    this.#run = this.#run === run ? undefined : this.#run;
  }
}
