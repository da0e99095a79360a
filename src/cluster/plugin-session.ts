import { spawn } from 'node:child_process';
import { isatty } from 'node:tty';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { takeTerminal } from '../terminal/index.ts';

// Credential plugins as client-go runs them (client.authentication.k8s.io, ExecConfig): the library gives them a standard
// input that never ends, and keeps what they write for a person until they end.

/** What a plugin has answered. */
interface Credential {
  status?: { token?: string };
}

/** The parts of the library's class for plugins that are used here; its declarations make them private. */
interface ExecAuth {
  execFn: unknown;
  tokenCache: Record<string, Credential | null | undefined>;
  getCredential(user: User): Promise<Credential | null>;
}

/** Which of the standard streams are a terminal. */
interface Terminal {
  input: boolean;
  errors: boolean;
}

function ownTerminal(): Terminal {
  return { input: isatty(0), errors: isatty(2) };
}

/**
 * Whether a plugin may read from the terminal, by its `interactiveMode`.
 *
 * @throws {Error} that says what is wrong.
 */
export function mayAsk(plugin: { interactiveMode?: unknown; command?: unknown }, terminal = ownTerminal()): boolean {
  const { interactiveMode: mode = 'IfAvailable', command } = plugin;
  switch (mode) {
    case 'Never':
      return false;
    case 'IfAvailable':
      return terminal.input;
    case 'Always':
      if (!terminal.input) {
        throw new Error(
          `the credential plugin ${JSON.stringify(command)} has interactiveMode Always, and standard input is not a terminal: run this in a terminal, or use a user that needs no person`,
        );
      }
      return true;
    default:
      throw new Error('exec.interactiveMode must be Never, IfAvailable or Always');
  }
}

/** The credential plugin of the current user. */
export class PluginSession {
  readonly #config: KubeConfig;
  readonly #auth: ExecAuth;
  readonly #isPersonThere: boolean;
  #asking: Promise<Credential | null> | undefined;

  private constructor(config: KubeConfig, auth: ExecAuth, user: User) {
    this.#config = config;
    this.#auth = auth;
    const terminal = ownTerminal();
    const asks = mayAsk(user.exec, terminal);
    this.#isPersonThere = asks || terminal.errors;
    auth.execFn = (command: string, args: readonly string[] = [], options: object = {}) => {
      const child = spawn(command, args, { ...options, stdio: [asks ? 'inherit' : 'ignore', 'pipe', 'pipe'] });
      if (terminal.errors) {
        // A code to enter in a browser, a prompt. It is also kept for the message if the plugin fails.
        child.stderr?.pipe(process.stderr, { end: false });
        const giveBack = takeTerminal();
        child.on('close', giveBack).on('error', giveBack);
      }
      return child;
    };
    // Requests at the same time would each start it, and a person would be asked several times.
    const ask = auth.getCredential.bind(auth);
    auth.getCredential = (asked) => {
      this.#asking ??= ask(asked).finally(() => {
        this.#asking = undefined;
      });
      return this.#asking;
    };
  }

  /** The plugin of a kubeconfig; undefined if its current user has none. */
  static of(config: KubeConfig): PluginSession | undefined {
    const user = config.getCurrentUser();
    const { authenticators = [] } = config as unknown as { authenticators?: object[] };
    const auth = authenticators.find((known): known is ExecAuth => 'execFn' in known);
    return user?.exec && auth !== undefined ? new PluginSession(config, auth, user) : undefined;
  }

  /**
   * Lets the plugin get credentials, if it has none that are still valid, and a person may have to do something: that
   * takes longer than a request may. Otherwise the request itself does.
   */
  async signIn(): Promise<void> {
    if (this.#isPersonThere) {
      await this.#credential();
    }
  }

  /** The token in use; undefined before the first request, and for a plugin without tokens. */
  token(): string | undefined {
    return this.#auth.tokenCache[this.#name()]?.status?.token;
  }

  /** Another token than one that the API server has refused, for which the plugin is asked again; undefined for none. */
  async otherThan(refused: string): Promise<string | undefined> {
    if (this.token() === refused) {
      this.#auth.tokenCache[this.#name()] = null;
      await this.#credential();
    }
    const token = this.token();
    return token === refused ? undefined : token;
  }

  #name(): string {
    return this.#config.getCurrentUser()?.name ?? '';
  }

  async #credential(): Promise<void> {
    const user = this.#config.getCurrentUser();
    if (user !== null) {
      await this.#auth.getCredential(user);
    }
  }
}
