import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type CertificatePair, selfSignedPair } from '../../src/server/index.ts';
import { metricAt } from '../support/metrics.ts';

/** `serve` in a process of its own. */
export interface ServeProcess {
  pid: number;
  webhookPort: number;
  health: string;
  /** Stops it with SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Number of open file descriptors of the process, including sockets. Undefined where there is no /proc. */
  openFiles(): number | undefined;
  /** Resident memory of the process, in bytes. Undefined where there is no /proc. */
  residentBytes(): number | undefined;
  /** The value of a metric, by its name with labels as they are printed. */
  metric(name: string): Promise<number>;
}

/** A folder with a serving certificate, as the kubelet would mount it. */
export interface CertificateFolder {
  path: string;
  /** Replaces the pair as certbot and similar tools do: file by file, each with a rename. */
  swap(pair: CertificatePair): void;
  remove(): void;
}

export function createCertificateFolder(pair = selfSignedPair(new Date())): CertificateFolder {
  const path = mkdtempSync(join(tmpdir(), 'certificates-'));
  function put(name: string, text: string): void {
    const staged = join(path, `.${name}`);
    writeFileSync(staged, text, { mode: 0o600 });
    renameSync(staged, join(path, name));
  }
  function swap({ cert, key }: CertificatePair): void {
    put('tls.crt', cert);
    put('tls.key', key);
  }
  swap(pair);
  return { path, swap, remove: () => rmSync(path, { recursive: true }) };
}

const main = fileURLToPath(new URL('../../bin/extensionconfig-webhook', import.meta.url));

function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The arguments of `serve`: free ports of loopback, and these certificates. */
export function serveFlags(folder: CertificateFolder): string[] {
  return [
    ...['--cert-dir', folder.path, '--feature-gates', 'RuntimeSDK=true', '--log-level', 'info'],
    ...['--host', '127.0.0.1', '--port', '0', '--health-port', '0'],
  ];
}

/** Starts `serve` on free ports of loopback; resolves when it listens. */
export async function startServeProcess(
  folder: CertificateFolder,
  flags: readonly string[] = [],
  { nodeFlags = [] }: { nodeFlags?: readonly string[] } = {},
): Promise<ServeProcess> {
  const command = [process.execPath, ...nodeFlags, main, 'serve', ...serveFlags(folder), ...flags];
  const child: ChildProcess = spawn('sh', ['-c', 'exec "$@"', 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const { webhookPort, healthPort } = await new Promise<{ webhookPort: number; healthPort: number }>(
    (resolve, reject) => {
      exited.then(([code]) => reject(new Error(`serve ended with ${code}`)), reject);
      createInterface({ input: child.stdout! }).on('line', (line) => {
        const entry = JSON.parse(line) as { msg?: string; webhookPort: number; healthPort: number };
        if (entry.msg === 'listening') {
          resolve(entry);
        }
      });
    },
  );
  const pid = child.pid!;
  const health = `http://127.0.0.1:${healthPort}`;
  return {
    pid,
    webhookPort,
    health,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
    openFiles: () => readOrUndefined(() => readdirSync(`/proc/${pid}/fd`).length),
    residentBytes: () =>
      readOrUndefined(
        () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024,
      ),
    async metric(name) {
      return (await metricAt(health, name)) || 0;
    },
  };
}
