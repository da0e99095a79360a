import { Buffer } from 'node:buffer';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { orAborted } from '../../../base/index.ts';
import { mayAsk, ownTerminal, type Plugin } from './credential-plugin.ts';
import { type Credential, type CredentialSource, type PluginCall, PluginError, runPlugin } from './plugin-run.ts';

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

const sessions = new WeakMap<KubeConfig, PluginSession>();

/** The credential plugin of the current user: of all connections with a kubeconfig, so that it asks a person once. */
export class PluginSession implements CredentialSource {
  readonly #call: PluginCall;
  #run: PluginRun | undefined;
  #held: Credential | undefined;

  private constructor(plugin: Plugin) {
    const terminal = ownTerminal();
    const { command = '', args = [], env = [] } = plugin;
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
    const session = new PluginSession(plugin);
    sessions.set(config, session);
    return session;
  }

  /** The credentials, for which the plugin runs if it has given none that are still valid. */
  async get(signal: AbortSignal, refused?: Credential): Promise<Credential> {
    const held = this.#held;
    const end = held?.expirationTimestamp;
    const isExpired = end !== undefined && Date.parse(end) <= Date.now();
    return held === undefined || held === refused || isExpired ? this.#ask(signal) : held;
  }

  /** A token of the user's own comes first, as in kubectl. */
  userWith({ exec: _, ...user }: User, { token, clientCertificateData, clientKeyData }: Credential): User {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const signedIn = { ...user, ...(token !== undefined && !user.token && { token }) };
    if (clientCertificateData === undefined || clientKeyData === undefined) {
      return signedIn;
    }
    const { certFile: _certFile, keyFile: _keyFile, ...withoutFiles } = signedIn;
    return { ...withoutFiles, certData: base64(clientCertificateData), keyData: base64(clientKeyData) };
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
    const credential = runPlugin(this.#call, stop.signal)
      .then((held) => {
        this.#held = held;
        return held;
      })
      .finally(() => this.#forget(run));
    const run: PluginRun = { credential, waiting: 0, stop };
    return run;
  }

  #forget(run: PluginRun): void {
    this.#run = this.#run === run ? undefined : this.#run;
  }
}
