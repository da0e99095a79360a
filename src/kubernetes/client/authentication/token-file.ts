import type { KubeConfig, User } from '@kubernetes/client-node';
import { readRegularFileSync } from '../../../base/index.ts';
import { type Credential, CredentialError, type CredentialSource } from './plugin-run.ts';

/** Largest token in a file, in bytes: an HTTP header has room for little more. */
const maxTokenBytes = 64 * 1024;
/** How long a token is used before its file is read again, in ms: client-go's period. */
const maxAgeMs = 60_000;

/** A user with a file that has the token, by its path; the client library does not know it (it has `token-file`). */
export type TokenFileUser = User & { tokenFile?: string };

/** The file with the token of the current user; undefined if there is none. */
export function tokenFileOf(config: KubeConfig): TokenFile | undefined {
  const path = (config.getCurrentUser() as TokenFileUser | null)?.tokenFile;
  return path === undefined ? undefined : new TokenFile(path);
}

/**
 * Makes a token file of what the client library knows about a pod's service account. The library reads that file, too,
 * but at most once a minute, even if the API server refuses the token, and a failed read fails the request.
 */
export function withTokenFile(user: User): TokenFileUser {
  const path: unknown = user.authProvider?.config?.tokenFile;
  if (typeof path !== 'string') {
    return user;
  }
  const { authProvider: _, ...rest } = user;
  return { ...rest, tokenFile: path };
}

/** A token in a file that is replaced before it expires: in a pod, the kubelet does so every hour. */
export class TokenFile implements CredentialSource {
  readonly #path: string;
  readonly #now: () => number;
  #known: { credential: Credential; readAt: number } | undefined;

  /** @param now returns a time in ms that never goes back. */
  constructor(path: string, now: () => number = () => performance.now()) {
    this.#path = path;
    this.#now = now;
  }

  /** The token. If the file cannot be read again, the last token stays in use. */
  async get(_signal?: AbortSignal, refused?: Credential): Promise<Credential> {
    const known = this.#known;
    const isUsable = known !== undefined && known.credential !== refused && this.#now() - known.readAt < maxAgeMs;
    return isUsable ? known.credential : this.#read();
  }

  /** It is preferred to a token in the kubeconfig itself, as in kubectl. */
  userWith(user: User, { token = '' }: Credential): User {
    return { ...user, token };
  }

  #read(): Credential {
    try {
      const token = readRegularFileSync(this.#path, maxTokenBytes).toString('utf8').trim();
      if (!/^[\x21-\x7e]+$/.test(token)) {
        throw new Error(`${this.#path} ${token === '' ? 'is empty' : 'is not a token: it has other characters'}`);
      }
      this.#known = { credential: { token }, readAt: this.#now() };
    } catch (error) {
      if (this.#known === undefined) {
        throw new CredentialError((error as Error).message);
      }
    }
    return this.#known.credential;
  }
}
