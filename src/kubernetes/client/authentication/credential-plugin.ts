import { Buffer } from 'node:buffer';
import { isatty } from 'node:tty';
import type { Cluster } from '@kubernetes/client-node';
import { readRegularFileSync } from '../../../base/index.ts';

export interface Plugin {
  apiVersion?: string;
  command?: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  provideClusterInfo?: boolean;
  interactiveMode?: string;
}

interface Terminal {
  input: boolean;
  errors: boolean;
}

export function ownTerminal(): Terminal {
  return { input: isatty(0), errors: isatty(2) };
}

/**
 * Whether a plugin may read from the terminal, by its `interactiveMode`.
 *
 * @throws {Error} that says what is wrong.
 */
export function mayAsk(plugin: Pick<Plugin, 'interactiveMode' | 'command'>, terminal = ownTerminal()): boolean {
  const { interactiveMode: mode = 'IfAvailable', command } = plugin;
  switch (mode) {
    case 'Never':
      return false;
    case 'IfAvailable':
      return terminal.input;
    case 'Always':
      if (!terminal.input) {
        throw new Error(
          `the credential plugin ${JSON.stringify(command)} has interactiveMode Always, and standard input is not a terminal: run this in a terminal, or use a user whose plugin does not ask`,
        );
      }
      return true;
    default:
      throw new Error('exec.interactiveMode must be Never, IfAvailable or Always');
  }
}

/** The environment variable that tells a plugin what it is asked for. */
const infoName = 'KUBERNETES_EXEC_INFO';

/** Longest value of that variable in bytes: Linux has room for 128 KiB, with the name, `=` and a zero byte. */
const maxInfoBytes = 128 * 1024 - infoName.length - 2;

/** What a plugin that asks for it is told about the cluster, in the form of client-go's ExecCredential. */
function aboutCluster(cluster: Cluster, forPlugins: unknown = null): object {
  const { server, tlsServerName, skipTLSVerify, proxyUrl, caData, caFile } = cluster;
  return {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': skipTLSVerify || undefined,
    'certificate-authority-data': caFile ? readRegularFileSync(caFile, maxInfoBytes).toString('base64') : caData,
    'proxy-url': proxyUrl,
    config: forPlugins,
  };
}

/**
 * A plugin with the variable that says what it is asked for.
 *
 * @param forPlugins the configuration for plugins in the extensions of the cluster.
 * @throws {Error} when it cannot be called, or that is too long for a variable.
 */
export function informed(plugin: Plugin, cluster: Cluster, forPlugins: unknown): Plugin {
  const { apiVersion, command, env = [], provideClusterInfo } = plugin;
  if (!command) {
    throw new Error('exec.command must be the name or the path of a program');
  }
  const spec = {
    ...(provideClusterInfo && { cluster: aboutCluster(cluster, forPlugins) }),
    interactive: mayAsk(plugin),
  };
  const value = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  const bytes = Buffer.byteLength(value);
  if (bytes > maxInfoBytes) {
    throw new Error(
      `its cluster, with CA and extension, is too long for exec.provideClusterInfo (${bytes} bytes, at most ${maxInfoBytes}): shorten the CA, or use a plugin that does not need it`,
    );
  }
  return { ...plugin, env: [...env, { name: infoName, value }] };
}
